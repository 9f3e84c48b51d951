"""Answers of GetMetricData and ListMetrics, read once at the edge; and statistics that mean nothing. Pure."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.errors import MalformedError
from analyzer.model.instant import Instant, to_instant
from collectors.cloudwatch_metrics.facts import METRICS, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


__all__ = ["Found", "Page", "Points", "misuse", "parse_listing", "parse_page", "unite"]

_RIGHT = {
    Unit.UNITS: frozenset({"Sum", "SampleCount"}),
    Unit.EVENTS: frozenset({"Sum", "SampleCount"}),
}
_WRONG = {
    Unit.LEVEL: frozenset({"Sum", "SampleCount"}),
    Unit.DURATION: frozenset({"Sum"}),
}
_WHY = {
    Unit.UNITS: "is per request and no rate; the rate is Sum ÷ period",
    Unit.EVENTS: "counts nothing, since every sample is one event; ask for Sum",
    Unit.LEVEL: "adds up samples of what holds at a moment; ask for Average or Maximum",
    Unit.DURATION: "adds up times of single requests; ask for a percentile, Average or Maximum",
}


class Points(Struct, frozen=True):
    """The points of one query as one page gave them; `status` is CloudWatch's own word, "" where it said none."""

    timestamps: tuple[Instant, ...]
    values: tuple[float, ...]
    status: str


class Page(Struct, frozen=True):
    """One page of GetMetricData: points by the query's id, and the token of the next."""

    results: dict[str, Points]
    next_token: str | None


class Found(Struct, frozen=True):
    """One metric of ListMetrics."""

    metric: str
    dimensions: frozenset[tuple[str, str]]


class _Result(Struct, rename="pascal"):
    id: str
    timestamps: list[datetime] = []
    values: list[float] = []
    status_code: str = ""


class _Answer(Struct, rename="pascal"):
    results: list[_Result] = msgspec.field(name="MetricDataResults")
    next_token: str | None = None


class _Dimension(Struct, rename="pascal"):
    name: str
    value: str


class _Listed(Struct, rename="pascal"):
    metric_name: str
    dimensions: list[_Dimension] = []


class _Listing(Struct, rename="pascal"):
    metrics: list[_Listed]
    next_token: str | None = None


def parse_page(answer: Mapping[str, Any]) -> Page:
    """Read one page of GetMetricData; raises MalformedError where it is no such thing."""
    try:
        page = msgspec.convert(answer, _Answer)
        results = {result.id: _points(result) for result in page.results}
    except (msgspec.ValidationError, ValueError) as error:
        raise _malformed("GetMetricData", error) from None
    return Page(results, page.next_token or None)


def parse_listing(answer: Mapping[str, Any]) -> tuple[frozenset[Found], str | None]:
    """Read one page of ListMetrics and its next token; raises MalformedError."""
    try:
        listing = msgspec.convert(answer, _Listing)
    except msgspec.ValidationError as error:
        raise _malformed("ListMetrics", error) from None
    found = (Found(one.metric_name, frozenset((d.name, d.value) for d in one.dimensions)) for one in listing.metrics)
    return frozenset(found), listing.next_token or None


def unite(pages: Iterable[Page]) -> dict[str, Points]:
    """Return one series an id, in order of time: the later page wins, in points as in status."""
    points: dict[str, dict[Instant, float]] = {}
    statuses: dict[str, str] = {}
    for page in pages:
        for name, result in page.results.items():
            points.setdefault(name, {}).update(zip(result.timestamps, result.values, strict=True))
            statuses[name] = result.status
    united = {}
    for name, values in points.items():
        times = sorted(values)
        united[name] = Points(tuple(times), tuple(values[time] for time in times), statuses[name])
    return united


def misuse(metric: str, stat: str, dimensions: Mapping[str, str]) -> str | None:
    """Say why a series means something else than it seems to; None where it can be used, or is not known.

    Source: Developer Guide, "DynamoDB metrics and dimensions", read 2026-11-30.
    """
    facts = METRICS.get(metric)
    if facts is None:
        return None
    named = frozenset(dimensions)
    if named not in facts.dimensions:
        wanted = " or ".join(" with ".join(sorted(names, reverse=True)) or "none" for names in facts.dimensions)
        got = ", ".join(sorted(named)) or "none"
        return f"{metric} is not published for these dimensions: {got}; it has {wanted}"
    right, wrong = _RIGHT.get(facts.unit), _WRONG.get(facts.unit, frozenset())
    if stat in wrong or (right is not None and stat not in right):
        return f"{stat} of {metric} {_WHY[facts.unit]}"
    return None


def _points(result: _Result) -> Points:
    """Return the points that are numbers, in the order they came."""
    if len(result.timestamps) != len(result.values):
        raise ValueError(f"{len(result.timestamps)} timestamps beside {len(result.values)} values")
    kept = [(to_instant(t), v) for t, v in zip(result.timestamps, result.values, strict=True) if math.isfinite(v)]
    return Points(tuple(time for time, _ in kept), tuple(value for _, value in kept), result.status_code)


def _malformed(operation: str, error: Exception) -> MalformedError:
    hint = "something between here and AWS changed the answer: check endpoint_url and proxies"
    return MalformedError(f"{operation}: {error}", hint=hint)
