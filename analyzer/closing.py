"""Which minutes have closed, and which came to hold more since: what history is told of, and when.

A minute closes when records that are up to two minutes late are in. What comes later changes it as long as all of it is
still known: then it is told anew, whole. Of what is older only what came is told, which adds to what was.
"""

from __future__ import annotations

from collections import deque
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
_MOST_JUMPS = 16
"""Jumps of the clock that are remembered; it is set once, or wavers between two times."""
_SAVED_BEFORE_MS = 600_000
"""What had closed so long before the last checkpoint was written down then, but for what the checkpoint names."""


class Closed(Struct, frozen=True):
    """What was counted in a minute that has closed; `is_late`: what came after it was let go, which adds to it.

    `number` tells late ones apart; it goes on after a restart.
    """

    counts: Counts
    is_late: bool
    number: int = 0


class Due(NamedTuple):
    """A minute to be told; `is_late`: only what came after it was let go.

    `number` is that of a late one which is told again as a whole, since the clock was set back to it.
    """

    start: Instant
    is_late: bool
    number: int = 0


class _Gone(NamedTuple):
    """Minutes that were told before the clock jumped, and of which nothing that was counted then is known any more."""

    start: Instant
    end: Instant
    number: int


class Owed(Struct, frozen=True):
    """What a checkpoint holds of history.

    `unwritten` are minutes that wait to be written, or hold more than was; all others before `since` were told, None
    where nothing is known of that. `late` is the number of the last late batch, `whole_from` is since when slices are
    kept.
    """

    since: Instant | None = None
    unwritten: tuple[Instant, ...] = ()
    late: int = 0
    whole_from: Instant | None = None


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
        self.known_late = owed.late or None
        """The last late batch that the checkpoint knows: what was written after it comes again."""
        self._restored = restored
        self._kept_ms = max(kept_ms, _MOST_KEPT_MS)
        self._told: dict[Instant, int] = {}
        self._broken: set[Instant] = set()
        self._lost: tuple[Instant, ...] = ()
        self._next: Instant | None = None
        self._whole_from: Instant | None = None
        self._began: Instant = 0
        self._gone: deque[_Gone] = deque(maxlen=_MOST_JUMPS)
        self._told_until = owed.since
        self._held_from = None if saved_at is None else owed.whole_from or kept_from(saved_at, self._kept_ms)

    def close(self, changes: dict[Instant, int], end: Instant, count: Callable[[Window], Counts]) -> tuple[Closed, ...]:
        """Return what history is to be told of at `end`, before slices are let go; `changes` is the digest's."""
        found = []
        for due in self.due(changes, end):
            self._late += due.is_late and not due.number
            counts = count(Window(due.start, due.start + MINUTE_MS))
            found.append(Closed(counts, due.is_late, due.number or (self._late if due.is_late else 0)))
        return tuple(found)

    def due(self, changes: dict[Instant, int], end: Instant) -> list[Due]:
        """Return the minutes to be told at `end`, before slices are let go; `changes` is the digest's."""
        let_go = kept_from(end, self._kept_ms)
        self._go_back(let_go)
        whole_from = let_go if self._whole_from is None else self._whole_from
        if self._next is None:
            self._late = self._late or end // 1000  # above all that was, also where the state was lost
            self._next = self._begin(changes, end, whole_from)
            known = changes if self._restored is None else self._restored
            self._told = {
                start: times
                for start, times in known.items()
                if self._since and start >= whole_from and _minute(start) < self._next
            }
        told_until, self._next = self._next, max(self._next, let_go)  # in between nobody looked: it slept, or jumped
        self._note_broken(changes)
        found = [*self._again(changes, whole_from), *self._closed(changes, end)]
        if told_until < let_go:
            self._leave(told_until, let_go)
        self._told |= {start: times for start, times in changes.items() if _minute(start) < self._next}
        self.let_go(let_go)
        return found

    def _leave(self, until: Instant, begin: Instant) -> None:
        """Begin anew elsewhere: what was told until then is not known any more, and is never told whole again."""
        if until > self._began:
            self._late += 1
            self._gone.append(_Gone(self._began, until, self._late))
        self._began = begin

    def _go_back(self, let_go: Instant) -> None:
        """Take note of a clock that was set back by more than is kept."""
        known = self._whole_from
        if known is None or not self._is_set_back(let_go):
            return
        if self._next is not None:
            self._leave(min(known, self._next), let_go)
            self._next = min(self._next, let_go + self._kept_ms)
        self._whole_from = let_go

    def _gone_of(self, minute: Instant) -> _Gone | None:
        return next((gone for gone in reversed(self._gone) if gone.start <= minute < gone.end), None)

    def let_go(self, before: Instant) -> Instant:
        """Take note that slices before a whole minute are let go, and return before which they are.

        What comes for them from now on is new; they stay let go where a longer window would keep them now. The first
        time after a restart nothing is: what the checkpoint held, however old it is, was not told yet.
        """
        self._go_back(before)
        if self._next is None and self._held_from is not None:
            before, self._held_from = min(before, self._held_from), None
        floor = self._whole_from = max(before, self._whole_from or before)
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
            since = min(map(_minute, changes), default=None) if self._since is None else self._since
            restored = self._restored or {}
            untold = {_minute(start) for start, times in changes.items() if restored.get(start, 0) < times}
            return Owed(since, tuple(sorted({*self._unwritten, *untold})), self._late, self._whole_from)
        return Owed(self._next, tuple(sorted({*unwritten, *self._more(changes)})), self._late, self._whole_from)

    def take_lost(self) -> tuple[Instant, ...]:
        """Return, once, the minutes that waited at the last checkpoint and are not known any more."""
        lost, self._lost = self._lost, ()
        return lost

    def _begin(self, changes: dict[Instant, int], end: Instant, whole_from: Instant) -> Instant:
        """Return the first minute that is told whole, whatever it holds."""
        oldest = min([_minute(start) for start in changes], default=_minute(end))
        wanted = min([max(oldest, self._since or 0), *self._unwritten])
        first = min(max(wanted, -(-whole_from // MINUTE_MS) * MINUTE_MS), _minute(end))
        if self._told_until is not None:  # the clock may have been set back while nobody looked
            self._leave(self._told_until - self._kept_ms, first)
        self._began = first
        known = {_minute(start) for start in changes}
        self._lost = tuple(minute for minute in self._unwritten if minute < first and minute not in known)
        return first

    def _note_broken(self, changes: dict[Instant, int]) -> None:
        """Take note of minutes of which slices were let go before their time: the digest has a bound of its own."""
        gone = {start for start, times in self._told.items() if changes.get(start, 0) < times}
        self._broken |= {_minute(start) for start in gone}
        self._told = {start: times for start, times in self._told.items() if start not in gone}

    def _again(self, changes: dict[Instant, int], whole_from: Instant) -> Iterator[Due]:
        """Yield minutes that were told, and hold more now; and those that came too late to be told whole."""
        for minute in sorted(self._more(changes)):
            gone = self._gone_of(minute) if minute >= whole_from else None
            is_late = minute < whole_from or minute in self._broken or gone is not None
            yield Due(minute, is_late, 0 if gone is None else gone.number)

    def _more(self, changes: dict[Instant, int]) -> set[Instant]:
        """Return the minutes that have closed and hold more than was told."""
        return {
            _minute(start)
            for start, times in changes.items()
            if self._next is not None and _minute(start) < self._next and self._told.get(start, 0) < times
        }

    def _closed(self, changes: dict[Instant, int], end: Instant) -> Iterator[Due]:
        asked = {_minute(start) for start in changes}
        while self._next is not None and self._next + MINUTE_MS + _LATE_MS <= end:
            gone = self._gone_of(self._next)
            if gone is None:
                yield Due(self._next, is_late=False)
            elif self._next in asked:
                yield Due(self._next, is_late=True, number=gone.number)
            self._next += MINUTE_MS


def _minute(instant: Instant) -> Instant:
    return instant - instant % MINUTE_MS
