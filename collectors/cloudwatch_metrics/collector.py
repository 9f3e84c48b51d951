"""CloudWatch's metrics of DynamoDB, polled: every series that a verdict needs, and the past it is compared with."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from analyzer.errors import CollectError
from analyzer.model.batch import Batch
from analyzer.model.sight import Covers, Gap, SourceName
from analyzer.model.window import Window
from collectors.cloudwatch_metrics import gaps as holes
from collectors.cloudwatch_metrics.checks import check_access
from collectors.cloudwatch_metrics.group import Group
from collectors.cloudwatch_metrics.past import Past
from collectors.cloudwatch_metrics.reading import Reader
from collectors.cloudwatch_metrics.series import Discovery, series_of_account, series_of_table, targets_of
from collectors.cloudwatch_metrics.stretches import finest_period

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import Check, MetricSeries
    from analyzer.model.instant import Instant
    from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig, MetricTarget
    from collectors.cloudwatch_metrics.series import Series
    from collectors.cloudwatch_metrics.stretches import Stretch

__all__ = ["CloudWatchMetrics"]

_MINUTE_SECONDS = 60
_FIVE_MINUTES_SECONDS = 300
_IDLE_MS = 1_800_000
"""A table without a point for so long is idle, not late: CloudWatch stops after a while to say that it is not used."""

_NEW_TABLE_MS = 600_000
"""A table that ListMetrics does not know is looked for so often; it takes up to fifteen minutes to be listed."""
_TOLERATED_MS = 120_000
"""So much later than usual a table is covered less far, and no gap: the next poll covers it."""


class CloudWatchMetrics:
    """The metrics of one account and region, as a Source.

    `targets` says which tables there are; None returned is "not known: ask ListMetrics". `clock` says what has settled.
    `table` is the only one that is meant, so that the metrics of others are not listed.
    """

    name: ClassVar[str] = SourceName.CLOUDWATCH_METRICS

    def __init__(
        self,
        config: CloudWatchMetricsConfig,
        aws: AwsCaller,
        *,
        region: str | None = None,
        account: str | None = None,
        targets: Callable[[], tuple[MetricTarget, ...] | None] = lambda: None,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
        table: str | None = None,
    ) -> None:
        self._config = config
        self._reader = Reader(aws, region, account, table)
        self._targets = targets
        self._clock = clock
        self._groups = {
            period: Group(period, delay, config.overlap_ms, config.keep_ms, config.most_series)
            for period, delay in ((_MINUTE_SECONDS, config.delay_ms), (_FIVE_MINUTES_SECONDS, config.slow_delay_ms))
        }
        self._past = Past()
        self._discovered: dict[str, Discovery] | None = None
        self._listed_at: Instant | None = None

    async def collect(self, window: Window) -> Batch:
        """Read what has settled of a window, again what came late, and once an hour the past it is compared with."""
        now = self._clock()
        gaps = await self._discover(now)
        every = self._series()
        gaps += holes.too_many(every, self._config.most_series)
        series = every[: self._config.most_series]
        stretches = {period: group.next_stretch(window, now) for period, group in self._groups.items()}
        minutes = stretches[_MINUTE_SECONDS]
        asked = [self._read(period, stretch, series, window) for period, stretch in stretches.items() if stretch]
        past = [] if minutes is None else [self._compare(series, window, now)]
        for told in await asyncio.gather(*asked, *past):  # side by side: none needs what another brings
            gaps += told
        if minutes is None:
            is_kept = finest_period(window.start, now, _MINUTE_SECONDS) is not None
            return Batch(window=window, gaps=(*gaps, holes.unsettled(window) if is_kept else holes.expired(window)))
        seen = minutes.window
        covers, late = self._covers(series, seen)
        metrics = tuple(self._metrics(series, window))
        return Batch(window=window, covers=tuple(covers), metrics=metrics, gaps=(*gaps, *late))

    async def check(self) -> tuple[Check, ...]:
        """Say whether CloudWatch can be read, and how late it is."""
        now = self._clock()
        await self._discover(now)
        return await check_access(self._reader, now)

    def asked(self) -> tuple[int, int]:
        """Return how many series are asked for, as far as is known, and of how many the past is read too."""
        series = self._series()[: self._config.most_series]
        return len(series), sum(one.is_compared for one in series) if self._config.baselines else 0

    async def _discover(self, now: Instant) -> list[Gap]:
        """Ask ListMetrics which operations and indexes there are, once in a while; what it said before stays true."""
        known = self._discovered
        if known is not None and self._listed_at is not None:
            is_new = any(target.table not in known for target in self._targets() or ())
            pause = min(_NEW_TABLE_MS, self._config.discover_every_ms) if is_new else self._config.discover_every_ms
            if now - self._listed_at < pause:
                return []
        try:
            self._discovered = Discovery.by_table(await self._reader.metrics())
        except CollectError as error:
            return [Gap.from_error(SourceName.CLOUDWATCH_METRICS, error)]
        self._listed_at = now
        return []

    def _series(self) -> list[Series]:
        """Return what to ask for, each series once, those of a table side by side."""
        known = self._discovered
        targets = self._targets()
        if targets is None:
            targets = targets_of(known or {}, self._config.include, self._config.exclude)
        found = [
            one
            for target in targets
            for one in series_of_table(target, None if known is None else known.get(target.table, Discovery()))
        ]
        return list(dict.fromkeys((*series_of_account(), *found)))

    async def _read(self, period: int, stretch: Stretch, series: list[Series], window: Window) -> list[Gap]:
        """Read the series of one period; what failed is a gap of the window."""
        readings = await self._reader.read([one for one in series if one.period_seconds == period], stretch)
        self._groups[period].take(readings, stretch)
        return holes.of_readings(readings, window)

    async def _compare(self, series: list[Series], window: Window, now: Instant) -> list[Gap]:
        """Read what is not known yet of the past."""
        gaps: list[Gap] = []
        wanted = self._past.missing(series, window, now) if self._config.baselines else []
        read = await asyncio.gather(*(self._reader.read(some, stretch) for stretch, some in wanted))
        for (stretch, _), readings in zip(wanted, read, strict=True):
            self._past.take(stretch, readings)
            gaps += holes.of_readings(readings, stretch.window)
        return gaps

    def _covers(self, series: list[Series], seen: Window) -> tuple[list[Covers], list[Gap]]:
        """Return what was seen of each table and index of which every minute series came whole, and what is late.

        It begins before the window, with the overlap that was read again.
        """
        minutes = self._groups[_MINUTE_SECONDS]
        newest: dict[str, Instant] = {}
        whole: dict[tuple[str | None, str | None], bool] = {}
        for one in series:
            if one.period_seconds != _MINUTE_SECONDS:
                continue
            place = one.table, one.index
            whole[place] = whole.get(place, True) and minutes.is_complete(one)
            if one.table is not None and one.metric.startswith("Consumed"):
                newest[one.table] = max(newest.get(one.table, 0), minutes.newest(one) or 0)
        late = {
            table: time
            for table, time in newest.items()
            if whole[table, None] and time < seen.end <= time + _IDLE_MS  # what could not be read is not late
        }
        covers = []
        for (table, index), is_whole in whole.items():
            until = late.get(table or "", seen.end)
            if table is not None and is_whole and seen.start < until:
                covers.append(Covers(SourceName.CLOUDWATCH_METRICS, Window(seen.start, until), table, index))
        behind = {table: time for table, time in late.items() if seen.end - time > _TOLERATED_MS}
        return covers, [holes.behind(table, time, seen.end) for table, time in behind.items()]

    def _metrics(self, series: list[Series], window: Window) -> Iterator[MetricSeries]:
        """Yield every series that something is known of, its past minutes in front of it."""
        for one in series:
            group = self._groups[one.period_seconds]
            is_complete = group.is_complete(one)
            recent = group.known(one, window.end)
            if recent or is_complete:
                pairs = (*self._past.minutes(one, window), *recent)
                yield one.told(group.read_seconds, pairs, is_complete=is_complete)
            yield from self._past.coarse(one)
