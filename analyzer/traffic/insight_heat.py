"""Contributor Insights' keys become heat: bounds on the share of a partition's ceiling that a key takes in a minute.

A value is ConsumedThroughputUnits, 3 × write units + read units (Developer Guide, "Contributor Insights: how it
works", read 2026-11-30). So u = value ÷ (3,000 × period) = writes ÷ 1,000 + reads ÷ 3,000, while DynamoDB enforces the
two ceilings apart: the hotter of both lies between u ÷ 2 and u, and closer to u the less the table has of one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.knowledge.limits import READ_UNITS_A_PARTITION, WRITE_UNITS_A_PARTITION
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.traffic import InsightKey, InsightMinute
from analyzer.model.window import Window
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.model.batch import InsightSeries, MetricSeries
    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Place

__all__ = ["insight_keys"]

_KEY_RANGE = ("ReadKeyRangeThroughputThrottleEvents", "WriteKeyRangeThroughputThrottleEvents")


def insight_keys(
    insights: Iterable[InsightSeries],
    metrics: tuple[MetricSeries, ...],
    place: Place,
    window: Window,
    template: Callable[[str], str],
    *,
    is_refused: bool = False,
) -> tuple[InsightKey, ...]:
    """Return the keys that have a value in a window, by rule, the greatest first.

    `is_refused`: requests of the window were refused for a key range of this target, or for a limit that nothing names
    and that is not its capacity.
    """
    metrics = () if is_refused else metrics
    within = [(series, _within(series, window)) for series in insights if series.keys]
    totals: dict[str, float] = {}
    for series, found in within:
        totals[series.rule] = totals.get(series.rule, 0.0) + sum(value for _, value in found)
    keys = [_key(series, found, totals[series.rule], metrics, place, template) for series, found in within if found]
    return tuple(sorted(keys, key=lambda key: (key.rule, -key.share, key.name)))


def _within(series: InsightSeries, window: Window) -> list[tuple[Instant, float]]:
    length_ms = series.period_seconds * 1000
    pairs = zip(series.timestamps, series.values, strict=True)
    return [(start, value) for start, value in pairs if start < window.end and start + length_ms > window.start]


def _key(
    series: InsightSeries,
    found: list[tuple[Instant, float]],
    of_all: float,
    metrics: tuple[MetricSeries, ...],
    place: Place,
    template: Callable[[str], str],
) -> InsightKey:
    attributes = (*place.partition_key, *place.sort_key) or ("partition key", "sort key")
    has_sort = series.rule.startswith("SK") and len(series.keys) > 1
    is_use = series.rule.endswith("C")
    known = [_table_heat(metrics, start, series.period_seconds) for start, _ in found]
    minutes = [
        _minute(start, value, series.period_seconds, heats) if is_use else InsightMinute(start, value)
        for (start, value), heats in zip(found, known, strict=True)
    ]
    return InsightKey(
        rule=series.rule,
        name=KeyName(
            KeyLevel.ITEM if has_sort else KeyLevel.PARTITION, series.keys[0], series.keys[-1] if has_sort else None
        ),
        key=dict(zip(attributes, series.keys, strict=False)),
        key_template={name: template(value) for name, value in zip(attributes, series.keys, strict=False)},
        period_seconds=series.period_seconds,
        minutes=tuple(minutes),
        share=sum(value for _, value in found) / of_all if of_all else 0.0,
    )


def _minute(start: Instant, value: float, seconds: int, of_table: tuple[float, ...] | None) -> InsightMinute:
    most = value / (READ_UNITS_A_PARTITION * seconds)
    least = max(most / 2, *(most - heat for heat in of_table or ()), 0.0)
    return InsightMinute(start, value, least, most, of_table is not None)


def _table_heat(metrics: tuple[MetricSeries, ...], start: Instant, seconds: int) -> tuple[float, ...] | None:
    """Return what the whole table read and wrote in a minute, as shares of one partition's ceilings.

    None where neither is known, or the target was refused for a key range in that minute: consumed units then say
    nothing of what was asked for. Minutes are told apart, for a key is seldom refused in all of a window.
    """
    minute = Window(start, start + seconds * 1000)
    if any(total(series_of(metrics, name), minute) for name in _KEY_RANGE):
        return None
    sides = (("Read", READ_UNITS_A_PARTITION), ("Write", WRITE_UNITS_A_PARTITION))
    rates = [(_rate(series_of(metrics, f"Consumed{word}CapacityUnits"), minute), ceiling) for word, ceiling in sides]
    return tuple(rate / ceiling for rate, ceiling in rates if rate is not None) or None


def _rate(series: MetricSeries | None, minute: Window) -> float | None:
    """Return the most units a second of the periods that touch a minute."""
    return max((point.a_second for point in points(series, minute)), default=None)
