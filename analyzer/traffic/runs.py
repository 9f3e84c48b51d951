"""How long a series has stood far above what is usual for it, up to the end of a window."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.window import Window
from analyzer.traffic.series import Point, points

if TYPE_CHECKING:
    from analyzer.model.batch import MetricSeries

__all__ = ["LEAST_POINTS", "Risen", "risen"]

LEAST_POINTS = 6
"""Fewer make no median worth the name."""


class Risen(NamedTuple):
    """A stretch above a factor of the median of what came before it: its points, and that median."""

    run: tuple[Point, ...]
    usual: float

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return (self.run[-1].end - self.run[0].start) / 1000

    @property
    def highest(self) -> float:
        """Its highest value."""
        return max(point.value for point in self.run)


def risen(series: MetricSeries, window: Window, factor: float) -> Risen | None:
    """Return the stretch that ends in the window and stands at `factor` times the usual; None where there is none.

    What is usual is the median of all points before it that did not stand so high themselves, six at least.
    """
    usual: list[float] = []
    run: list[Point] = []
    begin = series.timestamps[0] if series.timestamps else window.start
    for point in points(series, Window(begin, window.end)):
        level = usual[len(usual) // 2] if len(usual) >= LEAST_POINTS else 0.0
        if 0 < factor * level <= point.value:
            run.append(point)
        else:
            insort(usual, point.value)
            run.clear()
    if not run or run[-1].end <= window.start:
        return None
    return Risen(tuple(run), usual[len(usual) // 2])
