"""95 % intervals for what a sample says of the whole.

A count seen n times at rate p stands for n ÷ p requests; how many there really were, given n, is n plus a negative
binomial number of unseen ones (with the Jeffreys half in its shape). Sums of weights use the Horvitz–Thompson variance
with a log-normal interval. Formulas: Horvitz and Thompson 1952; Johnson, Kemp and Kotz, 2005.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from analyzer.model.estimate import ZERO, Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["estimate_count", "estimate_sum"]

_Z = 1.959963984540054  # two-sided 95 %
_TAIL = 0.025
_MANY = 200  # seen requests from which the expansion by moments is as good as the exact quantile


def estimate_count(strata: Iterable[tuple[int, float]], *, of: int = 1) -> Estimate:
    """Estimate how many requests there were from (seen, sample rate) of each stratum; exact where the rate is 1.

    A count that was picked as the extreme one `of` so many gets bounds that hold for all of them (Bonferroni).
    Several sampled strata: their intervals are joined by adding variances about the sum, the side of each kept apart.
    """
    value = below = above = 0.0
    for seen, rate in strata:
        if rate >= 1:
            value += seen
            continue
        low, high = _unseen_bounds(seen, rate, _TAIL / of)
        middle = seen / rate
        value += middle
        below += (middle - seen - low) ** 2
        above += (seen + high - middle) ** 2
    return Estimate(value, value - math.sqrt(below), value + math.sqrt(above))


def estimate_sum(strata: Iterable[tuple[float, float, int, float]]) -> Estimate:
    """Estimate a total weight from (sum, sum of squares, seen, sample rate) of each stratum; exact where the rate is 1.

    A stratum in which nothing was seen adds the rule of three to the upper bound only through its count, not here:
    a weight that was never seen has no known size.
    """
    value = variance = floor = 0.0
    for total, squares, _seen, rate in strata:
        value += total / rate
        floor += total
        variance += squares * (1 - rate) / rate**2
    if value <= 0:
        return ZERO
    spread = _Z * math.sqrt(math.log1p(variance / value**2))
    return Estimate(value, max(floor, value * math.exp(-spread)), value * math.exp(spread))


@lru_cache(maxsize=65_536)
def _unseen_bounds(seen: int, rate: float, tail: float) -> tuple[float, float]:
    """Return the points of the number of unseen requests that leave so much at either end: of 2.5 % and 97.5 %."""
    shape = seen + 0.5
    if seen > _MANY:
        z = _Z if tail == _TAIL else NormalDist().inv_cdf(1 - tail)
        return _cornish_fisher(shape, rate, -z), _cornish_fisher(shape, rate, z)
    return _quantile(shape, rate, tail), _quantile(shape, rate, 1 - tail)


def _cornish_fisher(shape: float, rate: float, z: float) -> float:
    """Return a quantile of a negative binomial by its mean, spread and skew: exact enough where the shape is large."""
    spread = math.sqrt(shape * (1 - rate)) / rate
    skew = (2 - rate) / math.sqrt(shape * (1 - rate))
    return shape * (1 - rate) / rate + spread * (z + (z * z - 1) * skew / 6)


def _quantile(shape: float, rate: float, probability: float) -> float:
    """Return the least whole number k at which the negative binomial's distribution function reaches a probability."""
    from scipy.special import betainc  # noqa: PLC0415 -- scipy costs a quarter second: only where it is used

    low, high = -1, 1
    while betainc(shape, high + 1, rate) < probability:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if betainc(shape, middle + 1, rate) < probability:
            low = middle
        else:
            high = middle
    return float(high)
