"""Rates that drift: shares and counts with bounds, and the ratio of two rates that scatter more than chance.

Requests come in crowds: their counts scatter more than Poisson's law says, which would flag every second pattern of a
week. The scatter is therefore measured between stretches (quasi-Poisson), common growth is divided out (the median
ratio, as DESeq does: Anders and Huber, 2010), and a change must exceed a margin, not zero (TREAT: McCarthy and Smyth,
2009). Shares have Wilson's interval (1927).
"""

from __future__ import annotations

import math
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.model.estimate import Estimate
from analyzer.statistics.student import t_quantile, t_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Ratio", "Standing", "count_bounds", "rate_ratio", "share_bounds", "shared_growth", "standing"]

_Z = 1.959963984540054  # two-sided 95 %
_TAIL = 0.025
_FAR = 300.0
"""A logarithm beyond which a ratio is as good as none, or as all."""
_ENOUGH_CALLS = 200
"""A pattern with fewer calls before says too little of how all grew."""
_ENOUGH_PATTERNS = 5


class Standing(StrEnum):
    """Where an interval stands to bounds; an interval that crosses one decides nothing."""

    IN = "IN"
    OUT = "OUT"
    UNKNOWN = "NOT ENOUGH DATA"


def standing(estimate: Estimate, least: float = -math.inf, most: float = math.inf) -> Standing:
    """Say whether an interval lies wholly inside its bounds, or wholly outside."""
    if estimate.low > most or estimate.high < least:
        return Standing.OUT
    return Standing.IN if least <= estimate.low and estimate.high <= most else Standing.UNKNOWN


def share_bounds(part: float, whole: float) -> Estimate:
    """Return a share of 0 to 1 with its Wilson interval; nothing is known of a share of nothing."""
    if whole <= 0:
        return Estimate(0.0, 0.0, 1.0)
    share, z2 = min(1.0, part / whole), _Z * _Z
    middle = (share + z2 / (2 * whole)) / (1 + z2 / whole)
    spread = _Z / (1 + z2 / whole) * math.sqrt(share * (1 - share) / whole + z2 / (4 * whole * whole))
    return Estimate(share, min(share, max(0.0, middle - spread)), max(share, min(1.0, middle + spread)))


def count_bounds(count: float, dispersion: float = 1.0) -> Estimate:
    """Return the interval of the expectation behind a count whose variance is `dispersion` times its mean.

    Of none seen the upper bound is the rule of three.
    """
    if count <= 0:
        return Estimate(0.0, 0.0, 3.0 * dispersion)
    spread = _Z * math.sqrt(dispersion / count)
    return Estimate(count, count * math.exp(-spread), count * math.exp(spread))


class Ratio(NamedTuple):
    """How many times as high a rate is as before, common growth divided out, with its 95 % interval.

    `p` is the chance of such a ratio if the rate had changed by no more than the margin; `dispersion` the variance of
    the counts over their mean.
    """

    value: float
    low: float
    high: float
    p: float
    dispersion: float

    @property
    def estimate(self) -> Estimate:
        """The ratio with its bounds."""
        return Estimate(self.value, self.low, self.high)


def rate_ratio(
    before: Sequence[float], now: Sequence[float], *, growth: float = 1.0, margin: float = 1.5, wobble: float = 0.0
) -> Ratio | None:
    """Compare counts of equal stretches; None where there are too few of them to measure their scatter.

    As many on both sides are pairs (a weekday with itself), else each side scatters about its own mean. `wobble` is the
    variance of the logarithm from one comparison to the next.
    """
    freedom, scatter = _scatter(np.asarray(before, dtype=float), np.asarray(now, dtype=float))
    earlier, later = sum(before), sum(now)
    if freedom < 1 or earlier + later <= 0:
        return None
    dispersion = max(1.0, scatter / freedom)
    log = math.log((later + 0.5) / (earlier + 0.5) * len(before) / len(now) / growth)
    error = math.sqrt(dispersion * (1 / max(earlier, 0.5) + 1 / max(later, 0.5)) + 2 * wobble)
    half = t_quantile(_TAIL, freedom) * error
    p = t_tail((abs(log) - math.log(margin)) / error, freedom)
    low, value, high = (math.exp(max(-_FAR, min(_FAR, exponent))) for exponent in (log - half, log, log + half))
    return Ratio(value, low, high, p, dispersion)


def _scatter(before: np.ndarray, now: np.ndarray) -> tuple[int, float]:
    """Return degrees of freedom, and Pearson's chi-square of the counts about what they would be without scatter."""
    if not len(before) or not len(now):
        return 0, 0.0
    if len(before) == len(now):
        together = before + now
        whole = together.sum()
        shares = together / whole if whole else together
        return len(before) - 1, _chi2(before, before.sum() * shares) + _chi2(now, now.sum() * shares)
    own = [(side, np.full(len(side), side.mean())) for side in (before, now)]
    return len(before) + len(now) - 2, sum(_chi2(side, mean) for side, mean in own)


def _chi2(seen: np.ndarray, expected: np.ndarray) -> float:
    known = expected > 0
    return float((((seen - expected) ** 2)[known] / expected[known]).sum())


def shared_growth(rates: Iterable[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Return by which factor the rates of all patterns rose together: the median of those with calls enough.

    Each is (counts before, counts now) of equal stretches; 1 where fewer than five patterns have enough: of few the
    median is one of them, and its own change would be taken for everybody's.
    """
    ratios = [
        (sum(now) / len(now)) / (sum(before) / len(before))
        for before, now in rates
        if before and now and sum(before) > _ENOUGH_CALLS and sum(now) > 0
    ]
    return median(ratios) if len(ratios) >= _ENOUGH_PATTERNS else 1.0
