"""The one sentence for on-call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.finding import Confidence, Finding, Severity, Status
from analyzer.model.report import Verdict, VerdictState
from analyzer.model.sight import Gap, SourceName

if TYPE_CHECKING:
    from analyzer.model.report import PatternLine

__all__ = ["by_weight", "verdict_of"]

_ALIVE = frozenset({Status.OPEN, Status.ONGOING, Status.CLOSED})


def by_weight(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Order findings: causes before what they explain, the worse first, then by name and place."""
    return tuple(
        sorted(
            findings,
            key=lambda f: (f.caused_by is not None, -f.severity.rank, f.detector, f.table, f.index or "", f.id),
        )
    )


def verdict_of(findings: tuple[Finding, ...], gaps: tuple[Gap, ...], lines: tuple[PatternLine, ...]) -> Verdict:
    """Say whether there is a fault, that it is clean, or that it cannot be told; `findings` come ordered by weight."""
    worst = next((f for f in findings if f.severity.rank >= Severity.HIGH.rank and f.status in _ALIVE), None)
    if worst is not None:
        return Verdict(VerdictState.FAULT, worst.summary, worst.confidence, worst.id)
    blind = [gap for gap in gaps if gap.source is SourceName.REQUEST_LOG]
    if blind:
        text = f"cannot tell: {blind[0].detail}"
        return Verdict(VerdictState.CANNOT_TELL, text, Confidence.CERTAIN)
    requests = sum(line.requests for line in lines)
    if not requests:
        return Verdict(VerdictState.CANNOT_TELL, "cannot tell: no request was seen", Confidence.CERTAIN)
    tables = len({line.table for line in lines if line.table is not None})
    places = "1 table" if tables == 1 else f"{tables} tables"
    lesser = f", {len(findings)} lesser findings" if len(findings) > 1 else ", 1 lesser finding" if findings else ""
    text = f"clean: {requests:,.0f} requests to {places}, nothing high or critical{lesser}"
    return Verdict(VerdictState.CLEAN, text, Confidence.CERTAIN)
