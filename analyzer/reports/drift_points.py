"""Since when: the day on which a pattern's level changed, weekdays and what all patterns share left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.reports.drift_series import DAY_MS, DAYS, Series
from analyzer.statistics.change_points import change_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.instant import Instant

__all__ = ["Change", "Levels", "last_change", "levels_of"]

_ENOUGH_PATTERNS = 5


class Levels(NamedTuple):
    """The logarithm of each subject's requests a day beside the same weekdays; NaN where nobody looked."""

    values: np.ndarray
    starts: np.ndarray


class Change(NamedTuple):
    """The first day of a new level, and how many times the one before it is."""

    at: Instant
    factor: float


def levels_of(series: Series, starts: Sequence[Instant]) -> Levels:
    """Return the levels of all weeks, given the starts of the weeks."""
    weeks = np.stack([week.days for week in (*series.past, series.week)])
    logs = np.log(weeks + 0.5)
    ordinary = _median(logs)
    apart = logs - ordinary
    if len(series.subjects) >= _ENOUGH_PATTERNS:
        apart = apart - _median(apart.transpose(1, 0, 2))[:, None, :]
    days = np.array([start + day * DAY_MS for start in starts for day in range(DAYS)])
    return Levels(apart.transpose(1, 0, 2).reshape(len(series.subjects), len(days)), days)


def _median(values: np.ndarray) -> np.ndarray:
    is_nothing = np.isnan(values).all(axis=0)
    return np.asarray(np.where(is_nothing, np.nan, np.nanmedian(np.where(is_nothing, 0.0, values), axis=0)))


def last_change(levels: Levels, subject: int) -> Change | None:
    """Return the last change of a subject's level, None where it has none."""
    values = levels.values[subject]
    known = ~np.isnan(values)
    there = values[known]
    found = change_points(there)
    if not found:
        return None
    first = found[-2] if len(found) > 1 else 0
    factor = math.exp(float(there[found[-1] :].mean() - there[first : found[-1]].mean()))
    return Change(int(levels.starts[known][found[-1]]), factor)
