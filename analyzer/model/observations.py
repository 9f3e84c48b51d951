"""Everything collected for one window: what goes into `analyze()`."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.batch import Batch
from analyzer.model.calls import CallBook
from analyzer.model.counts import Counts
from analyzer.model.prices import Prices
from analyzer.model.sight import Gap, SourceName
from analyzer.model.window import Window

__all__ = ["Observations"]


class Observations(Struct, frozen=True, kw_only=True):
    """One window's evidence; `sources` are those that somebody configured: only they can leave a gap.

    `hours` counts, for each fingerprint, the distinct clock hours in which it was seen since the process or file began.
    `calls` may begin long before the window; a book that is deferred shows no sight, and is there for who asks.
    `prices` are those that hold instead of the list prices.
    """

    window: Window
    counts: Counts | None = None
    batches: tuple[Batch, ...] = ()
    gaps: tuple[Gap, ...] = ()
    sources: frozenset[SourceName] = frozenset()
    account: str | None = None
    region: str | None = None
    hours: dict[str, int] = {}
    calls: CallBook | None = None
    prices: tuple[Prices, ...] = ()
