"""What a series said at the same time of day on past days, and how it grows from week to week."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.instant import DAY_MS
from analyzer.model.window import Window
from analyzer.traffic.series import points

if TYPE_CHECKING:
    from analyzer.model.batch import MetricSeries

__all__ = ["same_hour", "yearly_growth"]

_HALF_HOUR_MS = 1_800_000
_WEEK_MS = 7 * DAY_MS
_WEEKS_A_YEAR = 52


def same_hour(series: MetricSeries | None, window: Window) -> list[float]:
    """Return one value a past day, the newest first: the median within half an hour of the window's time of day.

    Days without a point are left out: no data is not zero.
    """
    if series is None or not series.timestamps:
        return []
    found = []
    days = (window.start - series.timestamps[0]) // DAY_MS + 1
    for day in range(1, max(days, 0) + 1):
        start, end = window.start - day * DAY_MS, window.end - day * DAY_MS
        near = [point.value for point in points(series, Window(start - _HALF_HOUR_MS, end + _HALF_HOUR_MS))]
        if near:
            found.append(sorted(near)[len(near) // 2])
    return found


def yearly_growth(series: MetricSeries | None) -> float | None:
    """Return the factor by which a Sum grows in a year, if its last week against its first goes on.

    None where less than two whole weeks are known, or the first has nothing.
    """
    if series is None or not series.timestamps:
        return None
    first, end = series.timestamps[0], series.timestamps[-1] + series.period_seconds * 1000
    weeks = (end - first) // _WEEK_MS - 1
    if weeks < 1:
        return None
    early = sum(point.value for point in points(series, Window(first, first + _WEEK_MS)))
    late = sum(point.value for point in points(series, Window(end - _WEEK_MS, end)))
    return (late / early) ** (_WEEKS_A_YEAR / weeks) if early else None
