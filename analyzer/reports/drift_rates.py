"""How often a pattern comes, beside the weeks before: what each of them predicts, and the median of that.

A prediction is the same weekday of a past week, with the growth that all patterns share since then. The median of
four is not moved by a holiday in one of them (GitLab, "Anomaly detection using Prometheus", 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.reports.drift_margins import Tested, judge_ratios, median_factor, shrunk
from analyzer.reports.drift_series import DAYS

if TYPE_CHECKING:
    from analyzer.reports.drift_series import Series

__all__ = ["MARGIN", "Rates", "rates_of"]

MARGIN = 1.5
_WEEKS = 4
_ENOUGH_CALLS = 200
_ENOUGH_PATTERNS = 5
"""Of fewer patterns the median growth is one of them: its own change would be taken for everybody's."""
_HOLIDAY = 1.25
"""A day that differs so much from the others of its week for half of all patterns is no day like any."""
_LEAST_DAYS = 3
_LEAST_WEEKS = 3


class Rates(NamedTuple):
    """Of each subject: the requests that the past predicts for the week (NaN: no past), and how the week stands to it.

    `growth` is what all patterns share since the week before.
    """

    expected: np.ndarray
    tested: Tested
    growth: float
    dispersion: np.ndarray


def rates_of(series: Series) -> Rates:
    """Hold the week's rates against the past."""
    many = len(series.subjects)
    now = series.week.days
    growths = [_growth(week.days, now) for week in series.past]
    if not series.past:
        nothing = np.full(many, np.nan)
        return Rates(nothing, judge_ratios(nothing, nothing, nothing, nothing, 1.0, MARGIN), 1.0, np.ones(many))
    predicted = np.stack([week.days * growth for week, growth in zip(series.past, growths, strict=True)])
    recent = predicted[-_WEEKS:]
    expected = _median(recent)
    known = ~np.isnan(expected) & ~np.isnan(now)
    before, after = np.where(known, expected, 0.0), np.where(known, now, 0.0)
    days = known.sum(axis=1)
    before, dispersion, rest = _with_holidays(before, after, days)
    earlier, later = before.sum(axis=1), after.sum(axis=1)
    logs = np.log((later + 0.5) / (earlier + 0.5))
    logs[(days < _LEAST_DAYS) | (earlier <= 0) | (later <= 0)] = np.nan
    calm = median_factor((~np.isnan(recent)).any(axis=2).sum(axis=0))
    crowd, crowd_freedom = _crowd(predicted, (before + after) / 2, dispersion, days, calm)
    a_day = crowd / np.maximum(days, 1)
    chance = 1 / np.maximum(later, 0.5) + a_day + calm * (1 / np.maximum(earlier, 0.5) + a_day)
    wobble, freedom = _wobble(predicted, crowd)
    tested = judge_ratios(logs, chance, crowd_freedom, wobble * (1 + calm), freedom, MARGIN)
    dispersion = np.maximum(1.0, 1 + crowd * later / np.maximum(days, 1))
    share = np.where(days > 0, days, 1) / np.maximum((~np.isnan(now)).sum(axis=1), 1)
    return Rates(np.where(days > 0, earlier / share, np.nan), tested, growths[-1] * rest, dispersion)


def _median(predicted: np.ndarray) -> np.ndarray:
    """Return the median over weeks; a subject that a week does not know came zero times in it."""
    counted = np.isnan(predicted).all(axis=0)
    filled = np.where(counted, 0.0, predicted)
    return np.asarray(np.where(counted, np.nan, np.nanmedian(filled, axis=0)))


def _growth(before: np.ndarray, now: np.ndarray) -> float:
    """Return by which factor all patterns grew together: the median of those with calls enough."""
    known = ~np.isnan(before) & ~np.isnan(now)
    earlier, later = (np.where(known, one, 0.0).sum(axis=1) for one in (before, now))
    enough = (earlier > _ENOUGH_CALLS) & (later > 0)
    return float(np.median(later[enough] / earlier[enough])) if enough.sum() >= _ENOUGH_PATTERNS else 1.0


def _with_holidays(before: np.ndarray, now: np.ndarray, days: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Expect on a holiday of this week what all patterns share, of each pattern that fits better so.

    A day on which they come and go together is a holiday, or an outage of everybody; what runs by the clock goes on.
    Returns what is expected, the dispersion, and what growth becomes without holidays.
    """
    plain = _dispersion(before, now, days)
    earlier, later = before.sum(axis=1), now.sum(axis=1)
    enough = (earlier > _ENOUGH_CALLS) & (later > 0)
    if enough.sum() < _ENOUGH_PATTERNS:
        return before, plain, 1.0
    weekly = np.divide(later, earlier, out=np.ones(len(before)), where=earlier > 0)[:, None]
    ratio = np.divide(now, before * weekly, out=np.ones_like(now), where=(before > 0) & (weekly > 0))
    shared = np.median(ratio[enough], axis=0)
    shared = np.where(np.abs(np.log(np.maximum(shared, 1e-9))) > np.log(_HOLIDAY), shared / np.median(shared), 1.0)
    shifted = before * shared
    other = _dispersion(shifted, now, days)
    is_better = other < plain
    rest = float(np.median(later[enough] / shifted.sum(axis=1)[enough]))
    return np.where(is_better[:, None], shifted, before) * rest, np.where(is_better, other, plain), rest


def _crowd(
    predicted: np.ndarray, mean: np.ndarray, dispersion: np.ndarray, days: np.ndarray, calm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how much more than Poisson's law the counts of a day scatter: Var = mean + crowd x mean², and the freedom.

    The week beside what was expected tells it, and the past weeks among themselves: what makes a day of all of them
    differ is left out. `calm` is the variance of what is expected over that of one week.
    """
    many = np.maximum(mean.sum(axis=1) / np.maximum(days, 1), 1e-9)
    own = np.maximum(2 * dispersion / (1 + calm) - 1, 0.0) / many
    freedom = np.maximum(days - 1.0, 1.0)
    whole = ~np.isnan(predicted).any(axis=(1, 2))
    if whole.sum() < 2:  # noqa: PLR2004 -- one week does not scatter
        return own, freedom
    weeks = predicted[whole]
    fitted = _fitted(weeks)
    chi2 = np.divide((weeks - fitted) ** 2, fitted, out=np.zeros_like(weeks), where=fitted > 0).sum(axis=(0, 2))
    before = (len(weeks) - 1.0) * (weeks.shape[2] - 1.0)
    a_day = np.maximum(weeks.mean(axis=(0, 2)), 1e-9)
    past = np.maximum(chi2 / before - 1, 0.0) / a_day
    is_told = weeks.sum(axis=2).min(axis=0) > 0
    together = (freedom * own + before * past) / (freedom + before)
    return np.where(is_told, together, own), np.where(is_told, freedom + before, freedom)


def _fitted(weeks: np.ndarray) -> np.ndarray:
    """Return what weekdays, weeks and what all patterns share make of each day, (weeks, patterns, days)."""
    shared = np.ones((len(weeks), 1, weeks.shape[2]))
    for _ in range(2):
        calm = weeks / shared
        whole = calm.sum(axis=(0, 2))[None, :, None]
        fitted = calm.sum(axis=2, keepdims=True) * calm.sum(axis=0, keepdims=True) / np.maximum(whole, 1e-9)
        enough = whole[0, :, 0] > _ENOUGH_CALLS
        if enough.sum() >= _ENOUGH_PATTERNS:
            ratio = np.divide(weeks, fitted, out=np.ones_like(weeks), where=fitted > 0)
            shared = np.maximum(np.median(ratio[:, enough], axis=1)[:, None, :], 1e-9)
    return np.asarray(fitted * shared)


def _dispersion(before: np.ndarray, now: np.ndarray, days: np.ndarray) -> np.ndarray:
    """Return Pearson's chi-square of the days about what they were without scatter, over its freedom."""
    together = before + now
    whole = together.sum(axis=1, keepdims=True)
    share = np.divide(together, whole, out=np.zeros_like(together), where=whole > 0)
    chi2 = np.zeros(len(before))
    for side in (before, now):
        fitted = side.sum(axis=1, keepdims=True) * share
        chi2 += np.divide((side - fitted) ** 2, fitted, out=np.zeros_like(side), where=fitted > 0).sum(axis=1)
    return np.asarray(chi2 / np.maximum(days - 1, 1))


def _wobble(predicted: np.ndarray, crowd: np.ndarray) -> tuple[np.ndarray, float]:
    """Learn from past weeks the variance of the logarithm of a pattern from week to week, beyond that of its counts."""
    if len(predicted) < _LEAST_WEEKS:
        return np.full(predicted.shape[1], _PRIOR_WOBBLE), 1.0
    covered = (~np.isnan(predicted)).sum(axis=2)
    totals = np.nansum(predicted, axis=2)
    is_there = totals > 0
    logs = np.log(np.where(is_there, totals, 1.0) / np.maximum(covered, 1))
    weeks = is_there.sum(axis=0)
    many = np.maximum(weeks, 1)
    mean = np.where(is_there, logs, 0.0).sum(axis=0) / many
    spread = np.where(is_there, (logs - mean) ** 2, 0.0).sum(axis=0) / np.maximum(weeks - 1, 1)
    by_chance = np.where(is_there, 1 / np.maximum(totals, 1.0), 0.0).sum(axis=0) / many + crowd / DAYS
    own = np.where(weeks >= _LEAST_WEEKS, np.maximum(spread - by_chance, 0.0), np.nan)
    return shrunk(own, len(predicted))


_PRIOR_WOBBLE = 0.05**2
"""A twentieth from week to week, where too few weeks tell it."""
