"""Items of a global table that two regions write at about the same time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.target import Target
    from analyzer.model.traffic import Place, Traffic
    from analyzer.model.window import Window

__all__ = ["TwoWriters", "two_writers"]


class TwoWriters(NamedTuple):
    """Items that `here` and `there` wrote soon after one another: how many, how often, and how close at the closest."""

    here: str
    there: str
    keys: int
    meetings: int
    least_ms: int
    caller: str | None


def two_writers(traffic: Traffic, within_ms: int) -> TwoWriters | None:
    """Return the other region whose writes meet those of this one most; told by the first of two regions alone.

    Tables of one name in two regions may have nothing to do with one another: only what is known as a global table
    counts.
    """
    book, target = traffic.calls, traffic.target
    if book is None or target.region is None or not _is_global(traffic.place):
        return None
    others = {
        call.target
        for call in book.calls
        if call.target.table == target.table and call.target.index is None and call.target.account == target.account
    }
    found = [
        meeting
        for other in sorted(others, key=lambda one: one.region or "")
        if other.region is not None and other.region > target.region
        for meeting in _meetings(book, target, other, within_ms, traffic.window)
    ]
    return max(found, key=lambda meeting: meeting.meetings, default=None)


def _is_global(place: Place) -> bool:
    return bool(place.table is not None and place.table.replicas) or bool(place.write_regions)


def _meetings(book: CallBook, target: Target, other: Target, within_ms: int, window: Window) -> Iterator[TwoWriters]:
    keys, gaps, caller = set(), [], None
    theirs = book.by_key(other)
    for key, calls in book.by_key(target).items():
        for mine, their in _pairs(calls, theirs.get(key, ())):
            is_now = max(mine.time, their.time) >= window.start and min(mine.time, their.time) < window.end
            if is_now and abs(mine.time - their.time) <= within_ms:
                keys.add(key)
                gaps.append(abs(mine.time - their.time))
                caller = caller or mine.caller
    if gaps:
        yield TwoWriters(target.region or "", other.region or "", len(keys), len(gaps), min(gaps), caller)


def _pairs(mine: tuple[Call, ...], theirs: tuple[Call, ...]) -> Iterator[tuple[Call, Call]]:
    """Yield the writes of the two sides that follow one another, mine first."""
    written = [call for call in (*mine, *theirs) if call.shape.writes and not call.failed]
    written.sort(key=lambda call: call.time)
    for first, then in pairwise(written):
        if first.target != then.target:
            yield (first, then) if first.target == mine[0].target else (then, first)
