"""A Scan that a pattern declares: nothing is wrong, but it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.verdict import finding
from analyzer.detectors.words import UNITS_UNKNOWN, between, counted, who
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller, evidence_of, evidence_where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["DeclaredScan"]


class DeclaredScan(Struct, frozen=True):
    """Tells each declared Scan that ran."""

    name: ClassVar[str] = "declared-scan"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS, Sight.CONTRACT}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a declared Scan."""
        patterns: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            attribution = row.attribution
            if row.shape.scans and attribution.kind is AttributionKind.DECLARED and attribution.pattern is not None:
                patterns.setdefault(attribution.pattern, []).append(row)
        for pattern, rows in patterns.items():
            yield _finding(self.name, pattern, rows, traffic)


def _finding(detector: str, pattern: str, rows: list[PatternTraffic], traffic: Traffic) -> Finding:
    calls = add(row.requests for row in rows)
    units = add(row.read_units for row in rows)
    caller = busiest_caller(rows)
    known = any(row.units_known for row in rows)
    cost = f"{between(units)} read units" if known else UNITS_UNKNOWN
    return finding(
        detector,
        traffic,
        Severity.LOW,
        f"the declared Scan {pattern} of {traffic.target} ran: {counted(calls, 'call')} of {who(caller)}, {cost}",
        subject=pattern,
        pattern=pattern,
        fingerprint=rows[0].shape.fingerprint,
        caller=caller,
        direction=Direction.READ,
        evidence={**evidence_of(requests=calls), **evidence_where(known, read_units=units)},
    )
