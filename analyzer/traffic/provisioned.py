"""What a target was provisioned with at a time: of the metrics, else of its newest description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.finding import Direction
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic
    from analyzer.model.window import Window
    from analyzer.traffic.series import Point

__all__ = ["capacity_points", "units_provisioned"]

_STATS = ("Average", "Maximum", "Minimum")
"""Of a setting all statistics are alike but in the minute of a change; collectors ask for one of them."""


def capacity_points(traffic: Traffic, direction: Direction, window: Window | None = None) -> list[Point]:
    """Return the provisioned units by period, of the first statistic that was asked for."""
    metric = f"Provisioned{direction.value.capitalize()}CapacityUnits"
    for stat in _STATS:
        found = points(series_of(traffic.metrics, metric, stat), window or traffic.window)
        if found:
            return found
    return []


def units_provisioned(traffic: Traffic, direction: Direction, window: Window) -> float | None:
    """Return the least that was provisioned in a stretch; None on demand, and where nobody told."""
    capacity = traffic.place.capacity
    fixed = capacity.read_units if direction is Direction.READ else capacity.write_units
    return min((point.value for point in capacity_points(traffic, direction, window)), default=fixed)
