"""Traffic that matches no declaration: a new feature that nobody wrote down, or a bad deploy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.money import dollars_of
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, percent, who
from analyzer.model.finding import Advice, Finding, Severity
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.statistics.rates import count_bounds
from analyzer.traffic.measure import add, busiest_caller, evidence_of, total_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.estimate import Estimate
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["UndeclaredPattern"]

_BURST_SECONDS = 600


class UndeclaredPattern(Struct, frozen=True):
    """Judges each undeclared shape by its volume; Scans have a detector of their own."""

    least_requests: Whole = 20
    least_hours: Whole = 2
    units_share: Share = 0.05
    burst_requests: Whole = 1000
    low_dollars: Positive = 5.0

    name: ClassVar[str] = "undeclared-pattern"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS, Sight.CONTRACT}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_UNITS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape with more than ad-hoc volume."""
        shapes: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.attribution.kind is AttributionKind.UNDECLARED and not row.shape.scans and not row.secondary:
                shapes.setdefault(row.shape.fingerprint, []).append(row)
        whole = sum(total_units(row) for row in traffic.rows)
        for fingerprint, rows in shapes.items():
            calls = add(row.requests for row in rows)
            if all(row.failed.value >= row.requests.value for row in rows):
                continue
            share = sum(total_units(row) for row in rows) / whole if whole else 0.0
            if self._is_more_than_ad_hoc(fingerprint, calls, share, traffic):
                yield self._finding(rows, calls, share, traffic)

    def _is_more_than_ad_hoc(self, fingerprint: str, calls: Estimate, share: float, traffic: Traffic) -> bool:
        is_few = calls.value < self.least_requests
        certain = share * count_bounds(calls.value).low / calls.value if is_few else share
        if certain >= self.units_share and _asked(traffic) >= self.least_requests:
            return True
        is_lasting = traffic.hours.get(fingerprint, 0) >= self.least_hours
        if is_few:
            return is_lasting and self._is_in_book(fingerprint, traffic)
        return is_lasting or calls.value >= self.burst_requests * min(1.0, traffic.window.seconds / _BURST_SECONDS)

    def _is_in_book(self, fingerprint: str, traffic: Traffic) -> bool:
        """Whether enough calls of a shape are kept: what comes rarely fills no window, and is a pattern still."""
        calls = () if traffic.calls is None else traffic.calls.of(traffic.target)
        return sum(call.fingerprint == fingerprint for call in calls) >= self.least_requests

    def _finding(self, rows: list[PatternTraffic], calls: Estimate, share: float, traffic: Traffic) -> Finding:
        shape = rows[0].shape
        caller = busiest_caller(rows)
        dollars = dollars_of(rows, traffic)
        is_much = share >= self.units_share and dollars is not None and dollars >= self.low_dollars
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM if is_much else Severity.LOW,
            f"{counted(calls, 'request')} of {who(caller)} match no declared pattern of {traffic.target}"
            f" ({percent(share)} of its units): {shape.text()}",
            subject=shape.fingerprint,
            fingerprint=shape.fingerprint,
            caller=caller,
            because=rows[0].attribution.because,
            evidence={
                **evidence_of(requests=calls),
                "share_of_units": round(share, 4),
                "hours_seen": traffic.hours.get(shape.fingerprint),
                "operation": shape.operation,
                **({} if traffic.place.library is None else {"library": traffic.place.library}),
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=tuple(_advice(shape, caller)),
        )


def _asked(traffic: Traffic) -> float:
    """Return all requests of a target: a share of a handful is chance."""
    return sum(row.requests.value for row in traffic.rows if not row.secondary)


def _advice(shape: Shape, caller: str | None) -> Iterator[Advice]:
    yield advise(
        "check-client",
        f"Ask the owner of {who(caller)} what it is for; after a deploy, roll that back if it is not meant",
        effect="the traffic ends, or gets an owner",
        takes="minutes",
    )
    yield advise(
        "declare-pattern",
        "If it is meant, declare it",
        effect="it is then watched against its own declaration",
        snippet=_declaration(shape, caller),
    )


def _declaration(shape: Shape, caller: str | None) -> str:
    lines = ["- id: name-it", f"  operation: {shape.operation}"]
    if shape.index is not None:
        lines.append(f"  index: {shape.index}")
    if shape.key:
        lines.append("  key:")
        for predicate in shape.key:
            operator = "" if predicate.operator == "=" else f"{predicate.operator} "
            lines.append(f'    {predicate.attribute}: "{operator}{predicate.template or "<unknown>"}"')
    if shape.filter_attributes:
        lines.append("  filter: {discards_at_most: 10%}")
    if caller is not None:
        lines.append(f"  callers: [{caller}]")
    return "\n".join(lines)
