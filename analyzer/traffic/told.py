"""What the control plane and CloudWatch told, sorted by target: the half of the evidence that is no request log."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.batch import InsightSeries, LagProbe, MetricSeries
from analyzer.model.sight import SourceName
from analyzer.model.table import ScalingLimits, TableSnapshot
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.batch import Batch
    from analyzer.model.counts import Counts
    from analyzer.model.observations import Observations

__all__ = ["Told", "told_of"]

_TABLE = "TableName"
_INDEX = "GlobalSecondaryIndexName"

Place = tuple[str | None, str | None]


class Told(Struct, frozen=True):
    """Everything told, by the target that it is of; `account_metrics` by account and region.

    `changes_seen` are the places where somebody looked for changes and saw all there were: a look that was denied
    shows none.
    """

    snapshots: dict[Target, TableSnapshot] = {}
    metrics: dict[Target, list[MetricSeries]] = {}
    account_metrics: dict[Place, list[MetricSeries]] = {}
    insights: dict[Target, list[InsightSeries]] = {}
    scaling: dict[Target, list[ScalingLimits]] = {}
    quotas: dict[Place, dict[str, float]] = {}
    probes: dict[Target, list[LagProbe]] = {}
    changes_seen: set[Place] = set()

    def targets(self) -> set[Target]:
        """Return every table and index that something was told of."""
        return {*self.snapshots, *self.metrics, *self.insights, *self.scaling, *self.probes}

    def has_changes(self, target: Target) -> bool:
        """Whether changes were looked for where a target is; a place that is not known may be any."""
        return any(
            account in {None, target.account} and region in {None, target.region}
            for account, region in self.changes_seen
        )

    def home(self, target: Target) -> Target:
        """Return a target with the account and region that it must have: those of the only table that it can be.

        A request log often names neither; findings of one table must not have two places.
        """
        if target.account is not None and target.region is not None:
            return target
        fitting = {(other.account, other.region) for other in self.targets() if target.may_be(other)}
        if len(fitting) != 1:
            return target
        account, region = fitting.pop()
        return msgspec.structs.replace(target, account=account, region=region)

    def home_of(self, target: Target) -> Target:
        """Return the home of a table or index: an index lives with its table."""
        return self.home(target.base).at(target.index)

    def at_home(self, counts: Counts) -> Counts:
        """Return counts whose cells, keys and limits stand at their homes."""
        home = cache(self.home_of)
        if all(home(cell.target) == cell.target for cell in counts.cells):
            return counts
        replace = msgspec.structs.replace
        return replace(
            counts,
            cells=tuple(replace(cell, target=home(cell.target)) for cell in counts.cells),
            keys=tuple(replace(keys, target=home(keys.target)) for keys in counts.keys),
        )


def told_of(observations: Observations) -> Told:
    """Sort what the batches hold; the newest description of a table counts, and the last value of a moment."""
    told = Told()
    _take_metrics(told, observations.batches, (observations.account, observations.region))
    for batch in observations.batches:
        where = (batch.account or observations.account, batch.region or observations.region)
        _take_tables(told, batch, where)
        if any(cover.source is SourceName.CHANGES for cover in batch.covers):
            told.changes_seen.add(where)
        for probe in batch.probes:
            told.probes.setdefault(probe.target, []).append(probe)
        if batch.quotas:
            told.quotas.setdefault(where, {}).update(batch.quotas)
    return told


def _take_metrics(told: Told, batches: Iterable[Batch], default: Place) -> None:
    """Sort series by target; one that came in several pieces is one."""
    united: dict[tuple[Place, str, str, int, frozenset[tuple[str, str]]], MetricSeries] = {}
    for batch in batches:
        where = (batch.account or default[0], batch.region or default[1])
        for series in batch.metrics:
            dimensions = frozenset(series.dimensions.items())
            name = (where, series.metric, series.stat, series.period_seconds, dimensions)
            known = united.get(name)
            united[name] = series if known is None else _joined(known, series)
    for (where, *_), series in united.items():
        table = series.dimensions.get(_TABLE)
        if table is None:
            told.account_metrics.setdefault(where, []).append(series)
        else:
            told.metrics.setdefault(Target(*where, table, series.dimensions.get(_INDEX)), []).append(series)


def _joined(known: MetricSeries, series: MetricSeries) -> MetricSeries:
    """Join two pieces of a series; of two values of a moment the last counts."""
    values = dict(zip(known.timestamps, known.values, strict=True))
    values |= zip(series.timestamps, series.values, strict=True)
    times = tuple(sorted(values))
    return msgspec.structs.replace(
        series,
        timestamps=times,
        values=tuple(values[time] for time in times),
        is_complete=known.is_complete and series.is_complete,
    )


def _take_tables(told: Told, batch: Batch, where: Place) -> None:
    for snapshot in batch.tables:
        target = _at(snapshot.target, where)
        known = told.snapshots.get(target)
        if known is None or (snapshot.time or 0) >= (known.time or 0):
            told.snapshots[target] = snapshot
    for series in batch.insights:
        told.insights.setdefault(_at(series.target, where), []).append(series)
    for limits in batch.scaling:
        told.scaling.setdefault(_at(limits.target, where), []).append(limits)


def _at(target: Target, where: Place) -> Target:
    """Return a target with the place of who was asked for it, where it names none."""
    if target.account is not None and target.region is not None:
        return target
    account, region = where
    return msgspec.structs.replace(target, account=target.account or account, region=target.region or region)
