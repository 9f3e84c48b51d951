"""DescribeTable and its neighbours, as their answers stand on the wire, become values of the model. Pure.

Shapes: botocore's models dynamodb/2012-08-10 and application-autoscaling/2016-02-06. A time is a datetime (an SDK's
answer), RFC 3339 text (a file) or seconds since the epoch (the wire).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.instant import Moment, to_instant
from analyzer.model.table import (
    IndexDescription,
    Provisioning,
    Replica,
    ScalingActivity,
    ScheduledScaling,
    TableDescription,
    TimeToLive,
)

if TYPE_CHECKING:
    from analyzer.model.instant import Instant

__all__ = ["direction_of", "parse_activity", "parse_schedule", "parse_table", "parse_time_to_live"]

T = TypeVar("T", bound=Struct)

_UNITS_SET = re.compile(r"(?:read|write) capacity units to (\d+(?:\.\d+)?)", re.IGNORECASE)
"""The only place where an activity says what it set: its description."""


class _Key(Struct, rename="pascal"):
    attribute_name: str
    key_type: str


class _Attribute(Struct, rename="pascal"):
    attribute_name: str
    attribute_type: str


class _Throughput(Struct, rename="pascal"):
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None
    number_of_decreases_today: int | None = None
    last_increase_date_time: Moment | None = None
    last_decrease_date_time: Moment | None = None


class _Warm(Struct, rename="pascal"):
    read_units_per_second: float | None = None
    write_units_per_second: float | None = None


class _OnDemand(Struct, rename="pascal"):
    max_read_request_units: float | None = None
    max_write_request_units: float | None = None


class _Projection(Struct, rename="pascal"):
    projection_type: str | None = None
    non_key_attributes: list[str] | None = None


class _Served(Struct, rename="pascal", kw_only=True):
    """What tables and indexes have alike."""

    key_schema: list[_Key] | None = None
    provisioned_throughput: _Throughput | None = None
    warm_throughput: _Warm | None = None
    on_demand_throughput: _OnDemand | None = None
    item_count: int | None = None


class _Index(_Served, rename="pascal", kw_only=True):
    index_name: str
    projection: _Projection | None = None
    index_status: str | None = None
    backfilling: bool | None = None
    index_size_bytes: int | None = None


class _Replica(Struct, rename="pascal"):
    region_name: str
    replica_status: str | None = None


class _BillingMode(Struct, rename="pascal"):
    billing_mode: str | None = None


class _TableClass(Struct, rename="pascal"):
    table_class: str | None = None


class _Stream(Struct, rename="pascal"):
    stream_enabled: bool = False
    stream_view_type: str | None = None


class _Restore(Struct, rename="pascal"):
    restore_date_time: Moment | None = None


class _Table(_Served, rename="pascal", kw_only=True):
    table_name: str
    table_status: str | None = None
    creation_date_time: Moment | None = None
    attribute_definitions: list[_Attribute] | None = None
    billing_mode_summary: _BillingMode | None = None
    table_class_summary: _TableClass | None = None
    global_secondary_indexes: list[_Index] | None = None
    local_secondary_indexes: list[_Index] | None = None
    vector_indexes: list[_Index] | None = None
    replicas: list[_Replica] | None = None
    stream_specification: _Stream | None = None
    restore_summary: _Restore | None = None
    table_size_bytes: int | None = None


class _TimeToLive(Struct, rename="pascal"):
    time_to_live_status: str | None = None
    attribute_name: str | None = None


class _Activity(Struct, rename="pascal"):
    start_time: Moment
    status_code: str
    end_time: Moment | None = None
    description: str = ""
    cause: str | None = None


class _Bounds(Struct, rename="pascal"):
    min_capacity: int | None = None
    max_capacity: int | None = None


class _Scheduled(Struct, rename="pascal"):
    schedule: str
    scalable_target_action: _Bounds | None = None


def parse_table(answer: dict[str, Any]) -> TableDescription:
    """Read the `Table` object of DescribeTable; raises ValueError where it is none."""
    table = _convert(answer, _Table)
    mode = table.billing_mode_summary.billing_mode if table.billing_mode_summary is not None else None
    billing_mode = mode or ("PROVISIONED" if table.key_schema is not None else None)
    is_provisioned = billing_mode == "PROVISIONED"
    kinds = (
        ("gsi", table.global_secondary_indexes),
        ("lsi", table.local_secondary_indexes),
        ("vector", table.vector_indexes),
    )
    return TableDescription(
        name=table.table_name,
        status=table.table_status,
        created=_instant(table.creation_date_time),
        restored=_instant(table.restore_summary.restore_date_time) if table.restore_summary is not None else None,
        billing_mode=billing_mode,
        table_class=table.table_class_summary.table_class if table.table_class_summary is not None else None,
        partition_key=_keys(table, "HASH"),
        sort_key=_keys(table, "RANGE"),
        attribute_types={one.attribute_name: one.attribute_type for one in table.attribute_definitions or ()},
        provisioning=_provisioning(table, is_provisioned=is_provisioned),
        indexes=tuple(
            _index(index, kind, is_provisioned=is_provisioned) for kind, indexes in kinds for index in indexes or ()
        ),
        replicas=tuple(Replica(one.region_name, one.replica_status) for one in table.replicas or ()),
        stream=_stream(table.stream_specification),
        size_bytes=table.table_size_bytes,
        items=table.item_count,
    )


def _index(index: _Index, kind: str, *, is_provisioned: bool) -> IndexDescription:
    return IndexDescription(
        name=index.index_name,
        kind=kind,
        partition_key=_keys(index, "HASH"),
        sort_key=_keys(index, "RANGE"),
        projection=_projection(index.projection),
        status=index.index_status,
        is_backfilling=index.backfilling,
        size_bytes=index.index_size_bytes,
        items=index.item_count,
        provisioning=_provisioning(index, is_provisioned=is_provisioned and kind == "gsi"),
    )


def _keys(served: _Served, kind: str) -> tuple[str, ...]:
    return tuple(key.attribute_name for key in served.key_schema or () if key.key_type == kind)


def _provisioning(served: _Served, *, is_provisioned: bool) -> Provisioning:
    """Read capacity; what DescribeTable tells of an on-demand table's provisioned units are zeros that mean nothing."""
    told = served.provisioned_throughput or _Throughput()
    warm = served.warm_throughput or _Warm()
    most = served.on_demand_throughput or _OnDemand()
    return Provisioning(
        read_units=told.read_capacity_units if is_provisioned else None,
        write_units=told.write_capacity_units if is_provisioned else None,
        warm_read_units=warm.read_units_per_second,
        warm_write_units=warm.write_units_per_second,
        most_read_units=_limit(most.max_read_request_units),
        most_write_units=_limit(most.max_write_request_units),
        decreases_today=told.number_of_decreases_today,
        increased_at=_instant(told.last_increase_date_time),
        decreased_at=_instant(told.last_decrease_date_time),
    )


def _limit(units: float | None) -> float | None:
    """Return a maximum; -1 says that there is none (API Reference, OnDemandThroughput)."""
    return None if units is None or units < 0 else units


def _projection(projection: _Projection | None) -> str | tuple[str, ...] | None:
    if projection is None or projection.projection_type is None:
        return None
    if projection.projection_type == "INCLUDE":
        return tuple(sorted(projection.non_key_attributes or ()))
    return projection.projection_type.lower()


def _stream(stream: _Stream | None) -> str | None:
    return stream.stream_view_type if stream is not None and stream.stream_enabled else None


def parse_time_to_live(answer: dict[str, Any]) -> TimeToLive:
    """Read the TimeToLiveDescription of DescribeTimeToLive; raises ValueError where it is none."""
    told = _convert(answer, _TimeToLive)
    return TimeToLive(told.time_to_live_status, told.attribute_name)


def parse_activity(answer: dict[str, Any]) -> ScalingActivity:
    """Read one of DescribeScalingActivities; raises ValueError where it is none."""
    told = _convert(answer, _Activity)
    units = _UNITS_SET.search(told.description)
    return ScalingActivity(
        start=to_instant(told.start_time),
        end=_instant(told.end_time),
        status=told.status_code,
        to_units=None if units is None else float(units.group(1)),
        cause=told.cause,
    )


def parse_schedule(answer: dict[str, Any]) -> ScheduledScaling:
    """Read one of DescribeScheduledActions; raises ValueError where it is none."""
    told = _convert(answer, _Scheduled)
    bounds = told.scalable_target_action or _Bounds()
    return ScheduledScaling(told.schedule, bounds.min_capacity, bounds.max_capacity)


def direction_of(dimension: str) -> Direction:
    """Read a scalable dimension such as `dynamodb:table:ReadCapacityUnits`, or `read`; raises ValueError."""
    for direction in Direction:
        if direction.value in dimension.lower():
            return direction
    raise ValueError("a scalable dimension names read or write capacity")


def _convert(answer: dict[str, Any], kind: type[T]) -> T:
    return msgspec.convert(answer, kind, strict=True)


def _instant(moment: Moment | None) -> Instant | None:
    return None if moment is None else to_instant(moment)
