"""Each threshold by which Contributor Insights convicts a key just reached, and just missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.insight_verdict import InsightVerdicts, certain, direction_of
from analyzer.model.finding import Direction, Severity
from analyzer.model.traffic import InsightKey, MetricThrottles, Place
from tests.support.contributors import REFUSED_ALONE, contributor
from tests.support.evidence import limit, row, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.detectors.insight_verdict import InsightVerdict

READ, WRITE = Direction.READ, Direction.WRITE
HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM
BOTH_KEYS = Place(partition_key=("PK",), sort_key=("SK",))
ONE_KEY = Place(partition_key=("PK",))
VERDICTS = InsightVerdicts(0.9, 0.7, 300, 0.25, 10)


def judged(*keys: InsightKey, place: Place = BOTH_KEYS, **fields: Any) -> list[InsightVerdict]:
    return list(VERDICTS.judge(traffic(place=place, insights=keys, **{"rows": ()} | fields)))


def severity(*keys: InsightKey, **fields: Any) -> Severity | None:
    (one,) = judged(*keys, **fields) or (None,)
    return one.severity if one else None


def use(*heats: float, **fields: Any) -> InsightKey:
    """A collection's use, or an item's where it has a sort key."""
    rule = "SKC" if "sort" in fields else "PKC"
    return contributor(*((heat, heat) for heat in heats), rule=rule, **fields)


def refused(events: float, share: float = 0.25, **fields: Any) -> InsightKey:
    rule = "SKT" if "sort" in fields else "PKT"
    return contributor(REFUSED_ALONE, rule=rule, units=events, share=share, **fields)


def ranged(direction: Direction = READ, cause: str = "key-range") -> MetricThrottles:
    return MetricThrottles(
        direction=direction, cause=cause, events=90.0, minutes=(), period_seconds=60, is_reason_told=True
    )


@pytest.mark.parametrize(("low", "high", "is_known", "heat"), [(0.4, 0.8, True, 0.4), (0.4, 0.8, False, 0.8)])
def test_the_lower_bound_convicts_and_u_itself_where_nothing_bounds_the_mixture(
    low: float, high: float, *, is_known: bool, heat: float
) -> None:
    assert certain(contributor((low, high), (0.1, 0.2), is_mixed_known=is_known)) == heat
    assert certain(contributor(REFUSED_ALONE)) == 0


@pytest.mark.parametrize(
    ("heats", "known", "heat", "is_proved"),
    [
        (((0.5, 1.0), (0.5, 1.0)), (True, False), 1.0, False),
        (((0.95, 1.0), (0.45, 0.9)), (True, False), 0.95, True),
        (((0.95, 1.0), (0.475, 0.95)), (True, False), 0.95, True),
        (((0.94, 1.0), (0.475, 0.95)), (True, False), 0.95, False),
    ],
)
def test_each_minute_convicts_by_what_is_known_of_it(
    heats: tuple[tuple[float, float], ...], known: tuple[bool, ...], heat: float, *, is_proved: bool
) -> None:
    (one,) = judged(contributor(*heats, is_mixed_known=known), place=ONE_KEY)
    assert (certain(one.key), one.severity, one.is_proved) == (heat, HIGH, is_proved)


@pytest.mark.parametrize("place", [BOTH_KEYS, ONE_KEY], ids=["sort key", "none"])
@pytest.mark.parametrize(("heat", "told"), [(0.9, HIGH), (0.899, None)])
def test_an_item_is_convicted_at_nine_tenths_of_its_ceiling(heat: float, told: Severity | None, place: Place) -> None:
    assert severity(use(heat, sort="META"), place=place) is told
    assert severity(use(heat), place=ONE_KEY) is told


@pytest.mark.parametrize(
    ("heat", "items", "fields", "told", "why"),
    [
        (0.9, 0, {}, HIGH, "at the ceiling of one partition for a minute or more"),
        (1.049, 0, {}, HIGH, "at the ceiling of one partition for a minute or more"),
        (1.05, 0, {}, MEDIUM, "as much as one partition serves, spread over its items, with no refusal yet"),
        (0.9, 1, {}, MEDIUM, "as much as one partition serves, spread over its items, with no refusal yet"),
        (1.049, 1, {}, MEDIUM, "as much as one partition serves, spread over its items, with no refusal yet"),
        (1.05, 1, {"throttles": (limit(),)}, HIGH, "at its ceiling for a minute or more"),
        (1.05, 1, {"metric_throttles": (ranged(),)}, HIGH, "at its ceiling for a minute or more"),
        (1.05, 1, {"place": ONE_KEY}, HIGH, "at its ceiling for a minute or more"),
    ],
)
def test_a_collection_is_judged_by_what_one_partition_serves(
    heat: float, items: int, fields: dict[str, Any], told: Severity, why: str
) -> None:
    (one,) = judged(use(heat), *(use(0.2, sort=str(n)) for n in range(items)), **fields)
    assert (one.severity, one.why, len(one.items)) == (told, why, items)


@pytest.mark.parametrize("fields", [{}, {"throttles": (limit("provisioned"),)}, {"metric_throttles": ()}])
def test_a_collection_over_the_ceiling_whose_items_are_cool_is_split_already(fields: dict[str, Any]) -> None:
    assert judged(use(1.05), use(0.2, sort="1"), **fields) == []
    assert judged(use(1.05), use(0.2, sort="1"), refused(0.0), **fields) == []


def test_refusals_of_its_own_say_that_a_collection_is_not_split() -> None:
    (one,) = judged(use(1.05), use(0.2, sort="1"), refused(1.0, 0.01), refused(90.0, 0.99, partition="CASE#8"))[:1]
    assert (one.severity, one.throttles, one.throttled_share) == (HIGH, 1.0, 0.01)


@pytest.mark.parametrize(("heat", "keys"), [(0.9, ["item"]), (0.899, ["collection"])])
def test_an_item_at_its_ceiling_stands_for_its_collection(heat: float, keys: list[str]) -> None:
    found = judged(use(heat, sort="META"), use(1.0))
    assert ["item" if one.key.name.sort else "collection" for one in found] == keys
    other = judged(use(0.9, sort="META", partition="CASE#8"), use(1.0))
    assert [(one.key.name.partition, one.items) for one in other] == [("CASE#8", ()), ("CASE#7", ())]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (use(*[0.7] * 5), MEDIUM),
        (use(*[0.7] * 4), None),
        (use(*[0.699] * 5), None),
        (use(0.1, *[0.7] * 5), MEDIUM),
        (use(*[0.7] * 5, 0.1), MEDIUM),
        (use(0.7, 0.7, 0.1, 0.7, 0.7, 0.7), None),
        (use(*[0.7] * 5, at=(0, 1, 2, 3, 5)), None),
        (use(*[0.7] * 6, at=(0, 2, 3, 4, 5, 6)), MEDIUM),
        (use(0.7, period_seconds=300), MEDIUM),
        (use(0.7, 0.7, period_seconds=150), MEDIUM),
        (use(0.7, 0.7, period_seconds=149), None),
    ],
    ids=["5", "4", "cooler", "late", "early", "a dip", "a gap", "after a gap", "one period", "two", "two shorter"],
)
def test_a_key_is_warm_for_five_minutes_on_end(key: InsightKey, told: Severity | None) -> None:
    assert severity(key) is told


@pytest.mark.parametrize(
    ("key", "seconds", "told"),
    [
        (use(0.1), 1, None),
        (use(0.7), 1, MEDIUM),
        (use(0.7), 60, MEDIUM),
        (use(0.7), 61, None),
        (use(0.1, 0.7), 61, None),
        (use(0.7, 0.7), 61, MEDIUM),
    ],
)
def test_how_long_is_long_may_be_configured(key: InsightKey, seconds: int, told: Severity | None) -> None:
    verdicts = InsightVerdicts(0.9, 0.7, seconds, 0.25, 10)
    assert [one.severity for one in verdicts.judge(traffic(insights=(key,)))] == ([] if told is None else [told])


def test_why_a_warm_key_is_told() -> None:
    (one,) = judged(use(*[0.7] * 5))
    assert (one.why, one.is_proved, one.throttles, one.throttled_share) == ("warm for minutes", False, None, None)


TABLE, RANGE = (limit("provisioned"),), (limit(),)


@pytest.mark.parametrize(
    ("heat", "own", "throttles", "told"),
    [
        (0.1, refused(10, 0.25), (), HIGH),
        (0.1, refused(9, 0.25), (), None),
        (0.1, refused(10, 0.249), (), None),
        (0.1, refused(0, 0.25), (), None),
        (0.1, refused(10, 0.25, partition="CASE#8"), (), None),
        (0.1, refused(10), RANGE, HIGH),
        (0.1, refused(10), (limit("unknown"),), HIGH),
        (0.1, refused(10), (*TABLE, *RANGE), HIGH),
        (0.1, refused(10), TABLE, None),
        (0.699, refused(10), TABLE, None),
        (0.7, refused(10), TABLE, HIGH),
    ],
)
def test_refusals_that_concentrate_convict(
    heat: float, own: InsightKey, throttles: tuple[Any, ...], told: Severity | None
) -> None:
    found = [one for one in judged(use(heat), own, throttles=throttles) if one.key.rule == "PKC"]
    assert [(one.severity, one.why) for one in found] == (
        [] if told is None else [(told, "refused tries concentrate on it")]
    )


def test_refusals_of_an_item_are_its_own() -> None:
    (one,) = judged(use(0.1, sort="META"), refused(10, sort="META"), refused(900, 0.75, sort="other"))
    assert (one.key.name.sort, one.throttles, one.throttled_share) == ("META", 10, 0.25)


@pytest.mark.parametrize(
    ("own", "fields", "told"),
    [
        (refused(10, 0.25), {}, HIGH),
        (refused(9, 0.25), {}, None),
        (refused(10, 0.249), {}, None),
        (refused(10), {"throttles": TABLE}, None),
        (refused(10), {"metric_throttles": (ranged(cause="provisioned"),)}, None),
        (refused(10), {"metric_throttles": (ranged(cause="unknown"),)}, HIGH),
        (refused(10), {"throttles": (*TABLE, *RANGE)}, HIGH),
    ],
)
def test_a_key_of_which_refusals_alone_are_counted(
    own: InsightKey, fields: dict[str, Any], told: Severity | None
) -> None:
    assert severity(own, refused(5, 0.1, partition="CASE#9"), **fields) is told


def test_a_key_of_which_refusals_alone_are_counted_is_told_with_how_many_others() -> None:
    (one,) = judged(refused(10, 0.3), refused(5, 0.1, partition="CASE#9"), use(0.1, partition="CASE#8"))
    assert one.why == "refused tries concentrate on it, of 2 keys that were refused"
    assert (one.is_proved, one.throttles, one.throttled_share, one.items) == (False, 10, 0.3, ())


def consumed(reads: float | None, writes: float | None) -> dict[str, Any]:
    sides = (("Read", reads), ("Write", writes))
    found = (series(f"Consumed{word}CapacityUnits", (units,)) for word, units in sides if units is not None)
    return {"metrics": tuple(found)}


BY_READS = {"rows": (row(read_units=900, write_units=100),)}


@pytest.mark.parametrize(
    ("fields", "side"),
    [
        ({"metric_throttles": (ranged(),)}, READ),
        ({"metric_throttles": (ranged(WRITE),)}, WRITE),
        ({"metric_throttles": (ranged(), ranged(WRITE))}, None),
        ({"metric_throttles": (ranged(WRITE, "provisioned"),)}, None),
        ({"throttles": (limit(direction=WRITE),)}, WRITE),
        ({"throttles": (limit("provisioned", WRITE),)}, None),
        ({"throttles": (limit(),), "metric_throttles": (ranged(WRITE),)}, None),
        (consumed(31.0, 10.0), READ),
        (consumed(30.0, 10.0), None),
        (consumed(29.0, 10.0), WRITE),
        (BY_READS, READ),
        ({"rows": (row(read_units=300, write_units=100),)}, None),
        ({"rows": (row(read_units=299, write_units=100),)}, WRITE),
        (BY_READS | consumed(None, 10.0), READ),
        (BY_READS | consumed(10.0, None), READ),
        (BY_READS | consumed(0.0, 10.0), WRITE),
        (consumed(31.0, 10.0) | {"throttles": (limit(direction=WRITE),)}, WRITE),
    ],
)
def test_which_side_fills_a_partition(fields: dict[str, Any], side: Direction | None) -> None:
    assert direction_of(traffic(**{"rows": ()} | fields)) is side
