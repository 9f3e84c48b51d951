"""How a key that Contributor Insights convicts is told: its kind, its numbers, its advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.insight_finding import insight_finding
from analyzer.detectors.insight_verdict import InsightVerdict
from analyzer.knowledge.shards import shards_needed
from analyzer.model.finding import Confidence, Direction, Severity
from analyzer.model.traffic import InsightKey, Place
from tests.support.calls import book, call, item
from tests.support.contributors import REFUSED_ALONE, contributor
from tests.support.evidence import CASES, GSI2, limit, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.finding import Finding
    from analyzer.model.traffic import Traffic

READ, WRITE = Direction.READ, Direction.WRITE
BOTH_KEYS = Place(partition_key=("PK",), sort_key=("SK",))
ONE_KEY = Place(partition_key=("PK",))
ADDS = shape("UpdateItem", "adds", update="ADD #0 :0")
BY_READS, BY_WRITES = {"throttles": (limit(),)}, {"throttles": (limit(direction=WRITE),)}
"""Refusals for a key range say which side fills the partition."""


def under(*units: float) -> tuple[InsightKey, ...]:
    return tuple(contributor((0.1, 0.2), rule="SKC", sort=str(n), units=each) for n, each in enumerate(units))


def verdict(key: InsightKey | None = None, **fields: Any) -> InsightVerdict:
    told: dict[str, Any] = {"severity": Severity.HIGH, "why": "so", "is_proved": True, "items": ()}
    told |= {"throttles": None, "throttled_share": None} | fields
    return InsightVerdict(key=key or contributor((0.9, 0.9)), **told)


def around(*beside: InsightKey, **fields: Any) -> Traffic:
    """Traffic in which another key is in use beside the one that is judged."""
    insights = beside or (contributor((0.9, 0.9)), contributor((0.1, 0.1), partition="CASE#8"))
    place = fields.pop("place", BOTH_KEYS)
    return traffic(fields.pop("target", CASES), place=place, insights=insights, **{"rows": ()} | fields)


def tell(one: InsightVerdict | None = None, evidence: Traffic | None = None) -> Finding:
    return insight_finding("hot-key", one or verdict(), evidence or around())


def actions(found: Finding) -> list[str]:
    return [one.action for one in found.advice]


@pytest.mark.parametrize(
    ("one", "confidence", "caveat"),
    [
        (verdict(), Confidence.CERTAIN, None),
        (
            verdict(is_proved=False),
            Confidence.LIKELY,
            "Contributor Insights counts reads and writes together, and nothing bounds how they mix",
        ),
        (
            verdict(contributor(REFUSED_ALONE, rule="PKT"), is_proved=False, throttles=9.0),
            Confidence.LIKELY,
            "Contributor Insights counts its refusals alone, not its use",
        ),
    ],
    ids=["bounded", "mixed", "refusals alone"],
)
def test_what_is_not_proved_is_likely_and_says_why(
    one: InsightVerdict, confidence: Confidence, caveat: str | None
) -> None:
    found = tell(one)
    assert (found.confidence, found.caveat, found.sources) == (confidence, caveat, ("contributor-insights",))
    assert found.because == one.why


@pytest.mark.parametrize(
    ("key", "fields", "heat", "said"),
    [
        (contributor((0.9, 0.9)), {}, (0.9, 0.9, 0.9), "90% of its ceiling"),
        (contributor((0.4, 0.9)), {}, (0.65, 0.4, 0.9), "40% to 90% of its ceiling"),
        (contributor((0.4, 0.9)), {"is_proved": False}, (0.9, 0.4, 0.9), "40% to 90% of its ceiling"),
        (contributor((0.7, 0.7), (0.4, 0.9), (0.5, 0.6)), {}, (0.65, 0.4, 0.9), "40% to 90% of its ceiling"),
    ],
    ids=["counted", "the middle of its bounds", "u itself where nothing bounds the mixture", "the hottest minute"],
)
def test_its_heat_is_that_of_the_hottest_minute(
    key: InsightKey, fields: dict[str, Any], heat: tuple[float, ...], said: str
) -> None:
    found = tell(verdict(key, **fields))
    assert found.summary == f"{{key}} on cases takes {said} in its hottest minute: so"
    assert tuple(found.evidence[name] for name in ("heat", "heat_low", "heat_high")) == heat


def test_the_summary_says_which_ceiling_and_how_much_was_refused() -> None:
    found = tell(verdict(throttles=1234.0, throttled_share=0.61239), around(**BY_READS))
    assert found.summary == (
        "{key} on cases takes 90% of its read ceiling in its hottest minute, 1,234 throttle events: so"
    )
    assert (found.evidence["throttle_events"], found.evidence["throttled_share"]) == (1234.0, 0.612)


def test_a_key_of_which_refusals_alone_are_counted_has_a_share_of_them_and_no_heat() -> None:
    refused = contributor(REFUSED_ALONE, rule="PKT", share=0.91)
    found = tell(verdict(refused, is_proved=False, throttles=1234.0, throttled_share=0.91), around(**BY_WRITES))
    assert found.summary == "{key} on cases was refused with 1,234 throttle events, 91% of all: so"
    assert [found.evidence[name] for name in ("heat", "heat_low", "heat_high")] == [None] * 3
    assert "write_shards" not in found.evidence


def test_what_its_rule_lists_is_told_beside_it() -> None:
    found = tell(verdict(contributor((0.9, 0.9), share=0.12345), items=under(100.0, 100.0)))
    assert (found.evidence["share_of_listed"], found.evidence["items_listed"]) == (0.123, 2)
    assert (found.evidence["rule"], found.evidence["throttle_events"], found.evidence["throttled_share"]) == (
        "PKC",
        None,
        None,
    )
    assert tell().evidence["items_listed"] is None


@pytest.mark.parametrize(
    ("throttles", "place", "waits"),
    [(500.0, BOTH_KEYS, True), (None, BOTH_KEYS, False), (500.0, ONE_KEY, False), (None, ONE_KEY, False)],
)
def test_a_split_is_waited_for_where_it_may_come_and_something_is_refused(
    throttles: float | None, place: Place, *, waits: bool
) -> None:
    assert ("wait-for-split" in actions(tell(verdict(throttles=throttles), around(place=place)))) is waits


ITEM = contributor((0.9, 0.9), rule="SKC", sort="META")
ITEM_BESIDE = (ITEM, contributor((0.1, 0.1), rule="SKC", sort="1"))


@pytest.mark.parametrize(
    ("key", "evidence", "kind"),
    [
        (ITEM, around(*ITEM_BESIDE), "single-item"),
        (ITEM, around(*ITEM_BESIDE, target=GSI2), "single-item"),
        (None, around(), "tenant"),
        (None, around(place=ONE_KEY), "single-item"),
        (None, around(place=ONE_KEY, target=GSI2), "tenant"),
        (None, around(place=Place()), "tenant"),
    ],
    ids=["item", "item of an index", "collection", "no sort key", "index without sort key", "keys not known"],
)
def test_one_item_is_a_single_item(key: InsightKey | None, evidence: Traffic, kind: str) -> None:
    found = tell(verdict(key), evidence)
    assert (found.cause, found.evidence["shape"]) == (kind, kind)
    assert found.self_heals is not None
    assert (found.self_heals.answer == "no") is (kind == "single-item")


@pytest.mark.parametrize(
    ("adding", "others", "kind"), [(501, 499, "counter"), (500, 500, "tenant"), (400, 600, "tenant"), (0, 0, "tenant")]
)
def test_a_counter_is_added_to_by_more_than_half_of_the_requests(adding: int, others: int, kind: str) -> None:
    rows = (row(ADDS, requests=adding), row(requests=others))
    assert tell(verdict(items=under(9.0)), around(rows=rows)).cause == kind


@pytest.mark.parametrize(("items", "kind"), [(0, "tenant"), (1, "counter"), (4, "counter"), (5, "tenant")])
def test_a_counter_is_few_items(items: int, kind: str) -> None:
    adds = (row(ADDS, requests=900), row(requests=100))
    assert tell(verdict(items=under(*[9.0] * items)), around(rows=adds)).cause == kind
    assert tell(verdict(items=under(*[9.0] * items)), around()).cause == "tenant"


def test_a_single_item_that_is_added_to_is_a_counter_too() -> None:
    assert tell(verdict(ITEM), around(*ITEM_BESIDE, rows=(row(ADDS),))).cause == "counter"
    assert tell(None, around(place=ONE_KEY, rows=(row(ADDS),))).cause == "counter"


@pytest.mark.parametrize(
    ("template", "beside", "kind"),
    [
        ("CASE#<id>", [contributor((0.1, 0.1), partition="CASE#8")], "tenant"),
        ("OPEN", [contributor((0.1, 0.1), partition="DONE")], "constant"),
        ("CASE#<id>", [], "constant"),
        ("CASE#<id>", [contributor((0.1, 0.1), rule="SKC", sort="1")], "constant"),
        ("CASE#<id>", [contributor((0.1, 0.1), partition=name) for name in ("CASE#8", "CASE#9")], "tenant"),
    ],
    ids=["beside another", "no variable", "alone", "alone in its rule", "beside two"],
)
def test_a_key_without_a_variable_or_without_another_beside_it_is_constant(
    template: str, beside: list[InsightKey], kind: str
) -> None:
    key = contributor((0.9, 0.9), template=template)
    assert tell(verdict(key), around(key, *beside)).cause == kind


def test_a_key_that_tells_the_time_is_a_bucket_whatever_else_it_is() -> None:
    key = contributor((0.9, 0.9), partition="m00000000")
    assert tell(verdict(key), around(key)).cause == "time-bucket"


@pytest.mark.parametrize(
    ("key", "fields", "is_rolling"),
    [
        (None, BY_WRITES, True),
        (None, BY_READS, False),
        (ITEM, BY_WRITES, False),
        (None, BY_WRITES | {"place": ONE_KEY}, False),
    ],
    ids=["written", "read", "item", "no sort key"],
)
def test_the_order_of_sort_keys_is_asked_of_written_collections(
    key: InsightKey | None, fields: dict[str, Any], *, is_rolling: bool
) -> None:
    calls = book(*(call("PutItem", n, of=shape("PutItem"), key=item("CASE#7", f"{n:03}")) for n in range(60)))
    beside = ITEM_BESIDE if key is ITEM else ()
    found = tell(verdict(key), around(*beside, calls=calls, **fields))
    assert ("sort_key_tau" in found.evidence) is is_rolling
    assert (found.cause == "sequential") is is_rolling


def test_a_written_key_gets_as_many_parts_as_its_upper_bound_needs() -> None:
    found = tell(verdict(contributor((0.6, 1.5))), around(**BY_WRITES))
    assert found.evidence["write_shards"] == shards_needed(1500.0, 1500.0).count > 2
    assert "write_shards" not in tell(verdict(contributor((0.6, 1.5))), around(**BY_READS)).evidence
    assert "write_shards" not in tell(verdict(contributor((0.3, 0.4))), around(**BY_WRITES)).evidence


def test_what_was_refused_of_a_written_key_needs_parts_too() -> None:
    key, refused = contributor((0.9, 0.9)), contributor(*[REFUSED_ALONE] * 2, rule="PKT", units=240_000.0)
    other = contributor(*[REFUSED_ALONE] * 2, rule="PKT", partition="CASE#8", units=960_000.0)
    asked = 900.0 + 120_000 / 60
    found = tell(verdict(key), around(key, refused, other, **BY_WRITES))
    assert found.evidence["write_shards"] == shards_needed(asked, asked).count
    used = (
        series("ConsumedWriteCapacityUnits", [3000.0], start=0),
        series("SuccessfulRequestLatency", [1000.0], stat="SampleCount", start=0, Operation="PutItem"),
    )
    found = tell(verdict(key), around(key, refused, other, metrics=used, **BY_WRITES))
    dear = 900.0 + 3 * 120_000 / 60
    assert found.evidence["write_shards"] == shards_needed(dear, dear).count


def test_strong_reads_are_advised_against_where_any_row_reads_so() -> None:
    rows = (row(shape(consistent=True)), row())
    assert "read-eventually" in actions(tell(None, around(rows=rows, **BY_READS)))
    assert "read-eventually" not in actions(tell(None, around(rows=(row(),), **BY_READS)))


def test_the_key_of_an_index_can_be_changed_back() -> None:
    key = contributor((0.9, 0.9), template="OPEN")
    changes = {
        target: [one.reversible for one in tell(verdict(key), around(target=target, **BY_WRITES)).advice][1]
        for target in (CASES, GSI2)
    }
    assert changes == {CASES: False, GSI2: True}


@pytest.mark.parametrize(
    ("whole", "items", "told"),
    [
        (1000.0, (), None),
        (1000.0, (1000.0,), 1.0),
        (1000.0, (500.0, 250.0), 2.7),
        (900.0, (600.0, 600.0), 2.0),
        (0.0, (0.0,), None),
    ],
    ids=["none", "one", "a rest in pieces of the least", "more than the whole", "nothing used"],
)
def test_over_how_many_items_its_heat_spreads(whole: float, items: tuple[float, ...], told: float | None) -> None:
    found = tell(verdict(contributor((0.4, 0.5), (0.9, 0.9), units=whole), items=under(*items)))
    assert found.evidence.get("effective_items") == told
