"""Questions to the metrics of one target: which series there is, what it says of a stretch, and what of the past.

A point stands for the period that begins at its time. No point is not zero: only a complete throttle series says "none"
by having none (CloudWatch, AWS/DynamoDB metrics: throttle metrics are emitted only where something was throttled).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import MetricSeries
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["PLACE", "Point", "mean_a_second", "points", "series_in", "series_of", "total"]

PLACE = frozenset({"TableName", "GlobalSecondaryIndexName"})
"""Dimensions that name a target; what a series bears beside them tells operations, sources and regions apart."""


class Point(NamedTuple):
    """One value of a series: of the period of so many seconds that begins at `start`."""

    start: Instant
    value: float
    seconds: int

    @property
    def end(self) -> Instant:
        """When its period ends."""
        return self.start + self.seconds * 1000

    @property
    def a_second(self) -> float:
        """A Sum as a rate."""
        return self.value / self.seconds


def series_in(
    metrics: Iterable[MetricSeries], metric: str, stat: str = "Sum", **dimensions: str
) -> Iterator[MetricSeries]:
    """Yield the series of a metric and statistic that bear these dimensions and no other beside their place."""
    for series in metrics:
        if series.metric == metric and series.stat == stat:
            beside = {name: value for name, value in series.dimensions.items() if name not in PLACE}
            if beside == dimensions:
                yield series


def series_of(
    metrics: Iterable[MetricSeries], metric: str, stat: str = "Sum", **dimensions: str
) -> MetricSeries | None:
    """Return the finest such series, None where nobody asked for one."""
    return min(series_in(metrics, metric, stat, **dimensions), key=lambda s: s.period_seconds, default=None)


def points(series: MetricSeries | None, window: Window) -> list[Point]:
    """Return the points whose periods touch a window, in order of time."""
    if series is None:
        return []
    length_ms = series.period_seconds * 1000
    return [
        Point(start, value, series.period_seconds)
        for start, value in zip(series.timestamps, series.values, strict=True)
        if start < window.end and start + length_ms > window.start
    ]


def total(series: MetricSeries | None, window: Window) -> float | None:
    """Return the sum over a window; 0 where a complete series has no point, None where nothing is known."""
    found = points(series, window)
    if found:
        return sum(point.value for point in found)
    return 0.0 if series is not None and series.is_complete else None


def mean_a_second(series: MetricSeries | None, window: Window) -> float | None:
    """Return a Sum as units a second over the periods that touch a window, None without a point."""
    found = points(series, window)
    seconds = sum(point.seconds for point in found)
    return sum(point.value for point in found) / seconds if seconds else None
