"""A CloudWatch of DynamoDB in memory: what each series is worth at each minute, published with a delay.

As AWS does it: a period has no point where nothing was sampled, points come oldest or newest first as asked, a page
holds so many points, and a series that another page goes on with is PartialData.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["MINUTE", "NOW", "MetricWorld", "name_of"]

MINUTE = 60_000
NOW = 1_796_032_800_000
"""2026-11-30T10:00:00Z."""

Name = tuple[str, str, frozenset[tuple[str, str]]]


def name_of(metric: str, stat: str, **dimensions: str) -> Name:
    return metric, stat, frozenset(dimensions.items())


class MetricWorld:
    """`series` maps a name to its value at the start of a period, None for no point; `now` moves by hand."""

    def __init__(self, now: int = NOW, delay_ms: int = MINUTE, page_points: int = 100_800) -> None:
        self.now = now
        self.delay_ms = delay_ms
        self.page_points = page_points
        self.series: dict[Name, Callable[[int], float | None]] = {}
        self.statuses: dict[str, str] = {}

    def put(
        self, metric: str, stat: str, value: Callable[[int], float | None] | float, **dimensions: str
    ) -> MetricWorld:
        told = value if callable(value) else lambda _: value
        self.series[name_of(metric, stat, **dimensions)] = told
        return self

    def table(self, table: str, indexes: Iterable[str] = (), operations: Iterable[str] = ("GetItem",)) -> MetricWorld:
        """Put a table that is used all the time and never throttled: its throttle series have no points."""
        for index in (None, *indexes):
            place = {"TableName": table} | ({} if index is None else {"GlobalSecondaryIndexName": index})
            for direction in ("Read", "Write"):
                self.put(f"Consumed{direction}CapacityUnits", "Sum", 600.0, **place)
                self.put(f"Provisioned{direction}CapacityUnits", "Average", 20.0, **place)
        for operation in operations:
            self.put("SuccessfulRequestLatency", "p99", 4.5, TableName=table, Operation=operation)
            self.put("SuccessfulRequestLatency", "SampleCount", 300.0, TableName=table, Operation=operation)
        return self

    def get_metric_data(self, params: Mapping[str, Any]) -> dict[str, Any]:
        start, end = _instant(params["StartTime"]), _instant(params["EndTime"])
        offset = int(params.get("NextToken", "0"))
        results, seen = [], 0
        is_more = False
        for query in params["MetricDataQueries"]:
            pairs = list(self._pairs(query["MetricStat"], start, end))
            first, last = max(offset - seen, 0), max(offset + self.page_points - seen, 0)
            page = pairs[first:last]
            is_cut = last < len(pairs)
            is_more |= is_cut
            seen += len(pairs)
            results.append(
                {
                    "Id": query["Id"],
                    "Label": query["MetricStat"]["Metric"]["MetricName"],
                    "Timestamps": [datetime.fromtimestamp(time / 1000, UTC) for time, _ in page],
                    "Values": [value for _, value in page],
                    "StatusCode": "PartialData"
                    if is_cut
                    else self.statuses.get(query["MetricStat"]["Metric"]["MetricName"], "Complete"),
                }
            )
        following = {"NextToken": str(offset + self.page_points)} if is_more else {}
        return {"MetricDataResults": results, **following}

    def list_metrics(self, _: Mapping[str, Any]) -> dict[str, Any]:
        named = {(metric, dimensions) for metric, _, dimensions in self.series}
        return {
            "Metrics": [
                {
                    "Namespace": "AWS/DynamoDB",
                    "MetricName": metric,
                    "Dimensions": [{"Name": name, "Value": value} for name, value in sorted(dimensions)],
                }
                for metric, dimensions in sorted(named, key=str)
            ]
        }

    def _pairs(self, stat: Mapping[str, Any], start: int, end: int) -> Iterable[tuple[int, float]]:
        metric = stat["Metric"]
        dimensions = {one["Name"]: one["Value"] for one in metric.get("Dimensions", ())}
        value_at = self.series.get(name_of(metric["MetricName"], stat["Stat"], **dimensions))
        period = int(stat["Period"]) * 1000
        for time in range(-(-start // period) * period, end, period):
            value = None if value_at is None else value_at(time)
            if value is not None and time + period <= self.now - self.delay_ms:
                yield time, value


def _instant(time: float | str) -> int:
    """Read a time as it is given (seconds since the epoch), or as it goes over the wire."""
    seconds = datetime.fromisoformat(time).timestamp() if isinstance(time, str) else time
    return round(seconds * 1000)
