"""What the control plane says of a table: keys, indexes, capacity, time to live, autoscaling."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.instant import Instant
from analyzer.model.target import Target

__all__ = [
    "IndexDescription",
    "Provisioning",
    "Replica",
    "ScalingActivity",
    "ScalingLimits",
    "ScheduledScaling",
    "TableDescription",
    "TableSnapshot",
    "TimeToLive",
]


class Provisioning(Struct, frozen=True, kw_only=True):
    """What a table or index may serve, in units a second; None is "not told" or "does not apply".

    `read_units` and `write_units` are provisioned ones, None on demand. `warm_…` is the warm throughput, `most_…` the
    on-demand maximum that somebody set. `decreases_today` counts since midnight UTC.
    """

    read_units: float | None = None
    write_units: float | None = None
    warm_read_units: float | None = None
    warm_write_units: float | None = None
    most_read_units: float | None = None
    most_write_units: float | None = None
    decreases_today: int | None = None
    increased_at: Instant | None = None
    decreased_at: Instant | None = None


class IndexDescription(Struct, frozen=True, kw_only=True):
    """A secondary index that exists; `kind` is gsi, lsi or vector, `projection` keys_only, all or the attributes."""

    name: str
    kind: str
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    projection: str | tuple[str, ...] | None = None
    status: str | None = None
    is_backfilling: bool | None = None
    size_bytes: int | None = None
    items: int | None = None
    provisioning: Provisioning = Provisioning()


class Replica(Struct, frozen=True):
    """A replica of a global table in another region."""

    region: str
    status: str | None = None


class TimeToLive(Struct, frozen=True):
    """The TimeToLiveDescription: `status` is ENABLED, ENABLING, DISABLED or DISABLING, None where not told."""

    status: str | None = None
    attribute: str | None = None


class TableDescription(Struct, frozen=True, kw_only=True):
    """The `Table` object of DescribeTable, parsed; None is "not told".

    `billing_mode` is PROVISIONED or PAY_PER_REQUEST; DescribeTable leaves it out of a table that was always provisioned
    (API Reference, TableDescription.BillingModeSummary). It is None where no description was seen, only its TTL.
    """

    name: str
    status: str | None = None
    created: Instant | None = None
    restored: Instant | None = None
    billing_mode: str | None = None
    table_class: str | None = None
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    attribute_types: dict[str, str] = {}
    provisioning: Provisioning = Provisioning()
    indexes: tuple[IndexDescription, ...] = ()
    replicas: tuple[Replica, ...] = ()
    stream: str | None = None
    size_bytes: int | None = None
    items: int | None = None

    def index(self, name: str | None) -> IndexDescription | None:
        """Return an index by name, None where there is none of it."""
        return next((index for index in self.indexes if index.name == name), None)

    @property
    def has_lsi(self) -> bool:
        """Whether the table has a local secondary index: its item collections cannot split."""
        return any(index.kind == "lsi" for index in self.indexes)


class TableSnapshot(Struct, frozen=True, kw_only=True):
    """A table as it was at a time; None is "as long as the evidence lasts"."""

    target: Target
    time: Instant | None = None
    table: TableDescription
    ttl: TimeToLive | None = None
    tags: dict[str, str] = {}


class ScalingActivity(Struct, frozen=True):
    """One step of autoscaling: `to_units` is what it set capacity to, where its description tells."""

    start: Instant
    end: Instant | None
    status: str
    to_units: float | None
    cause: str | None = None


class ScheduledScaling(Struct, frozen=True):
    """A scheduled change of autoscaling's bounds."""

    schedule: str
    minimum: int | None = None
    maximum: int | None = None


class ScalingLimits(Struct, frozen=True, kw_only=True):
    """One autoscaling target: its bounds, its target utilization (0 to 1) and what it did."""

    target: Target
    direction: Direction
    minimum: int
    maximum: int
    target_share: float | None = None
    scheduled: tuple[ScheduledScaling, ...] = ()
    activities: tuple[ScalingActivity, ...] = ()
