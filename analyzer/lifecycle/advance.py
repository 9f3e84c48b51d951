"""The life of findings from report to report: open, ongoing, closed with hysteresis. Pure: the state is a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.lifecycle.since_change import change_before
from analyzer.lifecycle.snooze import hush
from analyzer.lifecycle.verdict import by_weight, fault_of
from analyzer.model.finding import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Change
    from analyzer.model.instant import Instant
    from analyzer.model.life import Snooze
    from analyzer.model.report import Report

__all__ = ["Event", "State", "advance"]


class State(Struct, frozen=True):
    """The findings that are alive, by id, as they were last reported."""

    alive: dict[str, Finding] = {}


class Event(Struct, frozen=True):
    """A finding that opened or closed."""

    status: Status
    finding: Finding


def advance(
    state: State, report: Report, at: Instant, close_after_ms: int, snoozes: Iterable[Snooze] = ()
) -> tuple[State, Report, tuple[Event, ...]]:
    """Carry the findings of a report over from the last one.

    A finding seen for the first time is `open`, again `ongoing`. One whose condition no longer holds stays, as it was
    last seen, until that has lasted `close_after_ms`; then it is `closed`, once, and gone. The verdict speaks of all
    that are alive. Of one that is snoozed nobody is told when it comes or goes; it opens anew when `snoozes` and
    contract hold it no more. Each gets the change just before it began, whenever that becomes known: CloudTrail tells
    of it minutes later.
    """
    alive: dict[str, Finding] = {}
    shown: list[Finding] = []
    events: list[Event] = []
    now = {finding.id for finding in report.findings}
    kept = tuple(before for identity, before in state.alive.items() if identity not in now)
    for finding in hush((*report.findings, *kept), snoozes, at):
        before = state.alive.get(finding.id)
        if finding.id in now:
            seen = _since(_seen(finding, before, at), before, report.changes)
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
    fault = fault_of(finding for finding in ordered if finding.status is not Status.CLOSED)
    changed = msgspec.structs.replace(report, findings=ordered, verdict=fault or report.verdict)
    return State(alive), changed, tuple(events)


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


def _since(finding: Finding, before: Finding | None, changes: Iterable[Change]) -> Finding:
    """Name the change before a finding began; one that was named stays."""
    known = finding.since_change or (before.since_change if before is not None else None)
    return msgspec.structs.replace(finding, since_change=known or change_before(finding, changes))
