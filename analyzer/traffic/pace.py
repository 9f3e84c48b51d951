"""How fast pages of one read follow one another, and what they take at the fastest."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.instant import SLICE_MS
from analyzer.traffic.sequences import pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

__all__ = ["Pace", "pace_of"]


class Pace(Struct, frozen=True):
    """Of the calls that are in the book: units a second in the fastest ten seconds, and how pages follow one another.

    `pages` is how many were followed by another one, `pause_seconds` the median from one answer to the next call (where
    latencies are not told, from call to call), `limit` the largest limit that ended a page; None where none did.
    """

    units_a_second: float = 0.0
    pages: int = 0
    pause_seconds: float | None = None
    limit: int | None = None
    units_a_page: float | None = None


def pace_of(traffic: Traffic, fingerprints: frozenset[str]) -> Pace:
    """Return the pace of some shapes at a target."""
    book, target = traffic.calls, traffic.target
    calls = [] if book is None else [call for call in book.of(target) if call.fingerprint in fingerprints]
    if book is None or not calls:
        return Pace()
    pauses, limits = [], []
    for page in pages(book, target, traffic.window.end):
        if page.follower is not None and page.call.fingerprint in fingerprints:
            pauses.append((page.follower.time - page.call.time - (page.call.latency_ms or 0.0)) / 1000)
            if page.call.limit is not None and page.call.scanned == page.call.limit:
                limits.append(page.call.limit)
    told = [call.read_units for call in calls if call.read_units is not None]
    return Pace(
        units_a_second=_fastest(calls),
        pages=len(pauses),
        pause_seconds=sorted(pauses)[len(pauses) // 2] if pauses else None,
        limit=max(limits, default=None),
        units_a_page=sum(told) / len(told) if told else None,
    )


def _fastest(calls: Iterable[Call]) -> float:
    """Return the most units a second over any ten seconds: a lower bound where the book holds some calls alone."""
    most = within = 0.0
    recent: deque[Call] = deque()
    for call in calls:
        recent.append(call)
        within += call.read_units or 0.0
        while recent[0].time <= call.time - SLICE_MS:
            within -= recent.popleft().read_units or 0.0
        most = max(most, within)
    return most * 1000 / SLICE_MS
