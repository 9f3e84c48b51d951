"""Which tables of a log are judged where there are more than can be: those with the most requests in any one window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.counts import Count
from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from analyzer.model.counts import Counts
    from analyzer.model.window import Window

__all__ = ["MOST_TABLES", "Heaviest"]

MOST_TABLES = 500
"""An account has 2,500 tables unless it asks for more; a log of more than these is one whose tables are mistaken, or a
fleet of small ones, and each costs about a millisecond a window."""


class Heaviest:
    """Remembers the tables that are judged; one that becomes busier than the least of them takes its place.

    Names alone are compared: a table of that name in every account and region is judged.
    """

    def __init__(self, most: int = MOST_TABLES) -> None:
        self._most = most
        self._peaks: dict[str, int] = {}
        self._seen: set[str] = set()

    def take(self, counts: Counts) -> frozenset[str] | None:
        """Take in a window, and return the tables that are judged; None where all are, as there are few enough."""
        requests = counts.values[:, Count.REQUESTS]
        here: dict[str, int] = {}
        for number in requests.nonzero()[0].tolist():
            table = counts.cells[number].target.table
            here[table] = here.get(table, 0) + int(requests[number])
        self._seen |= here.keys()
        for table, count in here.items():
            if table in self._peaks:
                self._peaks[table] = max(self._peaks[table], count)
            elif len(self._peaks) < self._most:
                self._peaks[table] = count
            else:
                self._displace(table, count)
        return self.tables

    def _displace(self, table: str, count: int) -> None:
        least = min(self._peaks, key=self._peaks.__getitem__)
        if count > self._peaks[least]:
            del self._peaks[least]
            self._peaks[table] = count

    @property
    def tables(self) -> frozenset[str] | None:
        """The tables that are judged; None where all are."""
        return frozenset(self._peaks) if len(self._seen) > self._most else None

    def gaps(self, window: Window) -> tuple[Gap, ...]:
        """Say how many tables were not judged."""
        if self.tables is None:
            return ()
        detail = f"{len(self._peaks):,} of {len(self._seen):,} tables were judged, those with the most requests"
        hint = "analyze the logs of fewer tables at a time, or see whether `table` holds what is no table"
        start, end = window.start, window.end
        return (Gap(SourceName.REQUEST_LOG, GapReason.LOW_COVERAGE, detail, hint, start=start, end=end),)
