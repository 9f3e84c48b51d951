"""Which lines are counted: those with a time that is not in the future, and each request id once."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from analyzer.requests.digest_block import fault_of
from analyzer.requests.digest_clock import Clock

if TYPE_CHECKING:
    from analyzer.requests.digest_block import Line, ReadCounters

__all__ = ["Intake"]

_REQUEST_ID = attrgetter("request_id")
_ID_SECONDS = 60


class Intake:
    """Sorts lines out; remembers the request ids of the last minute, and no more than twice `most_ids`."""

    def __init__(self, counters: ReadCounters, most_ids: int) -> None:
        self.counters = counters
        self.recent: set[str] = set()
        self.older: set[str] = set()
        self.since = 0
        self._most_ids = most_ids
        self._clock = Clock()

    def admit(self, lines: list[Line], latest: int | None) -> tuple[list[Line], np.ndarray]:
        """Return the lines to count with their seconds; none later than `latest` (a second)."""
        seconds = self._clock.seconds(lines)
        if seconds.min() < 0:
            lines, seconds = self._without_counters(lines, seconds)
        if latest is not None and len(lines) and seconds.max() > latest:
            self.counters.future += int((seconds > latest).sum())
            lines, seconds = _where(lines, seconds, seconds <= latest)
        return self._unique(lines, seconds) if lines else (lines, seconds)

    def _without_counters(self, lines: list[Line], seconds: np.ndarray) -> tuple[list[Line], np.ndarray]:
        is_request = np.ones(len(lines), dtype=bool)
        for at in np.flatnonzero(seconds < 0).tolist():
            is_request[at] = False
            self.turn_away(lines[at])
        return _where(lines, seconds, is_request)

    def turn_away(self, line: Line) -> None:
        """Count a line that is no request, or none that can be placed in time."""
        count = max(0, line.count)
        if line.counter == "dropped":
            self.counters.dropped += count
        elif line.counter == "unsampled":
            self.counters.unsampled += count
        elif line.counter is not None:
            self.counters.count_bad("counter is neither dropped nor unsampled")
        else:
            self.counters.count_bad(fault_of(line) or "time is not RFC 3339")

    def _unique(self, lines: list[Line], seconds: np.ndarray) -> tuple[list[Line], np.ndarray]:
        newest = int(seconds.max())
        if newest - self.since >= _ID_SECONDS or len(self.recent) >= self._most_ids:
            self.older = self.recent if newest - self.since < 2 * _ID_SECONDS else set()
            self.recent = set()
            self.since = newest
        ids = list(filter(None, map(_REQUEST_ID, lines)))
        fresh = set(ids)
        if len(fresh) == len(ids) and self.recent.isdisjoint(fresh) and self.older.isdisjoint(fresh):
            self.recent |= fresh
            return lines, seconds
        is_first = np.ones(len(lines), dtype=bool)
        for at, line in enumerate(lines):
            name = line.request_id
            if name and (name in self.recent or name in self.older):
                is_first[at] = False
            elif name:
                self.recent.add(name)
        self.counters.duplicate += int((~is_first).sum())
        return _where(lines, seconds, is_first)


def _where(lines: list[Line], seconds: np.ndarray, wanted: np.ndarray) -> tuple[list[Line], np.ndarray]:
    return [lines[at] for at in np.flatnonzero(wanted).tolist()], seconds[wanted]
