"""What stands rather than happens: which tables and indexes there are, since when, and with what limits.

Gauges (provisioned capacity, on-demand maxima, account quotas) and the zeros of idle tables come from here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deploy.demo.emulator.minutes import Resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.store import Limits, Table

__all__ = ["GAUGES", "Standing"]

GAUGES = {
    "ProvisionedReadCapacityUnits": "provisioned_read",
    "ProvisionedWriteCapacityUnits": "provisioned_write",
    "OnDemandMaxReadRequestUnits": "maximum_read",
    "OnDemandMaxWriteRequestUnits": "maximum_write",
}
"""Metric to the limit that it publishes."""


class Standing:
    """Limits of resources through time."""

    def __init__(self) -> None:
        self._limits: dict[Resource, list[tuple[float, Limits]]] = {}
        self._gone: dict[Resource, float] = {}

    def learn(self, table: Table, at: float) -> None:
        """Take what a table and its indexes have from now on."""
        found = {Resource(table.place, table.name): table.base.schema.limits}
        for view in table.views():
            if not view.schema.is_local:
                found[Resource(table.place, table.name, view.schema.name)] = view.schema.limits
        for resource, limits in found.items():
            self._gone.pop(resource, None)
            known = self._limits.setdefault(resource, [])
            if not known or known[-1][1] != limits:
                known.append((at, limits))
        for resource in self._of(table.place, table.name):
            if resource not in found:
                self._gone.setdefault(resource, at)

    def forget(self, place: Place, table: str, at: float) -> None:
        """Take a table and its indexes as gone from now on."""
        for resource in self._of(place, table):
            self._gone.setdefault(resource, at)

    def go_back(self, at: float) -> None:
        """Take what was learnt later than a time as learnt at that time."""
        for known in self._limits.values():
            known[:] = [(min(since, at), limits) for since, limits in known]

    def _of(self, place: Place, table: str) -> list[Resource]:
        return [each for each in self._limits if (each.place, each.table) == (place, table)]

    def resources(self, place: Place) -> Iterator[Resource]:
        """Yield the tables and indexes of a place, also those that are gone."""
        yield from (resource for resource in self._limits if resource.place == place)

    def span(self, resource: Resource) -> tuple[float, float] | None:
        """Return since when a resource is there and until when; None where it never was."""
        known = self._limits.get(resource)
        return None if known is None else (known[0][0], self._gone.get(resource, math.inf))

    def limit(self, resource: Resource, metric: str, at: float) -> float | None:
        """Return the limit that a gauge published; before anything was known, the first that was."""
        known = self._limits.get(resource)
        if not known:
            return None
        held = known[0][1]
        for since, limits in known:
            if since <= at:
                held = limits
        value: float | None = getattr(held, GAUGES[metric])
        return value
