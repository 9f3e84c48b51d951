"""What is to be seen at each look of the fault matrix: worlds whose truth grows by the minute, each told by its AWS.

A world is small: two tables, two of everything that comes in pages. What it tells is a function of the time, so that an
old value that is served as a new one differs from what was true.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from analyzer.model.instant import format_instant
from tests.support.metric_world import MINUTE, NOW, MetricWorld

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.faulty_aws import FaultyAws

__all__ = ["LATE_MS", "TABLES", "World", "moment"]

LATE_MS = 10 * MINUTE
TABLES = ("orders", "carts")
_MODE = "ACCESSED_AND_THROTTLED_KEYS"


def moment(at: float) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _seconds(time: Any) -> float:
    return time if isinstance(time, int | float) else datetime.fromisoformat(str(time)).timestamp()


class World:
    """Everything at once; `now` goes by hand. What happened, happens each minute, 30 seconds after it began."""

    def __init__(self, wire: FaultyAws) -> None:
        self.wire = wire
        self.now = NOW

    def go(self, minutes: int) -> None:
        self.now += minutes * MINUTE

    def seen_until(self, service: str, operation: str) -> int:
        """What is newer is not told yet: nothing, or the last ten minutes while that operation is late."""
        return self.now - LATE_MS if self.wire.late_for == (service, operation) else self.now

    def minutes(self, api: tuple[str, str], start: float, end: float) -> list[int]:
        """The moments of a stretch in which something happened, as far as it is told."""
        first = int(start - MINUTE // 2) // MINUTE * MINUTE + MINUTE // 2
        until = min(end, self.seen_until(*api))
        return [at for at in range(first, int(until), MINUTE) if start <= at < until]

    def answers(self) -> dict[tuple[str, str], Callable[[dict[str, Any]], Any]]:
        scaling = {
            "ScalableTargets": ("DescribeScalableTargets", {"MinCapacity": 5, "MaxCapacity": 500, "RoleARN": "r"}),
            "ScalingPolicies": ("DescribeScalingPolicies", self._policy()),
            "ScheduledActions": ("DescribeScheduledActions", self._schedule()),
        }
        told: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
            ("application-autoscaling", operation): partial(_bounded, rows, fields)
            for rows, (operation, fields) in scaling.items()
        }
        return told | {
            ("monitoring", "GetMetricData"): self._metrics,
            ("monitoring", "ListMetrics"): lambda asked: self._metric_world().list_metrics(asked),
            ("monitoring", "GetInsightRuleReport"): self._report,
            ("dynamodb", "ListContributorInsights"): self._enabled,
            ("dynamodb", "DescribeContributorInsights"): self._rules,
            ("dynamodb", "ListTables"): lambda _: {"TableNames": list(TABLES)},
            ("dynamodb", "DescribeTable"): self._table,
            ("dynamodb", "DescribeTimeToLive"): self._ttl,
            ("dynamodb", "ListTagsOfResource"): lambda _: {"Tags": [{"Key": k, "Value": "1"} for k in ("a", "b")]},
            ("dynamodb", "DescribeLimits"): lambda _: {"AccountMaxReadCapacityUnits": self.now // MINUTE},
            ("application-autoscaling", "DescribeScalingActivities"): self._activities,
            ("cloudtrail", "LookupEvents"): self._events,
            ("s3", "ListObjectsV2"): self._list,
            ("s3", "GetObject"): self._object,
            ("logs", "FilterLogEvents"): self._filter,
            ("xray", "GetTraceSummaries"): self._summaries,
            ("xray", "BatchGetTraces"): self._traces,
        }

    # metrics and keys

    def _metric_world(self) -> MetricWorld:
        world = MetricWorld(self.now, LATE_MS if self.wire.late_for == ("monitoring", "GetMetricData") else MINUTE)
        for table in TABLES:
            world.table(table).put("ConsumedReadCapacityUnits", "Sum", lambda at: at / MINUTE, TableName=table)
        return world

    def _metrics(self, asked: dict[str, Any]) -> dict[str, Any]:
        return self._metric_world().get_metric_data({name: it for name, it in asked.items() if name != "NextToken"})

    def _enabled(self, _: dict[str, Any]) -> dict[str, Any]:
        rows = [{"TableName": table, "ContributorInsightsStatus": "ENABLED"} for table in TABLES]
        return {"ContributorInsightsSummaries": rows}

    def _rules(self, asked: dict[str, Any]) -> dict[str, Any]:
        rules = [f"DynamoDBContributorInsights-{code}-{asked['TableName']}-1764496800000" for code in ("PKC", "PKT")]
        told = {"ContributorInsightsStatus": "ENABLED", "ContributorInsightsMode": _MODE}
        return {**told, "ContributorInsightsRuleList": rules}

    def _report(self, asked: dict[str, Any]) -> dict[str, Any]:
        start, end = (_seconds(asked[name]) * 1000 for name in ("StartTime", "EndTime"))
        minutes = [at - MINUTE // 2 for at in self.minutes(("monitoring", "GetInsightRuleReport"), start, end)]
        points = [{"Timestamp": moment(at), "ApproximateValue": at / MINUTE} for at in minutes]
        rows = [{"Keys": [key], "ApproximateAggregateValue": 1.0, "Datapoints": points} for key in ("A", "B")]
        return {"KeyLabels": ["PK"], "AggregationStatistic": "Sum", "Contributors": rows if points else []}

    # tables

    def _table(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = asked["TableName"]
        told = {"TableName": name, "TableArn": f"arn:aws:dynamodb:us-east-1:1:table/{name}", "TableStatus": "ACTIVE"}
        keys = {"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}
        return {"Table": {**told, **keys, "ItemCount": self.now // MINUTE}}

    def _ttl(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}}

    def _policy(self) -> dict[str, Any]:
        tracking = {"TargetValue": 70.0}
        told = {"PolicyARN": "p", "PolicyName": "p", "PolicyType": "TargetTrackingScaling", "CreationTime": moment(0)}
        return {**told, "TargetTrackingScalingPolicyConfiguration": tracking}

    def _schedule(self) -> dict[str, Any]:
        told = {"ScheduledActionName": "s", "ScheduledActionARN": "s", "CreationTime": moment(0)}
        return {**told, "Schedule": "cron(0 8 * * ? *)", "ScalableTargetAction": {"MinCapacity": 50}}

    def _activities(self, _: dict[str, Any]) -> dict[str, Any]:
        api = ("application-autoscaling", "DescribeScalingActivities")
        rows = [
            {
                "ActivityId": str(at),
                "StartTime": moment(at),
                "StatusCode": "Successful",
                "Cause": "c",
                "Description": f"Setting read capacity units to {at // MINUTE}.",
            }
            for at in reversed(self.minutes(api, self.now - 20 * MINUTE, self.now))
        ]
        return {"ScalingActivities": [place | row for row in rows for place in _places({})]}

    def _events(self, asked: dict[str, Any]) -> dict[str, Any]:
        (attribute,) = asked["LookupAttributes"]
        if attribute["AttributeKey"] == "EventName":
            return {"Events": []}
        start, end = (_seconds(asked[name]) * 1000 for name in ("StartTime", "EndTime"))
        recent = max(start, self.now - 30 * MINUTE)
        return {"Events": [_event(at) for at in reversed(self.minutes(("cloudtrail", "LookupEvents"), recent, end))]}

    # request logs

    def _moments(self, api: tuple[str, str]) -> list[int]:
        return self.minutes(api, NOW - 4 * MINUTE, self.now)

    def _key(self, at: int) -> str:
        return f"ddb/{moment(at):%Y/%m/%d/%H}/ddb-1-{moment(at):%Y-%m-%d-%H-%M-%S}"

    def _list(self, asked: dict[str, Any]) -> dict[str, Any]:
        keys = {self._key(at): at for at in self._moments(("s3", "ListObjectsV2"))}
        found = [(key, at) for key, at in sorted(keys.items()) if key.startswith(asked["prefix"])]
        rows = [
            {"Key": key, "LastModified": format_instant(at), "Size": len(_record(at)), "ETag": '"e"'}
            for key, at in found
        ]
        return {"Contents": rows, "IsTruncated": False}

    def _object(self, asked: dict[str, Any]) -> bytes:
        at = next(at for at in self._moments(("s3", "")) if self._key(at) == asked["key"])
        first, last = map(int, asked["range"].removeprefix("bytes=").split("-"))
        return _record(at)[first : last + 1]

    def _filter(self, asked: dict[str, Any]) -> dict[str, Any]:
        moments = self._moments(("logs", "FilterLogEvents"))
        rows = [
            {"eventId": str(at), "logStreamName": "s", "timestamp": at, "message": _record(at).decode().rstrip()}
            for at in moments
            if asked["startTime"] <= at <= asked["endTime"]
        ]
        return {"events": rows}

    def _summaries(self, asked: dict[str, Any]) -> dict[str, Any]:
        start, end = (_seconds(asked[name]) * 1000 for name in ("StartTime", "EndTime"))
        found = [at for at in self._moments(("xray", "GetTraceSummaries")) if start <= at < end]
        return {"TraceSummaries": [{"Id": _trace_id(at)} for at in found]}

    def _traces(self, asked: dict[str, Any]) -> dict[str, Any]:
        there = {_trace_id(at): at for at in self._moments(("xray", "BatchGetTraces"))}
        found = [there[name] for name in asked["TraceIds"] if name in there]
        return {"Traces": [_trace(at) for at in found], "UnprocessedTraceIds": []}


def _places(fields: dict[str, Any]) -> list[dict[str, Any]]:
    dimension = {"ServiceNamespace": "dynamodb", "ScalableDimension": "dynamodb:table:ReadCapacityUnits"}
    return [dimension | {"ResourceId": f"table/{table}", **fields} for table in TABLES]


def _bounded(rows: str, fields: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    return {rows: _places(fields)}


def _event(at: int) -> dict[str, Any]:
    record = {
        "eventName": "UpdateTable",
        "eventTime": format_instant(at),
        "userIdentity": {"userName": "ada"},
        "requestParameters": {
            "tableName": "orders",
            "provisionedThroughput": {"readCapacityUnits": at // MINUTE, "writeCapacityUnits": 5},
        },
    }
    told = {"EventId": str(at), "EventName": "UpdateTable", "EventTime": moment(at)}
    return {**told, "CloudTrailEvent": json.dumps(record)}


def _record(at: int) -> bytes:
    told = {"v": 1, "time": format_instant(at), "op": "Scan", "table": "cases", "request_id": f"r{at}"}
    return json.dumps(told).encode() + b"\n"


def _trace_id(at: int) -> str:
    return f"1-{at // 1000:08x}-{at:024x}"


def _trace(at: int) -> dict[str, Any]:
    call = {
        "id": f"{1:016x}",
        "name": "dynamodb",
        "namespace": "aws",
        "start_time": at / 1000,
        "end_time": at / 1000 + 0.01,
        "aws": {"operation": "Scan", "table_name": "cases", "request_id": f"r{at}"},
    }
    own = {"id": "a" * 16, "name": "orders", "start_time": at / 1000, "end_time": at / 1000 + 1}
    document = json.dumps({**own, "trace_id": _trace_id(at), "subsegments": [call]})
    return {"Id": _trace_id(at), "Segments": [{"Id": "a" * 16, "Document": document}]}
