"""The tests of drift: a change must exceed a margin, for more than its scatter, after false discoveries are held down.

A logarithm l of a ratio, its variance v1 (of the counts, few degrees of freedom) and v2 (of one week to the next,
learned from past weeks): t = (|l| - ln margin) ÷ √(v1 + v2), with Satterthwaite's degrees of freedom; one-sided, as
TREAT does (McCarthy and Smyth, 2009). Most patterns lie well within the margin, and their p-values near 1: those above
a half are discarded and the others doubled (Zhao, Small and Su, 2019), so that hundreds that are well do not drown the
one that is not. Then Benjamini and Hochberg.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from analyzer.model.estimate import Estimate
from analyzer.statistics.false_discovery import q_values
from analyzer.statistics.rates import Standing

__all__ = ["FALSE_DISCOVERY_RATE", "Tested", "judge_ratios", "median_factor", "shrunk"]

FALSE_DISCOVERY_RATE = 0.05
_CANDIDATE = 0.5
"""A p-value above it is that of a ratio within the margin."""
_LARGE = 1e6
_PRIOR_FREEDOM = 8.0
"""What all patterns say of the scatter from week to week counts as much as so many weeks of a pattern's own."""
_MEDIAN_FACTORS = (1.0, 1.0, 0.5, 0.449, 0.298)
"""Variance of the median of so many normal values over that of one (exact); beyond, π ÷ 2n."""


class Tested(NamedTuple):
    """Ratios with their bounds; an entry is NaN where there was nothing to test."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    q: np.ndarray
    margin: float

    def estimate(self, number: int) -> Estimate | None:
        """Return one ratio with its 95 % interval."""
        if np.isnan(self.value[number]):
            return None
        return Estimate(float(self.value[number]), float(self.low[number]), float(self.high[number]))

    def standing(self, number: int) -> Standing:
        """Say where one ratio stands: OUT is a discovery, IN an interval within the margin."""
        if self.q[number] <= FALSE_DISCOVERY_RATE:
            return Standing.OUT
        is_in = self.low[number] >= 1 / self.margin and self.high[number] <= self.margin
        return Standing.IN if is_in else Standing.UNKNOWN


def judge_ratios(
    logs: np.ndarray,
    chance: np.ndarray,
    chance_freedom: np.ndarray,
    wobble: np.ndarray,
    wobble_freedom: float,
    margin: float,
) -> Tested:
    """Test logarithms of ratios, NaN for none, with both parts of their variance."""
    variance = chance + wobble
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = chance**2 / chance_freedom + wobble**2 / wobble_freedom
        freedom = np.where(parts > 0, variance**2 / parts, _LARGE)
        error = np.sqrt(variance)
        excess = (np.abs(logs) - np.log(margin)) / error
        p = np.where(np.isnan(logs), 1.0, student.sf(excess, freedom))
        half = student.isf(0.025, freedom) * error
        low, value, high = (np.exp(np.clip(one, -300, 300)) for one in (logs - half, logs, logs + half))
    known = ~np.isnan(logs)
    q = np.ones(len(logs))
    candidates = known & (p <= _CANDIDATE)
    q[candidates] = q_values((p[candidates] / _CANDIDATE).tolist())
    return Tested(value, low, high, q, margin)


def median_factor(many: np.ndarray) -> np.ndarray:
    """Return the variance of a median of so many values, over that of one of them."""
    table = np.array(_MEDIAN_FACTORS)
    known = np.clip(many, 0, len(table) - 1).astype(int)
    found: np.ndarray = np.where(many < len(table), table[known], np.pi / 2 / np.maximum(many, 1))
    return found


def shrunk(own: np.ndarray, weeks: int) -> tuple[np.ndarray, float]:
    """Draw variances that few weeks told towards what all patterns say together; returns them and their freedom."""
    known = own[~np.isnan(own)]
    pooled = float(np.mean(np.minimum(known, np.quantile(known, 0.9)))) if len(known) else 0.0
    freedom = max(weeks - 1, 0)
    drawn = (_PRIOR_FREEDOM * pooled + freedom * np.where(np.isnan(own), pooled, own)) / (_PRIOR_FREEDOM + freedom)
    return drawn, _PRIOR_FREEDOM + freedom
