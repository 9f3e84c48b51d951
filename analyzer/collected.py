"""What the polls brought, ready to be judged: what has no time of its own, and the stretch that CloudWatch covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.batch import Batch
from analyzer.model.instant import MINUTE_MS
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from collectors.contributor_insights.blind_spots import blind_spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.instant import Instant
    from analyzer.model.sight import Gap

__all__ = ["NOTHING", "Collected"]


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

    def _ends(self, source: SourceName) -> Iterator[Instant]:
        """Yield how far each place was seen: within one, what is late of a single table is told of that table."""
        for batch in self.batches:
            ends = [cover.window.end for cover in batch.covers if cover.source is source]
            if ends:
                yield max(ends)


NOTHING = Collected()
