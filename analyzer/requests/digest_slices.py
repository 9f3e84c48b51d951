"""Counts by slice and cell: sparse whole numbers, added in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["LATENCY_BUCKETS", "WIDTH", "Grid", "SliceCounts"]

LATENCY_BUCKETS = len(LATENCY_BOUNDS_MS) + 1
WIDTH = N_COUNTS + LATENCY_BUCKETS
"""Columns of a cell: the counts, then the buckets of latency."""

_MOST_PIECES = 8
_MOST_SMALL = np.iinfo(np.int32).max
"""What is kept of a slice is mostly small: places always, amounts but for sums of squares."""

_SERIES = [Count.REQUESTS, Count.READ_HALF_UNITS, Count.WRITE_HALF_UNITS]

Piece = tuple[np.ndarray, np.ndarray]
"""Places (cell × WIDTH + column) and what to add there."""


class Grid:
    """Sums over slices: `values` of shape (cells, WIDTH)."""

    def __init__(self, cells: int) -> None:
        self.values = np.zeros((cells, WIDTH), dtype=np.int64)

    def add(self, pieces: Iterable[Piece]) -> None:
        """Add sparse counts."""
        flat = self.values.reshape(-1)
        for places, amounts in pieces:
            np.add.at(flat, places.astype(np.intp, copy=False), amounts.astype(np.int64, copy=False))

    def grow(self, cells: int) -> None:
        """Make room for more cells."""
        lacking = cells - len(self.values)
        if lacking > 0:
            self.values = np.concatenate((self.values, np.zeros((lacking, WIDTH), dtype=np.int64)))


class SliceCounts:
    """The counts of every slice that is kept, and the sums of those that were forgotten."""

    def __init__(self) -> None:
        self._slices: dict[int, list[Piece]] = {}
        self.past = Grid(0)
        self.first_and_last: tuple[int, int] | None = None
        self.changes: dict[int, int] = {}
        """How often each slice that is kept was added to, since this process began."""

    def __len__(self) -> int:
        return len(self._slices)

    def starts(self) -> list[int]:
        """Return the slices that are kept, in order, as multiples of SLICE_MS."""
        return sorted(self._slices)

    def add(self, number: int, places: np.ndarray, amounts: np.ndarray) -> None:
        """Add sparse counts to a slice; places may repeat."""
        pieces = self._slices.get(number)
        self.changes[number] = self.changes.get(number, 0) + 1
        if pieces is None:
            self._unite_before(number)
            pieces = self._slices[number] = []
            self._reach(number, number)
        pieces.append((places, amounts))
        if len(pieces) > _MOST_PIECES:
            pieces[:] = [_joined(pieces)]

    def _unite_before(self, number: int) -> None:
        """Unite the pieces of slices that are over: one piece takes a fifth of the memory."""
        for other, pieces in self._slices.items():
            if len(pieces) > 1 and other < number - 1:
                pieces[:] = [_joined(pieces)]

    def _reach(self, first: int, last: int) -> None:
        known = self.first_and_last
        self.first_and_last = (first, last) if known is None else (min(first, known[0]), max(last, known[1]))

    def add_rows(self, slices: np.ndarray, cells: np.ndarray, rows: np.ndarray, buckets: np.ndarray) -> np.ndarray:
        """Add one row of counts a record; a bucket of latency below 0 is none. All arrays have one length.

        Returns the pairs of slice and cell that were added to, an array of two columns.
        """
        first = int(slices.min())
        n_cells = int(cells.max()) + 1
        codes = (slices - first) * n_cells + cells
        order = np.argsort(codes)
        ordered = codes[order]
        begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        table = np.zeros((len(begins), WIDTH), dtype=np.int64)
        table[:, :N_COUNTS] = np.add.reduceat(rows[order], begins, axis=0)
        group = np.zeros(len(codes), dtype=np.int64)
        group[begins[1:]] = 1
        group = np.cumsum(group)
        bucket = buckets[order]
        has_latency = bucket >= 0
        flat = group[has_latency] * LATENCY_BUCKETS + bucket[has_latency]
        table[:, N_COUNTS:] = np.bincount(flat, minlength=len(begins) * LATENCY_BUCKETS).reshape(-1, LATENCY_BUCKETS)
        which = ordered[begins]
        of_slice, of_cell = which // n_cells, which % n_cells
        bounds = np.flatnonzero(np.concatenate(([True], of_slice[1:] != of_slice[:-1]))).tolist()
        for begin, end in zip(bounds, [*bounds[1:], len(which)], strict=True):
            at, column = np.nonzero(table[begin:end])
            places = of_cell[begin:end][at] * WIDTH + column
            self.add(first + int(of_slice[begin]), places, table[begin:end][at, column])
        return np.stack((of_slice + first, of_cell), axis=1)

    def window(self, numbers: range, kept: Sequence[int], cells: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum the slices of `kept`: (cells, WIDTH), and by slice of `numbers` requests, read and write half-units."""
        grid = Grid(cells)
        series = np.zeros((len(numbers), cells, len(_SERIES)), dtype=np.int64)
        before = grid.values[:, _SERIES]
        for number in kept:
            pieces = self._slices[number]
            if len(pieces) > 1:  # most slices that are looked at are whole
                pieces[:] = [_joined(pieces)]
            grid.add(pieces)
            if number in numbers:
                after = grid.values[:, _SERIES]
                series[number - numbers.start] = after - before
                before = after
        return grid.values, series

    def total(self, cells: int) -> np.ndarray:
        """Sum everything, forgotten slices included: (cells, WIDTH)."""
        grid = Grid(cells)
        grid.values[: len(self.past.values)] = self.past.values
        for pieces in self._slices.values():
            grid.add(pieces)
        return grid.values

    def weighted(self, numbers: range, column: int, factors: np.ndarray) -> np.ndarray:
        """Return by slice the sum of one column over all cells, each times its factor."""
        sums = np.zeros(len(numbers))
        for number in self._slices.keys() & set(numbers):
            for places, amounts in self._slices[number]:
                at = places % WIDTH == column
                sums[number - numbers.start] += float((amounts[at] * factors[places[at] // WIDTH]).sum())
        return sums

    def by_cell(self, numbers: range, column: int, cells: int, every: int) -> np.ndarray:
        """Return one column by stretch of `every` slices and cell, unweighted."""
        sums = np.zeros((-(-len(numbers) // every), cells), dtype=np.int64)
        for number in self._slices.keys() & set(numbers):
            for places, amounts in self._slices[number]:
                at = places % WIDTH == column
                np.add.at(sums[(number - numbers.start) // every], places[at] // WIDTH, amounts[at])
        return sums

    def forget(self, number: int, cells: int) -> None:
        """Fold a slice into the sums."""
        self.past.grow(cells)
        self.past.add(self._slices.pop(number))
        self.changes.pop(number, None)

    def merge(self, other: SliceCounts, cells: np.ndarray) -> None:
        """Take in other counts; `cells` maps their cell numbers to ours."""
        for number, pieces in other._slices.items():
            for places, amounts in pieces:
                self.add(number, cells[places // WIDTH] * WIDTH + places % WIDTH, amounts)
        if other.first_and_last is not None:
            self._reach(*other.first_and_last)
        if len(other.past.values):
            self.past.grow(int(cells.max()) + 1)
            np.add.at(self.past.values, cells[: len(other.past.values)], other.past.values)

    def plain(self) -> list[Any]:
        """Return the whole state."""
        slices = {
            number: [part.astype(np.int64).tobytes() for part in _joined(pieces)]
            for number, pieces in self._slices.items()
        }
        return [slices, self.past.values.tobytes(), self.first_and_last]

    @classmethod
    def from_plain(cls, state: Any) -> SliceCounts:  # noqa: ANN401 - as `plain` wrote it, decoded from MessagePack
        """Rebuild from the state."""
        counts = cls()
        slices, past, reach = state
        for number, (places, amounts) in slices.items():
            counts.add(number, np.frombuffer(places, dtype=np.int64), np.frombuffer(amounts, dtype=np.int64))
        counts.past.values = np.frombuffer(past, dtype=np.int64).reshape(-1, WIDTH).copy()
        counts.first_and_last = None if reach is None else (reach[0], reach[1])
        return counts


def _joined(pieces: list[Piece]) -> Piece:
    places = np.concatenate([piece[0] for piece in pieces])
    amounts = np.concatenate([piece[1] for piece in pieces])
    unique, inverse = np.unique(places, return_inverse=True)
    sums = np.zeros(len(unique), dtype=np.int64)
    np.add.at(sums, inverse, amounts)
    is_small = sums.max(initial=0) <= _MOST_SMALL
    return unique.astype(np.int32), sums.astype(np.int32) if is_small else sums
