"""What the detectors of reads reckon alike: shares, the declaration of a row, the key of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.writing import key_named
from analyzer.model.finding import Direction
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import direction_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.finding import KeyShown
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import Declared, PatternTraffic, Traffic
    from analyzer.traffic.limits_hit import LimitHit

__all__ = [
    "declared_of",
    "one_key",
    "read_refusals",
    "rows_of_shape",
    "share_of_reads",
]


def share_of_reads(units: float, traffic: Traffic) -> float:
    """Return which part of the read units that requests tell of these are: all at most, where no row shows them."""
    return units / max(direction_units(traffic, Direction.READ), units) if units else 0.0


def declared_of(row: PatternTraffic | None, traffic: Traffic) -> Declared | None:
    """Return the declaration of a row's pattern, None where it has none."""
    return None if row is None else traffic.place.patterns.get(row.attribution.pattern or "")


def rows_of_shape(traffic: Traffic, shape: Shape, caller: str | None) -> list[PatternTraffic]:
    """Return the rows of a caller and a shape, whatever its limit."""
    return [
        row
        for row in traffic.rows
        if row.caller == caller
        and (row.shape.fingerprint == shape.fingerprint or _without_limit(row.shape) == _without_limit(shape))
    ]


def _without_limit(shape: Shape) -> tuple[object, ...]:
    return (shape.operation, shape.index, shape.key, shape.filter, shape.projection, shape.statement, shape.select)


def one_key(calls: Iterable[Call], traffic: Traffic) -> KeyShown | None:
    """Return the key of calls that all asked for the same one."""
    by_key = {call.key: call for call in calls}
    if len(by_key) != 1:
        return None
    ((key, call),) = by_key.items()
    return None if key is None else key_named(key, call.shape, traffic)


def read_refusals(traffic: Traffic) -> list[LimitHit]:
    """Return the limits of the whole target that refused reads: not those of one key's partition."""
    return [hit for hit in limits_hit(traffic) if hit.direction is Direction.READ and hit.cause != "key-range"]
