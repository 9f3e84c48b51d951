"""Which minutes have closed, and which came to hold more since: what history is told of, and when.

A minute closes when records that are up to two minutes late are in. What comes later changes it as long as all of it is
still known: then it is told anew, whole. Of what is older only what came is told, which adds to what was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from analyzer.model.counts import Counts
from analyzer.model.instant import MINUTE_MS, Instant, slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Closed", "Closing", "Due"]

_LATE_MS = 120_000
_MOST_KEPT_MS = 3_600_000
_SAVED_BEFORE_MS = 600_000
"""What had closed so long before the last checkpoint was written down then."""


class Closed(Struct, frozen=True):
    """What was counted in a minute that has closed; `is_late`: what came after it was let go, which adds to it."""

    counts: Counts
    is_late: bool


class Due(NamedTuple):
    """A minute to be told; `is_late`: only what came after it was let go."""

    start: Instant
    is_late: bool


class Closing:
    """Remembers what of each slice was told; `saved_at` is when the checkpoint was written that one goes on from."""

    def __init__(self, saved_at: Instant | None, kept_ms: int = _MOST_KEPT_MS) -> None:
        self._since = None if saved_at is None else _minute(saved_at - _SAVED_BEFORE_MS)
        self._kept_ms = max(kept_ms, _MOST_KEPT_MS)
        self._told: dict[Instant, int] = {}
        self._next: Instant | None = None
        self._whole_from: Instant | None = None

    def due(self, changes: dict[Instant, int], end: Instant) -> list[Due]:
        """Return the minutes to be told at `end`, before slices are let go; `changes` is the digest's."""
        let_go = slice_of(end) - self._kept_ms
        whole_from = let_go if self._whole_from is None else self._whole_from
        if self._next is None:
            self._next = self._first(changes, end, whole_from)
            self._told = {start: times for start, times in changes.items() if self._since and start < self._next}
        found = [*self._again(changes, whole_from), *self._closed(end)]
        self._told |= {start: times for start, times in changes.items() if _minute(start) < self._next}
        self._told = {start: times for start, times in self._told.items() if start >= let_go - MINUTE_MS}
        self._whole_from = let_go
        return found

    def _first(self, changes: dict[Instant, int], end: Instant, whole_from: Instant) -> Instant:
        """Return the first minute that is told whole, whatever it holds."""
        oldest = min([_minute(start) for start in changes], default=_minute(end))
        first = max(oldest, -(-whole_from // MINUTE_MS) * MINUTE_MS, self._since or 0)
        return min(first, _minute(end))

    def _again(self, changes: dict[Instant, int], whole_from: Instant) -> Iterator[Due]:
        """Yield minutes that were told, and hold more now; and those that came too late to be told whole."""
        more = {
            _minute(start)
            for start, times in changes.items()
            if self._next is not None and _minute(start) < self._next and self._told.get(start, 0) < times
        }
        known = {_minute(start) for start in self._told}
        for minute in sorted(more):
            if minute >= whole_from:
                yield Due(minute, is_late=False)
            elif minute not in known:
                yield Due(minute, is_late=True)

    def _closed(self, end: Instant) -> Iterator[Due]:
        while self._next is not None and self._next + MINUTE_MS + _LATE_MS <= end:
            yield Due(self._next, is_late=False)
            self._next += MINUTE_MS


def _minute(instant: Instant) -> Instant:
    return instant - instant % MINUTE_MS
