"""In which clock hours each shape was seen: the first ones of it, so that parts merge in any order to the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.instant import SLICE_MS

if TYPE_CHECKING:
    from analyzer.requests.digest_cells import CellTable

__all__ = ["Hours"]

_HOUR_MS = 3_600_000
_CELL_BITS = 32
_CELL_MASK = (1 << _CELL_BITS) - 1


class Hours:
    """The hours (since the epoch) of each fingerprint, no more than `most`."""

    def __init__(self, cells: CellTable, most: int) -> None:
        self._cells = cells
        self._most = most
        self._known: dict[str, set[int]] = {}

    def note(self, touched: np.ndarray) -> None:
        """Remember the hours of slices and cells that were added to, as rows of both."""
        hours = np.unique((touched[:, 0] * SLICE_MS // _HOUR_MS << _CELL_BITS) | touched[:, 1])
        for code in hours.tolist():
            self.add(self._cells.cells[code & _CELL_MASK].shape.fingerprint, {code >> _CELL_BITS})

    def add(self, fingerprint: str, hours: set[int]) -> None:
        """Remember hours of a shape."""
        known = self._known.setdefault(fingerprint, set())
        if not hours <= known:
            known |= hours
            self._known[fingerprint] = set(sorted(known)[: self._most])

    def merge(self, other: Hours) -> None:
        """Take in those of another part."""
        for fingerprint, hours in other._known.items():
            self.add(fingerprint, hours)

    def plain(self) -> dict[str, list[int]]:
        """Return the whole state."""
        return {fingerprint: sorted(hours) for fingerprint, hours in self._known.items()}

    def restore(self, state: dict[str, list[int]]) -> None:
        """Take on a state."""
        self._known = {fingerprint: set(hours) for fingerprint, hours in state.items()}
