"""The collectors of the fault matrix, each looked at the same way: what it saw, what it missed, what it covers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.errors import CollectError
from analyzer.model.window import Window
from collectors.asking import Spot
from collectors.changes.collector import Changes
from collectors.changes.config import ChangesConfig
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig, MetricTarget
from collectors.contributor_insights.collector import ContributorInsights
from collectors.contributor_insights.config import ContributorInsightsConfig
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.polling import gap_of
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.xray.collector import XrayStream
from collectors.request_log.xray.config import XrayConfig
from collectors.table_catalog.collector import TableCatalog
from collectors.table_catalog.config import TableCatalogConfig
from tests.collectors.streams.conftest import Kept
from tests.support.matrix_worlds import TABLES
from tests.support.metric_world import MINUTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.interfaces import AwsCaller, Source
    from analyzer.model.batch import Batch
    from analyzer.model.sight import Gap
    from collectors.request_log.polling import PolledStream
    from tests.support.matrix_worlds import World

__all__ = ["POLLED", "STREAMS", "Seen", "Subject", "open_subject"]

POLLED = ("cloudwatch_metrics", "contributor_insights", "table_catalog", "changes")
STREAMS = ("s3", "cloudwatch_logs", "xray")
_SPOT = Spot("us-east-1")


class Seen(NamedTuple):
    """What one look came to: every fact with its time, so that an old one is not a new one."""

    facts: Counter[Any]
    gaps: tuple[Gap, ...]
    covers: frozenset[Any]


class Subject:
    """A collector that is looked at again and again; a request log tells all that it has told so far."""

    def __init__(self, world: World, kind: str, aws: AwsCaller) -> None:
        self._world = world
        self._looked_at = world.now - 5 * MINUTE
        self._kept = Kept()
        self._source = _source(kind, aws, world) if kind in POLLED else None
        self._stream = _stream(kind, aws, world) if kind in STREAMS else None

    async def look(self) -> Seen:
        window = Window(self._looked_at, self._world.now)
        self._looked_at = window.end
        if self._source is not None:
            batch = await self._source.collect(window)
            covers = frozenset((one.source, one.table, one.index, one.window.end) for one in batch.covers)
            return Seen(Counter(_facts(batch)), batch.gaps, covers)
        assert self._stream is not None
        gaps: tuple[Gap, ...] = ()
        try:
            await self._kept.read(self._stream.look())
        except CollectError as error:  # as `blocks` does
            gaps = (gap_of(error, "log"),)
        return Seen(Counter(self._kept.ids), (*gaps, *self._stream.gaps()), frozenset())


def open_subject(kind: str, world: World, aws: AwsCaller) -> Subject:
    world.wire.serve(world.answers())
    return Subject(world, kind, aws)


def _source(kind: str, aws: AwsCaller, world: World) -> Source:
    """Everything is asked at every look: nothing that was learned before hides a fault."""

    def clock() -> int:
        return world.now

    if kind == "cloudwatch_metrics":
        config = CloudWatchMetricsConfig(discover_every_ms=0, baselines=False)
        targets = tuple(map(MetricTarget, TABLES))
        return CloudWatchMetrics(config, aws, region="us-east-1", targets=lambda: targets, clock=clock)
    if kind == "contributor_insights":
        asked = ContributorInsightsConfig(discover_every_ms=0)
        return ContributorInsights(aws, asked, lambda _, __, value: value, _SPOT, clock=clock)
    if kind == "changes":
        return Changes(aws, ChangesConfig(), _SPOT)
    return TableCatalog(aws, TableCatalogConfig(with_tags=True, tags_every_ms=0, quotas_every_ms=0), _SPOT)


def _stream(kind: str, aws: AwsCaller, world: World) -> PolledStream:
    def clock() -> int:
        return world.now

    if kind == "s3":
        return S3Stream(S3Config("logs", "ddb/", region="us-east-1"), aws, (), clock)
    if kind == "cloudwatch_logs":
        return CloudwatchLogsStream(CloudwatchLogsConfig("/orders", region="us-east-1"), aws, (), clock)
    return XrayStream(XrayConfig(region="us-east-1"), aws, (), clock)


def _facts(batch: Batch) -> Iterator[tuple[Any, ...]]:
    for metric in batch.metrics:
        place = tuple(sorted(metric.dimensions.items()))
        for pair in zip(metric.timestamps, metric.values, strict=True):
            yield metric.metric, place, metric.stat, *pair
    for key in batch.insights:
        for pair in zip(key.timestamps, key.values, strict=True):
            yield str(key.target), key.rule, key.keys, *pair
    for change in batch.changes:
        if change.source == "cloudtrail":
            yield change.time, change.what, change.table, change.detail
    yield from batch.quotas.items()
    yield from _facts_of_tables(batch)


def _facts_of_tables(batch: Batch) -> Iterator[tuple[Any, ...]]:
    for one in batch.tables:
        yield one.target.table, one.time, one.table.items
        if one.ttl is not None:
            yield one.target.table, one.ttl.attribute
        yield from ((one.target.table, tag) for tag in one.tags)
    for bounds in batch.scaling:
        yield str(bounds.target), bounds.minimum, bounds.maximum
        if bounds.target_share is not None:
            yield str(bounds.target), bounds.target_share
        yield from ((str(bounds.target), schedule) for schedule in bounds.scheduled)
        yield from ((str(bounds.target), activity.start, activity.to_units) for activity in bounds.activities)
