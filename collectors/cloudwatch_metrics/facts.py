"""The metrics of AWS/DynamoDB: what they are published for, how often, and which statistics mean something.

Source: Developer Guide, "DynamoDB metrics and dimensions", read 2026-11-30.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["METRICS", "NAMESPACE", "REASONS", "MetricFacts", "Unit"]

NAMESPACE = "AWS/DynamoDB"

_TABLE = frozenset({"TableName"})
_INDEX = _TABLE | {"GlobalSecondaryIndexName"}
_OPERATION = _TABLE | {"Operation"}
_ACCOUNT: frozenset[str] = frozenset()


class Unit(StrEnum):
    """What the points of a metric are, which decides how they may be put together."""

    UNITS = "units"  # capacity units of each request: only their Sum is a use, and Sum ÷ period a rate
    EVENTS = "events"  # one sample an event, of value 1: the average is always 1
    LEVEL = "level"  # what holds at a moment, such as provisioned capacity: adding samples up means nothing
    DURATION = "duration"  # a time of each request, or of each record replicated
    AMOUNT = "amount"  # items or bytes of each request: sums and averages both mean something


class MetricFacts(Struct, frozen=True):
    """One metric: its unit, the sets of dimensions that it is published for, and seconds between its points."""

    unit: Unit
    dimensions: tuple[frozenset[str], ...]
    period_seconds: int = 60


REASONS = tuple(
    f"{direction}{limit}ThrottleEvents"
    for direction in ("Read", "Write")
    for limit in ("KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit")
)
"""Throttle events by direction and the limit that did it."""

_PLACES = (_TABLE, _INDEX)
_CDC = (_TABLE | {"DelegatedOperation"},)
_STREAM = _OPERATION | {"StreamLabel"}
_PARTIQL = (_OPERATION | {"OperationType"}, _OPERATION | {"Verb"})
_SLOW = 300

METRICS: dict[str, MetricFacts] = {
    "ConsumedReadCapacityUnits": MetricFacts(Unit.UNITS, _PLACES),
    "ConsumedWriteCapacityUnits": MetricFacts(Unit.UNITS, (*_PLACES, _TABLE | {"Source"}, _INDEX | {"Source"})),
    "ProvisionedReadCapacityUnits": MetricFacts(Unit.LEVEL, _PLACES, _SLOW),
    "ProvisionedWriteCapacityUnits": MetricFacts(Unit.LEVEL, _PLACES, _SLOW),
    "OnDemandMaxReadRequestUnits": MetricFacts(Unit.LEVEL, _PLACES, _SLOW),
    "OnDemandMaxWriteRequestUnits": MetricFacts(Unit.LEVEL, _PLACES, _SLOW),
    "ReadThrottleEvents": MetricFacts(Unit.EVENTS, _PLACES),
    "WriteThrottleEvents": MetricFacts(Unit.EVENTS, _PLACES),
    **{name: MetricFacts(Unit.EVENTS, _PLACES) for name in REASONS},
    "ThrottledRequests": MetricFacts(Unit.EVENTS, (_OPERATION, *_PARTIQL)),
    "SystemErrors": MetricFacts(Unit.EVENTS, (_OPERATION, _STREAM, *_PARTIQL)),
    "FaultInjectionServiceInducedErrors": MetricFacts(Unit.EVENTS, (_OPERATION,)),
    "UserErrors": MetricFacts(Unit.EVENTS, (_ACCOUNT,)),
    "ConditionalCheckFailedRequests": MetricFacts(Unit.EVENTS, (_TABLE,)),
    "TransactionConflict": MetricFacts(Unit.AMOUNT, (_TABLE,)),
    "TimeToLiveDeletedItemCount": MetricFacts(Unit.EVENTS, (_TABLE,)),
    "SuccessfulRequestLatency": MetricFacts(Unit.DURATION, (_OPERATION, _STREAM, *_PARTIQL)),
    "ReturnedItemCount": MetricFacts(Unit.AMOUNT, (_OPERATION, *_PARTIQL)),
    "ReturnedBytes": MetricFacts(Unit.AMOUNT, (_STREAM,)),
    "ReturnedRecordsCount": MetricFacts(Unit.AMOUNT, (_STREAM,)),
    "ReplicationLatency": MetricFacts(Unit.DURATION, (_TABLE | {"ReceivingRegion"},), _SLOW),
    "AgeOfOldestUnreplicatedRecord": MetricFacts(Unit.DURATION, _CDC, _SLOW),
    "FailedToReplicateRecordCount": MetricFacts(Unit.EVENTS, _CDC, _SLOW),
    "ThrottledPutRecordCount": MetricFacts(Unit.AMOUNT, _CDC, _SLOW),
    "OnlineIndexPercentageProgress": MetricFacts(Unit.LEVEL, (_INDEX,), _SLOW),
    "OnlineIndexThrottleEvents": MetricFacts(Unit.EVENTS, (_INDEX,), _SLOW),
    "AccountMaxReads": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "AccountMaxWrites": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "AccountMaxTableLevelReads": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "AccountMaxTableLevelWrites": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "AccountProvisionedReadCapacityUtilization": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "AccountProvisionedWriteCapacityUtilization": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "MaxProvisionedTableReadCapacityUtilization": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
    "MaxProvisionedTableWriteCapacityUtilization": MetricFacts(Unit.LEVEL, (_ACCOUNT,), _SLOW),
}
"""Every metric that a verdict can rest on. A name that is not here is passed on as it came."""
