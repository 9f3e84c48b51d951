"""Calls that belong together: pages that were followed or not, keys handed back that were sent again or not.

A sequence is named by its trace, or by caller and key. Its events are kept in the order of their times, so that parts
of a log join exactly where they are split by trace or key, or are adjacent in time. What was let go for want of room,
before it was known how it went on, counts as cut.
"""

from __future__ import annotations

from bisect import insort
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from analyzer.requests.digest_block import ABSENT
from analyzer.requests.digest_columns import WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_columns import Rows
    from analyzer.requests.tokens import Salt

__all__ = ["CONTINUES", "MAY_CONTINUE", "OPENS", "SequenceCounts", "SequenceTable", "find_sequences"]

OPENS = 1
"""The call left something over: more pages, or keys handed back."""

CONTINUES = 2
"""The call took up what another one had left."""

MAY_CONTINUE = 4
"""The call is of a kind that does not say whether it takes up what another one had left: a batch."""

_MOST_EVENTS = 64
_SETTLE_MS = 60_000

Event = tuple[int, int]
"""Milliseconds since the epoch, and flags."""

Name = tuple[str, ...]


class SequenceCounts(Struct):
    """How sequences went on: `followed` and `left` count calls that left something over, `open` those still waiting."""

    followed: int = 0
    left: int = 0
    cut: int = 0
    open: int = 0

    def add(self, other: SequenceCounts) -> None:
        """Add other counts."""
        self.followed += other.followed
        self.left += other.left
        self.cut += other.cut
        self.open += other.open


class SequenceTable:
    """The open sequences, oldest first, and the counts of those that were closed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[Name, list[Event]] = {}
        self._closed = SequenceCounts()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, name: Name, at_ms: int, flags: int) -> None:
        """Take in one call of a sequence."""
        events = self._open.get(name)
        if events is None:
            if len(self._open) >= self._most:
                self._let_go()
            self._open[name] = [(at_ms, flags)]
            return
        if events[-1] <= (at_ms, flags):
            events.append((at_ms, flags))
        else:
            insort(events, (at_ms, flags))
        if len(events) > _MOST_EVENTS:
            self._shorten(events)

    def _shorten(self, events: list[Event]) -> None:
        """Count the older half of a long sequence; the call that the rest follows on stays."""
        middle = len(events) // 2
        counts = _judge(events[: middle + 1])
        counts.open = 0
        self._closed.add(counts)
        del events[:middle]
        events[0] = (events[0][0], events[0][1] & OPENS)

    def _let_go(self) -> None:
        """Make room: the oldest eighth is counted as it stands."""
        for name in list(islice(self._open, self._most // 8 + 1)):
            events = self._open.pop(name)
            if len(events) == 1 and events[0][1] == OPENS:
                self._closed.cut += 1
                continue
            counts = _judge(events)
            counts.cut += counts.open
            counts.open = 0
            self._closed.add(counts)

    def close_before(self, instant: int) -> None:
        """Close the sequences that nothing can follow on any more: what they left over was left."""
        done = [name for name, events in self._open.items() if events[-1][0] < instant - _SETTLE_MS]
        for name in done:
            counts = _judge(self._open.pop(name))
            counts.left += counts.open
            counts.open = 0
            self._closed.add(counts)

    def merge(self, other: SequenceTable) -> None:
        """Take in another part."""
        self._closed.add(other._closed)
        for name, events in other._open.items():
            for at_ms, flags in events:
                self.add(name, at_ms, flags)

    def counts(self) -> SequenceCounts:
        """Return how all sequences went on so far."""
        total = SequenceCounts()
        total.add(self._closed)
        for events in self._open.values():
            total.add(_judge(events))
        return total

    def plain(self) -> tuple[SequenceCounts, list[Any]]:
        """Return the whole state."""
        return self._closed, list(self._open.items())

    @classmethod
    def from_plain(cls, most: int, closed: SequenceCounts, sequences: Sequence[Any]) -> SequenceTable:
        """Rebuild from the state."""
        table = cls(most)
        table._closed = closed
        table._open = {tuple(name): [(at_ms, flags) for at_ms, flags in events] for name, events in sequences}
        return table


def find_sequences(lines: list[Line], rows: Rows, table: SequenceTable, collect: Salt | None) -> None:
    """Add the calls that left something over, or took something up."""
    more, resumed, unprocessed = rows.whole[WHOLE.index("more") :]
    flags = np.where((more > 0) | (unprocessed > 0), OPENS, 0) + np.where(resumed > 0, CONTINUES, 0)
    flags += MAY_CONTINUE * rows.is_parted
    told = flags > 0
    done = -1
    columns = (rows.source[told], flags[told], rows.seconds[told])
    for at, flag, second in zip(*(column.tolist() for column in columns), strict=True):
        name = _name_of(lines[at], collect) if at != done else None
        if name is not None:
            table.add(name, _instant(lines[at].time, second), flag)
        done = at


def _instant(time: str, second: int) -> int:
    """Return the milliseconds of a time of which the second is known."""
    digits = time[20:23]
    return second * 1000 + (int(digits) if digits.isdecimal() else 0)


def _name_of(line: Line, collect: Salt | None) -> Name | None:
    """Return what ties calls together: the trace, else caller and key (with a salt, its hash); None without both."""
    place = (line.op, line.table or "", line.index or "")
    if line.trace_id is not None:
        return (line.trace_id, *place)
    if line.caller is None or line.key is ABSENT:
        return None
    key = bytes(line.key).decode("utf-8", "replace")
    return (line.caller, key if collect is None else collect.token(key), *place)


def _judge(events: Sequence[Event]) -> SequenceCounts:
    """Count what became of each call that left something over."""
    counts = SequenceCounts()
    is_waiting = False
    for _, flags in events:
        if is_waiting and flags & (CONTINUES | MAY_CONTINUE):
            counts.followed += 1
        elif is_waiting:
            counts.left += 1
        elif flags & CONTINUES:
            counts.cut += 1
        is_waiting = bool(flags & OPENS)
    counts.open = int(is_waiting)
    return counts
