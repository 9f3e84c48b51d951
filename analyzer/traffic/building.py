"""Whether an index is being built: what is absent from it, and what is refused, is then as it should be.

While an index is CREATING DynamoDB allocates it and fills it from the table; its progress is a metric (Developer Guide,
"Managing Global Secondary Indexes in DynamoDB", read 2026-11-30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.sight import SourceName
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["Building", "building_of"]

_WHOLE = 100.0
"""The progress, in percent, at which a build has ended."""


class Building(Struct, frozen=True):
    """A build that goes on; `progress` is a share, None where not told, as are `throttles` of the build itself."""

    progress: float | None
    throttles: float | None
    source: SourceName


def building_of(traffic: Traffic) -> Building | None:
    """Return the build of an index that goes on at the end of the window; None where it is not being built."""
    if traffic.target.index is None:
        return None
    progress = _progress(traffic)
    is_going_on = progress is not None and progress < _WHOLE
    table = traffic.place.table
    index = None if table is None else table.index(traffic.target.index)
    is_told = traffic.place.index_status == "CREATING" or (index is not None and bool(index.is_backfilling))
    if not is_told and not is_going_on:
        return None
    return Building(
        progress=None if progress is None else progress / _WHOLE,
        throttles=total(series_of(traffic.metrics, "OnlineIndexThrottleEvents"), traffic.window),
        source=SourceName.TABLE_CATALOG if is_told else SourceName.CLOUDWATCH_METRICS,
    )


def _progress(traffic: Traffic) -> float | None:
    for stat in ("Maximum", "Average"):
        found = points(series_of(traffic.metrics, "OnlineIndexPercentageProgress", stat), traffic.window)
        if found:
            return found[-1].value
    return None
