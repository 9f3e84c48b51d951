"""What is read from AWS, made of the configuration: one source of each kind for every account and region."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from analyzer.model.sight import SourceName
from analyzer.polling import Poll
from collectors.asking import Spot
from collectors.canary.polled import PolledCanary
from collectors.changes.collector import Changes
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import MetricTarget
from collectors.contributor_insights.collector import ContributorInsights
from collectors.table_catalog.collector import TableCatalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.config_aws import SourcesConfig
    from analyzer.interfaces import AwsCaller, Source
    from analyzer.model.batch import Batch, Check
    from analyzer.model.instant import Instant
    from analyzer.model.table import TableSnapshot
    from analyzer.model.target import Target
    from analyzer.model.window import Window
    from collectors.aws.session import Aws

__all__ = ["DescribedTables", "open_sources"]

_BUILDING = "CREATING"


class DescribedTables:
    """A table catalog that remembers what it saw last, for the collectors that need to know which tables there are."""

    name: ClassVar[str] = SourceName.TABLE_CATALOG

    def __init__(self, catalog: TableCatalog) -> None:
        self._catalog = catalog
        self.tables: tuple[TableSnapshot, ...] | None = None

    async def collect(self, window: Window) -> Batch:
        """Collect, and remember."""
        return self._remember(await self._catalog.collect(window))

    async def describe(self, window: Window) -> Batch:
        """Describe the tables alone, and remember them."""
        return self._remember(await self._catalog.describe(window))

    def _remember(self, batch: Batch) -> Batch:
        """Remember the tables, those that could not be described now as they were; what was deleted is forgotten."""
        kept = tuple(one for one in self.tables or () if one.target.table in self._catalog.unknown)
        if batch.tables or not batch.gaps or self.tables is not None:
            self.tables = (*batch.tables, *kept)
        return batch

    async def check(self) -> tuple[Check, ...]:
        """Check the catalog itself."""
        return await self._catalog.check()

    def metric_targets(self) -> tuple[MetricTarget, ...] | None:
        """Return which series each table can have; None before the first description."""
        return None if self.tables is None else tuple(map(_metric_target, self.tables))

    def targets(self) -> tuple[Target, ...]:
        """Return every table and GSI that is known to be there."""
        return tuple(
            snapshot.target.at(index)
            for snapshot in self.tables or ()
            for index in (None, *(one.name for one in snapshot.table.indexes if one.kind == "gsi"))
        )


def _metric_target(snapshot: TableSnapshot) -> MetricTarget:
    table = snapshot.table
    gsis = [index for index in table.indexes if index.kind == "gsi"]
    return MetricTarget(
        table=table.name,
        indexes=tuple(index.name for index in gsis),
        building=frozenset(index.name for index in gsis if index.status == _BUILDING),
        is_provisioned=None if table.billing_mode is None else table.billing_mode == "PROVISIONED",
        replicas=tuple(replica.region for replica in table.replicas),
    )


def open_sources(
    config: SourcesConfig,
    aws: Aws,
    conceal: Callable[[str, str, str], str],
    clock: Callable[[], Instant],
    own_account: str | None = None,
) -> tuple[Poll, ...]:
    """Return a poll of every source in every place; `own_account` names that of the daemon's own credentials."""
    return tuple(
        Poll(source, every_ms, spot.region, spot.account or own_account)
        for place in aws.places()
        for spot in (Spot(place.region, place.account),)
        for source, every_ms in _at_place(config, aws, spot, conceal, clock, own_account)
    )


def _at_place(
    config: SourcesConfig,
    aws: AwsCaller,
    spot: Spot,
    conceal: Callable[[str, str, str], str],
    clock: Callable[[], Instant],
    own_account: str | None,
) -> Iterator[tuple[Source, int]]:
    catalog = None if config.catalog is None else DescribedTables(TableCatalog(aws, config.catalog, spot, own_account))
    if catalog is not None and config.catalog is not None:
        yield catalog, config.catalog.every_ms
    if config.metrics is not None:
        targets = _nothing_known if catalog is None else catalog.metric_targets
        metrics = CloudWatchMetrics(
            config.metrics, aws, region=spot.region, account=spot.account, targets=targets, clock=clock
        )
        yield metrics, config.metrics.every_ms
    if config.insights is not None:
        expected = _none_expected if catalog is None else catalog.targets
        insights = ContributorInsights(aws, config.insights, conceal, spot, own_account, expected, clock)
        yield insights, config.insights.every_ms
    if config.changes is not None:
        yield Changes(aws, config.changes, spot, own_account), config.changes.every_ms
    if config.canary is not None:
        canary = PolledCanary(aws, config.canary, spot, own_account)
        if canary.places:
            yield canary, config.canary.every_ms


def _nothing_known() -> None:
    return None


def _none_expected() -> tuple[Target, ...]:
    return ()
