"""Whole numbers that stand for combinations, looked up by the thousand at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CodeMap"]


class CodeMap:
    """A map from codes to numbers that makes what it lacks; fast for arrays of codes with few distinct ones."""

    __slots__ = ("_codes", "_make", "_numbers")

    def __init__(self, make: Callable[[int], int]) -> None:
        self._make = make
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._codes = np.array([np.iinfo(np.int64).max])
        self._numbers = np.array([-1], dtype=np.int64)

    def look_up(self, codes: np.ndarray) -> np.ndarray:
        """Return the number of each code (int64, not negative); every code is asked for once only."""
        at = np.searchsorted(self._codes, codes)
        is_known = self._codes[at] == codes
        if not is_known.all():
            lacking = np.unique(codes[~is_known])
            made = np.array([self._make(code) for code in lacking.tolist()], dtype=np.int64)
            places = np.searchsorted(self._codes, lacking)
            self._codes = np.insert(self._codes, places, lacking)
            self._numbers = np.insert(self._numbers, places, made)
            at = np.searchsorted(self._codes, codes)
        return self._numbers[at]
