"""Which series a verdict needs of a table, its indexes and the account. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.batch import MetricSeries
from collectors.choosing import is_chosen
from collectors.cloudwatch_metrics.config import MetricTarget
from collectors.cloudwatch_metrics.facts import METRICS, NAMESPACE, REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from analyzer.model.instant import Instant
    from collectors.cloudwatch_metrics.parse import Found

__all__ = ["OPERATIONS", "Discovery", "Series", "series_of_account", "series_of_table", "targets_of"]

OPERATIONS = (
    "GetItem",
    "Query",
    "Scan",
    "BatchGetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "TransactWriteItems",
)
"""Operations that are asked for where nobody told which ones a table serves."""

_ALWAYS = frozenset({"Scan"})
"""Asked for whatever was discovered: the first Scan in weeks must be seen before ListMetrics knows of it."""

_COUNTED = frozenset({"Query", "Scan", "ExecuteStatement"})
"""Operations with a ReturnedItemCount."""

_STREAM_OPERATION = "GetRecords"


class Series(Struct, frozen=True, order=True):
    """One series to ask for; `is_compared` says that detectors look at its past too.

    `table` and `index` are whose it is (None: the account's); `dimensions` are name and value, in order of names.
    """

    metric: str
    stat: str
    dimensions: tuple[tuple[str, str], ...]
    period_seconds: int
    table: str | None = None
    index: str | None = None
    is_compared: bool = False

    def query(self, number: int, period_seconds: int) -> dict[str, Any]:
        """Return the MetricDataQuery whose Id is `m` and a number."""
        dimensions = [{"Name": name, "Value": value} for name, value in self.dimensions]
        metric = {"Namespace": NAMESPACE, "MetricName": self.metric, "Dimensions": dimensions}
        return {"Id": f"m{number}", "MetricStat": {"Metric": metric, "Period": period_seconds, "Stat": self.stat}}

    def told(self, period_seconds: int, pairs: Iterable[tuple[Instant, float]], *, is_complete: bool) -> MetricSeries:
        """Return what is known of the series as a value of the model."""
        known = tuple(pairs)
        return MetricSeries(
            metric=self.metric,
            dimensions=dict(self.dimensions),
            stat=self.stat,
            period_seconds=period_seconds,
            timestamps=tuple(time for time, _ in known),
            values=tuple(value for _, value in known),
            is_complete=is_complete,
        )


class Discovery(Struct, frozen=True):
    """What ListMetrics knows of a table: values by dimension, and which metrics there are beside the usual ones."""

    indexes: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    receiving: frozenset[str] = frozenset()
    delegated: frozenset[str] = frozenset()
    metrics: frozenset[str] = frozenset()

    @classmethod
    def by_table(cls, listed: Iterable[Found]) -> dict[str, Discovery]:
        """Sort what was listed by table."""
        values: dict[str, dict[str, set[str]]] = {}
        for found in listed:
            named = dict(found.dimensions)
            table = named.get("TableName")
            if table is None:
                continue
            kept = values.setdefault(table, {})
            kept.setdefault("metrics", set()).add(found.metric)
            if "GlobalSecondaryIndexName" in named:
                kept.setdefault("indexes", set()).add(named["GlobalSecondaryIndexName"])
            if "Operation" in named and "StreamLabel" not in named:
                kept.setdefault("operations", set()).add(named["Operation"])
            for dimension, place in (
                ("StreamLabel", "streams"),
                ("ReceivingRegion", "receiving"),
                ("DelegatedOperation", "delegated"),
            ):
                if dimension in named:
                    kept.setdefault(place, set()).add(named[dimension])
        return {table: cls(**{name: frozenset(some) for name, some in kept.items()}) for table, kept in values.items()}


def series_of_table(target: MetricTarget, discovery: Discovery | None) -> tuple[Series, ...]:
    """Return every series of a table and its indexes; `discovery` None is "not known", and the usual is asked for."""
    table = target.table
    return (
        *(series for index in (None, *target.indexes) for series in _place(target, index, discovery)),
        *(
            _series(metric, "Sum", table, None)
            for metric in ("ConditionalCheckFailedRequests", "TransactionConflict", "TimeToLiveDeletedItemCount")
            if discovery is None or metric in discovery.metrics
        ),
        *_operations(table, OPERATIONS if discovery is None else sorted(discovery.operations | _ALWAYS)),
        *(() if discovery is None else _elsewhere(table, discovery)),
        *_replicas(target, discovery),
    )


def targets_of(
    discovered: Mapping[str, Discovery], include: Iterable[str], exclude: Iterable[str]
) -> tuple[MetricTarget, ...]:
    """Return the tables that ListMetrics knows of and globs let through; what its metrics do not say is not known."""
    return tuple(
        MetricTarget(
            table, tuple(sorted(known.indexes)), is_provisioned="ProvisionedReadCapacityUnits" in known.metrics
        )
        for table, known in sorted(discovered.items())
        if is_chosen(table, include, exclude)
    )


def series_of_account() -> tuple[Series, ...]:
    """Return what is known of the account as a whole in one region."""
    return (
        _series("UserErrors", "Sum", None, None),
        *(
            _series(name, "Maximum", None, None)
            for name, facts in METRICS.items()
            if facts.dimensions == (frozenset(),) and name != "UserErrors"
        ),
    )


def _series(metric: str, stat: str, table: str | None, index: str | None, **beside: str) -> Series:
    named = {**({} if table is None else {"TableName": table}), **beside}
    if index is not None:
        named["GlobalSecondaryIndexName"] = index
    is_compared = METRICS[metric].period_seconds == 60 and "ThrottleEvents" not in metric  # noqa: PLR2004 - a minute
    return Series(metric, stat, tuple(sorted(named.items())), METRICS[metric].period_seconds, table, index, is_compared)


def _place(target: MetricTarget, index: str | None, discovery: Discovery | None) -> Iterator[Series]:
    """Yield what tables and indexes have alike: use, limits, throttles by reason."""
    table = target.table
    for direction in ("Read", "Write"):
        yield _series(f"Consumed{direction}CapacityUnits", "Sum", table, index)
        yield _series(f"{direction}ThrottleEvents", "Sum", table, index)
        if target.is_provisioned is not False:
            yield _series(f"Provisioned{direction}CapacityUnits", "Average", table, index)
        maximum = f"OnDemandMax{direction}RequestUnits"
        if not target.is_provisioned and (discovery is None or maximum in discovery.metrics):
            yield _series(maximum, "Average", table, index)
    for reason in REASONS:
        yield _series(reason, "Sum", table, index)
    if index in target.building:
        yield _series("OnlineIndexPercentageProgress", "Maximum", table, index)


def _operations(table: str, operations: Iterable[str]) -> Iterator[Series]:
    """Yield what is known of single operations; the sample count of the latency is that of calls that went well."""
    for operation in operations:
        for metric, stat in (
            ("SuccessfulRequestLatency", "p99"),
            ("SuccessfulRequestLatency", "SampleCount"),
            ("ThrottledRequests", "Sum"),
            ("SystemErrors", "Sum"),
        ):
            yield _series(metric, stat, table, None, Operation=operation)
        if operation in _COUNTED:
            yield _series("ReturnedItemCount", "Sum", table, None, Operation=operation)


def _elsewhere(table: str, discovery: Discovery) -> Iterator[Series]:
    """Yield what only some tables have: readers of their stream, a Kinesis stream, injected faults."""
    for label in sorted(discovery.streams):
        for metric, stat in (("ReturnedRecordsCount", "Sum"), ("SuccessfulRequestLatency", "SampleCount")):
            yield _series(metric, stat, table, None, Operation=_STREAM_OPERATION, StreamLabel=label)
    for operation in sorted(discovery.delegated):
        for metric, stat in (
            ("AgeOfOldestUnreplicatedRecord", "Maximum"),
            ("FailedToReplicateRecordCount", "Sum"),
            ("ThrottledPutRecordCount", "Maximum"),
        ):
            yield _series(metric, stat, table, None, DelegatedOperation=operation)
    if "FaultInjectionServiceInducedErrors" in discovery.metrics:
        for operation in sorted(discovery.operations):
            yield _series("FaultInjectionServiceInducedErrors", "Sum", table, None, Operation=operation)


def _replicas(target: MetricTarget, discovery: Discovery | None) -> Iterator[Series]:
    """Yield a global table's own writes, apart from replicated ones, and how far its replicas are behind."""
    receiving = sorted({*(target.replicas or ()), *(discovery.receiving if discovery else ())})
    for region in receiving:
        yield _series("ReplicationLatency", "Average", target.table, None, ReceivingRegion=region)
    if receiving:
        yield _series("ConsumedWriteCapacityUnits", "Sum", target.table, None, Source="Customer")
