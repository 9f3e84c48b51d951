"""The request record, version 1: one DynamoDB call as its client saw it. An absent field means "not known"."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = [
    "Capacity",
    "Consumed",
    "Part",
    "RequestError",
    "RequestRecord",
    "Returned",
    "Stratum",
    "ThrottleReason",
    "Try",
    "TtlSeen",
]

AttributeValue = dict[str, Any]
"""An AttributeValue as it goes over the wire: `{"S": "USER#1"}`."""


class Capacity(Struct, omit_defaults=True):
    """Capacity units of one table or index, where read and write are told apart."""

    read: float | None = None
    write: float | None = None


class Consumed(Struct, omit_defaults=True):
    """Capacity units of a call; `indexes` holds LSIs too."""

    total: float | None = None
    read: float | None = None
    write: float | None = None
    table: float | Capacity | None = None
    indexes: dict[str, float | Capacity] | None = None
    by_table: dict[str, Consumed] | None = None


class ThrottleReason(Struct, omit_defaults=True):
    """One of DynamoDB's sixteen throttle reasons, and the ARN of the resource whose limit it was."""

    reason: str
    resource: str | None = None


class RequestError(Struct, omit_defaults=True):
    """How a call failed in the end; the message holds no values."""

    code: str
    message: str | None = None
    reasons: list[ThrottleReason] | None = None
    cancellation: list[str | None] | None = None


class Try(Struct, omit_defaults=True):
    """One failed try; `at_ms` counts from the record's time, `resource` is the ARN of whose limit it was."""

    at_ms: float | None = None
    code: str | None = None
    reason: str | None = None
    resource: str | None = None


class Part(Struct, omit_defaults=True):
    """One member of a batch or transaction, in its order."""

    op: str
    table: str | None = None
    key: dict[str, AttributeValue] | None = None
    index_keys: dict[str, dict[str, AttributeValue]] | None = None
    condition: str | None = None
    update: str | None = None
    item_bytes: int | None = None
    statement: str | None = None


class Returned(Struct, omit_defaults=True):
    """One item that an index read returned."""

    key: str
    version: str | None = None


class TtlSeen(Struct, omit_defaults=True):
    """What was seen of the time-to-live attribute."""

    attribute: str | None = None
    value: AttributeValue | None = None
    expired_returned: int | None = None


class Stratum(Struct, omit_defaults=True):
    """A sample that would have kept the record: by request, trace or key."""

    by: str
    rate: float


class RequestRecord(Struct, omit_defaults=True):
    """One DynamoDB call; every field is described in docs/reference/formats.md."""

    time: str
    op: str
    v: int
    table: str | None = None
    index: str | None = None
    region: str | None = None
    account: str | None = None
    key: dict[str, AttributeValue] | None = None
    index_keys: dict[str, dict[str, AttributeValue]] | None = None
    keys: str | None = None
    salt_id: str | None = None
    key_condition: str | None = None
    filter: str | None = None
    projection: str | None = None
    update: str | None = None
    condition: str | None = None
    names: dict[str, str] | None = None
    values: dict[str, AttributeValue] | None = None
    statement: str | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit: int | None = None
    select: str | None = None
    segment: int | None = None
    total_segments: int | None = None
    count: int | None = None
    scanned: int | None = None
    consumed: Consumed | None = None
    more: bool | None = None
    resumed: bool | None = None
    item_bytes: int | None = None
    returned_bytes: int | None = None
    latency_ms: float | None = None
    attempts: int | None = None
    tries: list[Try] | None = None
    error: RequestError | None = None
    parts: list[Part] | None = None
    unprocessed: int | None = None
    handed_back: list[int] | None = None
    returned: list[Returned] | None = None
    token_sent: bool | None = None
    caller: str | None = None
    caller_version: str | None = None
    principal: str | None = None
    user_agent: str | None = None
    pattern: str | None = None
    via: str | None = None
    trace_id: str | None = None
    request_id: str | None = None
    ttl_seen: TtlSeen | None = None
    sample_rate: float = 1.0
    strata: list[Stratum] | None = None
