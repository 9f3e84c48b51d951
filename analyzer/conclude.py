"""What one judgement of the daemon concludes: of now, of what CloudWatch covers, of the last hour, of what came late.

Pure: it changes nothing of what it is given, and may run beside the loop. It may be given up at any time: then nothing
was concluded, and who begins anew concludes the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.combine import Judgement, combine, measured_of
from analyzer.correlator.attributor import Attributor
from analyzer.lifecycle.advance import Event, State, advance
from analyzer.lifecycle.observing import in_mode, observing_until
from analyzer.lifecycle.since_change import with_changes
from analyzer.lifecycle.snooze import hush
from analyzer.lifecycle.unite import unite
from analyzer.lifecycle.weight import by_weight
from analyzer.model.counts import Counts
from analyzer.model.finding import Finding, Status
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import Instant
from analyzer.model.life import NO_MEMORY, Memory
from analyzer.model.observations import Observations
from analyzer.model.report import Report
from analyzer.model.sight import Horizon, SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.pipeline import analyze, of_horizon
from analyzer.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.interfaces import Detector

__all__ = ["Aside", "Evidence", "GivenUpError", "Judged", "Portion", "conclude"]

_HOUR_MS = 3_600_000


class GivenUpError(Exception):
    """A judgement was given up before it concluded anything."""


def _go_on() -> bool:
    return False


class Portion(Struct, frozen=True):
    """What is judged of some tables alone."""

    observations: Observations
    tables: frozenset[Target]


class Aside(Struct, frozen=True):
    """What was judged of other stretches than now, and stands until it is judged anew.

    `settled` is the newest window that CloudWatch covers, `late` those of tables that it does not cover so far, `span`
    the last hour. `generation` and `minute` say of which polls and of which minute they are. `told` says when each
    finding of the last hour was told last.
    """

    settled: Judgement | None = None
    late: tuple[Judgement, ...] = ()
    span: Judgement | None = None
    generation: int = -1
    minute: int = -1
    told: dict[str, Instant] = {}


class Evidence(Struct, frozen=True):
    """What one judgement rests on; `attribute` remembers, and is lent to one judgement at a time.

    `settled` (with `late`) and `span` are there when those stretches are to be judged anew; `missed` are stretches of
    the past that nobody could judge in their time, the oldest first. Once `is_over`, the judgement is given up at the
    next table or index.
    """

    observations: Observations
    settled: Observations | None
    span: Observations | None
    aside: Aside
    totals: Counts
    findings: State
    setup: Setup
    attribute: Attributor
    memory: Memory = NO_MEMORY
    history: History = EMPTY
    late: tuple[Portion, ...] = ()
    missed: tuple[Portion, ...] = ()
    is_over: Callable[[], bool] = _go_on


class Judged(Struct, frozen=True):
    """What one judgement concluded; `events` is the report with only what opened or closed."""

    report: Report
    events: Report
    totals: Counts
    findings: State
    aside: Aside


def conclude(evidence: Evidence) -> Judged:
    """Judge each stretch that is to be judged, tell them together, and carry the findings on; raises GivenUpError."""
    setup, memory = evidence.setup, evidence.memory
    aside = _judge_aside(evidence)
    judgements = [one for one in (aside.settled, *aside.late, aside.span) if one is not None]
    if SourceName.REQUEST_LOG in evidence.observations.sources or not judgements:
        judgements.insert(0, _judge(evidence, evidence.observations, Horizon.WINDOW))
    report = msgspec.structs.replace(combine(judgements), as_of=evidence.observations.window.end)
    at = report.as_of
    measured = measured_of(judgements)
    findings, report, events = advance(evidence.findings, report, at, setup.close_after_ms, memory.snoozes, measured)
    if evidence.missed:
        findings, report, events = _with_missed(evidence, findings, report, events)
    report = in_mode(report, observing_until(setup.mode, memory.began, setup.observe_for_ms))
    told = msgspec.structs.replace(report, findings=tuple(event.finding for event in events))
    aside = msgspec.structs.replace(aside, told=_told(aside.told, report))
    return Judged(report, told, evidence.totals, findings, aside)


def _judge_aside(evidence: Evidence) -> Aside:
    aside = evidence.aside
    if evidence.settled is not None:
        settled = _judge(evidence, evidence.settled, Horizon.WINDOW)
        late = tuple(_judge_portion(evidence, one) for one in evidence.late)
        aside = msgspec.structs.replace(aside, settled=settled, late=late)
    if evidence.span is not None:
        aside = msgspec.structs.replace(aside, span=_judge(evidence, evidence.span, Horizon.SPAN))
    return aside


def _judge(evidence: Evidence, observations: Observations, horizon: Horizon) -> Judgement:
    detectors = _Interruptible(of_horizon(evidence.setup.detectors, horizon))
    detectors.is_over = evidence.is_over
    report = analyze(observations, evidence.attribute, detectors, evidence.history, secret=evidence.setup.secret)
    return Judgement(report, frozenset(detector.name for detector in detectors))


class _Interruptible(tuple["Detector", ...]):  # noqa: SLOT001 -- one a judgement
    """Detectors that are gone through once for each table and index; none of them is begun once it is over."""

    is_over: Callable[[], bool]

    def __iter__(self) -> Iterator[Detector]:
        if self.is_over():
            raise GivenUpError
        return super().__iter__()


def _judge_portion(evidence: Evidence, portion: Portion) -> Judgement:
    """Judge some tables, and tell nothing of others that the request log shows in that stretch too."""
    judgement = _judge(evidence, portion.observations, Horizon.WINDOW)
    report, tables = judgement.report, portion.tables
    of_them = {
        "findings": tuple(one for one in report.findings if Target(one.account, one.region, one.table) in tables),
        "skipped": tuple(one for one in report.skipped if one.target.base in tables),
        "sight": tuple(one for one in report.sight if one.target.base in tables),
        "coverage": tuple(one for one in report.coverage if one.target.base in tables),
        "traffic": tuple(one for one in report.traffic if one.target.base in tables),
        "patterns": (),
        "keys": (),
    }
    return msgspec.structs.replace(judgement, report=msgspec.structs.replace(report, **of_them))


def _with_missed(
    evidence: Evidence, state: State, report: Report, events: tuple[Event, ...]
) -> tuple[State, Report, tuple[Event, ...]]:
    """Tell what a stretch shows that came too late to be judged in its time.

    A fault that opens now and was there before began then. One that was over before anybody saw it is told once, as
    closed, with its own times; one that was told meanwhile, from the request log, is not told again.
    """
    missed = _missed_findings(evidence)
    opened = {event.finding.id for event in events if event.status is Status.OPEN}
    begun = {one.id: one.first_seen for one in missed if one.id in opened}
    told = evidence.aside.told
    fresh = tuple(one for one in missed if one.id not in state.alive and told.get(one.id, 0) < (one.first_seen or 0))
    closed = tuple(
        one
        for one in hush(with_changes(fresh, report.changes), evidence.memory.snoozes, report.as_of)
        if one.status is not Status.SNOOZED
    )
    alive = {identity: _begun(finding, begun.get(identity)) for identity, finding in state.alive.items()}
    shown = tuple(_begun(one, begun.get(one.id)) for one in report.findings)
    spoken = tuple(Event(event.status, _begun(event.finding, begun.get(event.finding.id))) for event in events)
    return (
        msgspec.structs.replace(state, alive=alive),
        msgspec.structs.replace(report, findings=by_weight((*shown, *closed))),
        (*spoken, *(Event(Status.CLOSED, one) for one in closed)),
    )


def _missed_findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Judge what was missed, and return what was found at its worst, each with about the stretch in which it was."""
    found: tuple[Finding, ...] = ()
    for portion, times in zip(evidence.missed, _times(evidence.missed), strict=True):
        report = _judge_portion(evidence, portion).report
        told = {"first_seen": times.start, "last_seen": times.end, "status": Status.CLOSED}
        found = unite(found, tuple(msgspec.structs.replace(one, **told) for one in report.findings))
    return found


def _times(portions: Sequence[Portion]) -> Iterator[Window]:
    """Yield the part of each window that its neighbours do not show: what only it shows was there."""
    windows = [portion.observations.window for portion in portions]
    for number, window in enumerate(windows):
        before = windows[number - 1].end if number else window.start
        behind = windows[number + 1].start if number + 1 < len(windows) else window.end
        begin, end = (min(max(time, window.start), window.end) for time in (before, behind))
        yield Window(min(begin, end), max(begin, end))


def _begun(finding: Finding, first: Instant | None) -> Finding:
    return finding if first is None else msgspec.structs.replace(finding, first_seen=first)


def _told(before: dict[str, Instant], report: Report) -> dict[str, Instant]:
    """Return when each finding was told last, an hour long."""
    now = {one.id: one.last_seen or report.as_of for one in report.findings}
    return {identity: at for identity, at in (before | now).items() if at > report.as_of - _HOUR_MS}
