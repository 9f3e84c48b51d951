"""What drifted in a week: every pattern beside its own past and beside what is declared of it.

Pure: a week, the weeks before it and the contract go in, frozen values come out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.estimate import Estimate
from analyzer.model.instant import MINUTE_MS
from analyzer.model.window import Window
from analyzer.reports.drift_costs import COST_MARGIN, Costs, costs_of
from analyzer.reports.drift_declared import Promises, promises_of
from analyzer.reports.drift_mix import mixes_of
from analyzer.reports.drift_points import last_change, levels_of
from analyzer.reports.drift_rates import MARGIN, Rates, rates_of
from analyzer.reports.drift_series import DAY_MS, DAYS, HOUR_MS, Series, series_of
from analyzer.reports.drift_values import ChangePoint, Drift, FacetDrift, PatternDrift, Presence, Side, Subject
from analyzer.statistics.rates import Standing, count_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import Contract
    from analyzer.model.traffic import Declared
    from analyzer.reports.frame import Frame, Frames

__all__ = ["drift"]

_LEAST_CALLS = 20
_LEAST_HOURS = 2
"""Less than so many calls in so many hours is somebody at a console, not a pattern."""
_IMPROBABLE = 1e-3
_OFTEN = 0.05
"""A p95 is passed in a twentieth of the time: the mean is at least that part of it."""
_DEAD_SECONDS = 14 * 86_400
_TEXTS = {
    "rate": "requests",
    "p50": "milliseconds, half of the calls",
    "p95": "milliseconds, one call in twenty takes longer",
    "p99": "milliseconds, one call in a hundred takes longer",
    "units": "capacity units a request",
    "bytes": "bytes returned a request",
    "waste": "of the read units thrown away",
}


def drift(week: Frame, past: Frames, contract: Contract) -> Drift:
    """Hold a week against the weeks before it, the oldest first, and against the contract."""
    series = series_of(week, past)
    rates, costs = rates_of(series), costs_of(series)
    promises = promises_of(week, contract)
    judge = _Judge(week, past, series, rates, costs, promises)
    patterns = [judge.pattern(number) for number in range(len(series.subjects))]
    patterns += judge.unseen()
    patterns.sort(key=lambda one: (one.subject.target.order(), one.subject.name))
    told = frozenset((one.subject.target, one.subject.name) for one in patterns if one.is_drifted)
    return Drift(
        window=week.window,
        weeks=len(past),
        growth=rates.growth,
        patterns=tuple(patterns),
        mixes=tuple(mixes_of(week, past, told)),
        gaps=tuple(_gaps(week)),
    )


class _Judge:
    """Puts together what was found of each subject."""

    def __init__(
        self, week: Frame, past: Frames, series: Series, rates: Rates, costs: list[Costs], promises: Promises
    ) -> None:
        self._week = week
        self._past = past
        self._series = series
        self._rates = rates
        self._costs = costs
        self._promises = promises
        self._seen = [np.asarray((one.days > 0).any(axis=1)) for one in series.past]
        self._levels = levels_of(series, [frame.window.start for frame in (*past, week)])

    def pattern(self, number: int) -> PatternDrift:
        """Judge one subject."""
        series, subject = self._series, self._series.subjects[number]
        hours = series.week.hourly.iloc[series.week.part(number)]
        requests = float(hours["requests"].sum())
        expected = self._rates.expected[number]
        told = series.told[number]
        declared = self._promises.declared.get((subject.target, subject.pattern or ""))
        facets = (*self._past_facets(number), *self._promises.facets.get((subject.target, subject.name), ()))
        rate = self._rates.tested.standing(number)
        return PatternDrift(
            subject=subject,
            kind=series.kinds[number],
            presence=self._presence(number, requests, len(hours["hour"].unique()), declared),
            requests=Estimate(requests, max(0.0, requests - told.below), requests + told.above),
            expected_requests=None if math.isnan(expected) else float(expected),
            units=float((hours["read_units"] + hours["write_units"]).sum()),
            expected_units=self._expected_units(number),
            wasted_units=float(hours["wasted_units"].sum()),
            callers=told.callers,
            operations=told.operations,
            fingerprints=told.fingerprints,
            days_seen=int((np.nan_to_num(series.week.days[number]) > 0).sum()),
            days_covered=int((~np.isnan(series.week.days[number])).sum()),
            hours_seen=len(hours["hour"].unique()),
            first_seen=self._first_seen(number),
            facets=facets,
            change=self._change(number) if rate is Standing.OUT else None,
            owner=None if declared is None else declared.owner,
        )

    def _past_facets(self, number: int) -> Iterator[FacetDrift]:
        """Yield how often it came, and what its requests cost, beside the past."""
        rates = self._rates
        if rates.tested.estimate(number) is not None:
            seen = count_bounds(float(self._series.week.totals[number]), float(rates.dispersion[number]))
            yield FacetDrift(
                name="rate",
                side=Side.PAST,
                standing=rates.tested.standing(number),
                seen=seen,
                expected=float(rates.expected[number]),
                ratio=rates.tested.estimate(number),
                margin=MARGIN,
                q=float(rates.tested.q[number]),
                text=_TEXTS["rate"],
            )
        for cost in self._costs:
            seen_cost, ratio = cost.seen[number], cost.tested.estimate(number)
            if seen_cost is not None and ratio is not None:
                yield FacetDrift(
                    name=cost.name,
                    side=Side.PAST,
                    standing=cost.tested.standing(number),
                    seen=seen_cost,
                    expected=float(cost.expected[number]),
                    ratio=ratio,
                    margin=COST_MARGIN,
                    q=float(cost.tested.q[number]),
                    text=_TEXTS[cost.name],
                )

    def _expected_units(self, number: int) -> float | None:
        """Return the units that the past predicts: its requests at its cost."""
        requests = self._rates.expected[number]
        a_request = next(cost.expected[number] for cost in self._costs if cost.name == "units")
        found = requests * a_request
        return None if math.isnan(found) else float(found)

    def _presence(self, number: int, requests: float, hours: int, declared: Declared | None) -> Presence:
        was_seen = [bool(seen[number]) for seen in self._seen]
        if requests > 0:
            if any(was_seen) or not was_seen:
                return Presence.KNOWN if not was_seen or was_seen[-1] else Presence.RETURNED
            is_meant = requests >= _LEAST_CALLS and hours >= _LEAST_HOURS
            return Presence.NEW if is_meant or declared is not None else Presence.AD_HOC
        expected = self._rates.expected[number]
        chance = 1.0 if math.isnan(expected) else math.exp(-expected / self._rates.dispersion[number])
        return Presence.VANISHED if chance < _IMPROBABLE and was_seen and was_seen[-1] else Presence.QUIET

    def _first_seen(self, number: int) -> int | None:
        for frame, week in zip((*self._past, self._week), (*self._series.past, self._series.week), strict=True):
            part = week.part(number)
            if part.stop > part.start:
                return frame.window.start + int(week.hourly["hour"].iloc[part.start]) * HOUR_MS
        return None

    def _change(self, number: int) -> ChangePoint | None:
        """Return the last day on which its level changed."""
        found = last_change(self._levels, number)
        if found is None:
            return None
        mean = float(np.nanmean(self._series.week.days[number]))
        return ChangePoint(found.at, mean / found.factor, mean)

    def unseen(self) -> Iterator[PatternDrift]:
        """Yield the declared patterns that no week of history knows."""
        known = {(subject.target, subject.name) for subject in self._series.subjects}
        seconds = self._week.covered_seconds + sum(frame.covered_seconds for frame in self._past)
        days = sum(_is_covered(self._week, day) for day in range(DAYS))
        for (target, name), declared in self._promises.declared.items():
            if (target, name) in known:
                continue
            least = declared.p95_rate * _OFTEN if declared.p95_rate else None
            is_dead = least is not None and seconds >= _DEAD_SECONDS and math.exp(-least * seconds / 10) < _IMPROBABLE
            yield PatternDrift(
                subject=Subject(target, name),
                kind="declared",
                presence=Presence.DEAD if is_dead else Presence.QUIET,
                requests=Estimate.exact(0.0),
                expected_requests=None,
                units=0.0,
                expected_units=None,
                wasted_units=0.0,
                callers=(),
                operations=declared.operations,
                fingerprints=(),
                days_seen=0,
                days_covered=days,
                hours_seen=0,
                first_seen=None,
                owner=declared.owner,
            )


def _is_covered(week: Frame, day: int) -> bool:
    first = week.window.start + day * DAY_MS
    return any(one.start < first + DAY_MS and one.end > first for one in week.covered)


def _gaps(week: Frame) -> Iterator[Window]:
    """Yield the stretches of a week that nobody looked at."""
    at = week.window.start
    for one in sorted(week.covered):
        if one.start - at >= MINUTE_MS:
            yield Window(at, one.start)
        at = max(at, one.end)
    if week.window.end - at >= MINUTE_MS:
        yield Window(at, week.window.end)
