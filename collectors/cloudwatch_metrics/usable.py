"""Series that somebody else asked for, sorted into what can be used and what means something else. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.cloudwatch_metrics.facts import METRICS, Unit
from collectors.cloudwatch_metrics.parse import misuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.batch import MetricSeries

__all__ = ["usable"]

_HINT = "collect the series with the statistic and the dimensions that say what you mean"

Name = tuple[str, frozenset[tuple[str, str]], int]


def usable(metrics: Iterable[MetricSeries]) -> tuple[tuple[MetricSeries, ...], tuple[Gap, ...]]:
    """Return what can be used, and a gap for each misused series.

    Where only Average and SampleCount of capacity units were collected their product stands in for the Sum.
    """
    given = tuple(metrics)
    kept: list[MetricSeries] = []
    gaps: dict[Gap, None] = {}
    for series in given:
        told = misuse(series.metric, series.stat, series.dimensions)
        if told is None:
            kept.append(series)
            continue
        table, index = (series.dimensions.get(name) for name in ("TableName", "GlobalSecondaryIndexName"))
        gaps[Gap(SourceName.CLOUDWATCH_METRICS, GapReason.MISUSED, told, _HINT, table, index)] = None
    return (*kept, *_products(given)), tuple(gaps)


def _products(metrics: tuple[MetricSeries, ...]) -> tuple[MetricSeries, ...]:
    """Return Sums made of Average × SampleCount, of units that have no Sum of their own."""
    by_stat: dict[str, dict[Name, MetricSeries]] = {}
    for series in metrics:
        facts = METRICS.get(series.metric)
        if facts is not None and facts.unit is Unit.UNITS and frozenset(series.dimensions) in facts.dimensions:
            name = series.metric, frozenset(series.dimensions.items()), series.period_seconds
            by_stat.setdefault(series.stat, {})[name] = series
    averages, counts, sums = (by_stat.get(stat, {}) for stat in ("Average", "SampleCount", "Sum"))
    return tuple(_product(averages[name], counts[name]) for name in averages if name in counts and name not in sums)


def _product(average: MetricSeries, count: MetricSeries) -> MetricSeries:
    samples = dict(zip(count.timestamps, count.values, strict=True))
    pairs = [
        (time, value * samples[time])
        for time, value in zip(average.timestamps, average.values, strict=True)
        if time in samples
    ]
    return msgspec.structs.replace(
        average,
        stat="Sum",
        timestamps=tuple(time for time, _ in pairs),
        values=tuple(value for _, value in pairs),
        is_complete=average.is_complete and count.is_complete,
    )
