from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.model.counts import Count, HeavyKey, HeavyKeys, KeyLevel, KeyName
from analyzer.model.finding import Direction
from analyzer.model.shape import KeyPredicate
from analyzer.model.traffic import Place
from analyzer.traffic.heat import attribute_of, ceiling_of, heat_of, named_at
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, row, shape
from tests.support.evidence import key as heated

if TYPE_CHECKING:
    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import KeyHeat

WHOLE = counts((cell(), {Count.REQUESTS: 100}))
SAMPLED = counts((cell(rate=0.1), {Count.REQUESTS: 100}))
PLACES = {0: (CASES, 0)}


def heavy(*keys: HeavyKey, total: int = 120_000, **fields: Any) -> HeavyKeys:
    fields = {"attributes": ("PK", "SK")} | fields
    return HeavyKeys(CASES, Direction.READ, total, 0, keys, len(keys), **fields)


def key(level: KeyLevel = KeyLevel.PARTITION, **fields: Any) -> HeavyKey:
    fields = {"low": 60_000, "high": 60_000, "series": ((0, 60_000, 60_000),), "sampled": 100, "requests": 100} | fields
    fields = {"by_cell": ((0, 60_000),), "templates": ("CASE#<id>", "META")} | fields
    return HeavyKey(KeyName(level, "CASE#7", "META" if level is KeyLevel.ITEM else None), **fields)


def only(one: HeavyKey, evidence: Any = WHOLE, **fields: Any) -> KeyHeat:
    (heat,) = heat_of(heavy(one, **fields), evidence, PLACES)
    return heat


def test_heat_is_the_hottest_slices_share_of_the_ceiling() -> None:
    heat = only(key(series=((0, 60_000, 60_000), (10_000, 6_000, 6_000))))
    assert (heat.admitted.value, heat.heat.value) == (1.0, 1.0)
    assert (heat.units.value, heat.share.value) == (30_000, 0.5)
    assert [part.low for part in heat.series] == [3000.0, 300.0]


def test_demand_counts_the_tries_that_were_refused() -> None:
    heat = only(key(tries=50))
    assert (heat.admitted.value, heat.heat.value, heat.tries_share) == (1.0, 1.5, 1.0)


def test_tries_of_a_sample_are_weighed_by_the_requests_that_it_stands_for() -> None:
    heat = only(key(tries=500, sampled=100, requests=1000), SAMPLED)
    assert heat.heat.value == 1.5 * heat.admitted.value


def test_of_tries_those_that_a_sample_kept_are_known() -> None:
    assert [only(key(tries=500), of).tries_seen for of in (WHOLE, SAMPLED)] == [500, 50]
    assert only(key(tries=500, by_cell=(), requests=0), SAMPLED).tries_seen == 50


def test_a_cell_of_which_nothing_was_counted_has_no_row() -> None:
    assert only(key(by_cell=((0, 60_000), (1, 5))), counts(*[(cell(), {Count.REQUESTS: 1})] * 2)).rows == ((0, 30_000),)


def test_tries_without_a_served_request_cannot_be_weighed() -> None:
    heat = only(key(tries=50, requests=0))
    assert heat.heat.value == heat.admitted.value


def test_a_sketchs_error_is_told_as_bounds() -> None:
    heat = only(key(low=40_000, high=60_000))
    assert (heat.units.low, heat.units.value, heat.units.high) == (20_000, 25_000, 30_000)


def test_sampling_widens_the_bounds() -> None:
    heat = only(key(), SAMPLED)
    assert heat.units.low < 30_000 < heat.units.high


def test_a_key_whose_cells_are_not_known_is_not_widened() -> None:
    assert only(key(by_cell=()), SAMPLED).units.is_exact


def test_a_share_never_exceeds_one_and_of_nothing_is_nothing() -> None:
    assert only(key(), total=1000).share.value == 1.0
    assert only(key(), total=0).share.value == 0.0


def test_a_key_without_a_slice_has_no_heat() -> None:
    assert only(key(series=())).heat.value == 0.0


def test_an_item_is_shown_with_both_keys_and_a_prefix_with_a_star() -> None:
    assert only(key(KeyLevel.ITEM)).key == {"PK": "CASE#7", "SK": "META"}
    assert only(key(KeyLevel.ITEM)).key_template == {"PK": "CASE#<id>", "SK": "META"}
    assert only(key(KeyLevel.PREFIX)).key == {"PK": "CASE#7*"}


def test_where_nobody_named_the_attributes_the_roles_stand() -> None:
    assert only(key(), attributes=()).key == {"partition key": "CASE#7"}


def test_seconds_are_told_in_units() -> None:
    assert only(key(peak_second=9000, seconds_over=4)).peak_second == 4500
    assert only(key()).peak_second is None


def test_it_says_which_rows_its_units_came_from() -> None:
    assert only(key(by_cell=((0, 10),))).rows == ((0, 5.0),)


def test_only_the_heaviest_keys_of_a_level_are_looked_at() -> None:
    assert len(heat_of(heavy(*[key()] * 30), WHOLE, PLACES)) == 10


def test_a_lighter_key_that_is_refused_is_looked_at_too() -> None:
    assert len(heat_of(heavy(*[key()] * 10, key(), key(tries=3)), WHOLE, PLACES)) == 11


@pytest.mark.parametrize(("direction", "ceiling"), [(Direction.READ, 3000), (Direction.WRITE, 1000)])
def test_a_partition_has_a_ceiling_for_each_direction(direction: Direction, ceiling: int) -> None:
    assert ceiling_of(direction) == ceiling


def test_the_table_s_own_names_stand_where_the_log_knew_none() -> None:
    nameless = msgspec.structs.replace(
        heated(), key={"partition key": "7", "sort key": "A"}, key_template={"sort key": "A"}
    )
    place = Place(partition_key=("PK",), sort_key=("SK",))
    assert named_at(nameless, place).key == {"PK": "7", "SK": "A"}
    assert named_at(nameless, place).key_template == {"SK": "A"}
    assert named_at(nameless, Place()) is nameless
    assert named_at(heated(), Place(partition_key=("id",))).key == {"PK": "CASE#7"}


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ((("lockId",),), {"lockId": "7", "sort key": "A"}),
        ((("lockId",), ("lockId", "part")), {"lockId": "7", "part": "A"}),
        ((("part", "lockId"), ("lockId",)), {"lockId": "7", "part": "A"}),
        ((("lockId", "part"),), None),
        ((("lockId",), ("owner",)), None),
        (((),), None),
    ],
)
def test_where_no_table_tells_names_requests_that_bind_one_attribute_do(
    keys: tuple[tuple[str, ...], ...], named: dict[str, str] | None
) -> None:
    nameless = msgspec.structs.replace(heated(), key={"partition key": "7", "sort key": "A"}, key_template={})
    rows = [row(shape(key=tuple(KeyPredicate(name, "=", "<id>") for name in names))) for names in keys]
    written = row(shape("PutItem", key=(KeyPredicate("id", "=", "<id>"),)), secondary=True)
    ranged = KeyPredicate("at", ">", "<time>")
    assert named_at(nameless, Place(), [*rows, written]).key == (named or nameless.key)
    with_range = [row(shape("Query", key=(*one.shape.key, ranged))) for one in rows]
    assert named_at(nameless, Place(), with_range).key == (named or nameless.key)


@pytest.mark.parametrize(
    ("shown", "name"),
    [({"lockId": "7"}, "lockId"), ({"partition key": "7"}, "the partition key"), ({}, "the partition key")],
)
def test_an_attribute_without_a_name_is_called_what_it_is(shown: KeyShown, name: str) -> None:
    assert attribute_of(shown) == name
