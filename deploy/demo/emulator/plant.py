"""A planted history: what a test says was served, written with the meter's verbs, so that all answers agree on it.

Times are milliseconds since the epoch; amounts are for each minute.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct, field

from deploy.demo.emulator.clock import MINUTE, minute_of
from deploy.demo.emulator.meter import is_blind
from deploy.demo.emulator.minutes import Resource

if TYPE_CHECKING:
    from deploy.demo.emulator.meter import Meter
    from deploy.demo.emulator.minutes import Key

__all__ = ["Metric", "Planting", "Traffic", "plant"]

_ACCOUNT = "123456789012"
_REGION = "us-east-1"
_MILLISECONDS = 5.0


class Traffic(Struct, forbid_unknown_fields=True, kw_only=True):
    """Requests of one key, or of no key in particular, on a table or index: the same in every minute."""

    table: str
    at: int
    index: str | None = None
    minutes: int = 1
    key: str | None = None
    sort: str | None = None
    reads: float = 0.0
    """Read units a minute."""
    writes: float = 0.0
    """Write units a minute."""
    requests: float = 1.0
    """Requests a minute that share those units."""
    operation: str | None = None
    """Whose latency, returned items and throttled requests are counted; None counts none."""
    milliseconds: float = _MILLISECONDS
    items: float | None = None
    """Items returned by each request."""
    throttles: float = 0.0
    """Throttle events a minute, each with all of `reasons`."""
    reasons: tuple[str, ...] = ()
    source: str | None = None
    """`Customer` or `GlobalTable`: counted in the series of that source too, as writes of global tables are."""
    is_partiql: bool = False
    """Metrics count it, Contributor Insights does not."""
    account: str = _ACCOUNT
    region: str = _REGION


class Metric(Struct, forbid_unknown_fields=True, kw_only=True):
    """Values of one metric with exactly these dimensions."""

    metric: str
    at: int
    value: float
    dimensions: dict[str, str] = field(default_factory=dict)
    minutes: int = 1
    times: float = 1.0
    """How many samples of the value each minute has."""
    account: str = _ACCOUNT
    region: str = _REGION


class Planting(Struct, forbid_unknown_fields=True, kw_only=True):
    """What is planted at once."""

    traffic: tuple[Traffic, ...] = ()
    metrics: tuple[Metric, ...] = ()


def plant(planting: Planting, meter: Meter) -> None:
    """Write a planting; raises ValueError where a reason is none."""
    for traffic in planting.traffic:
        for minute in _minutes(traffic.at, traffic.minutes):
            _plant_traffic(traffic, minute, meter)
    for metric in planting.metrics:
        named = tuple(sorted(metric.dimensions.items()))
        for minute in _minutes(metric.at, metric.minutes):
            place = (metric.account, metric.region)
            meter.minutes.count(place, metric.metric, named, minute, metric.value, metric.times)


def _minutes(at: int, minutes: int) -> range:
    first = minute_of(at / 1000)
    return range(first, first + minutes * MINUTE, MINUTE)


def _plant_traffic(traffic: Traffic, minute: int, meter: Meter) -> None:
    resource = Resource((traffic.account, traffic.region), traffic.table, traffic.index)
    meter.minutes.see(resource, minute)
    if traffic.index is not None:
        meter.minutes.see(replace(resource, index=None), minute)
    keys: list[Key] = []
    if traffic.key is not None and not traffic.is_partiql:
        keys = [(traffic.key,)] if traffic.sort is None else [(traffic.key,), (traffic.key, traffic.sort)]
    for direction, units in (("read", traffic.reads), ("write", traffic.writes)):
        if units:
            meter.consume(resource, minute, direction, units, traffic.requests)
            if traffic.source is not None:
                meter.consume(resource, minute, direction, units, traffic.requests, Source=traffic.source)
            for key in keys:
                meter.touch(resource, minute, key, direction, units)
    if traffic.operation is not None and (traffic.reads or traffic.writes):
        _plant_answers(traffic, resource, minute, meter)
    if traffic.throttles:
        _plant_throttles(traffic, resource, minute, meter, keys)


def _plant_answers(traffic: Traffic, resource: Resource, minute: int, meter: Meter) -> None:
    place, tables, operation = resource.place, [traffic.table], str(traffic.operation)
    for metric, value in (("SuccessfulRequestLatency", traffic.milliseconds), ("ReturnedItemCount", traffic.items)):
        if value is not None:
            meter.answer(place, minute, tables, operation, metric, value, traffic.requests)


def _plant_throttles(traffic: Traffic, resource: Resource, minute: int, meter: Meter, keys: list[Key]) -> None:
    meter.refuse(resource, minute, traffic.reasons, traffic.throttles)
    direction = "write" if any("Write" in reason for reason in traffic.reasons) else "read"
    if not is_blind(traffic.index, direction):
        for key in keys:
            meter.accuse(resource, minute, key, traffic.throttles)
    if traffic.operation is not None:
        tables, name = [traffic.table], traffic.operation
        meter.answer(resource.place, minute, tables, name, "ThrottledRequests", 1.0, traffic.throttles)
