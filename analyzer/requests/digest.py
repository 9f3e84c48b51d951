"""The digest: lines of a request log become whole numbers by slice and cell, heavy keys with bounds, and calls.

Parts of a log merge in any order. *Counts* are exact. *Heavy keys*: the truth lies in [low, high], the total weight is
exact. *Calls*: all those of a name or none, the same ones in any order.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import N_COUNTS, Count, Counts
from analyzer.model.instant import SLICE_MS
from analyzer.model.window import Window
from analyzer.requests.concealing import conceal
from analyzer.requests.digest_block import Line, ReadCounters
from analyzer.requests.digest_call_finder import CallFinder
from analyzer.requests.digest_call_reader import CallReader
from analyzer.requests.digest_calls import CallTable
from analyzer.requests.digest_cells import CellTable
from analyzer.requests.digest_columns import Columns
from analyzer.requests.digest_counts import counts_of
from analyzer.requests.digest_heavy import HeavySlices
from analyzer.requests.digest_hours import Hours
from analyzer.requests.digest_intake import Intake
from analyzer.requests.digest_key_rows import KeyRows
from analyzer.requests.digest_key_slices import Kept
from analyzer.requests.digest_keys import FormTable
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.digest_rare import RareCounts, find_failures
from analyzer.requests.digest_result import heaviest_sides, heavy_keys
from analyzer.requests.digest_routes import COUNTER
from analyzer.requests.digest_slices import WIDTH, SliceCounts
from analyzer.requests.digest_snapshot import Snapshot, read_snapshot, write_snapshot
from analyzer.requests.digest_told import told_by
from analyzer.requests.digest_words import LineReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.calls import CallBook
    from analyzer.model.counts import Refusal, ThrottleCount
    from analyzer.model.instant import Instant
    from analyzer.requests.digest_columns import Rows
    from analyzer.requests.digest_rare import Failure
    from analyzer.requests.digest_result import Part
    from analyzer.requests.digest_sides import SideKeys
    from analyzer.requests.digest_told import Told
    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.tokens import Salt

__all__ = ["Digest"]

_SECONDS = SLICE_MS // 1000
_FEW = 128
"""So many lines are worth looking at together; a block of 256 KB holds some 280."""

_MOST_SERIES = 720
"""A window of more slices gets no series: it would be mostly zeros."""


class Digest:
    """One part of a request log, or all of it.

    With `collect`, a salt, clear key values are kept and handed out as tokens only. With `calls_horizon_ms` calls older
    than that are let go when slices are forgotten.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        limits: DigestLimits | None = None,
        *,
        collect: Salt | None = None,
        calls_horizon_ms: int | None = None,
    ) -> None:
        limits = limits or DigestLimits()
        self._lexicon = lexicon
        self._limits = limits
        self._read = ReadCounters()
        self._reader = LineReader()
        self._waiting: list[Line] = []
        self._shapes = lru_cache(maxsize=4096)(lexicon.template_as_kept)
        self._intake = Intake(self._read, limits.ids)
        self._forms = FormTable()
        self._cells = CellTable(limits.cells)
        self._columns = Columns(lexicon, self._forms, self._cells, routes=limits.routes, grammar=limits.grammar)
        self._slices = SliceCounts()
        self._rare = RareCounts()
        write = None if collect is None else partial(conceal, lexicon, collect)
        self._heavy = HeavySlices(limits.heavy, limits.past, write)
        reader = CallReader(self._columns.router, write, collect)
        self._calls = CallTable(limits.calls, reader.finish)
        self._calls_horizon_ms = calls_horizon_ms
        self._finder = CallFinder(self._columns.router, self._cells, reader)
        self._hours = Hours(self._cells, limits.hours)
        self._rows: list[KeyRows] = []
        self._row_count = 0
        self._pending: list[Rows] = []
        self._pending_count = 0
        self._forgotten: Instant = 0
        self._newest = 0
        self._squeezed = 0
        self._salts: set[str] = set()

    @property
    def read(self) -> ReadCounters:
        """What became of the lines so far."""
        self._settle(None)
        self._read.squeezed = self._squeezed + self._columns.router.squeezed + len(self._cells.squeezed)
        return self._read

    def take_ahead_seconds(self) -> int:
        """Return how far ahead of the clock a record was that was not counted since this was last asked, else 0."""
        beyond, self._read.ahead_seconds = self._read.ahead_seconds, 0
        return beyond + self._limits.future_ms // 1000 if beyond else 0

    def update(self, lines: bytes, now: Instant | None = None) -> None:
        """Take in a block of whole lines; with `now`, what is more than a minute ahead of it is not counted."""
        self._waiting += self._reader.read(lines, self._read)
        if now is not None:
            self._settle((now + self._limits.future_ms) // 1000)
        elif len(self._waiting) >= _FEW:
            self._settle(None)

    def _settle(self, latest: int | None) -> None:
        """Count the lines that wait."""
        if not self._waiting:
            return
        told, self._waiting = told_by(self._waiting), []
        told, seconds = self._intake.admit(told, latest)
        if not told.lines:
            return
        routes = self._columns.routes(told, seconds)
        is_request = routes != COUNTER
        if not is_request.all():
            for at in np.flatnonzero(~is_request).tolist():
                self._intake.turn_away(told.lines[at])
            wanted = np.flatnonzero(is_request)
            told, seconds, routes = told.at(wanted.tolist()), seconds[wanted], routes[wanted]
        if told.lines:
            self._count(told, seconds, routes)

    def _count(self, told: Told, seconds: np.ndarray, routes: np.ndarray) -> None:
        self._read.read += len(told.lines)
        self._newest = max(self._newest, int(seconds.max()))
        bound = max(self._forgotten // 1000, self._newest - self._limits.late_ms // 1000)
        self._read.late += int((seconds < bound).sum())
        rows = self._columns.rows(told, seconds, routes)
        self._pending.append(rows)
        self._pending_count += len(rows.source)
        failures = find_failures(told)
        if failures:
            self._count_failures(told.lines, rows, failures)
        self._finder.find(told, rows, routes, failures, self._calls)
        self._add_key_rows(rows.keys)
        if self._pending_count > self._limits.batch:
            self._add_pending()

    def _add_key_rows(self, rows: KeyRows) -> None:
        self._rows.append(rows)
        self._row_count += len(rows.parts)

    def _add_pending(self) -> None:
        """Add the counts of the blocks that wait to their slices."""
        if not self._pending:
            return
        seconds, cells, counts, buckets = counts_of(self._pending)
        self._pending = []
        self._pending_count = 0
        self._hours.note(self._slices.add_rows(seconds // _SECONDS, cells, counts, buckets))
        if self._row_count > self._limits.rows:
            self._fold()
        if len(self._slices) > self._limits.slices:
            for number in self._slices.starts()[: -self._limits.slices]:
                self._forget(number)

    def _flush(self) -> None:
        """Count everything that waits."""
        self._settle(None)
        self._add_pending()

    def _count_failures(self, lines: list[Line], rows: Rows, failures: list[tuple[int, Failure]]) -> None:
        """Count failed tries in the cells of their calls, and refused ones at their keys."""
        of_line: dict[int, list[int]] = {}
        for row, at in enumerate(rows.source.tolist()):
            of_line.setdefault(at, []).append(row)
        refused: list[tuple[int, int, bytes, bytes, int]] = []
        for at, failure in failures:
            for row in of_line[at]:
                second, cell = int(rows.seconds[row]), int(rows.cells[row])
                number = second // _SECONDS
                columns = failure.columns()
                places = np.array([cell * WIDTH + column for column, _ in columns], dtype=np.int64)
                self._slices.add(number, places, np.array([amount for _, amount in columns], dtype=np.int64))
                self._rare.add(number, cell, self._cells.cells[cell], failure)
                for index, tries in failure.by_index(writes=self._cells.cells[cell].shape.writes).items():
                    found = self._columns.refused(rows, row, lines[at], index)
                    if found is not None:
                        refused.append((second, *found, tries))
        if refused:
            at_second, at_cell, parts, sorts, counts = zip(*refused, strict=True)
            none = np.zeros(len(refused), dtype=np.int64)
            where = np.array(at_second), np.array(at_cell)
            self._add_key_rows(KeyRows.of(*where, none, none, list(parts), list(sorts), np.array(counts)))

    def _fold(self) -> None:
        """Fold the key rows that wait into the sketches."""
        if self._row_count:
            self._heavy.fold(self._rows, self._forms, self._cells)
        self._rows = []
        self._row_count = 0

    def _forget(self, number: int) -> None:
        """Fold a slice into the past."""
        self._fold()
        self._slices.forget(number, len(self._cells))
        self._rare.forget(number)
        self._heavy.forget(number, self._cells.sides)

    def forget_before(self, instant: Instant) -> None:
        """Fold the slices that end at or before an instant into the past: totals keep them, windows do not."""
        self._flush()
        for number in self._slices.starts():
            if (number + 1) * SLICE_MS <= instant:
                self._forget(number)
        self._forgotten = max(self._forgotten, instant - instant % SLICE_MS)
        if self._calls_horizon_ms is not None:
            self._calls.forget_before(max(instant, self._newest * 1000 - self._calls_horizon_ms))

    def rest(self) -> None:
        """Let go of what only reading needs: no more will be read, or requests that come twice count twice."""
        self._flush()
        self._intake.forget()

    def slices(self) -> list[Instant]:
        """Return the starts of the slices that are kept, in order."""
        self._flush()
        return [number * SLICE_MS for number in self._slices.starts()]

    def changes(self) -> dict[Instant, int]:
        """Return of each slice that is kept, by its start, how often it was added to since this process began."""
        self._flush()
        return {number * SLICE_MS: times for number, times in self._slices.changes.items()}

    def requests(self, start: Instant) -> int:
        """Return how many requests the slice holds that begins then, as they were recorded."""
        self._flush()
        number = start // SLICE_MS
        every = np.ones(len(self._cells))
        return int(self._slices.weighted(range(number, number + 1), Count.REQUESTS, every)[0])

    def span(self) -> Window | None:
        """Return the stretch from the first slice to the end of the last, forgotten ones included."""
        self._flush()
        if not self._slices.first_and_last:
            return None
        first, last = self._slices.first_and_last
        return Window(first * SLICE_MS, (last + 1) * SLICE_MS)

    def hours(self) -> dict[str, int]:
        """Return in how many clock hours each fingerprint was seen; beyond the limit they are no longer counted."""
        self._flush()
        return {fingerprint: len(hours) for fingerprint, hours in self._hours.plain().items()}

    def salts(self) -> frozenset[str]:
        """Return the names of the salts that tokens were made with; keys of different ones are never merged."""
        self._flush()
        return frozenset(self._salts | self._columns.router.salts)

    def calls(self) -> CallBook:
        """Return the calls that are kept; the same book until more was read."""
        self._settle(None)
        return self._calls.book()

    def result(self, window: Window) -> Counts:
        """Return what is known of a window of whole slices that were not forgotten."""
        self._flush()
        self._fold()
        numbers = range(window.start // SLICE_MS, -(-window.end // SLICE_MS))
        kept = [number for number in self._slices.starts() if number in numbers]
        values, series = self._slices.window(
            numbers if len(numbers) <= _MOST_SERIES else range(0), kept, len(self._cells)
        )
        parts = [(number, self._heavy.slices.get(number, {})) for number in kept]
        return self._counts(window, values, series, parts, self._rare.within(kept, past=False))

    def totals(self) -> Counts:
        """Return everything that was ever counted; it has no series, of each key only the heaviest slice."""
        self._flush()
        self._fold()
        kept = self._slices.starts()
        values = self._slices.total(len(self._cells))
        parts: list[tuple[int | None, dict[int, SideKeys]]] = [(None, self._heavy.past)]
        parts += [(number, self._heavy.slices.get(number, {})) for number in kept]
        series = np.zeros((0, len(self._cells), 3), dtype=np.int64)
        return self._counts(self.span() or Window(0, 0), values, series, parts, self._rare.within(kept, past=True))

    def _counts(
        self,
        window: Window,
        values: np.ndarray,
        series: np.ndarray,
        parts: Sequence[tuple[int | None, dict[int, SideKeys]]],
        rare: tuple[tuple[ThrottleCount, ...], tuple[Refusal, ...]],
    ) -> Counts:
        of_side: dict[int, list[Part]] = {}
        for number, sides in parts:
            for side, keys in sides.items():
                of_side.setdefault(side, []).append((number, keys))
        is_unparsed = np.array([not cell.shape.parsed for cell in self._cells.cells], dtype=bool)
        return Counts(
            window=window,
            cells=tuple(self._cells.cells),
            values=values[:, :N_COUNTS],
            series=series,
            latency=values[:, N_COUNTS:],
            keys=tuple(
                heavy_keys(*self._cells.sides[side], of_side[side], self._lexicon, self._shapes)
                for side in heaviest_sides(of_side, self._cells.sides)
            ),
            throttles=rare[0],
            refusals=rare[1],
            unparsed=int(values[is_unparsed, Count.REQUESTS].sum()),
        )

    def kept(self) -> Kept:
        """Return what is kept slice by slice; it changes as more is read."""
        self._flush()
        self._fold()
        return Kept(self._heavy, self._slices, self._cells, self._lexicon, self._shapes, self._forgotten)

    def merge(self, other: Digest) -> None:
        """Take in the digest of another part of the log, which stays as it is."""
        self._flush()
        self._fold()
        other._flush()
        other._fold()
        cells = [self._cells.number(cell) for cell in other._cells.cells]
        sides = [self._cells.side(*side) for side in other._cells.sides]
        self._slices.merge(other._slices, np.array(cells, dtype=np.int64))
        self._heavy.merge(other._heavy, cells, sides)
        self._rare.merge(other._rare, cells)
        self._calls.merge(other._calls, cells)
        self._hours.merge(other._hours)
        self._squeezed += other.read.squeezed
        self._salts |= other.salts()
        self._read.add(other.read)

    def snapshot(self) -> bytes:
        """Write the whole state."""
        self._flush()
        self._fold()
        calls, drafts = self._calls.plain()
        return write_snapshot(
            Snapshot(
                cells=self._cells.cells,
                read=self.read,
                forgotten=self._forgotten,
                salts=sorted(self.salts()),
                hours=self._hours.plain(),
                ids=(self._intake.since, list(self._intake.recent), list(self._intake.older)),
                slices=self._slices.plain(),
                rare=self._rare.plain(),
                heavy=self._heavy.plain(),
                calls=calls,
                drafts=drafts,
            )
        )

    @classmethod
    def restore(
        cls,
        snapshot: bytes,
        lexicon: Lexicon,
        limits: DigestLimits | None = None,
        *,
        collect: Salt | None = None,
        calls_horizon_ms: int | None = None,
    ) -> Digest:
        """Rebuild a digest from its state; raises ValueError for one of another version."""
        state = read_snapshot(snapshot)
        digest = cls(lexicon, limits, collect=collect, calls_horizon_ms=calls_horizon_ms)
        for cell in state.cells:
            digest._cells.restore(cell)
        digest._read.add(state.read)
        digest._squeezed = state.read.squeezed
        digest._forgotten = state.forgotten
        digest._salts = set(state.salts)
        digest._hours.restore(state.hours)
        digest._intake.since, recent, older = state.ids
        digest._intake.recent, digest._intake.older = set(recent), set(older)
        digest._slices = SliceCounts.from_plain(state.slices)
        digest._rare = RareCounts.from_plain(state.rare)
        digest._heavy.restore(state.heavy)
        digest._calls.restore(state.calls, state.drafts, state.cells)
        return digest
