"""Scans that CloudWatch counted and no declaration explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.firing import fires_near
from analyzer.model.instant import date_of
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["Unplanned", "has_ended", "unplanned_scans"]


class Unplanned(Struct, frozen=True):
    """How many Scan calls were counted, and which patterns declare Scans for other times."""

    calls: float
    planned: tuple[str, ...]


def has_ended(ends: str | None, traffic: Traffic) -> bool:
    """Whether a one-off's last day was over when the window began."""
    return ends is not None and ends < date_of(traffic.window.start)


def unplanned_scans(traffic: Traffic, within_ms: int) -> Unplanned | None:
    """Return the Scans of the window that no declaration explains, None where there are none.

    A declared Scan of the table explains what is counted in a period that comes so close to its schedule; without a
    schedule, or with one that only people understand, whatever is counted.
    """
    series = series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation="Scan")
    declared = [one for one in traffic.place.patterns.values() if one.scans and one.index is None]
    planned = [one for one in declared if not has_ended(one.ends, traffic)]
    calls = sum(
        point.value
        for point in points(series, traffic.window)
        if point.value
        and all(fires_near(one.schedule or "", point.start, point.end, within_ms) is False for one in planned)
    )
    return Unplanned(calls, tuple(one.id for one in planned)) if calls else None
