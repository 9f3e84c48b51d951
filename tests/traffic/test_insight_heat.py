from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from analyzer.traffic.insight_heat import insight_keys
from tests.support.told import MINUTE_MS, insight, series

if TYPE_CHECKING:
    from analyzer.model.batch import InsightSeries, MetricSeries
    from analyzer.model.traffic import InsightKey

WINDOW = Window(0, 2 * MINUTE_MS)
PLACE = Place(partition_key=("PK",), sort_key=("SK",))
FULL = 180_000
"""What one key takes in a minute at either ceiling."""


def keys(
    *insights: InsightSeries, metrics: tuple[MetricSeries, ...] = (), is_refused: bool = False
) -> tuple[InsightKey, ...]:
    return insight_keys(insights, metrics, PLACE, WINDOW, lambda _: "CASE#<id>", is_refused=is_refused)


def bounds(*metrics: MetricSeries, is_refused: bool = False) -> tuple[float | None, float | None, bool]:
    (key,) = keys(insight("PKC", (FULL,), "CASE#7"), metrics=metrics, is_refused=is_refused)
    return key.minutes[0].low, key.minutes[0].high, key.minutes[0].is_mixed_known


def test_a_key_is_named_shown_and_shaped() -> None:
    (key,) = keys(insight("SKC", (FULL,), "CASE#7", "META"))
    assert key.name == KeyName(KeyLevel.ITEM, "CASE#7", "META")
    assert key.key == {"PK": "CASE#7", "SK": "META"}
    assert key.key_template == {"PK": "CASE#<id>", "SK": "CASE#<id>"}
    assert not key.is_throttles


def test_where_nothing_bounds_the_mixture_heat_lies_between_half_and_all() -> None:
    assert bounds() == (0.5, 1.0, False)


@pytest.mark.parametrize(
    ("metric", "units", "low"),
    [
        ("ConsumedReadCapacityUnits", 0, 1.0),  # no reads: all of it is writes
        ("ConsumedReadCapacityUnits", 36_000, 0.8),  # reads are a fifth of a ceiling at most
        ("ConsumedWriteCapacityUnits", 6_000, 0.9),  # writes are a tenth at most
        ("ConsumedWriteCapacityUnits", 60_000, 0.5),
    ],
)
def test_what_the_table_has_of_one_side_bounds_the_mixture(metric: str, units: float, low: float) -> None:
    least, most, is_known = bounds(series(metric, (units,)))
    assert least == pytest.approx(low)
    assert (most, is_known) == (1.0, True)


@pytest.mark.parametrize("is_refused", [True, False])
def test_refusals_for_a_key_range_hide_what_was_asked_for(is_refused: bool) -> None:  # noqa: FBT001 -- a case
    consumed = series("ConsumedWriteCapacityUnits", (60_000,))
    told = () if is_refused else (series("WriteKeyRangeThroughputThrottleEvents", (5,)),)
    assert bounds(consumed, *told, is_refused=is_refused) == (0.5, 1.0, False)


@pytest.mark.parametrize(
    ("events", "heats"), [((0, 5), (0.25, 1.0)), ((5, 0), (0.5, 0.5)), ((5, 5), (0.5, 1.0)), ((0, 0), (0.25, 0.5))]
)
def test_a_mixture_is_known_or_not_minute_by_minute(events: tuple[int, ...], heats: tuple[float, ...]) -> None:
    told = (
        series("ConsumedReadCapacityUnits", (180_000, 180_000)),
        series("ReadKeyRangeThroughputThrottleEvents", events),
    )
    (key,) = keys(insight("PKC", (FULL / 2, FULL), "CASE#7"), metrics=told)
    assert tuple(minute.heat for minute in key.minutes) == pytest.approx(heats)
    assert [minute.is_mixed_known for minute in key.minutes] == [not event for event in events]


def test_throttles_are_no_heat() -> None:
    (key,) = keys(insight("PKT", (700,), "CASE#7"))
    assert (key.is_throttles, key.minutes[0].heat, key.minutes[0].value) == (True, None, 700)


def test_shares_are_of_what_the_listed_keys_took_and_only_minutes_of_the_window_count() -> None:
    hot, cold = keys(insight("PKC", (10,), "B"), insight("PKC", (0, 30, 999), "A"))
    assert (hot.name.partition, hot.share, len(hot.minutes)) == ("A", 0.75, 2)
    assert (cold.name.partition, cold.share) == ("B", 0.25)


def test_a_report_without_keys_and_a_key_of_another_time_are_none() -> None:
    assert keys(insight("PKC", ()), insight("PKC", (9,), "A", start=10 * MINUTE_MS)) == ()


def test_a_key_that_took_nothing_has_no_share() -> None:
    assert keys(insight("PKC", (0,), "A"))[0].share == 0
