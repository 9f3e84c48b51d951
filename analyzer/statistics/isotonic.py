"""A share that never falls along an axis, from yes and no at points of it: isotonic regression and its quantiles.

Where each observation says only whether something had happened by then (current-status observations), this is the
likeliest distribution of when it happens (pool adjacent violators: Ayer et al. 1955; Groeneboom and Wellner 1992).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.model.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["isotonic", "reached"]


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


def reached(edges: Sequence[float], curve: Sequence[float], weights: Sequence[float], share: float) -> Estimate:
    """Return where a curve over cells first reaches a share, with what the width of the cells leaves open.

    `edges` are those of the cells, one more than the curve has values. The value is the near edge of the cell that
    reaches it; the truth lies between the cell with weight before it and its own far edge. Infinity where none does.
    """
    at = next((number for number, level in enumerate(curve) if level >= share), None)
    if at is None:
        return Estimate(math.inf, math.inf, math.inf)
    before = next((number for number in range(at - 1, -1, -1) if weights[number]), at)
    return Estimate(edges[at], edges[before], edges[at + 1])
