"""Series of one period: what of them is to be read next, and what is known of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.window import Window
from collectors.cloudwatch_metrics.store import SeriesStore
from collectors.cloudwatch_metrics.stretches import Stretch, finest_period, settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from collectors.cloudwatch_metrics.reading import Reading
    from collectors.cloudwatch_metrics.series import Series

__all__ = ["COMPLETE", "Group"]

COMPLETE = "Complete"


class Group:
    """The series that CloudWatch keeps at one period; `delay_ms` after its end a period has settled."""

    def __init__(self, period_seconds: int, delay_ms: int, overlap_ms: int, keep_ms: int, most_series: int) -> None:
        self.period_seconds = period_seconds
        self._delay_ms = delay_ms
        self._overlap_ms = overlap_ms
        self._keep_ms = keep_ms
        self._most_series = most_series
        self._store: SeriesStore | None = None
        self._complete: dict[Series, bool] = {}
        self._read_until: Instant | None = None

    def next_stretch(self, window: Window, now: Instant) -> Stretch | None:
        """Return what to read for a window, with the overlap and what failed before; None where nothing has settled."""
        period = finest_period(window.start, now, self.period_seconds)
        if period is None:
            return None
        start = window.start - self._overlap_ms
        if self._read_until is not None:
            start = min(start, max(self._read_until - self._overlap_ms, window.end - self._keep_ms))
        if finest_period(start, now, self.period_seconds) != period:
            start = window.start  # the overlap lies where CloudWatch keeps no such period any more
        whole = settled(Window(start, window.end), now, self._delay_ms, period)
        return None if whole is None else Stretch(period, whole)

    def take(self, readings: Iterable[Reading], stretch: Stretch) -> None:
        """Keep what was read; what failed, or came in part, is read again with the next window.

        That costs nothing: a metric is billed once, however many of its points come back.
        """
        store = self._roomy_store(stretch)
        asked: list[Series] = []
        is_whole = True
        for reading in readings:
            is_whole &= reading.error is None
            asked.extend(reading.series)
            for one in reading.series:
                points = reading.points.get(one)
                self._complete[one] = points is not None and points.status == COMPLETE
                is_whole &= self._complete[one]
                if points is not None:
                    whole = zip(points.timestamps, points.values, strict=True)
                    pairs = [(time, value) for time, value in whole if stretch.window.holds(time)]
                    store.upsert(one, [time for time, _ in pairs], [value for _, value in pairs])
        store.keep_only(asked)
        self._complete = {one: self._complete[one] for one in asked}
        if is_whole:
            self._read_until = stretch.window.end
        elif self._read_until is None:
            self._read_until = stretch.window.start

    def is_complete(self, series: Series) -> bool:
        """Whether CloudWatch gave a series whole when it was last asked."""
        return self._complete.get(series, False)

    def newest(self, series: Series) -> Instant | None:
        """Return when the newest period known of a series ends."""
        found = None if self._store is None else self._store.newest(series)
        return None if self._store is None or found is None else found + self._store.period_seconds * 1000

    def known(self, series: Series, end: Instant) -> list[tuple[Instant, float]]:
        """Return the points of a series before an end, as far back as they are kept."""
        if self._store is None or self._store.oldest >= end:
            return []
        return list(zip(*self._store.points(series, Window(self._store.oldest, end)), strict=True))

    @property
    def read_seconds(self) -> int:
        """The period at which the series were read: coarser than their own where they are old."""
        return self.period_seconds if self._store is None else self._store.period_seconds

    def _roomy_store(self, stretch: Stretch) -> SeriesStore:
        """Return the store; a new one where the stretch is longer, older or coarser than what it can hold."""
        store = self._store
        length_ms = max(stretch.window.end - stretch.window.start, self._keep_ms)
        slots = -(-length_ms // (stretch.period_seconds * 1000))
        is_roomy = (
            store is not None
            and store.period_seconds == stretch.period_seconds
            and store.slots >= slots
            and stretch.window.start >= store.oldest
        )
        if store is None or not is_roomy:
            store = self._store = SeriesStore(stretch.period_seconds, slots, self._most_series)
        return store
