"""One pass over every table and index of an account and region: refusals, errors, latency and use, and no past.

It is dear only in the number of series, so that the price is known before anything of it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.errors import CollectError
from analyzer.knowledge.prices import WATCHER_PRICES
from analyzer.model.batch import Batch
from analyzer.model.sight import Covers, Gap, SourceName
from analyzer.model.window import Window
from collectors.cloudwatch_metrics import gaps as holes
from collectors.cloudwatch_metrics.facts import REASONS
from collectors.cloudwatch_metrics.group import COMPLETE
from collectors.cloudwatch_metrics.reading import Reader
from collectors.cloudwatch_metrics.series import Discovery, Series, series_of_account, series_of_table, targets_of
from collectors.cloudwatch_metrics.stretches import HOUR_MS, Stretch, finest_period

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import MetricSeries
    from collectors.cloudwatch_metrics.reading import Reading

__all__ = ["Sweep", "SweepPlan"]

_SWEPT = frozenset(
    {
        *REASONS,
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "SuccessfulRequestLatency",
        "SystemErrors",
        "ThrottledRequests",
    }
)
_MINUTE_SECONDS = 60


class SweepPlan(Struct, frozen=True):
    """What a sweep will ask for; `gaps` are why it is not everything."""

    series: tuple[Series, ...]
    tables: int
    gaps: tuple[Gap, ...] = ()

    @property
    def usd(self) -> float:
        """Dollars at list price: a metric is billed once, however many of its minutes come back."""
        return len(self.series) * WATCHER_PRICES.thousand_metrics / 1000


class Sweep:
    """Sweeps one account and region; None is the first region, and the account of the credentials."""

    def __init__(self, aws: AwsCaller, region: str | None, account: str | None) -> None:
        self._reader = Reader(aws, region, account)

    async def plan(self) -> SweepPlan:
        """Ask ListMetrics which tables, indexes and operations there are; a failure is a gap."""
        try:
            found = Discovery.by_table(await self._reader.metrics())
        except CollectError as error:
            return SweepPlan((), 0, (Gap.from_error(SourceName.CLOUDWATCH_METRICS, error),))
        targets = targets_of(found, ("*",), ())
        series = [
            one for target in targets for one in series_of_table(target, found[target.table]) if one.metric in _SWEPT
        ]
        account = [one for one in series_of_account() if one.metric.startswith("AccountMax")]
        return SweepPlan(tuple(dict.fromkeys((*account, *series))), len(targets))

    async def read(self, plan: SweepPlan, window: Window, now: int) -> Batch:
        """Read a window and the hour before it, minute by minute; each failure is a gap."""
        start = window.start - HOUR_MS
        period = finest_period(start, now, _MINUTE_SECONDS)
        if period is None:
            return Batch(window=window, gaps=(*plan.gaps, holes.expired(window)))
        readings = await self._reader.read(plan.series, Stretch(period, Window(start, window.end)))
        whole: dict[tuple[str | None, str | None], bool] = {}
        for reading in readings:
            for one in reading.series:
                points = reading.points.get(one)
                is_whole = points is not None and points.status == COMPLETE
                whole[one.table, one.index] = whole.get((one.table, one.index), True) and is_whole
        covers = (
            Covers(SourceName.CLOUDWATCH_METRICS, window, table, index)
            for (table, index), is_whole in whole.items()
            if table is not None and is_whole
        )
        gaps = (*plan.gaps, *holes.of_readings(readings, window))
        return Batch(window=window, covers=tuple(covers), metrics=tuple(_told(readings, period)), gaps=gaps)


def _told(readings: list[Reading], period: int) -> Iterator[MetricSeries]:
    for reading in readings:
        for one, points in reading.points.items():
            pairs = zip(points.timestamps, points.values, strict=True)
            yield one.told(period, pairs, is_complete=points.status == COMPLETE)
