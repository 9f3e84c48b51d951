"""Whether a series bursts on a clock: a peak of its autocorrelation after a trough, and bursts that keep the time."""

from __future__ import annotations

import numpy as np

__all__ = ["rhythm_of"]

_LEAST_PERIODS = 3
_LEAST_STEPS = 30
"""Of fewer values the autocorrelation scatters too much to tell anything."""
_CORRELATED = 0.6
"""Of 360 values without any order the autocorrelation scatters by 0.05 to 0.07."""
_TROUGH = 0.2
"""A hump, or a slow drift, is like itself a little later too: between two bursts it is not."""
_STANDS_OUT = 2.0
"""A burst is so many times the middle value: what only breathes is no burst."""
_NEAR = 0.9
_LEAST_BURSTS = 4
"""Of four spikes that come by chance two pairs are as far apart in one series of twenty: the third rarely is too."""
_REGULAR = 0.8
_A_STEP_EARLY_OR_LATE = np.full(3, 1 / 3)
"""A clock need not keep to whole steps: a burst may come in the step beside."""
_SLACK = 0.15


def rhythm_of(values: np.ndarray) -> int | None:
    """Return the period of a series in steps; None where it has none, or fewer than four bursts.

    Source: the autocorrelation without bias, Box and Jenkins, "Time Series Analysis", chapter 2.
    """
    if len(values) < _LEAST_STEPS:
        return None
    middle, top = float(np.median(values)), float(np.quantile(values, 0.99))
    if top <= 0 or top < _STANDS_OUT * middle:
        return None
    smooth = np.convolve(values - values.mean(), _A_STEP_EARLY_OR_LATE, "same")
    period = _most_like_itself(smooth)
    if period is None:
        return None
    is_high = values > (middle + top) / 2
    begins = np.flatnonzero(is_high & ~np.concatenate(([False], is_high[:-1])))
    if len(begins) < _LEAST_BURSTS:
        return None
    gaps = np.diff(begins)
    beats = np.maximum(1, np.rint(gaps / period))
    keeps = np.abs(gaps - beats * period) <= max(1, _SLACK * period)
    return period if keeps.mean() >= _REGULAR else None


def _most_like_itself(centered: np.ndarray) -> int | None:
    """Return the shortest lag at which a series is nearly as like itself as at any; None where it never is."""
    count = len(centered)
    longest = count // _LEAST_PERIODS
    products = np.fft.irfft(np.abs(np.fft.rfft(centered, 2 * count)) ** 2)[: longest + 1]
    correlation = products / (count - np.arange(longest + 1)) / (centered**2).mean()
    after = correlation[np.logical_or.accumulate(correlation <= _TROUGH)]
    best = float(after.max(initial=0.0))
    if best < _CORRELATED:
        return None
    lag = int(np.argmax(after >= _NEAR * best))
    while lag + 1 < len(after) and after[lag + 1] > after[lag]:
        lag += 1
    return len(correlation) - len(after) + lag
