"""What a request costs and takes, beside the weeks before: quantiles of latency, units and bytes a request, waste.

Hours are drawn again with replacement, not calls: calls of one hour are alike, and there are always enough of them to
make any difference significant. How a quantity scatters from week to week is learned from past weeks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.model.estimate import Estimate
from analyzer.reports.drift_margins import Tested, judge_ratios, median_factor, shrunk

if TYPE_CHECKING:
    from analyzer.reports.drift_series import Series, Week

__all__ = ["COST_MARGIN", "Costs", "costs_of"]

COST_MARGIN = 1.2
_DRAWS = 200
_WEEKS = 4
_QUANTILES = {"p50": (0.5, 200), "p95": (0.95, 400), "p99": (0.99, 2000)}
"""Share, and how many calls tell it at least: twenty of them lie beyond."""
_RATIOS = {
    "units": ("units", "requests"),
    "bytes": ("returned_bytes", "requests"),
    "waste": ("wasted_units", "read_units"),
}
_LEAST_REQUESTS = 200
_LEAST_HOURS = 6
_LEAST_DAYS = 3
"""Of weeks that were read by the day: what is asked on weekdays alone has five."""
_LEAST_WASTE = 0.02
"""A share of waste below it is told as that: a ratio of two tiny shares says nothing."""
_LOGS = np.log(np.array([LATENCY_BOUNDS_MS[0] / 2, *LATENCY_BOUNDS_MS, LATENCY_BOUNDS_MS[-1] * 2]))


class Costs(NamedTuple):
    """One quantity of each subject: this week with its bounds, what the past says, and how they stand."""

    name: str
    seen: tuple[Estimate | None, ...]
    expected: np.ndarray
    tested: Tested


def costs_of(series: Series) -> list[Costs]:
    """Hold every quantity of every subject against the past."""
    names = [*_QUANTILES, *_RATIOS]
    drawn = _Drawn(series.week)
    now = drawn.quantities(names)
    before = [_Drawn(week, draws=0).quantities(names) for week in series.past[-2 * _WEEKS :]]
    return [_costs(name, now[name], [one[name][0] for one in before], len(series.subjects)) for name in names]


def _costs(name: str, now: tuple[np.ndarray, np.ndarray, np.ndarray], before: list[np.ndarray], many: int) -> Costs:
    value, spread, hours = now
    seen = tuple(_estimate(value[n], spread[n]) for n in range(many))
    if not before:
        nothing = np.full(many, np.nan)
        return Costs(name, seen, nothing, judge_ratios(nothing, nothing, nothing, nothing, 1.0, COST_MARGIN))
    past = np.stack(before)
    recent = past[-_WEEKS:]
    known = ~np.isnan(recent)
    weeks = known.sum(axis=0)
    expected = np.exp(_medians(np.log(np.where(known, recent, np.nan))))
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(value) - np.log(expected)
    wobble, freedom = _wobble(past)
    tested = judge_ratios(
        logs, spread**2, np.maximum(hours - 1.0, 1.0), wobble * (1 + median_factor(weeks)), freedom, COST_MARGIN
    )
    return Costs(name, seen, expected, tested)


def _medians(logs: np.ndarray) -> np.ndarray:
    is_nothing = np.isnan(logs).all(axis=0)
    return np.asarray(np.where(is_nothing, np.nan, np.nanmedian(np.where(is_nothing, 0.0, logs), axis=0)))


def _wobble(past: np.ndarray) -> tuple[np.ndarray, float]:
    """Learn the variance of a logarithm from week to week; where too few weeks tell, a tenth is ordinary."""
    known = ~np.isnan(past)
    weeks = known.sum(axis=0)
    if len(past) < 3:  # noqa: PLR2004 -- two values have a difference and no spread to speak of
        return np.full(past.shape[1], 0.1**2), 2.0
    logs = np.log(np.where(known, past, 1.0))
    mean = logs.sum(axis=0) / np.maximum(weeks, 1)
    spread = np.where(known, (logs - mean) ** 2, 0.0).sum(axis=0) / np.maximum(weeks - 1, 1)
    return shrunk(np.where(weeks > 2, spread, np.nan), len(past))  # noqa: PLR2004 -- same


def _estimate(value: float, spread: float) -> Estimate | None:
    if np.isnan(value):
        return None
    reach = float(np.exp(1.96 * spread))
    return Estimate(float(value), float(value) / reach, float(value) * reach)


class _Drawn:
    """A week's hours, drawn again with replacement; the same weeks are drawn the same way."""

    def __init__(self, week: Week, draws: int = _DRAWS) -> None:
        self._week = week
        self._rng = np.random.default_rng(1)
        self._draws = draws
        hourly = week.hourly
        self._columns = {name: hourly[name].to_numpy() for name in hourly.columns}
        self._columns["units"] = self._columns["read_units"] + self._columns["write_units"]

    def quantities(self, names: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return of each subject the value, the spread of its logarithm, and in how many hours it was seen."""
        many = len(self._week.begins) - 1
        found = {name: (np.full(many, np.nan), np.full(many, np.nan), np.zeros(many)) for name in names}
        for subject in range(many):
            part = self._week.part(subject)
            hours = part.stop - part.start
            if hours < (_LEAST_DAYS if self._week.is_by_day else _LEAST_HOURS):
                continue
            weights = np.concatenate([np.ones((1, hours)), self._weights(hours)])
            for name, values in self._of(part, weights).items():
                told = np.log(values[~np.isnan(values) & (values > 0)])
                found[name][0][subject] = values[0]
                found[name][1][subject] = told.std() if len(told) > 1 else 0.0
                found[name][2][subject] = hours
        return found

    def _weights(self, hours: int) -> np.ndarray:
        """Return how often each hour is drawn, a row a draw."""
        return self._rng.multinomial(hours, np.full(hours, 1 / hours), self._draws).astype(float)

    def _of(self, part: slice, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Return every quantity that can be told of one subject, as it is and as drawn."""
        found: dict[str, np.ndarray] = {}
        buckets = weights @ self._week.latency[part]
        for name, (share, least) in _QUANTILES.items():
            if buckets[0].sum() >= least:
                found[name] = _quantiles(buckets, share)
        if self._columns["requests"][part].sum() < _LEAST_REQUESTS:
            return found
        for name, (over, under) in _RATIOS.items():
            above, below = (weights @ self._columns[one][part] for one in (over, under))
            ratio = np.divide(above, below, out=np.full(len(weights), np.nan), where=below > 0)
            if ratio[0] > (_LEAST_WASTE if name == "waste" else 0):
                found[name] = ratio
        return found


def _quantiles(buckets: np.ndarray, share: float) -> np.ndarray:
    """Return a quantile of each histogram, between the logarithms of its bucket's bounds."""
    below = np.concatenate([np.zeros((len(buckets), 1)), np.cumsum(buckets, axis=1)], axis=1)
    wanted = share * below[:, -1]
    number = np.clip((below[:, 1:] < wanted[:, None]).sum(axis=1), 0, buckets.shape[1] - 1)
    rows = np.arange(len(buckets))
    inside = np.maximum(buckets[rows, number], 1e-9)
    part = np.clip((wanted - below[rows, number]) / inside, 0, 1)
    return np.asarray(np.exp(_LOGS[number] + part * (_LOGS[number + 1] - _LOGS[number])))
