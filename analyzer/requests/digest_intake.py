"""Which lines are counted: those with a time that is not in the future, and each request id once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.requests.digest_block import fault_of
from analyzer.requests.digest_clock import Clock

if TYPE_CHECKING:
    from analyzer.requests.digest_block import Line, ReadCounters
    from analyzer.requests.digest_told import Told

__all__ = ["Intake"]

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

    def forget(self) -> None:
        """Forget the request ids."""
        self.recent, self.older = set(), set()

    def admit(self, told: Told, latest: int | None) -> tuple[Told, np.ndarray]:
        """Return what the lines to count tell, with their seconds; none later than `latest` (a second)."""
        seconds = self._clock.seconds(told.time)
        if seconds.min() < 0:
            told, seconds = self._without_counters(told, seconds)
        if latest is not None and len(seconds) and seconds.max() > latest:
            self.counters.count_future(int((seconds > latest).sum()), int(seconds.max()) - latest)
            told, seconds = _where(told, seconds, seconds <= latest)
        return self._unique(told, seconds) if len(seconds) else (told, seconds)

    def _without_counters(self, told: Told, seconds: np.ndarray) -> tuple[Told, np.ndarray]:
        is_request = np.ones(len(seconds), dtype=bool)
        for at in np.flatnonzero(seconds < 0).tolist():
            is_request[at] = False
            self.turn_away(told.lines[at])
        return _where(told, seconds, is_request)

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

    def _unique(self, told: Told, seconds: np.ndarray) -> tuple[Told, np.ndarray]:
        newest = int(seconds.max())
        if newest - self.since >= _ID_SECONDS or len(self.recent) >= self._most_ids:
            self.older = self.recent if newest - self.since < 2 * _ID_SECONDS else set()
            self.recent = set()
            self.since = newest
        ids = list(filter(None, told.request_id))
        if self.recent.isdisjoint(ids) and self.older.isdisjoint(ids):
            before = len(self.recent)
            self.recent.update(ids)
            if len(self.recent) == before + len(ids):
                return told, seconds
            self.recent.difference_update(ids)  # some came twice; which one was first is looked at below
        is_first = np.ones(len(seconds), dtype=bool)
        for at, name in enumerate(told.request_id):
            if name and (name in self.recent or name in self.older):
                is_first[at] = False
            elif name:
                self.recent.add(name)
        self.counters.duplicate += int((~is_first).sum())
        return _where(told, seconds, is_first)


def _where(told: Told, seconds: np.ndarray, wanted: np.ndarray) -> tuple[Told, np.ndarray]:
    where = np.flatnonzero(wanted).tolist()
    return told.at(where), seconds[wanted]
