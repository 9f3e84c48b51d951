"""A diagnosis: a report of one table, or of a region, told as whoever is on call needs it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.errors import closest
from analyzer.lifecycle.since_change import change_before
from analyzer.lifecycle.verdict import fault_of
from analyzer.lifecycle.way_back import with_way_back
from analyzer.model.finding import Advice, Change, Confidence, Finding, Status
from analyzer.model.instant import Instant
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.sight import Sight, SourceName
from analyzer.planning.compared import Compared, compare, explaining, rise_words, wanted_units
from analyzer.planning.headline import (
    Headline,
    Scene,
    capacity_of,
    explained_by,
    headline_of,
    latency_words,
    lead_of,
    verdict_of_lead,
)
from analyzer.planning.onset import began, compared_stretch, onset_of, since_words
from analyzer.planning.steps import Means, own_steps, steps_of
from analyzer.planning.suspects import Suspect
from analyzer.render.show import PLACEHOLDER, Policy, has_tokens, show
from analyzer.render.words import clock, key_words, place, who_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.traffic import Traffic
    from analyzer.planning.onset import Onset
    from analyzer.requests.tokens import Salt

__all__ = ["Diagnosis", "Spent", "diagnose_report", "diagnosis_of_daemon", "shown"]


_MOST_LESSER = 2
"""Beside a clean verdict so many lesser findings are named; `--format json` has them all."""


class Spent(Struct, frozen=True):
    """What the look took: AWS calls, how many of them waited for one another, dollars at list price."""

    calls: int = 0
    rounds: int = 0
    usd: float = 0.0


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What is said first, and what stands below it.

    The report's verdict says the first line. `since` is when the fault began, `facts` are sentences that explain,
    `steps` what to do. `behind_ms` is how far the newest data lies back; None of a stretch in the past.
    """

    report: Report
    kind: str
    lead: Finding | None = None
    since: Instant | None = None
    who: str = ""
    facts: tuple[str, ...] = ()
    compared: tuple[Compared, ...] = ()
    change: Change | None = None
    steps: tuple[Advice, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    behind_ms: int | None = None
    spent: Spent = Spent()
    means: Means = Means()


def diagnose_report(
    report: Report, means: Means, *, now: Instant | None, index: str | None = None, is_sweep: bool = False
) -> Diagnosis:
    """Conclude from a report that still carries its traffic; `now` None: the stretch was asked for, and lies back."""
    lead = lead_of(report, index)
    traffic = _traffic_of(report, lead)
    table = None if traffic is None else traffic.base or traffic
    onset = None if lead is None or traffic is None else onset_of(lead, traffic)
    stretch = compared_stretch(onset, report.window)
    compared = () if table is None or is_sweep else compare(table, stretch)
    line = headline_of(_scene(report, lead, traffic, compared, onset, index))
    since = began(onset)
    means = msgspec.structs.replace(
        means,
        has_sort_key=traffic is None or bool(traffic.place.sort_key) or not traffic.place.partition_key,
        throttled_a_second=_refusals(lead, traffic, onset),
        wanted_units=_wanted(lead, traffic, compared),
        wanted_at=None if lead is None else (lead.table, lead.index, lead.direction),
        read_units=None if traffic is None else traffic.place.capacity.read_units,
        write_units=None if traffic is None else traffic.place.capacity.write_units,
    )
    return Diagnosis(
        report=msgspec.structs.replace(report, verdict=verdict_of_lead(report, lead, line.text, line.kind)),
        kind=line.kind,
        lead=lead,
        since=since,
        who=_who(lead, report),
        facts=tuple(_facts(line, lead, table, compared)),
        compared=compared,
        change=_change(lead, since, report),
        steps=own_steps(line.kind, lead, means),
        behind_ms=None if now is None else max(0, now - report.as_of),
        means=means,
    )


def diagnosis_of_daemon(report: Report, now: Instant, table: str | None = None, index: str | None = None) -> Diagnosis:
    """Return what a daemon's report says, of one table where one is named; its keys are as the daemon shows them.

    Of a table or index that the daemon saw nothing of it cannot be told.
    """
    if table is not None and (table, index) not in _places(report):
        told = f"cannot tell: the daemon saw nothing of {place(table, index)}{_meant(table, index, report)}"
        verdict = Verdict(VerdictState.CANNOT_TELL, told, Confidence.CERTAIN)
        report = msgspec.structs.replace(report, findings=(), verdict=verdict)
    elif table is not None:
        own = tuple(f for f in report.findings if f.table == table and index in {None, f.index})
        verdict = fault_of(own) or msgspec.structs.replace(
            report.verdict,
            state=VerdictState.CANNOT_TELL if report.verdict.state is VerdictState.CANNOT_TELL else VerdictState.CLEAN,
            text=report.verdict.text
            if report.verdict.state is not VerdictState.FAULT
            else f"clean: nothing high or critical on {place(table, index)}",
            finding=None,
        )
        report = msgspec.structs.replace(report, findings=own, verdict=verdict)
    lead = lead_of(report, index)
    kind = report.verdict.state.value if lead is None else lead.detector
    verdict = report.verdict if lead is None else verdict_of_lead(report, lead, lead.summary)
    return Diagnosis(
        report=msgspec.structs.replace(report, verdict=verdict),
        kind=kind,
        lead=lead,
        since=None if lead is None else lead.first_seen,
        who="" if lead is None else who_words(lead) or "not known",
        facts=() if lead is not None else tuple(lesser_words(report)),
        change=None if lead is None else lead.since_change,
        behind_ms=max(0, now - report.as_of),
    )


def _places(report: Report) -> set[tuple[str | None, str | None]]:
    """Return the tables and indexes that a report has seen anything of."""
    seen: set[tuple[str | None, str | None]] = {(one.table, one.index) for one in report.sight}
    seen |= {(one.table, one.index) for one in report.findings} | {(one.table, one.index) for one in report.patterns}
    return seen | {(table, None) for table, _ in seen}


def _meant(table: str, index: str | None, report: Report) -> str:
    """Name what was meant, as far as it is near to anything that the daemon watches."""
    names = [place(*one) for one in _places(report) if one[0] is not None]
    near = closest(place(table, index), sorted(names))
    return "" if near is None else f"; did you mean {near}?"


def shown(diagnosis: Diagnosis, policy: Policy, salt: Salt | None) -> Diagnosis:
    """Return a diagnosis that holds of each key what the policy allows, its steps filled in."""
    report = show(diagnosis.report, policy, salt)
    lead = None if diagnosis.lead is None else next((f for f in report.findings if f.id == diagnosis.lead.id), None)
    if lead is not None:  # the onset of metrics may know better when it began
        told_lead = with_way_back(lead, diagnosis.change, diagnosis.since)
        findings = tuple(told_lead if one is lead else one for one in report.findings)
        report, lead = msgspec.structs.replace(report, findings=findings), told_lead
    group = [] if lead is None else [lead, *explained_by(report, lead)]
    means = diagnosis.means
    told = [fact.replace(PLACEHOLDER, key_words(None if lead is None else lead.key)) for fact in diagnosis.facts]
    told += [] if diagnosis.lead is not None else lesser_words(report)
    told += _how_to_see(diagnosis.lead, policy)
    return msgspec.structs.replace(
        diagnosis, report=report, lead=lead, facts=tuple(told), steps=steps_of(diagnosis.steps, group, means)
    )


def _how_to_see(lead: Finding | None, policy: Policy) -> list[str]:
    """Say how the key is seen in clear that was found; a token of it can only be compared with what one suspects."""
    if lead is None or lead.key is None:
        return []
    is_kept_clear = SourceName.CONTRIBUTOR_INSIGHTS.value in lead.sources  # its keys become tokens here, unless asked
    if has_tokens(lead.key) and not is_kept_clear:
        less = "" if policy == "token" else ", --keys token shows it"
        suspect = "a suspect is checked with dynascope key --is VALUE --salt-file FILE TOKEN"
        return [f"of the key only a token is known, which cannot be reversed{less}; {suspect}"]
    return [] if policy == "reveal" else [f"the key is shown as a {policy}: --reveal-keys shows it"]


def lesser_words(report: Report) -> list[str]:
    """Name the findings of a report that has none to begin with: the worst two in a line each."""
    worst = sorted(report.findings, key=lambda one: -one.severity.rank)
    told = [
        f"{_asleep(one)}{one.severity.value} {one.detector} of {place(one.table, one.index)}: {one.summary}"
        for one in worst[:_MOST_LESSER]
    ]
    more = len(worst) - _MOST_LESSER
    return [*told, *([f"and {more} more: --format json lists them"] if more > 0 else [])]


def _asleep(finding: Finding) -> str:
    return "snoozed, " if finding.status is Status.SNOOZED else ""


def _traffic_of(report: Report, lead: Finding | None) -> Traffic | None:
    """Return the traffic of the leading finding's place, else of the only table."""
    if lead is not None:
        home = (lead.table, lead.index)
        return next((one for one in report.traffic if (one.target.table, one.target.index) == home), None)
    tables = [one for one in report.traffic if one.target.index is None]
    return tables[0] if len(tables) == 1 else None


def _scene(
    report: Report,
    lead: Finding | None,
    traffic: Traffic | None,
    compared: tuple[Compared, ...],
    onset: Onset | None,
    index: str | None,
) -> Scene:
    tables = [one.target.table for one in report.traffic if one.target.index is None]
    window = report.window
    return Scene(
        report=report,
        lead=lead,
        traffic=traffic,
        compared=compared,
        onset=onset,
        since=since_words(onset, report.as_of, lambda at: clock(at)[:5]),
        stretch=f"{clock(window.start)[:5]}–{clock(report.as_of)[:5]}",
        place=place(tables[0], index) if len(tables) == 1 else f"{len(tables)} tables",
    )


def _refusals(lead: Finding | None, traffic: Traffic | None, onset: Onset | None) -> float | None:
    if lead is None or traffic is None or onset is None:
        return None
    events = sum(one.events for one in traffic.metric_throttles if one.direction is lead.direction)
    return events / min(onset.window.seconds, traffic.window.seconds) if events else None


def _wanted(lead: Finding | None, traffic: Traffic | None, compared: tuple[Compared, ...]) -> int | None:
    if lead is None or lead.direction is None or traffic is None:
        return None
    return wanted_units(compared, str(traffic.target), lead.direction, capacity_of(traffic, lead.direction)[0])


def _who(lead: Finding | None, report: Report) -> str:
    """Say who does it, or how that is learnt; nothing where there is no fault."""
    if lead is None or lead.detector == "service-fault":
        return ""
    told = who_words(lead)
    if told is not None:
        return told
    if any(Sight.REQUESTS in one.sights for one in report.traffic):
        return "not known: the request log names no caller"
    return "not known: metrics name no caller; a request log does (the sampler, traces or CloudTrail data events)"


def _facts(
    line: Headline, lead: Finding | None, table: Traffic | None, compared: tuple[Compared, ...]
) -> Iterator[str]:
    """Yield what explains the first line, and does not stand in it."""
    if lead is not None and lead.summary not in line.text:
        yield lead.summary
    if lead is not None:
        rise = rise_words(explaining(compared, lead.direction))
        if rise is not None and rise not in line.text:
            yield f"what rose: {rise}"
        elif rise is None and any(one.usual is not None for one in compared):
            yield "no operation and no use of it rose against the same minutes before"
    elif line.kind == "clean" and table is not None:
        latency = latency_words(table)
        if latency is not None:
            yield latency


def _change(lead: Finding | None, since: Instant | None, report: Report) -> Change | None:
    if lead is None:
        return None
    began_at = since if since is not None else lead.first_seen
    return change_before(msgspec.structs.replace(lead, first_seen=began_at), report.changes) or lead.since_change
