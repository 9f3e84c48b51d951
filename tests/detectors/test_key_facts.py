"""What kind of heat a key has, and what is said and advised of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.key_advice import advice_for
from analyzer.detectors.key_facts import KeyFacts, effective_items, facts_of
from analyzer.detectors.key_words import evidence_for, facts_evidence, self_heals
from analyzer.knowledge.shards import Shards, fan_out_units, shards_needed
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.shape import KeyPredicate
from analyzer.model.traffic import Declared, KeySide, Place
from analyzer.model.window import Window
from analyzer.traffic.rolling import SortOrder
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, exactly, key, limit, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import KeyHeat, Traffic

READ, WRITE = Direction.READ, Direction.WRITE
ITEM, PARTITION, PREFIX = KeyLevel.ITEM, KeyLevel.PARTITION, KeyLevel.PREFIX
ROLLING = SortOrder(60, 0.97, 1.0)


def written(**fields: Any) -> KeyHeat:
    return key((950.0,) * 6, WRITE, **{"distinct_sorts": 40} | fields)


def put(**fields: Any) -> Any:
    return row(shape("PutItem"), **{"write_units": 9000, "requests": 9000} | fields)


def shape_of(one: KeyHeat, evidence: Traffic | None = None) -> str:
    return facts_of(one, evidence or traffic(rows=(put(),))).shape


def test_a_prefix_or_a_collection_is_a_tenant() -> None:
    assert shape_of(key(level=PREFIX, values=("CASE#",)), traffic()) == "tenant"
    assert shape_of(written()) == "tenant"


def test_few_items_that_are_added_to_are_counters() -> None:
    adds = traffic(rows=(row(shape("UpdateItem", update="SET #0 = #0 + :0"), write_units=9000),))
    assert shape_of(written(distinct_sorts=4), adds) == "counter"
    assert shape_of(written(distinct_sorts=5), adds) == "tenant"


def test_a_table_without_sort_key_has_one_item_a_key_and_an_index_may_have_many() -> None:
    place = Place(partition_key=("PK",))
    assert shape_of(written(), traffic(rows=(put(),), place=place)) == "single-item"
    assert shape_of(written(), traffic(GSI2, rows=(put(),), place=place)) == "tenant"


def test_a_whole_key_of_one_attribute_tells_a_table_without_sort_key() -> None:
    alone, both = (KeyPredicate("id", "="),), (KeyPredicate("id", "="), KeyPredicate("at", "="))
    adds = row(shape("UpdateItem", "u", update="ADD #0 :0", key=alone), write_units=9000)
    nothing = Place()
    counted = traffic(rows=(adds,), place=nothing)
    assert shape_of(written(distinct_sorts=None), counted) == "counter"
    assert facts_of(written(distinct_sorts=None), counted).is_single
    read = row(shape("GetItem", "g", key=alone), read_units=9000)
    hot = key((2900.0,) * 6, distinct_sorts=None)
    assert shape_of(hot, traffic(rows=(read,), place=nothing)) == "single-item"
    assert not facts_of(hot, traffic(GSI2, rows=(read,), place=nothing)).is_single
    assert not facts_of(hot, traffic(rows=(read, row(shape("GetItem", "b", key=both))), place=nothing)).is_single
    untold = row(shape("GetItem", "k", key=()))
    assert not facts_of(hot, traffic(rows=(untold,), place=nothing)).is_single
    query = row(shape("Query", "q", key=alone))
    assert not facts_of(hot, traffic(rows=(read, query), place=nothing)).is_single
    under = key(level=ITEM, values=("CASE#9", "M"))
    assert not facts_of(hot, traffic(rows=(read,), keys=(hot, under), place=nothing)).is_single


def test_a_variable_that_the_contract_names_for_the_clock_rotates() -> None:
    dated = (KeyPredicate("PK", "=", "CLICKS#<id>", ("CLICKS#<day>",)),)
    assert shape_of(written(), traffic(rows=(row(shape("PutItem", key=dated), write_units=9000),))) == "time-bucket"


@pytest.mark.parametrize(("caller", "kind"), [("orders-backfill", "backfill"), ("api", "tenant"), (None, "tenant")])
def test_bulk_work_is_a_backfill(caller: str | None, kind: str) -> None:
    assert shape_of(written(), traffic(rows=(put(caller=caller),))) == kind


def test_bulk_work_that_is_declared_is_a_backfill_too() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", purpose="migration")})
    assert shape_of(written(), traffic(rows=(put(),), place=place)) == "backfill"


def poll(**fields: Any) -> Any:
    return row(shape("Query", "q", limit_bucket=8), **{"read_units": 9000} | fields)


def test_a_polled_key_that_items_leave_is_a_queue() -> None:
    delete = row(shape("DeleteItem", "d"), write_units=900)
    assert shape_of(key((2700.0,) * 6), traffic(rows=(poll(), delete))) == "queue"
    assert shape_of(key((2700.0,) * 6), traffic(rows=(poll(),))) == "tenant"
    assert shape_of(written(), traffic(rows=(put(), poll(), delete))) == "queue"
    assert shape_of(written(), traffic(rows=(put(), delete))) == "tenant"


def test_an_index_key_is_left_by_updates_of_its_attribute() -> None:
    moves = traffic(rows=(row(shape("UpdateItem", update="SET status = :0")),))
    place = Place(partition_key=("status",))
    assert shape_of(key((2700.0,) * 6), traffic(GSI2, rows=(poll(),), base=moves, place=place)) == "queue"


def test_a_key_beside_which_no_other_is_in_use_is_constant() -> None:
    alone = traffic(rows=(put(),), key_sides=(KeySide(WRITE, 1, 9000.0),))
    assert shape_of(written(), alone) == "constant"
    assert (
        shape_of(written(), traffic(rows=(put(),), key_sides=(KeySide(READ, 1, 1.0), KeySide(WRITE, 2, 1.0))))
        == "tenant"
    )


def test_new_items_at_one_edge_are_sequential() -> None:
    calls = book(*(call("PutItem", n, of=shape("PutItem"), key=item("CASE#7", f"{n:03}")) for n in range(60)))
    facts = facts_of(written(), traffic(rows=(put(),), calls=calls))
    assert (facts.shape, facts.order and facts.order.is_rolling) == ("sequential", True)


def test_one_question_asked_again_and_again_is_a_dashboard() -> None:
    def asks(*asked: str) -> Traffic:
        calls = book(*(call("Query", n, asked=text, key=item("CASE#7")) for n, text in enumerate(asked)))
        return traffic(rows=(row(shape("Query"), read_units=9000),), calls=calls)

    assert shape_of(key((2700.0,) * 6), asks(*["same"] * 20, "x", "y")) == "dashboard"
    assert shape_of(key((2700.0,) * 6), asks(*["same"] * 10, *"abcdefghijkl")) == "tenant"
    assert shape_of(key((2700.0,) * 6), asks(*["same"] * 19)) == "tenant"
    assert shape_of(key((2700.0,) * 6, distinct_sorts=40), traffic(rows=(row(read_units=9000),))) == "tenant"


def test_a_key_of_which_nobody_is_known_is_told_by_its_level() -> None:
    facts = facts_of(written(rows=()), traffic())
    assert (facts.shape, facts.caller) == ("tenant", None)
    assert facts_of(key((), WRITE), traffic()).shards is None
    unknown = facts_of(written(), traffic(rows=(row(requests=0),)))
    assert (unknown.shards and unknown.shards.count, unknown.reads_a_second) == (2, 0)


def test_heat_spreads_over_as_many_items_as_equal_shares_would_make() -> None:
    whole = key((1000.0,) * 6)
    half = key((500.0,) * 6, level=ITEM, values=("CASE#7", "1"))
    other = key((500.0,) * 6, level=ITEM, values=("CASE#7", "2"))
    foreign = key((900.0,) * 6, level=ITEM, values=("CASE#8", "1"))
    assert effective_items(whole, (half, other, foreign)) == pytest.approx(2)
    assert effective_items(whole, (half,)) == pytest.approx(2)
    assert effective_items(whole, ()) is None
    assert effective_items(whole, (key((0.0,), level=ITEM, values=("CASE#7", "3")),)) is None
    assert effective_items(half, (half,)) is None


def test_bursts_are_the_fullest_second_beside_the_fullest_minute() -> None:
    assert facts_of(key((100.0,) * 30, peak_second=400.0), traffic()).burst_factor == 4
    assert facts_of(key((100.0,), peak_second=400.0), traffic()).burst_factor == 24
    assert facts_of(key((), peak_second=400.0), traffic()).burst_factor is None


def test_a_written_key_gets_parts_and_their_price_for_those_who_read_it() -> None:
    read = key((50.0,) * 30, rows=((1, 15_000.0),))
    rows = (put(), row(shape("Query", "q"), requests=15_000, read_units=15_000))
    facts = facts_of(written(peak_second=3000.0), traffic(rows=rows, keys=(read,)))
    assert facts.shards is not None
    assert (facts.shards.count, facts.reads_a_second) == (8, 50)
    assert facts.added_read_units == 175
    told = facts_evidence(facts)
    assert (told["write_shards"], told["added_read_units_a_second"]) == (8, 175)
    (shard,) = [one for one in advice_for(facts, may_split=False) if one.action == "shard-key"]
    assert "each of 50 reads a second becomes 8: 175 read units a second more" in (shard.effect or "")


def heals(level: KeyLevel = PARTITION, *, has_lsi: bool = False, **fields: Any) -> tuple[str, str]:
    facts = KeyFacts(**{"shape": "tenant", "direction": WRITE, "attribute": "PK", "caller": None} | fields)
    one = self_heals(facts, level, has_lsi=has_lsi)
    return one.answer, one.reason


@pytest.mark.parametrize(
    ("fields", "answer", "because"),
    [
        ({"is_single": True}, "no", "single item"),
        ({"shape": "time-bucket"}, "no", "next period"),
        ({"shape": "time-bucket", "direction": READ}, "unknown", "may split"),
        ({"has_lsi": True}, "no", "local secondary index"),
        ({"has_lsi": True, "is_index": True}, "unknown", "may split"),
        ({"has_lsi": True, "level": PREFIX}, "unknown", "partition keys of their own"),
        ({"order": ROLLING}, "no", "Kendall's tau 0.97"),
        ({"order": SortOrder(60, 0.1, 0.2), "effective_items": 40.0}, "unknown", "may split"),
        ({"effective_items": 3.2}, "unknown", "about 3.2 items"),
        ({}, "unknown", "may split"),
    ],
)
def test_whether_dynamodb_heals_it_alone_has_its_reason(fields: dict[str, Any], answer: str, because: str) -> None:
    told = heals(**fields)
    assert told[0] == answer
    assert because in told[1]


def actions(kind: str, direction: Direction | None = WRITE, **fields: Any) -> list[str]:
    facts = KeyFacts(shape=kind, direction=direction, attribute="PK", caller="api", **fields)
    return [one.action for one in advice_for(facts, may_split=False)]


@pytest.mark.parametrize(
    ("kind", "direction", "expected"),
    [
        ("single-item", READ, ["cache-item"]),
        ("single-item", WRITE, ["shard-key", "aggregate-writes"]),
        ("counter", WRITE, ["aggregate-writes", "shard-key"]),
        ("time-bucket", READ, ["cache-item"]),
        ("time-bucket", WRITE, ["change-key", "shard-key"]),
        ("sequential", WRITE, ["change-key", "shard-key"]),
        ("constant", READ, ["cache-item"]),
        ("constant", WRITE, ["change-key", "shard-key"]),
        ("tenant", READ, ["cache-item", "spread-tenant"]),
        ("tenant", WRITE, ["spread-tenant", "shard-key"]),
        ("queue", READ, ["use-queue"]),
        ("queue", WRITE, ["use-queue"]),
        ("backfill", WRITE, ["pace-writes", "shard-key"]),
        ("dashboard", READ, ["cache-item", "keep-a-counter"]),
        ("single-item", None, ["cache-item", "shard-key", "aggregate-writes"]),
    ],
)
def test_advice_follows_the_shape_and_never_raises_capacity(
    kind: str, direction: Direction | None, expected: list[str]
) -> None:
    assert actions(kind, direction) == ["fix-caller", *expected]


def test_an_index_entry_cannot_be_aggregated_and_its_key_can_be_changed_back() -> None:
    assert actions("single-item", is_index=True) == ["fix-caller", "shard-key"]
    facts = KeyFacts(shape="constant", direction=WRITE, attribute="PK", caller=None, is_index=True)
    (first, change, _) = advice_for(facts, may_split=False)
    assert (first.text.startswith("Find who asks"), change.reversible) == (True, True)


def test_parts_without_readers_have_no_price() -> None:
    shards = Shards(8, 1.2, 600.0)
    facts = KeyFacts(
        shape="single-item", direction=WRITE, attribute="PK", caller=None, shards=shards, reads_a_second=0.0
    )
    (shard,) = [one for one in advice_for(facts, may_split=True) if one.action == "shard-key"]
    assert shard.effect == "the fullest of 8 takes 600 write units a second"
    assert "added_read_units_a_second" not in facts_evidence(facts)


def test_evidence_tells_the_order_of_sort_keys_and_leaves_out_what_is_not_known() -> None:
    facts = KeyFacts(
        shape="sequential", direction=WRITE, attribute="PK", caller=None, order=ROLLING, effective_items=9.87
    )
    assert facts_evidence(facts) == {"shape": "sequential", "sort_key_tau": 0.97, "effective_items": 9.9}
    calm = evidence_for(written(), facts, traffic(throttles=(limit(direction=WRITE),)))
    assert (calm["reason"], calm["resource"]) == (None, None)


def seconds(*rates: float, **fields: Any) -> KeyHeat:
    return written(**fields) if not rates else key(rates, WRITE, **{"distinct_sorts": 40} | fields)


def test_the_burst_factor_is_the_fullest_second_over_the_mean_of_the_fullest_minute() -> None:
    """A minute of 600 units a second and before it one of 100; an absent slice had nothing."""
    facts = facts_of(seconds(*(100.0,) * 6, *(600.0,) * 6, peak_second=1500.0), traffic(rows=(put(),)))
    assert facts.burst_factor == 2.5
    gap = facts_of(seconds(600.0, 0.0, 0.0, 0.0, 0.0, 0.0, peak_second=1500.0), traffic(rows=(put(),)))
    assert gap.burst_factor == 15.0
    short = traffic(rows=(put(),), window=Window(0, 20_000))
    assert facts_of(seconds(600.0, 300.0, peak_second=900.0), short).burst_factor == 2.0
    assert facts_of(seconds(600.0), traffic(rows=(put(),))).burst_factor is None
    assert facts_of(key((), WRITE, peak_second=900.0), traffic(rows=(put(),))).burst_factor is None


@pytest.mark.parametrize(
    ("units", "items"),
    [
        ((), None),
        ((100.0,), 1.0),
        ((50.0, 50.0), 2.0),
        ((50.0, 25.0), 1 / (0.25 + 0.0625 + 0.25 * 0.25)),
        ((60.0, 60.0), 2.0),
    ],
    ids=["none", "one", "halves", "a rest in pieces of the least", "more than the whole"],
)
def test_over_how_many_items_heat_spreads(units: tuple[float, ...], items: float | None) -> None:
    whole = key((10.0,), WRITE)
    under = [
        key((one / 10,), WRITE, ITEM, ("CASE#7", str(number)), rows=()) for number, one in enumerate((*units, 0.0))
    ]
    others = [key((9.0,), READ, ITEM, ("CASE#7", "r")), key((9.0,), WRITE, ITEM, ("CASE#8", "o"))]
    assert effective_items(whole, [*under, *others]) == (None if items is None else pytest.approx(items))
    assert effective_items(under[0], under) is None


def test_writes_are_sharded_by_demand_at_its_upper_end_or_by_the_fullest_second() -> None:
    evidence = traffic(rows=(put(requests=4500),))
    hot = facts_of(written(heat=Estimate(1.5, 1.2, 1.9)), evidence).shards
    peak = facts_of(written(heat=exactly(0.95), peak_second=2500.0), evidence).shards
    assert hot == shards_needed(1900.0, 950.0, burst_factor=1.0, ceiling=1000)
    assert peak == shards_needed(2500.0, 1250.0, burst_factor=2500 / 950, ceiling=1000)


def test_a_request_is_half_a_unit_at_least_and_one_where_none_is_known() -> None:
    small, none = traffic(rows=(put(write_units=900),)), traffic(rows=(put(requests=0),))
    assert facts_of(written(), small).shards == shards_needed(950.0, 1900.0, burst_factor=1.0, ceiling=1000)
    assert facts_of(written(), none).shards == shards_needed(950.0, 950.0, burst_factor=1.0, ceiling=1000)


def test_readers_pay_for_shards_by_the_reads_that_were_seen_at_the_key() -> None:
    read = key((60.0,) * 5, rows=((1, 3000.0),))
    other = key((60.0,) * 5, values=("CASE#8",), rows=((1, 3000.0),))
    rows = (put(), row(requests=500, read_units=1000))
    facts = facts_of(written(), traffic(rows=rows, keys=(read, other)))
    assert facts.reads_a_second == 5.0
    assert facts.shards is not None
    assert facts.added_read_units == fan_out_units(5.0, facts.shards.count)
    assert facts_of(written(), traffic(rows=rows)).reads_a_second == 0.0
    assert facts_of(read, traffic(rows=rows)).added_read_units is None


def test_whose_it_is_and_how_it_is_read() -> None:
    strong = traffic(GSI2, rows=(row(shape(consistent=True), read_units=9000),))
    facts = facts_of(key(), strong)
    assert (facts.is_index, facts.is_strong, facts.is_single, facts.is_prefix) == (True, True, False, False)
    assert (facts.caller, facts.attribute, facts.direction) == ("api", "PK", READ)


@pytest.mark.parametrize(("sorts", "is_one"), [(1, True), (2, False), (None, False)])
def test_a_collection_of_one_item_is_one(sorts: int | None, *, is_one: bool) -> None:
    assert facts_of(written(distinct_sorts=sorts), traffic(rows=(put(),))).is_single is is_one
