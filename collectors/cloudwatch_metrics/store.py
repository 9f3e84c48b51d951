"""What was read of CloudWatch, by series and time: bounded, and the newest reading wins. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["SeriesStore"]

_FIRST_ROWS = 64


class SeriesStore:
    """A ring of slots a series, one a period: memory is series × slots × 8 bytes, whatever happens.

    A point older than the ring is dropped and counted, as is one of a series over the bound. A newer time than any
    before lets go of the oldest.
    """

    def __init__(self, period_seconds: int, slots: int, most_series: int) -> None:
        self.period_seconds = period_seconds
        self.slots = slots
        self._period_ms = period_seconds * 1000
        self._most = most_series
        self._rows: dict[Hashable, int] = {}
        self._values = np.full((_FIRST_ROWS, slots), np.nan)
        self._end: Instant | None = None
        self.dropped = 0

    @property
    def oldest(self) -> Instant:
        """The oldest time that there is a slot for; 0 while there is no point."""
        return 0 if self._end is None else (self._end // self._period_ms - self.slots + 1) * self._period_ms

    def __len__(self) -> int:
        return len(self._rows)

    def upsert(self, series: Hashable, timestamps: Sequence[Instant], values: Sequence[float]) -> None:
        """Keep points; one of a time that is known already takes its place."""
        if not timestamps:
            return
        self._reach(max(timestamps))
        row = self._row(series)
        if row is None or self._end is None:
            self.dropped += len(timestamps)
            return
        places = np.asarray(timestamps, dtype=np.int64) // self._period_ms
        kept = places > self._end // self._period_ms - self.slots
        self.dropped += int(len(places) - kept.sum())
        self._values[row, places[kept] % self.slots] = np.asarray(values, dtype=np.float64)[kept]

    def points(self, series: Hashable, window: Window) -> tuple[tuple[Instant, ...], tuple[float, ...]]:
        """Return times and values of a series whose periods begin in a window."""
        row = self._rows.get(series)
        if row is None or self._end is None:
            return (), ()
        last = self._end // self._period_ms
        first = max(-(-window.start // self._period_ms), last - self.slots + 1)
        places = np.arange(first, min(last, (window.end - 1) // self._period_ms) + 1)
        values = self._values[row, places % self.slots]
        known = ~np.isnan(values)
        return tuple((places[known] * self._period_ms).tolist()), tuple(values[known].tolist())

    def newest(self, series: Hashable) -> Instant | None:
        """Return the time of the newest point, None where there is none."""
        row = self._rows.get(series)
        if row is None or self._end is None:
            return None
        last = self._end // self._period_ms
        places = np.arange(last - self.slots + 1, last + 1)
        known = places[~np.isnan(self._values[row, places % self.slots])]
        return int(known[-1]) * self._period_ms if len(known) else None

    def keep_only(self, series: Iterable[Hashable]) -> None:
        """Let go of every series that nobody asks for any more."""
        wanted = set(series)
        gone = [name for name in self._rows if name not in wanted]
        if not gone:
            return
        for name in gone:
            del self._rows[name]
        self._values = self._values[list(self._rows.values()) or [0]].copy()
        if not self._rows:
            self._values[:] = np.nan
        self._rows = {name: row for row, name in enumerate(self._rows)}

    def _row(self, series: Hashable) -> int | None:
        row = self._rows.get(series)
        if row is None and len(self._rows) < self._most:
            row = self._rows[series] = len(self._rows)
            if row >= len(self._values):
                grown = np.full((len(self._values), self.slots), np.nan)
                self._values = np.concatenate((self._values, grown))
        return row

    def _reach(self, newest: Instant) -> None:
        """Empty the slots between the newest time so far and a newer one."""
        if self._end is None:
            self._end = newest
            return
        last, reached = self._end // self._period_ms, newest // self._period_ms
        if reached <= last:
            return
        freed = np.arange(max(last + 1, reached - self.slots + 1), reached + 1)
        self._values[:, freed % self.slots] = np.nan
        self._end = newest
