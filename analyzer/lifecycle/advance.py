"""The life of findings from report to report: open, ongoing, closed with hysteresis. Pure: the state is a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.lifecycle.since_change import CHANGE_REACH_MS, change_before
from analyzer.lifecycle.snooze import hush
from analyzer.lifecycle.verdict import verdict_of
from analyzer.lifecycle.weight import by_weight
from analyzer.model.finding import Finding, Status
from analyzer.model.instant import Instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from analyzer.model.finding import Change
    from analyzer.model.life import Snooze
    from analyzer.model.report import Report
    from analyzer.model.traffic import Traffic

__all__ = ["Event", "State", "advance"]


_MOST_BEFORE = 1000
"""More than so many faults that close within hours are not told apart by what was changed."""


class State(Struct, frozen=True):
    """The findings that are alive, by id, as they were last reported.

    `left` are snoozed ones that closed, with when each was last seen, as long as a window still shows what they did;
    `before` are all that closed in the last hours, with when each began: what comes back is older than what was changed
    meanwhile.
    """

    alive: dict[str, Finding] = {}
    left: dict[str, Instant] = {}
    before: dict[str, Window] = {}


class Event(Struct, frozen=True):
    """A finding that opened or closed."""

    status: Status
    finding: Finding


def advance(
    state: State,
    report: Report,
    at: Instant,
    close_after_ms: int,
    snoozes: Iterable[Snooze] = (),
    measured: tuple[Traffic, ...] = (),
) -> tuple[State, Report, tuple[Event, ...]]:
    """Carry the findings of a report over from the last one.

    A finding seen for the first time is `open`, again `ongoing`. One whose condition no longer holds stays, as it was
    last seen, until that has lasted `close_after_ms`; then it is `closed`, once, and gone. The verdict speaks of all
    that are alive and not snoozed; at table level it rests on `measured`, where that is not the report's own traffic.
    Of one that is snoozed nobody is told when it comes or goes; it opens anew when `snoozes` and contract hold it no
    more. What it explains stays with it until the window shows nothing more of it. Each gets the change just before it
    began, whenever that becomes known: CloudTrail tells of it minutes later.
    """
    alive: dict[str, Finding] = {}
    shown: list[Finding] = []
    events: list[Event] = []
    now = {finding.id for finding in report.findings}
    kept = tuple(before for identity, before in state.alive.items() if identity not in now)
    explained = tuple(_explained_still(finding, state) for finding in report.findings)
    window_ms = report.window.end - report.window.start
    left = {identity: last for identity, last in state.left.items() if at - last < window_ms}
    for finding in hush((*explained, *kept), snoozes, at, _orphans(explained, state, left)):
        before = state.alive.get(finding.id)
        if finding.id in now:
            seen = _since(_seen(finding, before, at), before, report.changes, state.before.get(finding.id))
            is_told = seen.status is Status.OPEN
        else:
            seen = _past(finding, at, close_after_ms)
            is_told = seen.status is Status.CLOSED and finding.status is not Status.SNOOZED
        shown.append(seen)
        if seen.status is not Status.CLOSED:
            alive[seen.id] = seen
        if is_told:
            events.append(Event(seen.status, seen))
    ordered = by_weight(tuple(shown))
    living = tuple(finding for finding in ordered if finding.status is not Status.CLOSED)
    verdict = verdict_of(living, report.gaps, report.patterns, report.skipped, measured or report.traffic)
    changed = msgspec.structs.replace(report, findings=ordered, verdict=verdict)
    gone = {one.id: one.last_seen or at for one in kept if one.id not in alive and one.status is Status.SNOOZED}
    return State(alive, left | gone, _closed_before(state, kept, alive, at)), changed, tuple(events)


def _closed_before(state: State, kept: Iterable[Finding], alive: Container[str], at: Instant) -> dict[str, Window]:
    """Return the stretches of what closed so recently that a change may still be named for it, the newest of them."""
    known = {name: one for name, one in state.before.items() if name in alive or at - one.end < CHANGE_REACH_MS}
    for one in kept:
        if one.id not in alive and one.first_seen is not None:
            earlier = known.get(one.id)
            first = one.first_seen if earlier is None else earlier.start
            known[one.id] = Window(first, max(first, one.last_seen or at))
    return dict(sorted(known.items(), key=lambda item: item[1].end)[-_MOST_BEFORE:])


def _explained_still(finding: Finding, state: State) -> Finding:
    """Leave a finding with its cause as long as that one is alive, though its condition holds no more."""
    before = state.alive.get(finding.id)
    if finding.caused_by is not None or before is None or before.caused_by not in state.alive:
        return finding
    return msgspec.structs.replace(finding, caused_by=before.caused_by)


def _orphans(findings: Iterable[Finding], state: State, left: Container[str]) -> dict[str, str]:
    """Return the findings that were snoozed with a cause that has left, and are no worse now, with that cause."""
    found: dict[str, str] = {}
    for finding in findings:
        before = state.alive.get(finding.id)
        if finding.caused_by is not None or before is None or before.status is not Status.SNOOZED:
            continue
        cause = before.caused_by
        if cause is not None and cause in left and finding.severity.rank <= before.severity.rank:
            found[finding.id] = cause
    return found


def _seen(finding: Finding, before: Finding | None, at: Instant) -> Finding:
    """Carry a finding on; one that was snoozed opens anew when it is snoozed no more."""
    is_known = before is not None and before.status is not Status.SNOOZED
    status = Status.SNOOZED if finding.status is Status.SNOOZED else Status.ONGOING if is_known else Status.OPEN
    first = before.first_seen if before is not None else finding.first_seen or at
    return msgspec.structs.replace(finding, status=status, first_seen=first, last_seen=at)


def _past(finding: Finding, at: Instant, close_after_ms: int) -> Finding:
    """Close a finding whose condition has failed to hold for long enough."""
    is_over = finding.last_seen is not None and at - finding.last_seen >= close_after_ms
    return msgspec.structs.replace(finding, status=Status.CLOSED) if is_over else finding


def _since(finding: Finding, before: Finding | None, changes: Iterable[Change], earlier: Window | None) -> Finding:
    """Name the change before a finding began; one that was named stays, one that came after it was there is none."""
    known = finding.since_change or (before.since_change if before is not None else None)
    known = known or change_before(finding, changes)
    if known is not None and earlier is not None and known.time >= earlier.start:
        known = None
    return msgspec.structs.replace(finding, since_change=known)
