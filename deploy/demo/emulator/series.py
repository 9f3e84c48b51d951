"""Reads series of AWS/DynamoDB as CloudWatch has them: what was counted, the zeros of what is idle, and gauges.

Source: Developer Guide, "DynamoDB metrics and dimensions", read 2026-11-30: consumption is published for idle tables
too, as zeros; whatever counts something that went wrong has no point where nothing did; gauges come every five minutes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deploy.demo.emulator.clock import MINUTE, minute_of
from deploy.demo.emulator.minutes import Resource, SeriesName, Stat, dimensions_of
from deploy.demo.emulator.standing import GAUGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deploy.demo.emulator.clock import Clock
    from deploy.demo.emulator.minutes import Minutes, Place
    from deploy.demo.emulator.standing import Standing

__all__ = ["ACCOUNT_LIMITS", "Series"]

_CONSUMED = ("ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits")
_GAUGE_SECONDS = 300
ACCOUNT_LIMITS = {
    "AccountMaxReads": 80_000.0,
    "AccountMaxWrites": 80_000.0,
    "AccountMaxTableLevelReads": 40_000.0,
    "AccountMaxTableLevelWrites": 40_000.0,
}
"""Metric to the default quota. Source: Developer Guide, "Service quotas", read 2026-11-30."""
_UTILIZATIONS = {
    "AccountProvisionedReadCapacityUtilization": ("ProvisionedReadCapacityUnits", "AccountMaxReads", True),
    "AccountProvisionedWriteCapacityUtilization": ("ProvisionedWriteCapacityUnits", "AccountMaxWrites", True),
    "MaxProvisionedTableReadCapacityUtilization": ("ProvisionedReadCapacityUnits", "AccountMaxTableLevelReads", False),
    "MaxProvisionedTableWriteCapacityUtilization": (
        "ProvisionedWriteCapacityUnits",
        "AccountMaxTableLevelWrites",
        False,
    ),
}
"""Metric to the gauge and the quota that it divides, and whether it adds up all resources or takes the largest."""


class Series:
    """All series of all places."""

    def __init__(self, minutes: Minutes, standing: Standing, clock: Clock) -> None:
        self._minutes = minutes
        self._standing = standing
        self._clock = clock

    def read(self, name: SeriesName, start: int, end: int) -> Iterator[tuple[int, Stat]]:
        """Yield the minutes of a series between two minutes, the end not included, in order."""
        told = self._minutes.series.get(name)
        if told is None or name.metric in _CONSUMED:
            yield from self._standing_points(name, told or {}, start, min(end, minute_of(self._clock.now()) + MINUTE))
        elif (end - start) // MINUTE > len(told):
            yield from ((minute, told[minute]) for minute in sorted(told) if start <= minute < end)
        else:
            yield from ((minute, told[minute]) for minute in range(start, end, MINUTE) if minute in told)

    def _standing_points(
        self, name: SeriesName, told: dict[int, Stat], start: int, end: int
    ) -> Iterator[tuple[int, Stat]]:
        resource = _resource(name)
        if name.metric in _CONSUMED:
            since, until = self._span(resource) if resource is not None else (math.inf, -math.inf)
            there = range(minute_of(max(start, since)), int(min(end, until)), MINUTE) if since < end else range(0)
            spoken = {minute for minute in told if start <= minute < end}
            yield from ((minute, told.get(minute, _ZERO)) for minute in sorted(spoken.union(there)))
            return
        for minute in range(-(-start // _GAUGE_SECONDS) * _GAUGE_SECONDS, end, _GAUGE_SECONDS):
            value = self._gauge(name, resource, minute)
            if value is not None:
                yield minute, _one(value)

    def _span(self, resource: Resource) -> tuple[float, float]:
        since, until = self._standing.span(resource) or (math.inf, -math.inf)
        return min(since, self._minutes.first.get(resource, since)), until

    def _gauge(self, name: SeriesName, resource: Resource | None, minute: int) -> float | None:
        if resource is not None and name.metric in GAUGES:
            since, until = self._span(resource)
            return self._standing.limit(resource, name.metric, minute) if since <= minute < until else None
        if name.dimensions:
            return None
        if name.metric in _UTILIZATIONS:
            gauge, most, is_sum = _UTILIZATIONS[name.metric]
            found = [self._standing.limit(each, gauge, minute) for each in self._standing.resources(name.place)]
            units = [each for each in found if each is not None]
            return 100 * (sum(units) if is_sum else max(units)) / ACCOUNT_LIMITS[most] if units else None
        return ACCOUNT_LIMITS.get(name.metric)

    def names(self, place: Place) -> set[SeriesName]:
        """Return all series of a place that have points."""
        names = set(self._minutes.names(place))
        for resource in self._standing.resources(place):
            named = dimensions_of(resource.table, resource.index)
            names |= {SeriesName(place, metric, named) for metric in _CONSUMED}
            names |= {
                SeriesName(place, metric, named)
                for metric in GAUGES
                if self._standing.limit(resource, metric, self._clock.now()) is not None
            }
        return names | {SeriesName(place, metric, ()) for metric in ACCOUNT_LIMITS}


def _resource(name: SeriesName) -> Resource | None:
    dimensions = dict(name.dimensions)
    table, index = dimensions.pop("TableName", None), dimensions.pop("GlobalSecondaryIndexName", None)
    return None if table is None or dimensions else Resource(name.place, table, index)


def _one(value: float) -> Stat:
    stat = Stat()
    stat.add(value)
    return stat


_ZERO = _one(0.0)
