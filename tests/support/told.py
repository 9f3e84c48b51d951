"""What CloudWatch and the control plane would tell, built by hand: series, insights, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.batch import InsightSeries, MetricSeries
from analyzer.model.finding import Direction
from analyzer.model.table import IndexDescription, Provisioning, ScalingLimits, TableDescription
from tests.support.evidence import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.target import Target

MINUTE_MS = 60_000


def series(
    metric: str,
    values: Sequence[float] = (),
    *,
    target: Target = CASES,
    stat: str = "Sum",
    start: int = 0,
    period_seconds: int = 60,
    is_complete: bool = True,
    **dimensions: str,
) -> MetricSeries:
    """A series of a target whose points follow one another from `start`."""
    place = {"TableName": target.table}
    if target.index is not None:
        place["GlobalSecondaryIndexName"] = target.index
    return MetricSeries(
        metric=metric,
        dimensions=place | dimensions,
        stat=stat,
        period_seconds=period_seconds,
        timestamps=tuple(start + number * period_seconds * 1000 for number in range(len(values))),
        values=tuple(values),
        is_complete=is_complete,
    )


def insight(
    rule: str, values: Sequence[float], *keys: str, target: Target = CASES, start: int = 0, mode: str = ""
) -> InsightSeries:
    """One contributor of a rule, with a value a minute."""
    return InsightSeries(
        target=target,
        rule=rule,
        mode=mode or "ACCESSED_AND_THROTTLED_KEYS",
        period_seconds=60,
        keys=keys,
        timestamps=tuple(start + number * MINUTE_MS for number in range(len(values))),
        values=tuple(values),
    )


def table(*indexes: str, billing_mode: str = "PROVISIONED", **fields: Any) -> TableDescription:
    """A table with a partition and a sort key; `read_units` and the like are its provisioning."""
    told = {name: fields.pop(name) for name in list(fields) if name in Provisioning.__struct_fields__}
    fields = {"partition_key": ("PK",), "sort_key": ("SK",)} | fields
    return TableDescription(
        name=CASES.table,
        billing_mode=billing_mode,
        provisioning=Provisioning(**told),
        indexes=tuple(IndexDescription(name=name, kind="gsi", partition_key=(f"{name}PK",)) for name in indexes),
        **fields,
    )


def scaling(maximum: int, direction: Direction = Direction.READ, **fields: Any) -> ScalingLimits:
    """Autoscaling of the table, from 1 unit up."""
    settled: dict[str, Any] = {"target": CASES, "minimum": 1, "target_share": 0.7}
    fields = settled | fields
    return ScalingLimits(direction=direction, maximum=maximum, **fields)
