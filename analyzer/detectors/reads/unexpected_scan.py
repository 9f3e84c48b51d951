"""A Scan, or a PartiQL statement that DynamoDB runs as one, that nobody declared.

A Scan pays for every item of its table whatever it returns, and its price grows with the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, counted, number, percent, who
from analyzer.knowledge.prices import read_cost
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller, direction_units, evidence_of, evidence_where, victims_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["UnexpectedScan"]


class UnexpectedScan(Struct, frozen=True):
    """Judges each undeclared scanning shape by the harm it does, then by its money."""

    high_share: Share = 0.5
    high_capacity_share: Share = 0.1
    high_dollars: Positive = 20.0
    low_dollars: Positive = 5.0

    name: ClassVar[str] = "unexpected-scan"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.REQUEST_UNITS, Sight.REQUEST_FILTERS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a scanning shape, whoever sends it; one that was always refused has scanned nothing."""
        shapes: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if (
                row.shape.scans
                and row.attribution.kind is not AttributionKind.DECLARED
                and not row.attribution.candidates
            ):
                shapes.setdefault(row.shape.fingerprint, []).append(row)
        for rows in shapes.values():
            if any(row.requests.value > row.failed.value for row in rows) or any(row.throttled.value for row in rows):
                yield self._finding(rows, traffic)

    def _finding(self, rows: list[PatternTraffic], traffic: Traffic) -> Finding:
        units = add(row.read_units for row in rows)
        known = any(row.units_known for row in rows)
        cost = read_cost(units.value / max(traffic.window.seconds, 1), traffic.place.capacity.billing_mode)
        dollars = cost.dollars if known else None
        share = units.value / max(direction_units(traffic, Direction.READ), 1e-9) if known else None
        severity, why = self._severity(rows, traffic, units, share, dollars)
        caller = busiest_caller(rows)
        shape = rows[0].shape
        calls = add(row.requests for row in rows)
        scanned, returned = add(row.scanned for row in rows), add(row.returned for row in rows)
        declared = Sight.CONTRACT in traffic.sights
        return finding(
            self.name,
            traffic,
            severity,
            _summary(traffic, caller, calls, units if known else None, share),
            confidence=Confidence.CERTAIN if declared else Confidence.LIKELY,
            because=why if declared else f"{why}; no contract declares this table, so it may be meant",
            subject=shape.fingerprint,
            fingerprint=shape.fingerprint,
            caller=caller,
            victims=victims_of(traffic, Direction.READ) if severity is Severity.CRITICAL else (),
            direction=Direction.READ,
            evidence={
                **evidence_of(requests=calls),
                **evidence_where(known, read_units=units),
                "share_of_read_units": None if share is None else round(share, 4),
                **evidence_where(any(row.counts_known for row in rows), items_scanned=scanned, items_returned=returned),
                "filter_attributes": ", ".join(shape.filter_attributes) or "none",
                "operation": shape.operation,
                "price": cost.basis if known else None,
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=tuple(_advice(rows, traffic, caller)),
        )

    def _severity(
        self,
        rows: list[PatternTraffic],
        traffic: Traffic,
        units: Estimate,
        share: float | None,
        dollars: float | None,
    ) -> tuple[Severity, str]:
        own = {row.caller for row in rows}
        shared = (t for t in traffic.throttles if t.direction is Direction.READ and t.cause != "key-range")
        hurts = any(one.caller not in own for t in shared for one in t.hurt)
        if hurts and share is not None and share >= self.high_share:
            return Severity.CRITICAL, "others are throttled while it takes most of the read units"
        if any(row.throttled.value for row in rows):
            return Severity.HIGH, "it is throttled itself"
        if share is not None and share >= self.high_share and self._is_dear(traffic, units, dollars):
            return Severity.HIGH, f"it takes {percent(share)} of the read units"
        if dollars is not None and dollars < self.low_dollars:
            return Severity.LOW, f"it costs under {number(self.low_dollars)} dollars a month and harms nobody"
        return Severity.MEDIUM, "nobody declared it"

    def _is_dear(self, traffic: Traffic, units: Estimate, dollars: float | None) -> bool:
        capacity = traffic.place.capacity
        if capacity.billing_mode == "PROVISIONED" and capacity.read_units:
            a_second = units.value / max(traffic.window.seconds, 1)
            return a_second >= self.high_capacity_share * capacity.read_units
        return dollars is not None and dollars >= self.high_dollars


def _summary(traffic: Traffic, caller: str | None, calls: Estimate, units: Estimate | None, share: float | None) -> str:
    cost = "units unknown" if units is None or share is None else f"{between(units)} read units ({percent(share)})"
    return f"{who(caller)} scans {traffic.target}: {counted(calls, 'call')}, {cost}, and no pattern declares it"


def _advice(rows: list[PatternTraffic], traffic: Traffic, caller: str | None) -> Iterator[Advice]:
    shape = rows[0].shape
    filtered = shape.filter_attributes
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(caller)} whether the Scan is meant, and stop it if not",
        effect="its read units are free again at once",
        takes="minutes",
    )
    served = [name for name in traffic.place.index_keys if set(traffic.place.index_keys[name]) & set(filtered)]
    if served:
        yield advise(
            "query-instead-of-scan",
            f"Query index {served[0]}: it is keyed by {', '.join(traffic.place.index_keys[served[0]])}",
            effect="reads only the items that are wanted",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'table.query(IndexName="{served[0]}", KeyConditionExpression=Key("{filtered[0]}").eq(value))',
        )
    elif filtered:
        yield advise(
            "add-index",
            f"Serve it from an index keyed by {filtered[0]}, then Query that",
            effect="reads only the items that are wanted",
            risk=Risk.LOW,
            reversible=True,
            takes="an index build",
        )
    else:
        yield advise(
            "use-export",
            "Export the table to S3 and read it there",
            effect="takes no read units of the table",
            reversible=True,
            takes="minutes to hours, by table size",
        )
    yield advise(
        "declare-pattern",
        "If it is meant, declare it: who, why, when and how fast",
        effect="it is then watched against its own declaration",
        snippet=_declaration(caller),
    )


def _declaration(caller: str | None) -> str:
    return (
        "- id: name-it\n"
        "  operation: Scan\n"
        "  purpose: export        # operational | migration | export | repair | admin\n"
        f"  callers: [{caller or 'who-calls'}]\n"
        '  schedule: "0 2 * * *"\n'
        "  max_units_per_second: 200"
    )
