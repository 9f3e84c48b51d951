"""Items that only grow: what whole sequences of calls at one key tell of its size over time."""

from __future__ import annotations

import math
import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.capacity import WRITE_BLOCK_BYTES
from analyzer.knowledge.limits import ITEM_BYTES
from analyzer.model.estimate import Estimate
from analyzer.traffic.sequences import runs_by_key, sizes

if TYPE_CHECKING:
    from analyzer.model.calls import Call, CallBook
    from analyzer.model.counts import KeyName
    from analyzer.model.shape import Shape
    from analyzer.model.target import Target
    from analyzer.traffic.sequences import SeenSize

__all__ = ["Grown", "SizeRun", "appended_to", "growth_of", "middle", "size_runs"]

_APPENDS = (
    re.compile(r"([\w.*\[\]-]+) = list_append\("),
    re.compile(r"\bADD ([\w.*\[\]-]+) \?"),
    re.compile(r"\b([\w-]+)\.\* = "),
)
"""An append to a list, an element of a set, an entry of a map. An ADD may also be to a number, which grows nothing."""


class SizeRun(NamedTuple):
    """All that was seen of one item's size, in the order of time."""

    name: KeyName
    seen: tuple[SeenSize, ...]


class Grown(NamedTuple):
    """An item that only grew: from `first` to `last`, by so many bytes a second, the halves of the time as bounds."""

    run: SizeRun
    bytes_a_second: Estimate

    @property
    def first(self) -> SeenSize:
        """The oldest size."""
        return self.run.seen[0]

    @property
    def last(self) -> SeenSize:
        """The newest size."""
        return self.run.seen[-1]

    @property
    def seconds(self) -> float:
        """How long it was seen to grow."""
        return (self.last.time - self.first.time) / 1000

    @property
    def writer(self) -> Call:
        """The newest write that told a size, or where none did the newest call."""
        writes = [seen.call for seen in self.run.seen if seen.call.shape.writes]
        return writes[-1] if writes else self.last.call

    @property
    def seconds_left(self) -> Estimate:
        """When it reaches 400 KB, at the pace of all the time, of its faster and of its slower half."""
        left = max(ITEM_BYTES - middle(self.last), 0.0)
        pace = self.bytes_a_second
        return Estimate(left / pace.value, left / pace.high, left / pace.low if pace.low > 0 else math.inf)

    def units(self, seen: SeenSize) -> int:
        """Return what a write of the item costs at a size."""
        return max(1, math.ceil(seen.high / WRITE_BLOCK_BYTES))


def middle(seen: SeenSize) -> float:
    """Return the middle of the bounds of a size."""
    return (seen.low + seen.high) / 2


def size_runs(book: CallBook, target: Target, *, has_sort_key: bool, at_least: int) -> list[SizeRun]:
    """Return the items of which so many sizes were seen."""
    found = []
    for name, calls in runs_by_key(book, target).items():
        own = [call for call in calls if call.key == name and call.key_whole]
        seen = sizes(own, has_sort_key=has_sort_key)
        if len(seen) >= at_least:
            found.append(SizeRun(name, tuple(seen)))
    return found


def growth_of(run: SizeRun, *, least_bytes: int, still: float) -> Grown | None:
    """Return how an item grew, None where it ever shrank, grew by less, or has stopped.

    `still` is the part of its growth that must lie in the second half of what was seen: an item that was filled when it
    was made, and then stays, does not grow.
    """
    seen = run.seen
    most = list(accumulate((one.low for one in seen), max))
    shrank = any(one.high < before for before, one in zip(most, seen[1:], strict=False))
    grown = seen[-1].low - seen[0].high
    half = seen[len(seen) // 2]
    if shrank or grown < least_bytes or seen[-1].time == seen[0].time:
        return None
    if middle(seen[-1]) - middle(half) < still * (middle(seen[-1]) - middle(seen[0])):
        return None
    paces = [pace for pace in (_pace(a, b) for a, b in pairwise((seen[0], half, seen[-1]))) if pace is not None]
    value = _pace(seen[0], seen[-1]) or 0.0
    return Grown(run, Estimate(value, min(value, *paces), max(value, *paces)))


def _pace(first: SeenSize, last: SeenSize) -> float | None:
    """Return the bytes a second between two sizes, None where they have one time."""
    seconds = (last.time - first.time) / 1000
    return (middle(last) - middle(first)) / seconds if seconds else None


def appended_to(shape: Shape) -> str | None:
    """Return the attribute that an update adds to, None where it tells none."""
    for kind in _APPENDS:
        found = kind.search(shape.update or "")
        if found is not None:
            return str(found[1])
    return None
