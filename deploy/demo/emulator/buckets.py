"""Token buckets at DynamoDB's ceilings: who asks for more is refused, with the reason and the resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.knowledge.limits import READ_UNITS_A_PARTITION, WRITE_UNITS_A_PARTITION
from analyzer.knowledge.throttling import limit_of
from deploy.demo.emulator.refusal import ThrottleReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.store import Limits, Table

__all__ = ["BURST_SECONDS", "Buckets"]

BURST_SECONDS = 1.0
"""Unused capacity that a bucket keeps. AWS may keep up to 300 s and guarantees none; a demo must not wait for it."""

_SWEEP_AT = 20_000
_WHOLE = ("the whole of a table",)
"""In place of a partition key."""


@dataclass(slots=True)
class _Bucket:
    rate: float
    tokens: float
    filled_at: float

    def fill(self, now: float) -> None:
        most = self.rate * BURST_SECONDS
        self.tokens = min(most, self.tokens + (now - self.filled_at) * self.rate)
        self.filled_at = now

    def admits(self, units: float) -> bool:
        """Whether so much may pass: more than a full bucket holds passes when the bucket is full, and is paid off."""
        return self.tokens >= min(units, self.rate * BURST_SECONDS)


class Buckets:
    """All buckets: one for each partition key of each table and GSI and direction, and one for each stated limit."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[object, ...], _Bucket] = {}
        self._squeezed: dict[ThrottleReason, int] = {}
        self._warm: dict[tuple[str, str], float] = {}

    def warm(self, table: Table, units: Mapping[str, Any]) -> None:
        """Serve no more of a table on demand than it is warm for; its refusals are those of full partitions.

        Source: Developer Guide, "DynamoDB on-demand capacity mode", read 2026-11-30. AWS makes more partitions within
        minutes; here it stays so until it is told otherwise.
        """
        for direction in ("read", "write"):
            rate = units.get(f"{direction.capitalize()}UnitsPerSecond")
            if rate:
                self._warm[table.resource(None), direction] = float(rate)

    def squeeze(self, reason: ThrottleReason, times: int) -> None:
        """Refuse so many calls for a reason, whatever the buckets hold: also for limits that have no bucket here.

        Raises ValueError where the reason is none of the sixteen.
        """
        if limit_of(reason.reason) is None:
            raise ValueError(f"{reason.reason} is none of the sixteen reasons")
        self._squeezed[reason] = times

    def _strike(self, charges: Iterable[Charge]) -> tuple[ThrottleReason, ...]:
        hit = {(charge.table.resource(charge.resource), charge.direction) for charge in charges}
        found = tuple(each for each in self._squeezed if (each.resource, _direction(each)) in hit)
        for reason in found:
            self._squeezed[reason] -= 1
            if not self._squeezed[reason]:
                del self._squeezed[reason]
        return found

    def refusals(self, charges: Iterable[Charge], now: float) -> tuple[ThrottleReason, ...]:
        """Return why these charges cannot be taken now; empty where they can. Takes nothing."""
        if self._squeezed:
            charges = list(charges)
            struck = self._strike(charges)
            if struck:
                return struck
        demands: dict[tuple[object, ...], tuple[_Bucket, float, ThrottleReason]] = {}
        for charge in charges:
            for bucket, name, reason in self._of(charge, now):
                demands[name] = (bucket, demands[name][1] + charge.units if name in demands else charge.units, reason)
        return tuple(dict.fromkeys(reason for bucket, units, reason in demands.values() if not bucket.admits(units)))

    def take(self, charges: Iterable[Charge], now: float) -> None:
        """Take what was admitted, or what is charged whatever the bucket holds."""
        for charge in charges:
            for bucket, _, _ in self._of(charge, now):
                bucket.tokens -= charge.units

    def _of(self, charge: Charge, now: float) -> Iterator[tuple[_Bucket, tuple[object, ...], ThrottleReason]]:
        index, direction = charge.resource, charge.direction
        view = charge.table.base if index is None else charge.table.indexes[index]
        place = ("Table" if index is None else "Index") + ("Read" if direction == "read" else "Write")
        resource = charge.table.resource(index)
        ceiling = READ_UNITS_A_PARTITION if direction == "read" else WRITE_UNITS_A_PARTITION
        limits = [("KeyRangeThroughputExceeded", charge.partition, float(ceiling))]
        limits += [(suffix, (), rate) for suffix, rate in _stated(view.schema.limits, direction)]
        is_on_demand = view.schema.limits.provisioned_write is None
        if is_on_demand and (resource, direction) in self._warm:
            limits.append(("KeyRangeThroughputExceeded", _WHOLE, self._warm[resource, direction]))
        for suffix, key, rate in limits:
            name = (resource, direction, suffix, key)
            yield self._bucket(name, rate, now), name, ThrottleReason(place + suffix, resource)

    def _bucket(self, name: tuple[object, ...], rate: float, now: float) -> _Bucket:
        bucket = self._buckets.get(name)
        if bucket is None or bucket.rate != rate:
            self._sweep(now)
            bucket = self._buckets[name] = _Bucket(rate, rate * BURST_SECONDS, now)
        bucket.fill(now)
        return bucket

    def _sweep(self, now: float) -> None:
        """Forget full buckets: a new one would be the same."""
        if len(self._buckets) < _SWEEP_AT:
            return
        for bucket in self._buckets.values():
            bucket.fill(now)
        self._buckets = {k: b for k, b in self._buckets.items() if b.tokens < b.rate * BURST_SECONDS}


def _direction(reason: ThrottleReason) -> str:
    return "read" if "Read" in reason.reason else "write"


def _stated(limits: Limits, direction: str) -> Iterator[tuple[str, float]]:
    is_read = direction == "read"
    provisioned = limits.provisioned_read if is_read else limits.provisioned_write
    most = limits.maximum_read if is_read else limits.maximum_write
    if provisioned is not None:
        yield "ProvisionedThroughputExceeded", provisioned
    if most is not None:
        yield "MaxOnDemandThroughputExceeded", most
