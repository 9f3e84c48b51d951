"""The life of findings from report to report: open, ongoing, closed with hysteresis. Pure: the state is a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.lifecycle.since_change import change_before
from analyzer.lifecycle.verdict import by_weight, fault_of
from analyzer.model.finding import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Change
    from analyzer.model.instant import Instant
    from analyzer.model.report import Report

__all__ = ["Event", "State", "advance"]


class State(Struct, frozen=True):
    """The findings that are alive, by id, as they were last reported."""

    alive: dict[str, Finding] = {}


class Event(Struct, frozen=True):
    """A finding that opened or closed."""

    status: Status
    finding: Finding


def advance(state: State, report: Report, at: Instant, close_after_ms: int) -> tuple[State, Report, tuple[Event, ...]]:
    """Carry the findings of a report over from the last one.

    A finding seen for the first time is `open`, again `ongoing`. One whose condition no longer holds stays, as it was
    last seen, until that has lasted `close_after_ms`; then it is `closed`, once, and gone. The verdict speaks of all
    that are alive. Of a snoozed one nobody is told when it comes or goes. Each gets the change just before it began,
    whenever that becomes known: CloudTrail tells of it minutes later.
    """
    alive: dict[str, Finding] = {}
    shown: list[Finding] = []
    events: list[Event] = []
    for finding in report.findings:
        before = state.alive.get(finding.id)
        seen = _since(_seen(finding, before, at), before, report.changes)
        alive[seen.id] = seen
        shown.append(seen)
        if seen.status is Status.OPEN:
            events.append(Event(Status.OPEN, seen))
    for identity, before in state.alive.items():
        if identity in alive:
            continue
        if before.last_seen is not None and at - before.last_seen >= close_after_ms:
            closed = msgspec.structs.replace(before, status=Status.CLOSED)
            shown.append(closed)
            if before.status is not Status.SNOOZED:
                events.append(Event(Status.CLOSED, closed))
        else:
            alive[identity] = before
            shown.append(before)
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


def _since(finding: Finding, before: Finding | None, changes: Iterable[Change]) -> Finding:
    """Name the change before a finding began; one that was named stays."""
    known = finding.since_change or (before.since_change if before is not None else None)
    return msgspec.structs.replace(finding, since_change=known or change_before(finding, changes))
