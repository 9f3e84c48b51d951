"""What autoscaling did, just within reach of a refusal and just beyond; when bursts are one, even, and hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.autoscale_lag import AutoscaleLag
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.traffic import Capacity, Place
from analyzer.model.window import Window
from tests.support.evidence import traffic
from tests.support.told import scaling, series, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.traffic import Traffic

PROVISIONED = Place(capacity=Capacity("PROVISIONED", 100.0, 50.0), table=table())
LONG = Window(-86_400_000, 86_400_000)


def refused(values: Sequence[float], word: str = "Read", **fields: Any) -> Any:
    return series(f"{word}ProvisionedThroughputThrottleEvents", values, **fields)


def ready(values: Sequence[float], word: str = "Read", **fields: Any) -> Any:
    return series(f"Provisioned{word}CapacityUnits", values, stat="Average", **fields)


def consumed(units: float, word: str = "Read") -> Any:
    return series(f"Consumed{word}CapacityUnits", (units,))


def judged(*metrics: Any, maximum: int | None = None, direction: Direction = Direction.READ) -> Traffic:
    limits = () if maximum is None else (scaling(maximum, direction),)
    return traffic(metrics=metrics, place=PROVISIONED, window=LONG, scaling=limits)


def only(evidence: Traffic) -> Finding:
    (one,) = AutoscaleLag().detect(evidence)
    assert isinstance(one, Finding)
    return one


def cause(*metrics: Any, maximum: int | None = None) -> str | None:
    (one,) = list(AutoscaleLag().detect(judged(*metrics, maximum=maximum))) or (None,)
    return one.cause if isinstance(one, Finding) else None


@pytest.mark.parametrize(("later", "told"), [(110, "too-late"), (109, None)], ids=["a tenth more", "less than a tenth"])
def test_a_tenth_more_is_a_step_of_autoscaling(later: float, told: str | None) -> None:
    assert cause(refused((50,)), ready((100, later))) == told


@pytest.mark.parametrize(
    ("earlier", "told"), [(110, "scaled-in"), (109, None)], ids=["a tenth more", "less than a tenth"]
)
def test_a_tenth_less_is_one_too(earlier: float, told: str | None) -> None:
    assert cause(refused((0, 50)), ready((earlier, 100))) == told


@pytest.mark.parametrize(("start", "told"), [(1800, "too-late"), (1801, None), (1, "too-late")])
def test_capacity_that_comes_within_half_an_hour_came_too_late(start: int, told: str | None) -> None:
    """The capacity of the moment is known from a second before."""
    points = (100, *[100] * start, 300)
    assert cause(refused((50,)), ready(points, period_seconds=1, start=-1000)) == told


@pytest.mark.parametrize(("before", "told"), [(1800, "scaled-in"), (1801, None), (1, "scaled-in")])
def test_capacity_that_was_taken_away_within_half_an_hour_was_scaled_in(before: int, told: str | None) -> None:
    points = (300, *[100] * (before + 60))
    assert cause(refused((50,)), ready(points, period_seconds=1, start=-1000 * before)) == told


def test_a_reach_of_one_period_is_enough_where_periods_are_long() -> None:
    assert cause(refused((50,), period_seconds=3600), ready((100, 300), period_seconds=3600)) == "too-late"
    assert cause(refused((50,), period_seconds=3600), ready((100, 100, 300), period_seconds=3600)) is None


def test_capacity_that_falls_within_the_period_of_a_refusal_came_neither_later_nor_before() -> None:
    assert cause(refused((50,), period_seconds=300), ready((300, 100, 100, 100, 100))) is None


@pytest.mark.parametrize(
    ("maximum", "told"), [(300, "at-maximum"), (301, "too-late")], ids=["reached in the end", "not reached"]
)
def test_capacity_that_rises_to_its_maximum_is_at_it(maximum: int, told: str) -> None:
    assert cause(refused((50,)), ready((100, 300)), maximum=maximum) == told


def test_a_maximum_that_stood_before_and_was_lowered_is_no_excuse() -> None:
    assert cause(refused((0, 50)), ready((500, 100)), maximum=500) == "scaled-in"


@pytest.mark.parametrize(
    ("capacity", "met"),
    [
        (ready((50, 300, 200)), 300),
        (ready((100, 300), start=-120_000), 300),
        (ready((300, 100), start=600_000), 300),
        (ready((400, 300, 500, 300, 400), start=60_000, period_seconds=12), 300),
    ],
    ids=["of its minute", "of the last one known before", "of the first one known after", "the least of its minute"],
)
def test_a_refusal_met_the_capacity_of_its_minute(capacity: Any, met: float) -> None:
    assert only(judged(refused((0, 50)), capacity, maximum=300)).evidence["capacity_met"] == met


def test_of_several_refusals_the_least_capacity_is_told() -> None:
    one = only(judged(refused((50, 50)), ready((100, 200, 300))))
    assert (one.evidence["capacity_met"], one.evidence["capacity_reached"]) == (100, 300)


@pytest.mark.parametrize(("gap", "bursts"), [(1800, 1), (1801, 2)])
def test_half_an_hour_between_refusals_makes_another_burst(gap: int, bursts: int) -> None:
    events = refused((20, *[0] * gap, 20), period_seconds=1)
    assert only(judged(events, ready((100,)), maximum=100)).evidence["bursts"] == bursts


def by_the_hour(*hours: int) -> Traffic:
    """Refusals at the maximum in these hours."""
    events = [50 if hour in hours else 0 for hour in range(max(hours) + 1)]
    return judged(refused(events, period_seconds=3600, start=LONG.start), ready((100,), start=LONG.start), maximum=100)


@pytest.mark.parametrize(
    ("hours", "period"),
    [
        ((0, 9, 20), 10),
        ((0, 8, 20), None),
        ((0, 10, 20, 33), None),
        ((0, 10), None),
        ((0, 5, 10, 15), 5),
    ],
    ids=["within a tenth", "beyond", "one of three", "two", "a clock"],
)
def test_three_bursts_at_distances_that_differ_by_a_tenth_have_a_period(
    hours: tuple[int, ...], period: float | None
) -> None:
    assert only(by_the_hour(*hours)).evidence["period_hours"] == period


@pytest.mark.parametrize(("events", "severity"), [(1, Severity.LOW), (9, Severity.LOW), (10, Severity.MEDIUM)])
def test_ten_events_are_more_than_a_handful(events: float, severity: Severity) -> None:
    assert only(judged(refused((events,)), ready((100, 300)))).severity is severity


@pytest.mark.parametrize(
    ("word", "units", "severity"),
    [
        ("Read", 495, Severity.HIGH),
        ("Read", 496, Severity.MEDIUM),
        ("Write", 990, Severity.HIGH),
        ("Write", 991, Severity.MEDIUM),
    ],
)
def test_one_request_in_a_hundred_is_hard_at_the_maximum(word: str, units: float, severity: Severity) -> None:
    """Ten events beside 990 requests: of reads that took half a unit each, of writes a whole one."""
    direction = Direction(word.lower())
    metrics = (refused((10,), word), ready((100,), word), consumed(units, word))
    assert only(judged(*metrics, maximum=100, direction=direction)).severity is severity
