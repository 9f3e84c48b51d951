"""Which minutes have closed, and which came to hold more since: what history is told of, and when.

A minute closes when records that are up to two minutes late are in. What comes later changes it as long as all of it is
still known: then it is told anew, whole. Of what is older only what came is told, which adds to what was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from analyzer.model.counts import Counts
from analyzer.model.instant import MINUTE_MS, Instant, slice_of
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NOTHING_OWED", "Closed", "Closing", "Due", "Owed", "kept_from"]

_LATE_MS = 120_000
_MOST_KEPT_MS = 3_600_000
_SAVED_BEFORE_MS = 600_000
"""What had closed so long before the last checkpoint was written down then, but for what the checkpoint names."""


class Closed(Struct, frozen=True):
    """What was counted in a minute that has closed; `is_late`: what came after it was let go, which adds to it.

    `number` tells late ones apart that hold the same; it goes on after a restart.
    """

    counts: Counts
    is_late: bool
    number: int = 0


class Due(NamedTuple):
    """A minute to be told; `is_late`: only what came after it was let go."""

    start: Instant
    is_late: bool


class Owed(Struct, frozen=True):
    """What a checkpoint holds of history.

    `unwritten` are minutes that wait to be written, or hold more than was; all others before `since` were told, None
    where nothing is known of that. `late` is the number of the last late batch.
    """

    since: Instant | None = None
    unwritten: tuple[Instant, ...] = ()
    late: int = 0


NOTHING_OWED = Owed()


def kept_from(end: Instant, kept_ms: int) -> Instant:
    """Return since when slices are kept at `end`: minutes are let go whole, so that none is half known."""
    return _minute(slice_of(end) - kept_ms)


class Closing:
    """Remembers what of each slice was told; `saved_at` is when the checkpoint was written that one goes on from.

    `restored` are the changes of the digest that the checkpoint held.
    """

    def __init__(
        self,
        saved_at: Instant | None,
        kept_ms: int = _MOST_KEPT_MS,
        owed: Owed = NOTHING_OWED,
        restored: dict[Instant, int] | None = None,
    ) -> None:
        known = [at for at in (saved_at and saved_at - _SAVED_BEFORE_MS, owed.since) if at is not None]
        self._since = min(map(_minute, known), default=None)
        self._unwritten = owed.unwritten
        self._late = owed.late
        self._restored = restored
        self._kept_ms = max(kept_ms, _MOST_KEPT_MS)
        self._told: dict[Instant, int] = {}
        self._broken: set[Instant] = set()
        self._lost: tuple[Instant, ...] = ()
        self._next: Instant | None = None
        self._whole_from: Instant | None = None

    def close(self, changes: dict[Instant, int], end: Instant, count: Callable[[Window], Counts]) -> tuple[Closed, ...]:
        """Return what history is to be told of at `end`, before slices are let go; `changes` is the digest's."""
        found = []
        for due in self.due(changes, end):
            self._late += due.is_late
            counts = count(Window(due.start, due.start + MINUTE_MS))
            found.append(Closed(counts, due.is_late, self._late if due.is_late else 0))
        return tuple(found)

    def due(self, changes: dict[Instant, int], end: Instant) -> list[Due]:
        """Return the minutes to be told at `end`, before slices are let go; `changes` is the digest's."""
        let_go = kept_from(end, self._kept_ms)
        whole_from = self._whole_from
        if whole_from is None or self._is_set_back(let_go):
            whole_from = let_go
        if self._next is None:
            self._next = self._begin(changes, end, whole_from)
            known = changes if self._restored is None else self._restored
            self._told = {start: times for start, times in known.items() if self._since and start >= whole_from}
        self._note_broken(changes)
        found = [*self._again(changes, whole_from), *self._closed(end)]
        self._told |= {start: times for start, times in changes.items() if _minute(start) < self._next}
        self.let_go(let_go)
        return found

    def let_go(self, before: Instant) -> Instant:
        """Take note that slices before a whole minute are let go, and return before which they are.

        What comes for them from now on is new; they stay let go where a longer window would keep them now.
        """
        known = self._whole_from
        floor = self._whole_from = before if known is None or self._is_set_back(before) else max(known, before)
        self._told = {start: times for start, times in self._told.items() if start >= floor}
        self._broken = {minute for minute in self._broken if minute >= floor}
        return floor

    def _is_set_back(self, let_go: Instant) -> bool:
        """Whether the clock was set back by more than is kept: then it begins anew."""
        return self._whole_from is not None and let_go < self._whole_from - self._kept_ms

    def adopt(self, changes: dict[Instant, int], kept_ms: int, before: dict[Instant, int] | None = None) -> None:
        """Go on with a digest that counts its changes anew, and with another window.

        `before` is what was counted until then, where that may hold more than was told.
        """
        self._kept_ms = max(kept_ms, _MOST_KEPT_MS)
        untold = {start for start, times in (before or {}).items() if self._told.get(start, 0) < times}
        self._told = {start: changes[start] for start in self._told if start in changes and start not in untold}
        if self._restored is not None and self._next is None:
            same = {start for start, times in self._restored.items() if (before or {}).get(start, times) == times}
            self._restored = {start: times for start, times in changes.items() if start in same}

    def owed(self, unwritten: tuple[Instant, ...], changes: dict[Instant, int]) -> Owed:
        """Return what a checkpoint is to hold, where these minutes wait to be written; `changes` is the digest's."""
        if self._next is None:
            return Owed(self._since, self._unwritten, self._late)
        return Owed(self._next, tuple(sorted({*unwritten, *self._more(changes)})), self._late)

    def take_lost(self) -> tuple[Instant, ...]:
        """Return, once, the minutes that waited at the last checkpoint and are not known any more."""
        lost, self._lost = self._lost, ()
        return lost

    def _begin(self, changes: dict[Instant, int], end: Instant, whole_from: Instant) -> Instant:
        """Return the first minute that is told whole, whatever it holds."""
        oldest = min([_minute(start) for start in changes], default=_minute(end))
        wanted = min([max(oldest, self._since or 0), *self._unwritten])
        first = min(max(wanted, -(-whole_from // MINUTE_MS) * MINUTE_MS), _minute(end))
        self._lost = tuple(minute for minute in self._unwritten if minute < first)
        return first

    def _note_broken(self, changes: dict[Instant, int]) -> None:
        """Take note of minutes of which slices were let go before their time: the digest has a bound of its own."""
        gone = {start for start, times in self._told.items() if changes.get(start, 0) < times}
        self._broken |= {_minute(start) for start in gone}
        self._told = {start: times for start, times in self._told.items() if start not in gone}

    def _again(self, changes: dict[Instant, int], whole_from: Instant) -> Iterator[Due]:
        """Yield minutes that were told, and hold more now; and those that came too late to be told whole."""
        for minute in sorted(self._more(changes)):
            yield Due(minute, is_late=minute < whole_from or minute in self._broken)

    def _more(self, changes: dict[Instant, int]) -> set[Instant]:
        """Return the minutes that have closed and hold more than was told."""
        return {
            _minute(start)
            for start, times in changes.items()
            if self._next is not None and _minute(start) < self._next and self._told.get(start, 0) < times
        }

    def _closed(self, end: Instant) -> Iterator[Due]:
        while self._next is not None and self._next + MINUTE_MS + _LATE_MS <= end:
            yield Due(self._next, is_late=False)
            self._next += MINUTE_MS


def _minute(instant: Instant) -> Instant:
    return instant - instant % MINUTE_MS
