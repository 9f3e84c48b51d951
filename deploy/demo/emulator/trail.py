"""CloudTrail's LookupEvents: the management events of what was changed through the emulator, and planted ones.

Source: CloudTrail API Reference, "LookupEvents": 50 events a page, 90 days,
newest first; read 2026-11-30.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from deploy.demo.emulator.wire import Rejected, Stamp, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deploy.demo.emulator.clock import Clock
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.wire import Asked

__all__ = ["Trail"]

Body = dict[str, Any]

_CHANGES = {
    "dynamodb": frozenset(
        {"CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive", "TagResource", "UntagResource"}
        | {"UpdateContributorInsights", "UpdateContinuousBackups", "CreateBackup", "RestoreTableFromBackup"}
    ),
    "application-autoscaling": frozenset(
        {"RegisterScalableTarget", "DeregisterScalableTarget", "PutScalingPolicy", "DeleteScalingPolicy"}
        | {"PutScheduledAction", "DeleteScheduledAction"}
    ),
}
_PAGE = 50
_RETENTION_SECONDS = 90 * 86_400
_ATTRIBUTES: dict[str, Callable[[Body], tuple[str, ...]]] = {
    "EventId": lambda event: (event["EventId"],),
    "EventName": lambda event: (event["EventName"],),
    "EventSource": lambda event: (event["EventSource"],),
    "ReadOnly": lambda event: (event["ReadOnly"],),
    "Username": lambda event: (event["Username"],),
    "AccessKeyId": lambda event: (event["AccessKeyId"],),
    "ResourceType": lambda event: tuple(each["ResourceType"] for each in event["Resources"]),
    "ResourceName": lambda event: tuple(each["ResourceName"] for each in event["Resources"]),
}


class Trail:
    """Keeps and tells events."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: dict[Place, list[Body]] = {}
        self.delay_seconds = 0.0

    def note(self, asked: Asked) -> None:
        """Keep a call that succeeded, if it changed something that CloudTrail logs as management."""
        if asked.operation in _CHANGES.get(asked.service, ()):
            self.add(asked.place, asked.operation, asked.service, self._clock.now(), asked.body)

    def add(
        self, place: Place, name: str, service: str, at: float, parameters: Mapping[str, Any], user: str = "demo"
    ) -> None:
        """Keep one event of `user`, with the parameters as the API names them."""
        source = f"{service}.amazonaws.com"
        resource = str(parameters.get("TableName") or parameters.get("ResourceArn") or parameters.get("ResourceId", ""))
        table = re.sub(r"^(?:.*:)?table/", "", resource).partition("/")[0]
        detail = {
            "eventVersion": "1.11",
            "userIdentity": {
                "type": "IAMUser",
                "arn": f"arn:aws:iam::{place[0]}:user/{user}",
                "accountId": place[0],
                "userName": user,
            },
            "eventTime": datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "eventSource": source,
            "eventName": name,
            "awsRegion": place[1],
            "sourceIPAddress": "192.0.2.1",
            "userAgent": "demo",
            "requestParameters": _lowered(parameters),
            "responseElements": None,
            "requestID": uuid.uuid4().hex.upper(),
            "eventID": str(uuid.uuid4()),
            "readOnly": False,
            "eventType": "AwsApiCall",
            "managementEvent": True,
            "recipientAccountId": place[0],
            "eventCategory": "Management",
        }
        event: Body = {
            "EventId": detail["eventID"],
            "EventName": name,
            "ReadOnly": "false",
            "AccessKeyId": user,
            "EventTime": Stamp(int(at)),
            "EventSource": source,
            "Username": user,
            "Resources": _resources(table),
            "CloudTrailEvent": msgspec.json.encode(detail).decode(),
        }
        self._events.setdefault(place, []).append(event)

    def serve(self, place: Place, body: Mapping[str, Any]) -> Body:
        """Serve LookupEvents; raises Rejected."""
        now = self._clock.now()
        start = seconds_of(body.get("StartTime", now - _RETENTION_SECONDS))
        end = seconds_of(body.get("EndTime", now))
        attributes = list(body.get("LookupAttributes") or ())
        size = int(body.get("MaxResults") or _PAGE)
        if len(attributes) > 1 or any(each.get("AttributeKey") not in _ATTRIBUTES for each in attributes):
            raise Rejected("InvalidLookupAttributesException", "One attribute of those that there are may be looked up")
        if not 1 <= size <= _PAGE:
            raise Rejected("InvalidMaxResultsException", f"MaxResults must be 1 to {_PAGE}")
        if start > end:
            raise Rejected("InvalidTimeRangeException", "StartTime must not be after EndTime")
        published = now - self.delay_seconds
        found = [
            event
            for event in self._events.get(place, ())
            if max(start, now - _RETENTION_SECONDS) <= event["EventTime"] <= min(end, published)
            and all(each["AttributeValue"] in _ATTRIBUTES[each["AttributeKey"]](event) for each in attributes)
        ]
        found.sort(key=lambda event: -event["EventTime"])
        first = int(body.get("NextToken") or 0)
        told: Body = {"Events": found[first : first + size]}
        return told | ({"NextToken": str(first + size)} if first + size < len(found) else {})


def _resources(table: str) -> list[Body]:
    return [{"ResourceType": "AWS::DynamoDB::Table", "ResourceName": table}] if table else []


def _lowered(node: object) -> object:
    """Write names as CloudTrail does, the first letter in lower case."""
    if isinstance(node, dict):
        return {name[:1].lower() + name[1:]: _lowered(value) for name, value in node.items()}
    return [_lowered(each) for each in node] if isinstance(node, list | tuple) else node
