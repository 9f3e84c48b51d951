"""Questions that several detectors ask of one target's traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, Victim
from analyzer.model.sight import Sight
from analyzer.traffic.series import mean_a_second, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = [
    "add",
    "busiest_caller",
    "direction_units",
    "evidence_of",
    "evidence_where",
    "row_units",
    "tells_units",
    "total_units",
    "units_a_second",
    "victims_of",
]


def add(estimates: Iterable[Estimate]) -> Estimate:
    """Add independent estimates: the distances to their bounds add as squares."""
    value = below = above = 0.0
    for estimate in estimates:
        value += estimate.value
        below += (estimate.value - estimate.low) ** 2
        above += (estimate.high - estimate.value) ** 2
    return Estimate(value, value - below**0.5, value + above**0.5)


def row_units(row: PatternTraffic, direction: Direction) -> Estimate:
    """Return the units of one row in one direction."""
    return row.read_units if direction is Direction.READ else row.write_units


def direction_units(traffic: Traffic, direction: Direction) -> float:
    """Return the units that a target served in one direction."""
    return sum(row_units(row, direction).value for row in traffic.rows)


def units_a_second(traffic: Traffic, direction: Direction) -> float | None:
    """Return what was consumed, by CloudWatch or else by the log; None where neither tells units."""
    told = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
    rate = mean_a_second(told, traffic.window)
    if rate is not None or Sight.REQUEST_UNITS not in traffic.sights or not traffic.window.seconds:
        return rate
    return direction_units(traffic, direction) / traffic.window.seconds


def tells_units(traffic: Traffic) -> bool:
    """Whether any request of a target told its units: where none did, none were counted, and not none consumed."""
    return any(row.units_known or row.secondary for row in traffic.rows)


def total_units(row: PatternTraffic) -> float:
    """Return read and write units of a row together."""
    return row.read_units.value + row.write_units.value


def busiest_caller(rows: Iterable[PatternTraffic], direction: Direction | None = None) -> str | None:
    """Return the caller with the most units (requests where units are not known), None where it is not known."""
    weights: dict[str | None, tuple[float, float]] = {}
    for row in rows:
        units = total_units(row) if direction is None else row_units(row, direction).value
        before = weights.get(row.caller, (0.0, 0.0))
        weights[row.caller] = (before[0] + units, before[1] + row.requests.value)
    return max(weights, key=lambda caller: (weights[caller], caller or ""), default=None)


def victims_of(traffic: Traffic, direction: Direction | None = None) -> tuple[Victim, ...]:
    """Return whose calls the limits of a target refused, the most hurt first."""
    hurt: dict[Victim, float] = {}
    for throttles in traffic.throttles:
        if direction is not None and throttles.direction is not direction:
            continue
        for one in throttles.hurt:
            victim = Victim(one.caller, one.pattern)
            hurt[victim] = hurt.get(victim, 0.0) + one.tries
    return tuple(sorted(hurt, key=lambda victim: -hurt[victim]))


def evidence_of(**estimates: Estimate) -> dict[str, float | str | None]:
    """Write estimates as evidence: a counted number alone, an estimated one with its bounds beside it."""
    evidence: dict[str, float | str | None] = {}
    for name, estimate in estimates.items():
        evidence[name] = _rounded(estimate.value)
        if not estimate.is_exact:
            evidence[f"{name}_low"] = _rounded(estimate.low)
            evidence[f"{name}_high"] = _rounded(estimate.high)
    return evidence


def _rounded(value: float) -> float:
    """Keep three decimals, of a share five."""
    return round(value, 3 if abs(value) >= 1 else 5)


def evidence_where(known: bool, **estimates: Estimate) -> dict[str, float | str | None]:  # noqa: FBT001 -- read as a word
    """Write estimates as evidence where they are known, and as unknown where they are not."""
    return evidence_of(**estimates) if known else dict.fromkeys(estimates)
