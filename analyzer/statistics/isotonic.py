"""A share that never falls along an axis, from yes and no at points of it: isotonic regression and its quantiles.

Where each observation says only whether something had happened by then (current-status observations), this is the
likeliest distribution of when it happens (pool adjacent violators: Ayer et al. 1955; Groeneboom and Wellner 1992).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["isotonic", "quantile_of"]


def isotonic(shares: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the non-decreasing values closest to shares by weighted squares; a weight of 0 counts for nothing."""
    levels: list[float] = []
    loads: list[float] = []
    lengths: list[int] = []
    for share, weight in zip(shares, weights, strict=True):
        level, load, length = share, weight, 1
        while levels and (levels[-1] >= level or not load or not loads[-1]):
            before, heavy = levels.pop(), loads.pop()
            level = (before * heavy + level * load) / (heavy + load) if heavy + load else level
            load += heavy
            length += lengths.pop()
        levels.append(level)
        loads.append(load)
        lengths.append(length)
    return [level for level, length in zip(levels, lengths, strict=True) for _ in range(length)]


def quantile_of(bounds: Sequence[float], curve: Sequence[float], share: float) -> float:
    """Return where a curve over cells reaches a share, between the middles of its steps; infinity where it never does.

    `bounds` are the edges of the cells, one more than the curve has values; before the first cell the curve is 0.
    """
    at, level = bounds[0], 0.0
    number = 0
    while number < len(curve):
        last = number
        while last + 1 < len(curve) and curve[last + 1] == curve[number]:
            last += 1
        middle = (bounds[number] + bounds[last + 1]) / 2
        if curve[number] >= share:
            step = curve[number] - level
            return middle if not step else at + (middle - at) * (share - level) / step
        at, level = middle, curve[number]
        number = last + 1
    return math.inf
