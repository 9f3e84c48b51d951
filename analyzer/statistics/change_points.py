"""Where a series changed its level: two ways of looking that must agree.

One splits the series where the means on both sides differ most for their scatter (Student's t, its chance multiplied
by the number of places looked at; after Hunter, Matteson and James: E-divisive with t in place of permutations). The
other cuts it into stretches of one mean, each cut costing 3 σ² ln n (PELT's optimum, by dynamic programming, since
series are short). Alone each finds changes in noise; together they seldom do.
"""

from __future__ import annotations

import math

import numpy as np

from analyzer.statistics.student import t_tail

__all__ = ["change_points"]

_LEAST = 12
"""Points of a series before anything is said of it."""
_SIDE = 3
_CHANCE = 0.01
_NORMAL = 1.4826
"""Median absolute deviation of a normal law to its standard deviation."""


def change_points(values: np.ndarray, near: int = 1) -> list[int]:
    """Return the numbers of the first points of new levels, in order; the two ways may differ by `near` points."""
    if len(values) < _LEAST:
        return []
    split = sorted(_split(values, 0, len(values)))
    return [cut for cut in _cuts(values) if any(abs(cut - other) <= near for other in split)]


def _split(values: np.ndarray, first: int, end: int) -> list[int]:
    """Split where the means differ most, and go on on both sides."""
    part = values[first:end]
    many = len(part)
    if many < 2 * _SIDE:
        return []
    places = np.arange(_SIDE, many - _SIDE + 1)
    sums, squares = np.cumsum(part), np.cumsum(part**2)
    left, right = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (many - places)
    within = np.maximum(squares[-1] - places * left**2 - (many - places) * right**2, 1e-12)
    t = np.abs(left - right) / np.sqrt(within / (many - 2) * (1 / places + 1 / (many - places)))
    best = int(np.argmax(t))
    if 2 * t_tail(float(t[best]), many - 2) * len(places) > _CHANCE:
        return []
    at = first + int(places[best])
    return [*_split(values, first, at), at, *_split(values, at, end)]


def _cuts(values: np.ndarray) -> list[int]:
    """Cut into stretches of one mean at the least cost."""
    many = len(values)
    steps = np.diff(values)
    sigma = _NORMAL * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    price = 3 * math.log(many) * max(sigma, 1e-9) ** 2
    sums, squares = (np.concatenate([[0.0], np.cumsum(one)]) for one in (values, values**2))
    best = np.full(many + 1, math.inf)
    best[0] = -price
    came = np.zeros(many + 1, dtype=int)
    for end in range(_SIDE, many + 1):
        begins = np.arange(end - _SIDE + 1)
        length = end - begins
        cost = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / length
        total = best[begins] + cost + price
        came[end] = int(np.argmin(total))
        best[end] = float(total[came[end]])
    found = []
    end = int(came[many])
    while end > 0:
        found.append(end)
        end = int(came[end])
    return sorted(found)
