"""What the polls brought, ready to be judged: what has no time of its own, and the stretch that CloudWatch covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.batch import Batch
from analyzer.model.instant import MINUTE_MS
from analyzer.model.sight import SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.contributor_insights.blind_spots import blind_spots

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from analyzer.model.instant import Instant
    from analyzer.model.sight import Gap

__all__ = ["NOTHING", "Collected"]

_TABLE = "TableName"


class Collected(Struct, frozen=True):
    """The newest batch of every source and place; `generation` changes when any of them does.

    `is_standby` says that another daemon reads: what was read before is not told any more.
    """

    batches: tuple[Batch, ...] = ()
    generation: int = -1
    is_standby: bool = False

    def timeless(self) -> tuple[Batch, ...]:
        """Return the batches without metrics and insights: tables, autoscaling, changes and gaps hold now."""
        return tuple(msgspec.structs.replace(batch, metrics=(), insights=()) for batch in self.batches)

    def blind_spots(self) -> tuple[Gap, ...]:
        """Return what the reports cannot show beside the metrics that were read with them."""
        insights = [series for batch in self.batches for series in batch.insights]
        return blind_spots(insights, [series for batch in self.batches for series in batch.metrics])

    def settled(self, length_ms: int) -> Window | None:
        """Return the newest stretch of whole minutes that CloudWatch covers in every place; None where nobody asks it.

        A place that is behind holds the others back, until it is told as a gap: a minute that was not seen would else
        be one in which nothing happened.
        """
        ends = list(self._ends(SourceName.CLOUDWATCH_METRICS)) or list(self._ends(SourceName.CONTRIBUTOR_INSIGHTS))
        if not ends:
            return None
        end = min(ends) // MINUTE_MS * MINUTE_MS
        return Window(end - length_ms, end)

    def reaches(self, account: str | None = None, region: str | None = None) -> dict[Target, Instant]:
        """Return until which minute the metrics of each table were seen.

        Of one that did not come whole, that is the end of its newest point: what was read before is old. `account` and
        `region` are those of batches that name none.
        """
        found: dict[Target, Instant] = {}
        for batch in self.batches:
            covered = _covered(batch)
            for table, end in {**_newest(batch, covered.keys()), **covered}.items():
                target = Target(batch.account or account, batch.region or region, table)
                found[target] = max(found.get(target, 0), end // MINUTE_MS * MINUTE_MS)
        return found

    def without(self, tables: Collection[Target]) -> tuple[Batch, ...]:
        """Return the batches without the metrics of some tables."""
        return tuple(_without(batch, _names(batch, tables)) for batch in self.batches) if tables else self.batches

    def only(self, tables: Collection[Target]) -> tuple[Batch, ...]:
        """Return what the batches hold of some tables, and the changes; gaps are told with the others."""
        return tuple(_only(batch, _names(batch, tables)) for batch in self.batches)

    def _ends(self, source: SourceName) -> Iterator[Instant]:
        """Yield how far each place was seen: within one, what is late of a single table is told of that table."""
        for batch in self.batches:
            ends = [cover.window.end for cover in batch.covers if cover.source is source]
            if ends:
                yield max(ends)


def _covered(batch: Batch) -> dict[str, Instant]:
    """Return until when a batch covers the metrics of each table: the table itself, not what came of its indexes."""
    ends: dict[str, Instant] = {}
    for cover in batch.covers:
        if cover.source is SourceName.CLOUDWATCH_METRICS and cover.table is not None and cover.index is None:
            ends[cover.table] = max(ends.get(cover.table, 0), cover.window.end)
    return ends


def _newest(batch: Batch, covered: Collection[str]) -> dict[str, Instant]:
    """Return where the newest point of each other table ends."""
    ends: dict[str, Instant] = {}
    for series in batch.metrics:
        table = series.dimensions.get(_TABLE)
        if table is not None and table not in covered and series.timestamps:
            ends[table] = max(ends.get(table, 0), series.timestamps[-1] + series.period_seconds * 1000)
    return ends


def _without(batch: Batch, names: Collection[str]) -> Batch:
    metrics = tuple(one for one in batch.metrics if one.dimensions.get(_TABLE) not in names)
    return msgspec.structs.replace(batch, metrics=metrics)


def _only(batch: Batch, names: Collection[str]) -> Batch:
    return msgspec.structs.replace(
        batch,
        metrics=tuple(one for one in batch.metrics if one.dimensions.get(_TABLE) in names),
        insights=tuple(one for one in batch.insights if one.target.table in names),
        tables=tuple(one for one in batch.tables if one.target.table in names),
        scaling=tuple(one for one in batch.scaling if one.target.table in names),
        gaps=(),
    )


def _names(batch: Batch, tables: Collection[Target]) -> frozenset[str]:
    """Return the names of those tables that a batch may hold; what neither says of its place may be any."""
    return frozenset(
        one.table
        for one in tables
        if (batch.account is None or one.account in {None, batch.account})
        and (batch.region is None or one.region in {None, batch.region})
    )


NOTHING = Collected()
