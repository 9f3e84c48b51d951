"""When something began that the whole stretch is judged for: what a deploy brought did not come before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["began"]

_MOST_GAPS = 10
"""A wait of ten mean gaps between two calls is no chance: it comes once in 22,000 times."""
_LEAST_PART = 0.5
"""Of a name with very many calls the book keeps the newest: where so much of the calls is away, their start may be."""


def began(rows: Iterable[PatternTraffic], traffic: Traffic) -> Instant | None:
    """Return the time of the first call of some rows, where the book shows that they were not there from the beginning.

    None where they were, or where the book does not tell: it was begun later, or holds too little of them.
    """
    book, window, asked = traffic.calls, traffic.window, tuple(rows)
    if book is None or (book.since is not None and book.since > window.start):
        return None
    wanted = {(row.shape.fingerprint, row.caller) for row in asked}
    times = [
        call.time
        for call in book.of(traffic.target)
        if call.is_whole and (call.fingerprint, call.caller) in wanted and window.start <= call.time < window.end
    ]
    if not times or len(times) < _LEAST_PART * book.share * sum(row.observed for row in asked):
        return None
    first = min(times)
    wait = max(MINUTE_MS, _MOST_GAPS * (window.end - first) / len(times))
    return first if first - window.start > wait else None
