"""The first line of a diagnosis, by what evidence there is: never more than it holds. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.detectors.words import counted, number, percent
from analyzer.knowledge.operations import OPERATIONS, READS
from analyzer.lifecycle.weight import weight_of
from analyzer.model.finding import Confidence, Direction, Finding, Severity, Status
from analyzer.model.instant import DAY_MS
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.sight import GapReason, Sight, SourceName
from analyzer.model.traffic import Traffic
from analyzer.model.window import Window
from analyzer.planning.compared import Compared, explaining, rise_words
from analyzer.planning.onset import Onset
from analyzer.render.words import fold
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.sight import Gap

__all__ = [
    "Headline",
    "Kind",
    "Scene",
    "capacity_of",
    "explained_by",
    "headline_of",
    "latency_words",
    "lead_of",
    "verdict_of_lead",
]

Kind = str
"""Which row of the table in docs/diagnose.md a first line is of."""

_FULL = 0.8
"""Use ÷ provisioned over a minute from which capacity explains refusals: within a minute they are uneven."""
_BY_CAPACITY = frozenset({"throttling", "autoscale-lag", "sub-minute-burst", "unpaced-bulk"})
"""Findings beside which refusals by provisioned capacity are the first thing to say."""
_BY_RISE = frozenset({"on-demand-ramp", "partitions-splitting"})
"""Limits that a rise runs into: which of them comes before who caused it."""
_WORTH_A_LINE = frozenset({"throttling", "latency-shift", "gsi-back-pressure", "autoscale-lag", "hot-key"})
"""Findings below high that are still what somebody was woken for."""
_UNITS = {Direction.READ: ("RCU", "reads"), Direction.WRITE: ("WCU", "writes")}


class Scene(Struct, frozen=True, kw_only=True):
    """All that a first line may rest on; `traffic` is that of the leading finding's place, `times` are clock times."""

    report: Report
    lead: Finding | None
    traffic: Traffic | None
    compared: Sequence[Compared] = ()
    onset: Onset | None = None
    since: str = ""
    stretch: str = ""
    place: str = ""


class Headline(Struct, frozen=True):
    """The first line, and which kind of evidence it is of."""

    kind: Kind
    text: str


def lead_of(report: Report, index: str | None = None) -> Finding | None:
    """Return the finding to begin with: the cause of the worst, of an index alone where one is asked for.

    What somebody snoozed is not begun with.
    """
    groups = fold(tuple(one for one in report.findings if one.status is not Status.SNOOZED))
    groups = tuple(group for group in groups if index is None or group[0].index == index)
    roots = [root for root, _ in groups]
    grave = next((root for root in roots if root.detector == "service-fault" and root.severity.rank > 1), None)
    if grave is not None or not groups:
        return grave
    first, effects = groups[0]
    worst = max(one.severity.rank for one in (first, *effects))
    if worst < Severity.HIGH.rank and first.detector not in _WORTH_A_LINE:
        return next((root for root in roots if root.severity.rank == 1 and root.detector in _WORTH_A_LINE), None)
    told = first if first.severity.rank or not effects else min(effects, key=weight_of)
    return told if told.severity.rank else None


def verdict_of_lead(report: Report, lead: Finding | None, text: str, kind: Kind | None = None) -> Verdict:
    """Return the verdict that the first line is: its state, how sure and its finding are those of the same finding.

    It is a fault where the finding, or what it explains, is high or critical.
    """
    state, told = report.verdict.state, report.verdict
    group = [lead, *explained_by(report, lead)] if lead is not None else []
    if any(one.severity.rank >= Severity.HIGH.rank for one in group if one.status is not Status.SNOOZED):
        state = VerdictState.FAULT
    elif state is VerdictState.FAULT:  # of another place than was asked for
        state = VerdictState.CLEAN
    if kind == VerdictState.CANNOT_TELL.value:
        state = VerdictState.CANNOT_TELL
    sure = Confidence.CERTAIN if lead is None else lead.confidence
    return msgspec.structs.replace(told, state=state, text=text, confidence=sure, finding=lead and lead.id)


def explained_by(report: Report, lead: Finding) -> tuple[Finding, ...]:
    """Return what a finding explains."""
    return next((effects for root, effects in fold(report.findings) if root is lead), ())


def headline_of(scene: Scene) -> Headline:
    """Return the first line."""
    lead = scene.lead
    if lead is None:
        return _unremarkable(scene)
    if lead.detector == "service-fault":
        return Headline("service", _service(lead, scene))
    refused = _refused(scene)
    if lead.detector == "gsi-back-pressure" and lead.severity.rank >= 1 and "throttle_events" in lead.evidence:
        return Headline("index", _index(lead, scene))
    if refused is not None and lead.detector in _BY_CAPACITY and refused.cause in {"provisioned", *_BY_RISE}:
        is_rise = refused.cause in _BY_RISE
        told = refused.summary + scene.since if is_rise else _provisioned(refused, scene)
        return Headline("throttling" if is_rise else "provisioned", told)
    if lead.detector == "throttling" and lead.cause == "key-range":
        return _key_range(lead, scene)
    return Headline(lead.detector, lead.summary + scene.since)


def _refused(scene: Scene) -> Finding | None:
    """Return the finding of refused requests: the leading one, or what it explains."""
    group = () if scene.lead is None else (scene.lead, *explained_by(scene.report, scene.lead))
    return next((one for one in group if one.detector == "throttling"), None)


def _provisioned(refused: Finding, scene: Scene) -> str:
    direction = refused.direction or Direction.WRITE
    unit, calls = _UNITS[direction]
    limit, used = capacity_of(scene.traffic, direction)
    told = f"{_place(refused)}: {calls} over provisioned {'capacity' if limit is None else f'{number(limit)} {unit}'}"
    bursts = f", in bursts: whole minutes use {percent(used)} of it" if used is not None and used < _FULL else ""
    rise = rise_words(explaining(scene.compared, direction))
    parts = [told + scene.since + bursts, rise, _autoscaling(scene, direction, limit)]
    return "; ".join(part for part in parts if part)


def capacity_of(traffic: Traffic | None, direction: Direction) -> tuple[float | None, float | None]:
    """Return what is provisioned at the end, and the highest share of it that a minute used."""
    if traffic is None:
        return None, None
    word = direction.value.capitalize()
    capacity = points(series_of(traffic.metrics, f"Provisioned{word}CapacityUnits", "Average"), traffic.window)
    fixed = traffic.place.capacity.read_units if direction is Direction.READ else traffic.place.capacity.write_units
    limit = capacity[-1].value if capacity else fixed
    used = [
        point.a_second for point in points(series_of(traffic.metrics, f"Consumed{word}CapacityUnits"), traffic.window)
    ]
    return limit, max(used) / limit if used and limit else None


def _autoscaling(scene: Scene, direction: Direction, limit: float | None) -> str | None:
    if scene.traffic is None:
        return None
    bounds = next((one for one in scene.traffic.scaling if one.direction is direction), None)
    if bounds is None:
        blind = _lacks(scene.report.gaps, SourceName.TABLE_CATALOG, "Scal")
        return None if blind or Sight.TABLE not in scene.traffic.sights else "no autoscaling"
    if limit is not None and limit >= bounds.maximum:
        return f"autoscaling at its maximum {number(bounds.maximum)}"
    return f"autoscaling may go up to {number(bounds.maximum)}"


def _lacks(gaps: Iterable[Gap], source: SourceName, words: str) -> bool:
    return any(gap.source is source and words in gap.detail for gap in gaps)


def _key_range(lead: Finding, scene: Scene) -> Headline:
    ratio = lead.evidence.get("ramp_ratio")
    traffic = scene.traffic
    is_on_demand = traffic is not None and traffic.place.capacity.billing_mode == "PAY_PER_REQUEST"
    if is_on_demand and isinstance(ratio, int | float) and ratio >= 1:
        told = f"{_place(lead)}: a ramp beyond warm throughput or a hot key{scene.since}: metrics cannot decide"
        return Headline("ramp-or-key", f"{told}; demand is ×{number(round(ratio, 1))} of what it was warm for")
    told = f"one key or range of {_place(lead)} is over its partition limit{scene.since}"
    return Headline("key-range", f"{told}; which key is not visible: {', '.join(_blind(scene))}")


def _blind(scene: Scene) -> list[str]:
    """Say why no key is seen."""
    traffic = scene.traffic
    sights = frozenset() if traffic is None else traffic.sights
    is_on = bool({Sight.INSIGHTS_ACCESSED, Sight.INSIGHTS_THROTTLED} & sights)
    denied = any(
        gap.source is SourceName.CONTRIBUTOR_INSIGHTS and gap.reason is GapReason.DENIED for gap in scene.report.gaps
    )
    insights = "shows none" if is_on else "may not be read" if denied else "is off"
    log = "no key of the request log stands out" if Sight.REQUEST_KEYS in sights else "no request log"
    return [f"Contributor Insights {insights}", log]


def _index(lead: Finding, scene: Scene) -> str:
    limits = {
        "provisioned": "its provisioned capacity",
        "key-range": "the limit of one of its key ranges",
        "max-on-demand": "the on-demand maximum that was set on it",
        "account-limit": "the account's limit for one table",
    }
    limit, _ = capacity_of(scene.traffic, Direction.WRITE)
    why = limits.get(lead.cause or "", "a limit that nothing names")
    if lead.cause == "provisioned" and limit is not None:
        why = f"its provisioned {number(limit)} WCU"
    victims = _victims(scene.traffic)
    are = "is" if len(victims) == 1 else "are"
    hurt = f"; {', '.join(victims)} {are} refused" if victims else ""
    return f"writes to {lead.table} fail because of index {lead.index}{scene.since}: {why}{hurt}"


def _victims(traffic: Traffic | None) -> list[str]:
    """Return the table's writes that were throttled, the most hurt first: no index refuses a read of its table."""
    base = None if traffic is None else traffic.base
    if base is None:
        return []
    hurt = {
        operation: total(series_of(base.metrics, "ThrottledRequests", Operation=operation), base.window) or 0.0
        for operation in OPERATIONS
        if operation not in READS
    }
    return sorted((one for one in hurt if hurt[one]), key=lambda one: -hurt[one])


def _service(lead: Finding, scene: Scene) -> str:
    hurt, seen = lead.evidence.get("tables_with_it"), lead.evidence.get("tables_seen")
    return f"DynamoDB or the path to it fails: {hurt} of {seen} tables{scene.since}"


def _unremarkable(scene: Scene) -> Headline:
    """Say that it is clean, or that it cannot be told; an endpoint that nobody reaches is the service or the path."""
    report = scene.report
    dead = next((gap for gap in report.gaps if _is_dead(gap)), None)
    if dead is not None:
        return Headline("service", f"DynamoDB or the path to it fails from here: {dead.detail}")
    if report.verdict.state is VerdictState.CLEAN and _is_silent(report):
        told = f"cannot tell: CloudWatch has no data point of {scene.place} {scene.stretch}"
        return Headline("cannot-tell", f"{told}: either nobody calls it, or its metrics do not come")
    if report.verdict.state is VerdictState.CANNOT_TELL:
        if not report.traffic and not report.gaps:
            where = report.region or "the regions that were asked"
            told = f"cannot tell: CloudWatch knows no table of {where}: none was called there for two weeks"
            return Headline("cannot-tell", f"{told}; name a TABLE, --region another region, --profile another account")
        hint = next((gap.hint for gap in report.gaps if gap.hint and gap.detail in report.verdict.text), None)
        return Headline("cannot-tell", report.verdict.text + (f"; {hint}" if hint else ""))
    if report.patterns:
        return Headline("clean", report.verdict.text)
    lesser = sum(one.severity.rank < Severity.HIGH.rank for one in report.findings)
    few = f", {counted(lesser, 'lesser finding')}" if lesser else ""
    has_keys = any(Sight.INSIGHTS_ACCESSED in one.sights for one in report.traffic)
    hidden = "callers and patterns" if has_keys else "keys, callers and patterns"
    return Headline("clean", f"clean at table level {scene.stretch}: {scene.place}{few}; {hidden} were not visible")


def _is_silent(report: Report) -> bool:
    """Whether nothing was seen in the stretch that was looked at, whatever there was before it."""
    stretch = report.window
    times = (time for one in report.traffic for series in one.metrics for time in series.timestamps)
    is_bare = bool(report.traffic) and not report.patterns and not report.findings
    return is_bare and not any(stretch.start <= time < stretch.end for time in times)


def _is_dead(gap: Gap) -> bool:
    return gap.source is SourceName.TABLE_CATALOG and gap.reason is GapReason.TIMEOUT and "Describe" in gap.detail


def latency_words(table: Traffic) -> str | None:
    """Say how DynamoDB's own latency stands against yesterday, by the busiest operation; None where it is not known."""
    counts = {
        operation: total(
            series_of(table.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation), table.window
        )
        or 0.0
        for operation in OPERATIONS
    }
    busiest = max(counts, key=lambda one: counts[one])
    series = series_of(table.metrics, "SuccessfulRequestLatency", "p99", Operation=busiest)
    now = [point.value for point in points(series, table.window)]
    day = Window(table.window.start - DAY_MS, table.window.end - DAY_MS)
    before = [point.value for point in points(series, day)]
    if not now or not before:
        return None
    is_flat = median(now) < 1.5 * median(before) or median(now) - median(before) < 5  # noqa: PLR2004 -- as latency-shift
    told = f"p99 of {busiest} is {number(median(now))} ms, {number(median(before))} yesterday"
    if is_flat:
        return f"DynamoDB's own latency is flat ({told}): if callers are slow, look at client, pool, network"
    return f"DynamoDB's own latency has risen: {told}"


def _place(finding: Finding) -> str:
    return finding.table if finding.index is None else f"index {finding.index} of {finding.table}"
