"""Histograms with logarithmic buckets: whole numbers, so that merging is adding, exact in any order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bucket_numbers", "quantile"]


def bucket_numbers(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return for each value the first bucket whose upper bound is not below it; one more bucket takes the rest."""
    return np.searchsorted(bounds, values, side="left")


def quantile(buckets: Sequence[int], bounds: Sequence[float], share: float) -> tuple[float, float] | None:
    """Return the bounds of the bucket that holds a quantile; None of an empty histogram, infinity above the last."""
    total = sum(buckets)
    if total == 0:
        return None
    seen = np.cumsum(buckets)
    number = int(np.searchsorted(seen, max(1, math.ceil(share * total))))
    low = bounds[number - 1] if number else 0.0
    return low, (bounds[number] if number < len(bounds) else math.inf)
