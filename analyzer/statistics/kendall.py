"""Whether values rise in the order in which they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["rising_share", "tau"]


def tau(ranks: Sequence[int]) -> float:
    """Return Kendall's tau-b between the order of a sequence and its ranks: 1 rising, -1 falling, 0 without order.

    Quadratic in time and memory: meant for some hundred values. Source: Kendall, "The treatment of ties in ranking
    problems", 1945. Of fewer than two values, or equal ones, it is 0.
    """
    values = np.asarray(ranks, dtype=np.int64)
    count = len(values)
    signs = np.sign(values[None, :] - values[:, None])
    concordant = float(np.triu(signs, 1).sum())
    pairs = count * (count - 1) / 2
    untied = float(np.abs(np.triu(signs, 1)).sum())
    return concordant / (pairs * untied) ** 0.5 if untied else 0.0


def rising_share(ranks: Sequence[int], edge: float) -> float:
    """Return which part of the values came within `edge` (a share of those before) of the highest so far."""
    values = np.asarray(ranks, dtype=np.int64)
    above = (values[None, :] > values[:, None]) & np.tri(len(values), k=-1, dtype=bool)
    before = np.arange(len(values))
    return float((above.sum(axis=1)[1:] <= edge * before[1:]).mean()) if len(values) > 1 else 0.0
