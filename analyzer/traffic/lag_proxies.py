"""Signs in metrics that an index is behind: it takes fewer writes beside its table's than it used to, and refuses some.

No metric tells how long a write takes to appear in an index (CloudWatch, AWS/DynamoDB metrics, read 2026-11-30).
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.finding import Direction
from analyzer.model.instant import DAY_MS
from analyzer.model.window import Window
from analyzer.traffic.series import series_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Traffic

__all__ = ["FallenBehind", "fallen_behind"]

_WRITTEN = "ConsumedWriteCapacityUnits"
_WEEK_MS = 7 * DAY_MS
_LEAST_PAST = 3
"""Ratios of the past that make a median."""


class FallenBehind(NamedTuple):
    """Index ÷ table write units of the window and of the week before it, and the throttle events of the index."""

    ratio: float
    past_ratio: float
    past_points: int
    events: float

    @property
    def share(self) -> float:
        """What is left of the usual ratio."""
        return self.ratio / self.past_ratio


def fallen_behind(traffic: Traffic) -> FallenBehind | None:
    """Return how the index stands to its table beside the past; None where that is not known or nothing is refused."""
    events = sum(one.events for one in traffic.metric_throttles if one.direction is Direction.WRITE)
    window = traffic.window
    now = list(_ratios(traffic, window))
    past = list(_ratios(traffic, Window(window.start - _WEEK_MS, window.start)))
    if not events or not now or len(past) < _LEAST_PAST:
        return None
    usual = median(index / table for index, table in past)
    index, table = (sum(side) for side in zip(*now, strict=True))
    return FallenBehind(index / table, usual, len(past), events) if usual else None


def _ratios(traffic: Traffic, window: Window) -> Iterator[tuple[float, float]]:
    """Yield the units of index and table of each period that lies in a window and that both have."""
    for own in series_in(traffic.metrics, _WRITTEN):
        at_table: dict[Instant, float] = {}
        for series in series_in(traffic.base.metrics if traffic.base is not None else (), _WRITTEN):
            if series.period_seconds == own.period_seconds:
                at_table |= zip(series.timestamps, series.values, strict=True)
        for time, value in zip(own.timestamps, own.values, strict=True):
            is_inside = window.start <= time and time + own.period_seconds * 1000 <= window.end
            if is_inside and at_table.get(time):
                yield value, at_table[time]
