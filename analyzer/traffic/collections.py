"""Item collections: all items of one partition key with their entries in local indexes, of which DynamoDB takes 10 GB.

The limit holds for tables with a local index alone (Developer Guide, "Local Secondary Indexes", item collection size
limit, read 2026-11-30).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.capacity import READ_BLOCK_BYTES, WRITE_BLOCK_BYTES
from analyzer.model.counts import KeyLevel
from analyzer.traffic.sequences import pages

if TYPE_CHECKING:
    from analyzer.model.calls import Call, CallBook
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target

__all__ = ["Growth", "SizeSeen", "growths", "sizes_read"]


class SizeSeen(NamedTuple):
    """At least how large a collection is: what one reader was charged for, page after page; `call` is its first."""

    call: Call
    least_bytes: float


class Growth(NamedTuple):
    """New items of one collection: how many in the stretch, and bounds of their bytes; `call` is one of the writes."""

    call: Call
    items: int
    low_bytes: float
    high_bytes: float


def sizes_read(book: CallBook, target: Target, until: Instant) -> list[SizeSeen]:
    """Return the collections of a table that somebody read, as far as the pages go; the largest first."""
    follower = {id(page.call): page.follower for page in pages(book, target, until) if page.follower is not None}
    found = []
    for call in book.of(target):
        if call.operation != "Query" or call.resumed or call.failed or call.key is None:
            continue
        total, last = 0.0, call
        while True:
            total += _bytes_read(last)
            following = follower.get(id(last))
            if following is None:
                break
            last = following
        found.append(SizeSeen(call, total))
    return sorted(found, key=lambda seen: -seen.least_bytes)


def _bytes_read(call: Call) -> float:
    """Return at least how many bytes a page took, by its units: half a unit reads 4 KB where the read may be stale."""
    if not call.read_units:
        return float(call.returned_bytes or 0)
    blocks = call.read_units if call.consistent else call.read_units * 2
    return (blocks - 1) * READ_BLOCK_BYTES


def growths(book: CallBook, target: Target) -> list[Growth]:
    """Return how collections grow of which every write is here: items put, each sort key once, less those deleted."""
    found = []
    by_partition: dict[str, dict[str, Call]] = defaultdict(dict)
    for call in book.of(target):
        if call.failed or not call.key_whole or call.key is None or call.key.level is not KeyLevel.ITEM:
            continue
        items = by_partition[call.key.partition]
        if call.operation == "PutItem":
            items[call.key.sort or ""] = call
        elif call.operation == "DeleteItem":
            items.pop(call.key.sort or "", None)
    for items in by_partition.values():
        if items:
            bounds = [_size(call) for call in items.values()]
            low, high = (sum(side) for side in zip(*bounds, strict=True))
            found.append(Growth(next(iter(items.values())), len(items), low, high))
    return sorted(found, key=lambda growth: -growth.low_bytes)


def _size(call: Call) -> tuple[float, float]:
    if call.item_bytes is not None:
        return float(call.item_bytes), float(call.item_bytes)
    if call.write_units:
        return (call.write_units - 1) * WRITE_BLOCK_BYTES + 1, call.write_units * WRITE_BLOCK_BYTES
    return 0.0, 0.0
