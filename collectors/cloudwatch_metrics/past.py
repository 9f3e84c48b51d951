"""The past that windows are compared with: read once, by the hour, and only what detectors compare. Pure."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from collectors.cloudwatch_metrics.group import COMPLETE
from collectors.cloudwatch_metrics.stretches import DAY_MS, HOUR_MS, compared_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.model.batch import MetricSeries
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window
    from collectors.cloudwatch_metrics.parse import Points
    from collectors.cloudwatch_metrics.reading import Reading
    from collectors.cloudwatch_metrics.series import Series
    from collectors.cloudwatch_metrics.stretches import Stretch

__all__ = ["Past"]

_CONSUMED = frozenset({"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"})
"""What is told by the day: whether an index was read in two weeks."""


class _Kept(NamedTuple):
    times: array[int]
    values: array[float]

    def pairs(self) -> list[tuple[Instant, float]]:
        """Return times with their values."""
        return list(zip(self.times, self.values, strict=True))


class Past:
    """What was read of the past, by stretch and series; a stretch that no window is compared with any more goes."""

    def __init__(self) -> None:
        self._kept: dict[Stretch, dict[Series, _Kept]] = {}

    def missing(self, series: Iterable[Series], window: Window, now: Instant) -> list[tuple[Stretch, list[Series]]]:
        """Return what to read for a window: stretches, and the series of each that are not known yet."""
        compared = [one for one in series if one.is_compared]
        stretches = compared_with(window, now)
        self._kept = {stretch: self._kept.get(stretch, {}) for stretch in stretches}
        wanted = []
        for stretch, kept in self._kept.items():
            is_daily = stretch.period_seconds * 1000 == DAY_MS
            fresh = [one for one in compared if one not in kept and (not is_daily or one.metric in _CONSUMED)]
            if fresh:
                wanted.append((stretch, fresh))
        return wanted

    def take(self, stretch: Stretch, readings: Sequence[Reading]) -> None:
        """Keep what was read whole; the rest is read again with the next window."""
        for reading in readings:
            for one, points in reading.points.items():
                if points.status == COMPLETE:
                    self._kept[stretch][one] = _kept(stretch, points)

    def minutes(self, series: Series, window: Window) -> list[tuple[Instant, float]]:
        """Return the points of a window's own minutes on earlier days, oldest first."""
        found = []
        for stretch, kept in sorted(self._kept.items(), key=lambda one: one[0].window):
            points = kept.get(series)
            if points is not None and stretch.period_seconds * 1000 < HOUR_MS:
                back = (window.end - stretch.window.start) // DAY_MS * DAY_MS
                found += [pair for pair in points.pairs() if window.holds(pair[0] + back)]
        return found

    def coarse(self, series: Series) -> Iterator[MetricSeries]:
        """Yield a series by the hour and by the day."""
        for stretch, kept in self._kept.items():
            points = kept.get(series)
            if points is not None and stretch.period_seconds * 1000 >= HOUR_MS:
                yield series.told(stretch.period_seconds, points.pairs(), is_complete=True)


def _kept(stretch: Stretch, points: Points) -> _Kept:
    pairs = [
        (time, value)
        for time, value in zip(points.timestamps, points.values, strict=True)
        if stretch.window.holds(time) and (stretch.hour is None or time % DAY_MS // HOUR_MS == stretch.hour)
    ]
    return _Kept(array("q", (time for time, _ in pairs)), array("d", (value for _, value in pairs)))
