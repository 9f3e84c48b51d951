"""CloudTrail's management events of DynamoDB and application-autoscaling become changes. Pure.

Shapes: botocore's model cloudtrail/2013-11-01; CloudTrail User Guide, "Record contents" and "userIdentity element",
read 2026-11-30. Names in `requestParameters` are the API's own with a small first letter, in some of AWS's samples with
the capital: both are read.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.knowledge.names import table_name
from analyzer.model.finding import Change
from analyzer.model.instant import Instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["AUTOSCALING", "EVENT_NAMES", "Event", "changes_of", "newest_first", "read_event"]

EVENT_NAMES = (
    "RegisterScalableTarget",
    "DeregisterScalableTarget",
    "PutScalingPolicy",
    "DeleteScalingPolicy",
    "PutScheduledAction",
    "DeleteScheduledAction",
)
"""Events of autoscaling are looked up by name: EC2's autoscaling shares its event source, and has very many."""

AUTOSCALING = "application-autoscaling"
_SOURCE = "cloudtrail"
_LONGEST = 200
_UNITS = {
    "readCapacityUnits": "read units",
    "writeCapacityUnits": "write units",
    "maxReadRequestUnits": "maximum of read units",
    "maxWriteRequestUnits": "maximum of write units",
    "readUnitsPerSecond": "warm read units",
    "writeUnitsPerSecond": "warm write units",
}
_THROUGHPUTS = ("provisionedThroughput", "onDemandThroughput", "warmThroughput")

Told = tuple[str, str | None, str]
"""What was changed, of which index, and how."""
Parameters = dict[str, Any]


class _Row(Struct, rename="pascal"):
    """One of LookupEvents; the whole event is text in it."""

    event_id: str
    event_name: str
    cloud_trail_event: str
    event_time: datetime | float | None = None


class _Record(Struct, rename="camel"):
    event_name: str
    event_time: str
    event_id: str = msgspec.field(name="eventID", default="")
    read_only: bool = False
    error_code: str | None = None
    user_identity: dict[str, Any] | None = None
    request_parameters: dict[str, Any] | None = None


class Event(Struct, frozen=True):
    """One event: its id, by which doubles are told, and the changes in it."""

    id: str
    time: Instant
    changes: tuple[Change, ...]


def read_event(row: dict[str, Any]) -> Event:
    """Read a row of LookupEvents; raises ValueError where it is none.

    Reading calls, calls that failed, and what says nothing of traffic (tags, backups) have no changes.
    """
    told = msgspec.convert(row, _Row)
    record = msgspec.json.decode(told.cloud_trail_event, type=_Record)
    time = parse_instant(record.event_time)
    if record.read_only or record.error_code is not None:
        return Event(told.event_id, time, ())
    parameters = _lowered(record.request_parameters or {})
    who = _who(_lowered(record.user_identity or {}))
    return Event(told.event_id, time, tuple(changes_of(record.event_name, parameters, who, time)))


def changes_of(name: str, parameters: Parameters, who: str | None, time: Instant) -> Iterator[Change]:
    """Yield what one call changed; capacity that autoscaling set is its doing, `scaling`."""
    if name in EVENT_NAMES:
        yield from _autoscaling(name, parameters, who, time)
        return
    of = _CALLS.get(name)
    table = parameters.get("targetTableName") or parameters.get("tableName") or _imported(parameters)
    if of is None or not isinstance(table, str):
        return
    for what, index, detail in of(parameters):
        is_scaled = who == AUTOSCALING and what == "capacity"
        yield Change(
            time=time,
            what="scaling" if is_scaled else what,
            table=table_name(table),
            index=index,
            who=who,
            detail=f"{name}: {detail}"[:_LONGEST] if detail else name,
            source=_SOURCE,
        )


def _imported(parameters: Parameters) -> object:
    made = parameters.get("tableCreationParameters")
    return made.get("tableName") if isinstance(made, dict) else parameters.get("globalTableName")


def _autoscaling(name: str, parameters: Parameters, who: str | None, time: Instant) -> Iterator[Change]:
    parts = str(parameters.get("resourceId", "")).split("/")
    if parts[0] != "table" or len(parts) not in {2, 4}:
        return
    direction = "read" if "Read" in str(parameters.get("scalableDimension")) else "write"
    bounds = [f"{word} {parameters[field]}" for field, word in _BOUNDS if parameters.get(field) is not None]
    tracking = parameters.get("targetTrackingScalingPolicyConfiguration")
    if isinstance(tracking, dict) and "targetValue" in tracking:
        bounds.append(f"target {tracking['targetValue']}%")
    detail = f"{name}: {', '.join([f'{direction} capacity', *bounds])}"
    index = parts[3] if len(parts) == 4 else None  # noqa: PLR2004 -- table/NAME/index/INDEX
    yield Change(
        time=time, what="scaling", table=parts[1], index=index, who=who, detail=detail[:_LONGEST], source=_SOURCE
    )


_BOUNDS = (("minCapacity", "minimum"), ("maxCapacity", "maximum"), ("schedule", "schedule"))


def _update_table(parameters: Parameters) -> Iterator[Told]:
    if "billingMode" in parameters:
        yield "billing-mode", None, str(parameters["billingMode"])
    units = _units(parameters)
    if units:
        yield "capacity", None, units
    for update in _dicts(parameters.get("globalSecondaryIndexUpdates")):
        yield from _index_update(update)
    stream = parameters.get("streamSpecification")
    if isinstance(stream, dict):
        is_on = stream.get("streamEnabled")
        yield "stream", None, f"stream {stream.get('streamViewType', 'on')}" if is_on else "stream off"
    for update in _dicts(parameters.get("replicaUpdates")):
        for action, replica in update.items():
            if isinstance(replica, dict):
                yield "replica", None, f"{action} {replica.get('regionName', 'a replica')}"


def _index_update(update: Parameters) -> Iterator[Told]:
    for action, what in (("create", "index-created"), ("update", "capacity"), ("delete", "index-deleted")):
        index = update.get(action)
        if isinstance(index, dict) and isinstance(index.get("indexName"), str):
            yield what, index["indexName"], f"{action} {index['indexName']} {_units(index)}".strip()


def _units(parameters: Parameters) -> str:
    throughputs = [one for name in _THROUGHPUTS if isinstance(one := parameters.get(name), dict)]
    told = [f"{word} {one[name]}" for one in throughputs for name, word in _UNITS.items() if name in one]
    return ", ".join(told)


def _dicts(value: object) -> list[Parameters]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _time_to_live(parameters: Parameters) -> Iterator[Told]:
    told = parameters.get("timeToLiveSpecification")
    told = told if isinstance(told, dict) else {}
    on = "on" if told.get("enabled") else "off"
    yield "ttl", None, f"{on} {told.get('attributeName', '')}".strip()


def _insights(parameters: Parameters) -> Iterator[Told]:
    words = (parameters.get("contributorInsightsAction"), parameters.get("contributorInsightsMode"))
    yield "insights", parameters.get("indexName"), " ".join(str(word) for word in words if word)


def _always(what: str) -> Callable[[Parameters], Iterator[Told]]:
    def told(_: Parameters) -> Iterator[Told]:
        yield what, None, ""

    return told


_CALLS: dict[str, Callable[[Parameters], Iterator[Told]]] = {
    "CreateTable": _always("table-created"),
    "DeleteTable": _always("table-deleted"),
    "UpdateTable": _update_table,
    "UpdateTimeToLive": _time_to_live,
    "UpdateContributorInsights": _insights,
    "UpdateTableReplicaAutoScaling": _always("scaling"),
    "UpdateGlobalTable": _always("replica"),
    "UpdateGlobalTableSettings": _always("capacity"),
    "EnableKinesisStreamingDestination": _always("stream"),
    "DisableKinesisStreamingDestination": _always("stream"),
    "RestoreTableFromBackup": _always("restore"),
    "RestoreTableToPointInTime": _always("restore"),
    "ImportTable": _always("restore"),
}


def _who(identity: Parameters) -> str | None:
    """Return a principal as people call it: user, `role/session`, service, account; never an access key."""
    if "autoscaling" in str(identity.get("invokedBy", "")) or "ApplicationAutoScaling" in str(identity.get("arn", "")):
        return AUTOSCALING
    kind, arn = identity.get("type"), str(identity.get("arn", ""))
    if kind == "AssumedRole" and "assumed-role/" in arn:
        return arn.partition("assumed-role/")[2]
    if kind == "Root":
        return "root"
    found = next((identity[name] for name in ("userName", "invokedBy") if identity.get(name)), None)
    found = found or arn.rpartition("/")[2] or identity.get("accountId") or kind
    return None if found is None else str(found)


def _lowered(node: Any) -> Any:  # noqa: ANN401 -- JSON as it came
    if isinstance(node, dict):
        return {name[:1].lower() + name[1:]: _lowered(value) for name, value in node.items()}
    return [_lowered(one) for one in node] if isinstance(node, list) else node


def newest_first(events: dict[str, Event], most: int, since: Instant) -> dict[str, Event]:
    """Return the newest events since a time, `most` at most, by id."""
    kept = sorted((event for event in events.values() if event.time >= since), key=lambda event: -event.time)
    return {event.id: event for event in kept[:most]}
