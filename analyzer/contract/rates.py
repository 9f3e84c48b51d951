"""How often patterns are asked, minute by minute, however long the log is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from analyzer.model.instant import SLICE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.counts import Counts

__all__ = ["Rates", "Stretch"]

_MINUTE_MS = 60_000
_LEAST_MINUTES = 10
_LEAST_SLICES = 6
_P95 = 95


class Stretch(Struct, frozen=True):
    """What one pattern is asked in a second, None where the log is too short to tell."""

    p95: float | None = None
    peak: float | None = None


class Rates:
    """Sums requests by minute; a log of a few minutes is looked at in slices of ten seconds."""

    def __init__(self) -> None:
        self._pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._slices: tuple[int, int] | None = None
        self._cells: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def take(self, counts: Counts) -> None:
        """Add the series of a stretch; no slice may be given twice."""
        if not counts.series.size:
            return
        first = counts.window.start // SLICE_MS
        self._reach(first, first + counts.series.shape[0])
        requests = counts.series[:, :, 0]
        slices, cells = np.nonzero(requests)
        self._pieces.append((slices + first, cells, requests[slices, cells]))
        self._cells = None

    def _reach(self, first: int, last: int) -> None:
        known = self._slices
        self._slices = (first, last) if known is None else (min(first, known[0]), max(last, known[1]))

    @property
    def seconds(self) -> int:
        """How many seconds a rate is taken over; 0 where the log is too short to tell any."""
        if self._slices is None or self._slices[1] - self._slices[0] < _LEAST_SLICES:
            return 0
        a_minute = _MINUTE_MS // SLICE_MS
        is_long = self._slices[1] - self._slices[0] >= _LEAST_MINUTES * a_minute
        return (_MINUTE_MS if is_long else SLICE_MS) // 1000

    def of(self, cells: Sequence[int], counts: Counts) -> Stretch:
        """Return the rates of the cells of one pattern, each request weighted by its sample rate."""
        seconds = self.seconds
        if not seconds or self._slices is None:
            return Stretch()
        a_bin = seconds * 1000 // SLICE_MS
        bins, of_cell, told = self._whole()
        weights = np.zeros(len(counts.cells))
        weights[list(cells)] = [1 / counts.cells[n].sample_rate for n in cells]
        first = self._slices[0] // a_bin
        number = -(-self._slices[1] // a_bin) - first
        sums = np.bincount(bins // a_bin - first, told * weights[of_cell], minlength=number)
        rates = sums / seconds
        return Stretch(float(np.percentile(rates, _P95)), float(rates.max()))

    def _whole(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._cells is None:
            slices, cells, told = zip(*self._pieces, strict=True)
            self._cells = np.concatenate(slices), np.concatenate(cells), np.concatenate(told)
        return self._cells
