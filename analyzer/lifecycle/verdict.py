"""The one sentence for on-call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.detectors.words import between
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Confidence, Finding, Severity, Status
from analyzer.model.instant import format_instant
from analyzer.model.report import Verdict, VerdictState
from analyzer.model.sight import Gap, GapReason, Sight, Skipped, SourceName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.report import PatternLine
    from analyzer.model.traffic import Traffic

__all__ = ["fault_of", "verdict_of"]

_NO_LOSS = frozenset({GapReason.NOT_ENABLED, GapReason.UNSUPPORTED})
"""Reasons of gaps that leave whole what was asked for."""

_SEEING = frozenset({SourceName.CLOUDWATCH_METRICS, SourceName.REQUEST_LOG, SourceName.CONTRACT, SourceName.CANARY})
"""Sources whose gaps hide faults also where metrics were seen."""

_NAMED = 3
"""Detectors that the first line names; the rest stand under what was not visible."""

_WIDE = 0.2
"""An interval that is wider than this share of its number is told with it: a tenth to each side."""

_NO_POINT = "either nobody calls there, or its metrics do not come"
"""Silence that cannot be told from blindness: CloudWatch keeps no zeros of what is not called."""

_KINDS = {
    "units": ("Consumed",),
    "throttles": ("Throttle",),
    "latency": ("SuccessfulRequestLatency",),
    "system errors": ("SystemErrors",),
}
"""Kinds of metric without which silence says nothing."""


def fault_of(findings: Iterable[Finding]) -> Verdict | None:
    """Return the verdict on the first finding that is high or critical and not snoozed; they come ordered by weight."""
    for finding in findings:
        if finding.severity.rank >= Severity.HIGH.rank and finding.status is not Status.SNOOZED:
            return Verdict(VerdictState.FAULT, finding.summary, finding.confidence, finding.id)
    return None


def verdict_of(
    findings: tuple[Finding, ...],
    gaps: tuple[Gap, ...],
    lines: tuple[PatternLine, ...],
    skipped: tuple[Skipped, ...],
    traffic: tuple[Traffic, ...] = (),
) -> Verdict:
    """Say whether there is a fault, that it is clean, or that it cannot be told; `findings` come ordered by weight.

    From metrics alone a table is clean where all four kinds were seen that a fault would show in: what tables are like,
    what was changed and which keys are used make it known better, and silence of them hides no fault.
    """
    fault = fault_of(findings)
    if fault is not None:
        return fault
    requests = _all_requests(lines)
    measured = [one for one in traffic if Sight.METRICS in one.sights and one.target.index is None]
    losses = [gap for gap in gaps if _is_loss(gap) and (_hides(gap) or not measured)]
    blind = min(losses, key=_way_of_seeing, default=None)
    if blind is not None:
        return Verdict(VerdictState.CANNOT_TELL, f"cannot tell: {blind.detail}", Confidence.CERTAIN)
    lacking = next(filter(None, map(_lacking, measured)), None) or (None if requests.value else _all_silent(measured))
    if lacking is not None:
        return Verdict(VerdictState.CANNOT_TELL, f"cannot tell: {lacking}{_seen(findings)}", Confidence.CERTAIN)
    if not requests.value and measured:
        return Verdict(VerdictState.CLEAN, _clean_at_table_level(findings, measured), Confidence.CERTAIN)
    if not requests.value:
        told = next((gap.detail for gap in gaps if gap.source is not SourceName.HISTORY), None)
        why = "no request was seen" if told is None else f"no request was seen; {told}"
        return Verdict(VerdictState.CANNOT_TELL, f"cannot tell: {why}", Confidence.CERTAIN)
    return Verdict(VerdictState.CLEAN, _clean(findings, lines, requests, skipped), Confidence.CERTAIN)


def _seen(findings: Iterable[Finding]) -> str:
    """Name the first finding that somebody has to look at all the same; "" where nothing is more than low."""
    found = (one for one in findings if one.severity is Severity.MEDIUM and one.status is not Status.SNOOZED)
    first = next((one for one in found if one.caused_by is None), None)
    if first is None:
        return ""
    return f"; what is seen: {first.detector} of {_place(first)}"


def _place(finding: Finding) -> str:
    """Write `table` or `table/index`, and of a log that names none, that."""
    table = finding.table or "an unnamed table"
    return table if finding.index is None else f"{table}/{finding.index}"


def _is_loss(gap: Gap) -> bool:
    """Whether a gap takes anything of what was asked for; a hole in the past, or a log of it, hides no fault of now."""
    is_old_log = gap.source is SourceName.REQUEST_LOG and gap.reason is GapReason.MISUSED
    return gap.reason not in _NO_LOSS and gap.source is not SourceName.HISTORY and not is_old_log


def _way_of_seeing(gap: Gap) -> tuple[bool, bool]:
    """Order gaps by what they take: without metrics nothing is seen, and their permission is the one to ask for."""
    return gap.source is not SourceName.CLOUDWATCH_METRICS, not _hides(gap)


def _hides(gap: Gap) -> bool:
    """Whether a gap hides faults though metrics were seen; a DynamoDB that gives no answer may be one itself."""
    return gap.source in _SEEING or (gap.source is SourceName.TABLE_CATALOG and gap.reason is GapReason.TIMEOUT)


def _lacking(traffic: Traffic) -> str | None:
    """Say which kind of metric of a table is missing that a fault would show in; None where all are there."""
    names = {series.metric for series in traffic.metrics}
    for kind, parts in _KINDS.items():
        if not any(part in name for part in parts for name in names):
            return f"no metric tells of {kind} of {traffic.target}"
    return None


def _all_silent(measured: Sequence[Traffic]) -> str | None:
    """Say why no metric of any table has a data point; None where one has, or a table is known to be old and idle."""
    silent = [_silent(one) for one in measured]
    if not silent or not all(silent):
        return None
    if len(silent) == 1:
        return silent[0]
    return f"CloudWatch has no data point of any of {len(silent)} tables: {_NO_POINT}"


def _silent(traffic: Traffic) -> str | None:
    """Say that no metric has a data point of a table that was made within the stretch, or nobody knows when."""
    created = None if traffic.place.table is None else traffic.place.table.created
    if any(series.values for series in traffic.metrics):
        return None
    if created is None:
        return f"CloudWatch has no data point of {traffic.target}: {_NO_POINT}"
    if created <= traffic.window.start:
        return None
    return f"{traffic.target} was created at {format_instant(created)[11:19]}: CloudWatch has no data point of it yet"


def _clean_at_table_level(findings: tuple[Finding, ...], measured: list[Traffic]) -> str:
    tables = "1 table" if len(measured) == 1 else f"{len(measured)} tables"
    return (
        f"clean at table level: {tables}, nothing high or critical{_lesser(findings)};"
        " keys, callers and patterns were not visible"
    )


def _lesser(findings: tuple[Finding, ...]) -> str:
    """Count what is no fault, lesser findings and those that somebody knows of, and name the worst of the former."""
    lesser = [finding for finding in findings if finding.status is not Status.SNOOZED]
    snoozed = len(findings) - len(lesser)
    told = ""
    if lesser:
        many = f"{len(lesser)} lesser findings (worst: " if len(lesser) > 1 else "1 lesser finding ("
        told = f", {many}{lesser[0].detector} of {_place(lesser[0])}, {lesser[0].severity.value})"
    return told + (f", {snoozed} snoozed" if snoozed else "")


def _all_requests(lines: Iterable[PatternLine]) -> Estimate:
    """Add the requests of all patterns; they were sampled apart, so that their errors add up by their squares."""
    value = below = above = 0.0
    for line in lines:
        value += line.requests
        below += (line.requests - line.requests_low) ** 2
        above += (line.requests_high - line.requests) ** 2
    return Estimate(value, value - math.sqrt(below), value + math.sqrt(above))


def _calls(requests: Estimate) -> str:
    """Count requests; what a sample tells is about so many, and of a small one within which bounds."""
    if requests.is_exact:
        return "1 request" if requests.value == 1 else f"{requests.value:,.0f} requests"
    is_wide = requests.high - requests.low > _WIDE * requests.value
    told = between(Estimate(*map(round, requests))) if is_wide else f"{requests.value:,.0f}"
    return f"about {told} requests"


def _clean(
    findings: tuple[Finding, ...], lines: tuple[PatternLine, ...], requests: Estimate, skipped: tuple[Skipped, ...]
) -> str:
    tables = len({line.table for line in lines if line.table is not None})
    places = "1 table" if tables == 1 else f"{tables} tables"
    unjudged = sorted({one.detector for one in skipped})
    more = f" and {len(unjudged) - _NAMED} more detectors" if len(unjudged) > _NAMED + 1 else ""
    named = ", ".join(unjudged[:_NAMED] if more else unjudged)
    blind = f"; not judged everywhere: {named}{more}" if unjudged else ""
    return f"clean: {_calls(requests)} to {places}, nothing high or critical{_lesser(findings)}{blind}"
