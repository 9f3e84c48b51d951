"""Strong reads where eventual ones would do: they cost twice the units, and are served by one node of three."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.money import cost_of
from analyzer.detectors.reading import declared_of
from analyzer.detectors.thresholds import Positive, Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, number, who
from analyzer.model.estimate import ZERO
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.begun import began
from analyzer.traffic.guards import guarding_share
from analyzer.traffic.measure import add, busiest_caller, evidence_where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["StrongReadCost"]


class StrongReadCost(Struct, frozen=True):
    """Judges strong reads of patterns that are declared eventual, and strong Scans that are not declared strong."""

    least_units: Positive = 100.0
    guarding_share: Share = 0.1

    name: ClassVar[str] = "strong-read-cost"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.REQUEST_UNITS, Sight.REQUEST_SEQUENCES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a pattern, or shape where none is declared; leases and locks have a reason."""
        if traffic.place.library is not None:
            return
        groups: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.shape.consistent is True and row.failed.value < row.requests.value and _would_do(row, traffic):
                groups.setdefault(row.attribution.pattern or row.shape.fingerprint, []).append(row)
        for subject, rows in groups.items():
            units = add(row.read_units for row in rows)
            is_told = any(row.units_known for row in rows)
            shapes = frozenset(row.shape.fingerprint for row in rows)
            if is_told and units.value < self.least_units:
                continue
            if traffic.calls is None or guarding_share(traffic.calls, traffic.target, shapes) < self.guarding_share:
                yield self._finding(subject, rows, traffic, is_told=is_told)

    def _finding(self, subject: str, rows: list[PatternTraffic], traffic: Traffic, *, is_told: bool) -> Finding:
        shape, caller = rows[0].shape, busiest_caller(rows)
        declared = declared_of(rows[0], traffic)
        units = add(row.read_units for row in rows)
        saving = cost_of(units.value / 2, traffic, Direction.READ)
        is_eventual = declared is not None and declared.consistency == "eventual"
        said = f"although pattern {rows[0].attribution.pattern} is declared eventual"
        reason = said if is_eventual else "and no pattern says that it has to"
        is_followed = Sight.REQUEST_SEQUENCES in traffic.sights or shape.scans
        paid = f"{between(units)} read units, half of them for nothing" if is_told else "twice the units"
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"{who(caller)} reads {traffic.target} strongly by {shape.operation}, {reason}: {paid}",
            confidence=Confidence.CERTAIN if is_eventual and is_followed else Confidence.LIKELY,
            because=None
            if is_eventual and is_followed
            else "whoever copies a table may need what was just written"
            if is_followed
            else "whether a conditional write follows is not visible",
            subject=subject,
            fingerprint=shape.fingerprint,
            caller=caller,
            pattern=rows[0].attribution.pattern,
            direction=Direction.READ,
            first_seen=began(rows, traffic),
            evidence={
                **evidence_where(is_told, read_units=units if is_told else ZERO),
                "saving_percent": 50,
                "saving_per_month_usd": round(saving.dollars, 2) if is_told else None,
                "declared_consistency": None if declared is None else declared.consistency,
                "requests": round(sum(row.requests.value for row in rows), 1),
                "price": saving.basis if is_told else None,
            },
            cost_per_month_usd=round(saving.dollars, 2) if is_told else None,
            advice=(
                ask_owner(
                    caller,
                    "whether it relies on what was written a moment before",
                    "tells whether eventual reads will do",
                ),
                advise(
                    "read-eventually",
                    f"Drop ConsistentRead from this {shape.operation}: eventual reads are seldom a second old",
                    effect=f"saves {number(round(saving.dollars, 2))} dollars a month" if is_told else "half the units",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                    snippet=f"table.{_METHODS.get(shape.operation, 'query')}(..., ConsistentRead=False)",
                ),
                advise(
                    "update-declaration" if declared is not None else "declare-pattern",
                    "If it needs what was just written, declare it: consistency: strong",
                    effect="it is then no longer told",
                    snippet="consistency: strong",
                ),
            ),
        )


_METHODS = {"GetItem": "get_item", "Scan": "scan", "Query": "query", "BatchGetItem": "batch_get_item"}


def _would_do(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether nothing asks for a strong read: the contract says eventual, or it is a Scan not declared strong."""
    declared = declared_of(row, traffic)
    said = None if declared is None else declared.consistency
    if said is not None:
        return said == "eventual"
    return row.shape.scans and not row.attribution.candidates
