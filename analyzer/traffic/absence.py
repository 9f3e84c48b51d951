"""Declared patterns of which nothing was seen: how improbable that is, and what speaks for having looked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from analyzer.contract.firing import fires_near
from analyzer.model.instant import DAY_MS
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Sight, SourceName
from analyzer.traffic.readership import readership_of
from analyzer.traffic.series import series_in, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import MetricSeries
    from analyzer.model.traffic import Declared, PatternTraffic, Traffic
    from analyzer.model.window import Window

__all__ = ["Absence", "Covered", "absence_of", "covered_of", "is_seen"]

_OFTEN = 0.05
"""A p95 is reached or passed in a twentieth of the time: the mean is at least that part of it."""
_CROWDED = 10.0
"""Requests come in crowds: the variance of their counts is taken as so many times their mean."""
_LEAST_A_SECOND = {"high": 1 / 60, "medium": 1 / 3600}
"""What the words of a contract mean at least; `low` may be once a quarter."""


class Covered(NamedTuple):
    """What was looked at for so many seconds: all requests (of which `kept` is the share in the log), or metrics."""

    seconds: float
    kept: float
    source: SourceName


class Absence(NamedTuple):
    """The requests that should have come, the chance that none does, and how long one would have seen them."""

    expected: float
    chance: float
    covered: Covered


def is_seen(pattern: Declared, traffics: Iterable[Traffic]) -> bool:
    """Whether any request is one of the pattern, may be one, or cannot be told from one."""
    return any(_may_be(row, pattern) for traffic in traffics for row in traffic.rows)


def _may_be(row: PatternTraffic, pattern: Declared) -> bool:
    said = row.attribution
    if said.kind is AttributionKind.UNPARSED:
        return row.shape.operation in pattern.operations
    return pattern.id == said.pattern or pattern.id in said.candidates


def covered_of(pattern: Declared, traffic: Traffic, days: int) -> Covered | None:
    """Return the longest look at a pattern that found nothing; None where something was seen in the metrics.

    `traffic` is the table's. The log speaks for its own stretch, history for its span where it knows patterns, and
    CloudWatch for an index that is not read, or an operation that is not called.
    """
    looks = [Covered(0.0, 1.0, SourceName.REQUEST_LOG)]
    if Sight.REQUESTS in traffic.sights:
        looks.append(Covered(traffic.window.seconds, _kept(traffic), SourceName.REQUEST_LOG))
    span = traffic.history.spans.get(traffic.target)
    places = {traffic.target, traffic.target.at(pattern.index)}  # a local index is read at its table
    known = [traffic.history.patterns[place] for place in places if place in traffic.history.patterns]
    if span is not None and known:
        pasts = [one[pattern.id] for one in known if pattern.id in one]
        if any(sum(past.before) + sum(past.now) > 0 for past in pasts):
            return None
        looks.append(Covered(span.seconds, _kept(traffic), SourceName.REQUEST_LOG))
    looks += _by_metrics(pattern, traffic, days)
    return max(looks, key=lambda look: look.seconds)


def _kept(traffic: Traffic) -> float:
    """Return the part of the requests that is in the log, of the most thinly sampled rows."""
    rows = [row for one in (traffic, *traffic.indexes) for row in one.rows if row.requests.value and not row.secondary]
    return min([1.0, *(row.observed / row.requests.value for row in rows)])


def _by_metrics(pattern: Declared, traffic: Traffic, days: int) -> Iterator[Covered]:
    index = next((one for one in traffic.indexes if one.target.index == pattern.index), None)
    if index is not None:
        readership = readership_of(index, days)
        if not readership.is_read and SourceName.CLOUDWATCH_METRICS.value in readership.sources:
            yield Covered(readership.covered_seconds, 1.0, SourceName.CLOUDWATCH_METRICS)
    consumed = series_of(traffic.metrics, "ConsumedReadCapacityUnits")
    if consumed is None or not consumed.timestamps:
        return
    since = traffic.window.end - (days + 1) * DAY_MS
    calls = [_calls(operation, traffic, since) for operation in pattern.operations]
    if calls and all(count == 0 for count in calls):
        first = max(since, consumed.timestamps[0])
        yield Covered((consumed.timestamps[-1] - first) / 1000 + consumed.period_seconds, 1.0, _METRICS)


_METRICS = SourceName.CLOUDWATCH_METRICS


def _calls(operation: str, traffic: Traffic, since: int) -> float | None:
    """Return how often an operation was served, None where no complete series says so."""
    found = list(series_in(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation))
    if not found or not all(series.is_complete for series in found):
        return None
    return sum(_since(series, since) for series in found)


def _since(series: MetricSeries, since: int) -> float:
    pairs = zip(series.timestamps, series.values, strict=True)
    return sum(value for time, value in pairs if time >= since)


def absence_of(pattern: Declared, covered: Covered, window: Window) -> Absence | None:
    """Return how improbable it is that a pattern shows nothing; None where it does not say how often it comes.

    Of a schedule each day counts on which it fires, in the covered stretch before the window's end.
    """
    if pattern.schedule is not None:
        start = window.end - round(covered.seconds * 1000)
        days = _firing_days(pattern.schedule, start, window.end)
        return None if days is None else Absence(days, math.exp(-days * covered.kept), covered)
    least = pattern.p95_rate * _OFTEN if pattern.p95_rate else _LEAST_A_SECOND.get(pattern.frequency or "")
    if least is None:
        return None
    expected = least * covered.seconds
    return Absence(expected, math.exp(-expected * covered.kept / _CROWDED), covered)


def _firing_days(schedule: str, start: int, end: int) -> int | None:
    days = 0
    for begin in range(start, end - DAY_MS + 1, DAY_MS):
        fires = fires_near(schedule, begin, begin + DAY_MS, 0)
        if fires is None:
            return None
        days += fires
    return days
