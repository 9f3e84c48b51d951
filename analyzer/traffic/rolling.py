"""The sort keys that come new under one partition key: at a rolling edge DynamoDB does not split a partition.

Split for heat is not done for an ever-increasing sort key (AWS Database Blog, "Scaling DynamoDB: how partitions, hot
keys, and split for heat impact performance", part 3, as quoted; read 2026-11-30).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.requests.tokens import is_token, split_key
from analyzer.statistics.kendall import rising_share, tau

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.calls import Call
    from analyzer.model.counts import KeyName
    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Traffic

__all__ = ["SortOrder", "sort_order"]

_LEAST = 50
_MOST = 400
_RISES = 0.6
_EDGE = 0.05
_AT_EDGE = 0.9
"""Sort keys made of the time have a tau of 0.77 or more, random ones of 0.16 or less; twenty interleaved streams, each
with an edge of its own, 0.22: simulated for 50 items."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class SortOrder(Struct, frozen=True):
    """How new sort keys follow time: Kendall's tau, and which part of them came at the upper edge."""

    items: int
    tau: float
    at_edge: float

    @property
    def is_rolling(self) -> bool:
        """Whether they come at one edge that moves on."""
        return abs(self.tau) > _RISES and self.at_edge >= _AT_EDGE


def sort_order(traffic: Traffic, partition: str) -> SortOrder | None:
    """Judge the newest items under a partition key of the target, by the calls that are kept.

    None where fewer than fifty are known, or where their sort keys are tokens, which have no order.
    """
    if traffic.calls is None:
        return None
    first: dict[str, Instant] = {}
    for time, name in _written(traffic):
        if name.partition == partition and name.sort is not None:
            first.setdefault(name.sort, time)
    newest = list(first)[-_MOST:]
    if len(newest) < _LEAST or any(is_token(part) for part in split_key(newest[0])):
        return None
    are_numbers = all(_NUMBER.fullmatch(value) for value in newest)
    ordered = sorted(newest, key=(lambda value: (float(value), value)) if are_numbers else (lambda value: (0.0, value)))
    place = {value: rank for rank, value in enumerate(ordered)}
    ranks = [place[value] for value in newest]
    rises = tau(ranks)
    edge = rising_share(ranks if rises >= 0 else [-rank for rank in ranks], _EDGE)
    return SortOrder(len(newest), rises, edge)


def _written(traffic: Traffic) -> Iterator[tuple[Instant, KeyName]]:
    """Yield the items that calls wrote at the target, in the order of time."""
    index = traffic.target.index
    book = traffic.calls
    for call in book.of(traffic.target.base) if book is not None else ():
        if index is not None:
            yield from ((call.time, name) for entry, name in call.index_keys if entry == index)
        elif call.shape.writes:
            yield from ((call.time, name) for name in _names(call) if name.level is KeyLevel.ITEM)


def _names(call: Call) -> Iterator[KeyName]:
    if call.key is not None:
        yield call.key
    yield from (part.key for part in call.parts if part.key is not None and part.operation in {"Put", "Update"})
