"""How much of its provisioned write capacity a target uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.traffic.measure import direction_units
from analyzer.traffic.series import mean_a_second, points, series_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["WriteUse", "write_use"]

_LEAST_SECONDS = 60.0
"""Over less than a minute, burst capacity and chance say more than use does."""


class WriteUse(NamedTuple):
    """Write units a second over a window beside what is provisioned, and who told."""

    units_a_second: float
    provisioned: float
    source: SourceName

    @property
    def share(self) -> float:
        """The part of the capacity that is used."""
        return self.units_a_second / self.provisioned


def write_use(traffic: Traffic) -> WriteUse | None:
    """Return the use of a provisioned target, by its metrics, else by its log; None where it cannot be told."""
    provisioned = _provisioned(traffic)
    if traffic.place.capacity.billing_mode == "PAY_PER_REQUEST" or not provisioned:
        return None
    rate = mean_a_second(series_of(traffic.metrics, "ConsumedWriteCapacityUnits"), traffic.window)
    if rate is not None:
        return WriteUse(rate, provisioned, SourceName.CLOUDWATCH_METRICS)
    if not traffic.rows or traffic.window.seconds < _LEAST_SECONDS:
        return None
    return WriteUse(
        direction_units(traffic, Direction.WRITE) / traffic.window.seconds, provisioned, SourceName.REQUEST_LOG
    )


def _provisioned(traffic: Traffic) -> float | None:
    """Return the most that was provisioned in the window, else what the table's description says."""
    for stat in ("Average", "Maximum"):
        series = series_of(traffic.metrics, "ProvisionedWriteCapacityUnits", stat)
        found = [point.value for point in points(series, traffic.window)]
        if found:
            return max(found)
    return traffic.place.capacity.write_units
