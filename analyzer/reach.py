"""How far CloudWatch tells of each table: what is late is judged as far as it goes, what comes later is caught up on.

A table that is behind the others is not judged over minutes that nobody saw of it. A stretch that was not there when
its time came, since CloudWatch or the way to it was down, is judged when it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.target import Target
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Part", "Progress", "late_parts", "missed_parts"]

_MOST_PARTS = 3
"""So many stretches of late tables are told apart; those that are later still are judged as far as the last of them."""
_MOST_TABLES = 20_000
"""Tables of which it is known how far they were judged: eight regions full of them."""


class Part(Struct, frozen=True):
    """A stretch, and the tables that are judged over it."""

    window: Window
    tables: frozenset[Target]


def late_parts(reaches: Mapping[Target, Instant], settled: Window, oldest: Instant) -> tuple[Part, ...]:
    """Return the stretches of tables that are behind `settled`, each as long as it, the newest before the others.

    A table that reaches no further than `oldest` is judged by none.
    """
    behind: dict[Instant, set[Target]] = {}
    for table, end in reaches.items():
        if oldest < end < settled.end:
            behind.setdefault(end, set()).add(table)
    ends = sorted(behind, reverse=True)
    length_ms = settled.end - settled.start
    for late in ends[_MOST_PARTS:]:
        behind[late] |= behind.pop(ends[_MOST_PARTS - 1])
        ends[_MOST_PARTS - 1] = late
    return tuple(Part(Window(end - length_ms, end), frozenset(behind[end])) for end in ends[:_MOST_PARTS])


class Progress:
    """Until when each table has been judged; `dropped` counts those that there was no room for, each time they came."""

    def __init__(self) -> None:
        self._judged: dict[Target, Instant] = {}
        self.dropped = 0

    def forget(self) -> None:
        """Begin anew: what another daemon judged meanwhile it has told."""
        self._judged = {}

    def take(self, parts: Sequence[Part], since: Instant) -> dict[Target, Window]:
        """Note what is judged now, and return what of each table was left out before: no earlier than `since`."""
        missed: dict[Target, Window] = {}
        for part in parts:
            for table in part.tables:
                before = self._judged.get(table)
                if before is not None and max(before, since) < part.window.start:
                    missed[table] = Window(max(before, since), part.window.start)
                if before is not None or len(self._judged) < _MOST_TABLES:
                    self._judged[table] = max(before or 0, part.window.end)
                else:
                    self.dropped += 1
        return missed


def missed_parts(missed: Mapping[Target, Window], length_ms: int) -> Iterator[Part]:
    """Yield stretches of a length, each half over the one before, with the tables that were left out in them."""
    if not missed:
        return
    whole = Window(min(one.start for one in missed.values()), max(one.end for one in missed.values()))
    for tile in _tiles(whole, length_ms):
        tables = {table for table, one in missed.items() if one.start < tile.end and tile.start < one.end}
        if tables:
            yield Part(tile, frozenset(tables))


def _tiles(window: Window, length_ms: int) -> Iterator[Window]:
    """Yield windows that cover a longer one; else the window itself."""
    last = window.end - length_ms
    step = max(length_ms // 2 // MINUTE_MS * MINUTE_MS, MINUTE_MS)
    for start in range(window.start, last, step):
        yield Window(start, start + length_ms)
    yield Window(max(last, window.start), window.end)
