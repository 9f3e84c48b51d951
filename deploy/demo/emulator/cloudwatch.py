"""CloudWatch: GetMetricData, ListMetrics and GetInsightRuleReport for what DynamoDB publishes.

What asks for no series of AWS/DynamoDB goes to moto. Limits are errors, as on AWS, never a quiet part of the answer.
Sources: API Reference of CloudWatch, "GetMetricData", and "CloudWatch quotas", read 2026-11-30.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.clock import MINUTE
from deploy.demo.emulator.minutes import SeriesName, Stat
from deploy.demo.emulator.reports import is_published
from deploy.demo.emulator.wire import Rejected, Stamp, invalid_value, seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deploy.demo.emulator.clock import Clock
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.reports import Reports
    from deploy.demo.emulator.series import Series

__all__ = ["NAMESPACE", "CloudWatch"]

Body = dict[str, Any]
Points = list[tuple[int, float]]

NAMESPACE = "AWS/DynamoDB"
_QUERIES = 500
_DATAPOINTS = 100_800
_LISTED = 500
_DAY = 86_400
_COARSER = ((15 * _DAY, 300), (63 * _DAY, 3600))
"""Older than so many seconds, points are kept at so many seconds only."""
_RETENTION_SECONDS = 455 * _DAY
_SIMPLE = frozenset({"Sum", "SampleCount", "Average", "Minimum", "Maximum"})
_PERCENTILE = re.compile(r"p(100|\d{1,2}(\.\d+)?)")
_IDENTIFIER = re.compile(r"[a-z][A-Za-z0-9_]*")
_RULE_METRIC = re.compile(r"""INSIGHT_RULE_METRIC\(\s*['"]([^'"]+)['"]\s*,\s*['"]?(\w+)['"]?\s*\)""")


class CloudWatch:
    """Serves what DynamoDB publishes."""

    def __init__(self, series: Series, reports: Reports, clock: Clock) -> None:
        self._series = series
        self._reports = reports
        self._clock = clock
        self.delay_seconds = 0.0
        """A minute is published so long after its end; without a delay it is seen as it fills."""
        self.metrics_asked = 0
        """What GetMetricData bills: one a query."""

    def is_asked(self, operation: str, body: Mapping[str, Any]) -> bool:
        """Whether a call is about DynamoDB, so that it is ours."""
        if operation == "GetMetricData":
            queries = body.get("MetricDataQueries") or ()
            named = [each["MetricStat"]["Metric"].get("Namespace") for each in queries if "MetricStat" in each]
            return NAMESPACE in named or not named
        if operation == "ListMetrics":
            return body.get("Namespace") == NAMESPACE
        return operation == "GetInsightRuleReport"

    def serve(self, operation: str, place: Place, body: Mapping[str, Any]) -> Body:
        """Serve one call; raises Rejected."""
        if operation == "GetMetricData":
            return self._results(place, body)
        if operation == "ListMetrics":
            return self._list(place, body)
        return self._reports.serve(place, body)

    def _results(self, place: Place, body: Mapping[str, Any]) -> Body:
        queries = list(body.get("MetricDataQueries") or ())
        _check(queries)
        self.metrics_asked += sum(_is_told(query) for query in queries)
        start, end = seconds_of(body.get("StartTime")), seconds_of(body.get("EndTime"))
        if start >= end:
            raise Rejected("ValidationError", "StartTime must be before EndTime")
        is_ascending = body.get("ScanBy") == "TimestampAscending"
        found: list[tuple[Mapping[str, Any], Points]] = []
        for query in queries:
            if not _is_told(query):
                continue
            points = self._points(place, query, (start, end))
            found.append((query, points if is_ascending else points[::-1]))
        return _page(found, int(body.get("NextToken") or 0), int(body.get("MaxDatapoints") or _DATAPOINTS))

    def _points(self, place: Place, query: Mapping[str, Any], window: tuple[float, float]) -> Points:
        if "Expression" in query:
            return self._rule_points(place, query, window)
        asked = query["MetricStat"]
        metric, statistic, period = asked["Metric"], str(asked["Stat"]), int(asked["Period"])
        if statistic not in _SIMPLE and not _PERCENTILE.fullmatch(statistic):
            raise invalid_value(f"The emulator serves no statistic {statistic}")
        if period < MINUTE or period % MINUTE:
            raise invalid_value(f"Period must be a multiple of {MINUTE}")
        if metric.get("Namespace") != NAMESPACE:
            return []
        dimensions = tuple(sorted((each["Name"], each["Value"]) for each in metric.get("Dimensions") or ()))
        name = SeriesName(place, str(metric["MetricName"]), dimensions)
        folded = self._fold(name, window, period)
        told = ((at, stat.tell(statistic)) for at, stat in folded.items())
        return [(at, value) for at, value in told if value is not None]

    def _fold(self, name: SeriesName, window: tuple[float, float], period: int) -> dict[int, Stat]:
        """Add up minutes to periods that begin at the start; what is too old for the period is not there."""
        now = self._clock.now()
        start, grain = _grain(window[0], now)
        oldest = now - _RETENTION_SECONDS
        for age, coarser in _COARSER:
            if period % coarser:
                oldest = max(oldest, now - age)
        found: dict[int, Stat] = {}
        for minute, stat in self._series.read(name, start, -(-int(window[1]) // MINUTE) * MINUTE):
            at = start + (minute - start) // max(period, grain) * max(period, grain)
            if minute >= oldest and is_published(minute, MINUTE, now, self.delay_seconds):
                found.setdefault(at, Stat()).merge(stat)
        return found

    def _rule_points(self, place: Place, query: Mapping[str, Any], window: tuple[float, float]) -> Points:
        read = _RULE_METRIC.fullmatch(str(query["Expression"]).strip())
        if read is None:
            raise Rejected("ValidationError", "The emulator serves no expression but INSIGHT_RULE_METRIC")
        found = self._reports.metric(place, read[1], read[2], window, int(query.get("Period") or MINUTE))
        return sorted(found.items())

    def _list(self, place: Place, body: Mapping[str, Any]) -> Body:
        wanted = body.get("Dimensions") or ()
        names = sorted(
            name
            for name in self._series.names(place)
            if body.get("MetricName") in {None, name.metric} and _has(dict(name.dimensions), wanted)
        )
        start = int(body.get("NextToken") or 0)
        told: Body = {
            "Metrics": [
                {
                    "Namespace": NAMESPACE,
                    "MetricName": name.metric,
                    "Dimensions": [{"Name": key, "Value": value} for key, value in name.dimensions],
                }
                for name in names[start : start + _LISTED]
            ]
        }
        if start + _LISTED < len(names):
            told["NextToken"] = str(start + _LISTED)
        return told


def _check(queries: Sequence[Mapping[str, Any]]) -> None:
    if not 0 < len(queries) <= _QUERIES:
        raise Rejected("ValidationError", f"MetricDataQueries must have 1 to {_QUERIES} members, not {len(queries)}")
    names = [str(query.get("Id")) for query in queries]
    if len(set(names)) != len(names) or not all(_IDENTIFIER.fullmatch(name) for name in names):
        raise Rejected("ValidationError", "Id must be unique, and begin with a lower case letter")
    if any(("MetricStat" in query) == ("Expression" in query) for query in queries):
        raise Rejected("ValidationError", "A query has either MetricStat or Expression")


def _is_told(query: Mapping[str, Any]) -> bool:
    return str(query.get("ReturnData", "true")).lower() != "false"


def _grain(start: float, now: float) -> tuple[int, int]:
    """Round a start down by its age, as CloudWatch does."""
    grain = MINUTE
    for age, coarser in _COARSER:
        if now - start > age:
            grain = coarser
    return int(start // grain) * grain, grain


def _page(found: Iterable[tuple[Mapping[str, Any], Points]], start: int, most: int) -> Body:
    """Tell so many points from a place on; a query that is cut says PartialData and goes on in the next page."""
    results, passed, is_cut = [], 0, False
    for query, points in found:
        first, last = max(0, start - passed), max(0, start + most - passed)
        told = points[first:last]
        is_open = last < len(points)
        is_cut = is_cut or is_open
        if told or (not points and first == 0 and start == 0) or (is_open and start == 0):
            results.append(
                {
                    "Id": query["Id"],
                    "Label": query.get("Label") or _label(query),
                    "Timestamps": [Stamp(at) for at, _ in told],
                    "Values": [value for _, value in told],
                    "StatusCode": "PartialData" if is_open else "Complete",
                }
            )
        passed += len(points)
    return {"MetricDataResults": results} | ({"NextToken": str(start + most)} if is_cut else {})


def _label(query: Mapping[str, Any]) -> str:
    return str(query["MetricStat"]["Metric"]["MetricName"] if "MetricStat" in query else query["Id"])


def _has(dimensions: Mapping[str, str], wanted: Iterable[Mapping[str, str]]) -> bool:
    return all(each["Name"] in dimensions and each.get("Value") in {None, dimensions[each["Name"]]} for each in wanted)
