"""Which requests read a table or index as a whole, and whether calls or size made them grow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.window import Window
from analyzer.requests.statements import scanned_by
from analyzer.traffic.measure import add
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["Driver", "driver_in_calls", "driver_in_metrics", "filtered_by", "index_share", "is_scan", "sweeps_expired"]

_LEAST_BEFORE_MS = 60_000
_LEAST_CALLS = 5
_MOST_TIMES = 1.5
"""A growth that people would call one; what stays under it is noise."""
_MOST_SHARE = 1.2
"""A table grows so much between two counts, and no Query reads more than its index."""
_EXPIRY = re.compile(
    r"expir|(?:^|_)ttl(?:$|_)|[a-z](?:Ttl|TTL)$|^(?:delete|purge|valid|keep)_?(?:at|after|until)$", re.IGNORECASE
)
"""Names that people give to the time at which an item may go."""


def is_scan(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether DynamoDB runs a row's requests as a Scan, by the contract's keys or, for statements, the table's own."""
    return row.shape.scans or _filter_of_statement(row, traffic) is not None


def filtered_by(row: PatternTraffic, traffic: Traffic) -> tuple[str, ...]:
    """Return the attributes that a scanning row filters by."""
    return row.shape.filter_attributes or _filter_of_statement(row, traffic) or ()


def _filter_of_statement(row: PatternTraffic, traffic: Traffic) -> tuple[str, ...] | None:
    statement, place = row.shape.statement, traffic.place
    if statement is None or not place.partition_key:
        return None
    return scanned_by(statement, (place.partition_key, place.sort_key))


def sweeps_expired(row: PatternTraffic, filtered: Sequence[str], traffic: Traffic) -> bool:
    """Whether a Scan looks for items whose time is over: what it filters by is their expiry, from above."""
    ttl, text = traffic.place.time_to_live, row.shape.filter
    names = {traffic.place.ttl_attribute, None if ttl is None else ttl.attribute}
    is_past = text is None or "<" in text or "BETWEEN" in text
    return is_past and any(name in names or _EXPIRY.search(name) is not None for name in filtered)


def index_share(rows: Sequence[PatternTraffic], traffic: Traffic) -> tuple[float, int] | None:
    """Return which part of an index one Query of these rows reads, and how many items the index has.

    None where that is not known. DescribeTable counts items about every six hours (API Reference, ItemCount): who reads
    more than there are meets a count that is too old.
    """
    shape, table = rows[0].shape, traffic.place.table
    index = None if table is None else table.index(shape.index)
    if shape.operation != "Query" or index is None or not index.items:
        return None
    begun = sum(row.requests.value - row.resumed.value for row in rows)
    scanned = add(row.scanned for row in rows).value
    if begun <= 0 or not any(row.counts_known for row in rows):
        return None
    share = scanned / begun / index.items
    return (share, index.items) if share <= _MOST_SHARE else None


class Driver(Struct, frozen=True):
    """By how much calls, and what each of them reads, grew against the time before; `name` is what drives the rise."""

    calls_ratio: float
    size_ratio: float | None

    @property
    def name(self) -> str:
        """`calls`, `size`, `both`, or `neither` where nothing rose."""
        is_calls = self.calls_ratio >= _MOST_TIMES
        is_size = self.size_ratio is not None and self.size_ratio >= _MOST_TIMES
        if is_calls and is_size:
            return "both"
        return "calls" if is_calls else "size" if is_size else "neither"


def driver_in_calls(traffic: Traffic, fingerprints: frozenset[str]) -> Driver | None:
    """Compare the window's calls of some shapes with those before it in the call book; None where too few are there."""
    book, window = traffic.calls, traffic.window
    if book is None:
        return None
    target = traffic.target
    calls = [call for call in book.calls if call.shape.fingerprint in fingerprints and call.target == target]
    before = [call for call in calls if call.time < window.start]
    now = [call for call in calls if call.time >= window.start]
    if not before or window.start - before[0].time < _LEAST_BEFORE_MS:
        return None
    seconds = (window.start - before[0].time) / 1000
    counted = [sum(not call.resumed for call in some) for some in (before, now)]
    if min(counted) < _LEAST_CALLS:
        return None
    units = [sum(call.read_units or 0.0 for call in some) for some in (before, now)]
    calls_ratio = (counted[1] / window.rate_seconds) / (counted[0] / seconds)
    size_ratio = (units[1] / counted[1]) / (units[0] / counted[0]) if min(units) > 0 else None
    return Driver(calls_ratio, size_ratio)


def driver_in_metrics(traffic: Traffic) -> Driver | None:
    """Compare the window's Scans with all that metrics tell of them before it: their number, and what one returns."""
    scans = series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation="Scan")
    if scans is None or not scans.timestamps:
        return None
    before = Window(min(scans.timestamps[0], traffic.window.start), traffic.window.start)
    earlier = [point for point in points(scans, before) if point.end <= before.end]
    now = points(scans, traffic.window)
    seconds = before.seconds
    calls = [sum(point.value for point in some) for some in (earlier, now)]
    if seconds * 1000 < _LEAST_BEFORE_MS or min(calls) < _LEAST_CALLS:
        return None
    calls_ratio = (calls[1] / sum(point.seconds for point in now)) / (calls[0] / seconds)
    returned = series_of(traffic.metrics, "ReturnedItemCount", Operation="Scan")
    items = [total(returned, before), total(returned, traffic.window)]
    known = [count for count in items if count]
    return Driver(calls_ratio, (known[1] / calls[1]) / (known[0] / calls[0]) if len(known) == len(items) else None)
