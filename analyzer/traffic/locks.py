"""Locks that nobody gives back: attempts on a key that fail on their condition, while nothing writes or deletes it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from analyzer.traffic.conditions import Guard, guard_of, is_named_lock
from analyzer.traffic.endings import CONDITIONS
from analyzer.traffic.sequences import runs_by_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call, CallBook, Calls
    from analyzer.model.counts import KeyName
    from analyzer.model.traffic import Traffic

__all__ = ["HeldLock", "held_locks"]

_WAIT_MS = 60_000
"""Who waits for a lock asks again within a minute; what is delivered twice comes back later."""
_BURST = 3
"""So many attempts within a minute are a wait."""


class HeldLock(NamedTuple):
    """A key at which every attempt failed on its condition since `taken`, the last call that wrote it.

    `is_lock` says that something names it a lock, or that others of its kind were taken and given back;
    `is_waited_for` that its callers ask again and again, as one asks for a lock. `taken` is None where it was before
    all that is known.
    """

    name: KeyName
    failures: Calls
    taken: Call | None
    is_lock: bool
    is_waited_for: bool

    @property
    def seconds(self) -> float:
        """How long attempts failed: from the first to the last."""
        return (self.failures[-1].time - self.failures[0].time) / 1000

    @property
    def age_seconds(self) -> float | None:
        """How long before the last attempt it was taken; None where that was not seen."""
        return None if self.taken is None else (self.failures[-1].time - self.taken.time) / 1000


def held_locks(traffic: Traffic, book: CallBook, *, seconds: float, at_least: int) -> list[HeldLock]:
    """Return the keys that nothing wrote since attempts began to fail, those that stand longest first."""
    runs = runs_by_key(book, traffic.target)
    long: list[tuple[KeyName, Call | None, list[Call]]] = []
    for name, calls in runs.items():
        taken, failures = _since_taken(name, calls)
        if len(failures) >= at_least and failures[-1].time - failures[0].time >= seconds * 1000:
            long.append((name, taken, failures))
    cycles = {shape for calls in runs.values() for shape in _taken_and_given_back(calls)} if long else set()
    found = [
        HeldLock(
            name,
            tuple(failures),
            taken,
            is_lock=any(call.fingerprint in cycles for call in failures) or _is_named(failures, traffic),
            is_waited_for=_is_waited_for(failures),
        )
        for name, taken, failures in long
    ]
    return sorted(found, key=lambda held: (-held.seconds, held.name))


def _since_taken(name: KeyName, calls: Calls) -> tuple[Call | None, list[Call]]:
    """Return the last call that wrote or deleted a key, and the attempts that failed after it."""
    taken: Call | None = None
    failures: list[Call] = []
    for call in calls:
        if not call.shape.writes or not _writes(call, name):
            continue
        if not call.failed:
            taken, failures = call, []
        elif call.error in CONDITIONS or any(part.canceled in CONDITIONS for part in call.parts if part.key == name):
            failures.append(call)
    return taken, failures


def _writes(call: Call, name: KeyName) -> bool:
    """Whether a call is to write this key, and not only to check it."""
    return call.key == name or any(part.key == name and part.operation != "ConditionCheck" for part in call.parts)


def _taken_and_given_back(calls: Calls) -> Iterable[str]:
    """Return the shapes of puts whose item was deleted later: what is taken, and given back."""
    taken: set[str] = set()
    back: set[str] = set()
    if all(call.operation != "DeleteItem" for call in calls):
        return back
    for call in calls:
        if call.failed:
            continue
        if call.operation == "DeleteItem":
            back |= taken
        elif guard_of(call.shape) in {Guard.CREATE, Guard.LOCK}:
            taken.add(call.fingerprint)
    return back


def _is_named(failures: list[Call], traffic: Traffic) -> bool:
    """Whether the table, its key, the pattern or the condition speaks of a lock, or a known library keeps its locks."""
    if traffic.place.library is not None or any(guard_of(call.shape) is Guard.LOCK for call in failures):
        return True
    shapes = {call.shape for call in failures}
    names = [predicate.attribute for shape in shapes for predicate in shape.key]
    templates = [predicate.template for shape in shapes for predicate in shape.key]
    updates = [shape.update for shape in shapes]
    return is_named_lock([traffic.target.table, *traffic.place.partition_key, *names, *templates, *updates])


def _is_waited_for(failures: list[Call]) -> bool:
    """Whether attempts came close together: twice a few within a minute, or most of many."""
    gaps = [later.time - earlier.time for earlier, later in pairwise(failures)]
    bursts = length = 0
    for gap in [*gaps, _WAIT_MS + 1]:
        length += 1
        if gap > _WAIT_MS:
            bursts += length >= _BURST
            length = 0
    return bursts > 1 or sum(gap <= _WAIT_MS for gap in gaps) >= _BURST * _BURST
