"""How an index keeps up with its table: the lag with its bounds, what it refused, what it is allowed to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.target import Target
from analyzer.traffic.gsi_lag import Lag, estimate_lag
from analyzer.traffic.lag_pairs import lag_pairs, probe_pairs
from analyzer.traffic.measure import units_a_second

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["IndexStrip", "Refusing", "index_strip"]

SKEW_MS = 10
"""By how much the clocks of writers and readers may differ; the detector gsi-lag assumes the same."""

_HINT = (
    "No read was seen that tells how far this index is behind. It takes a log that tells which keys a read got, and "
    "every write of the same items; or dynascope canary, which measures it with items of its own."
)


class Refusing(Struct, frozen=True):
    """Throttled tries (of metrics: events) at an index."""

    direction: Direction
    cause: str
    tries: float


class IndexStrip(Struct, frozen=True, kw_only=True):
    """One index; `lag` is None where nothing tells it, `hint` then says how to see it."""

    target: Target
    lag: Lag | None
    hint: str | None
    tolerance_seconds: float | None
    throttles: tuple[Refusing, ...]
    write_units_a_second: float | None
    write_limit: float | None


def index_strip(traffic: Traffic) -> IndexStrip:
    """Return what is known of an index."""
    lag = estimate_lag((*lag_pairs(traffic, SKEW_MS), *probe_pairs(traffic.probes)))
    told = [Refusing(one.direction, one.cause, one.tries.value) for one in traffic.throttles]
    told = told or [Refusing(one.direction, one.cause, one.events) for one in traffic.metric_throttles]
    return IndexStrip(
        target=traffic.target,
        lag=lag,
        hint=_HINT if lag is None else None,
        tolerance_seconds=traffic.place.staleness_tolerance_seconds,
        throttles=tuple(told),
        write_units_a_second=units_a_second(traffic, Direction.WRITE),
        write_limit=traffic.place.capacity.write_units,
    )
