"""Batches that were not processed whole, and what of them nobody sent again, by caller and operation."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from analyzer.traffic.sequences import handed_back

if TYPE_CHECKING:
    from analyzer.model.calls import Call, CallBook
    from analyzer.model.counts import KeyName
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.traffic.sequences import HandedBack

__all__ = ["Left", "left_behind"]


class Left(NamedTuple):
    """Of one caller and operation: batches, those that were handed back in part, and those of which some was left.

    `items` are keys or items that were never sent again.
    """

    caller: str | None
    operation: str
    batches: int
    handed_back: int
    left: tuple[HandedBack, ...]
    items: int


def left_behind(book: CallBook, target: Target, until: Instant) -> list[Left]:
    """Return what became of batches that can be followed and are settled; empty where there was none.

    A write that its caller makes again later, in whatever trace, is not lost: queues deliver again. A later read of the
    same key may be somebody else's, and helps nobody who waited.
    """
    groups: dict[tuple[str | None, str], list[HandedBack]] = defaultdict(list)
    for one in handed_back(book, target, until):
        if not one.is_open and one.call.operation in {"BatchWriteItem", "BatchGetItem"}:
            groups[one.call.caller, one.call.operation].append(one)
    batches = Counter((call.caller, call.operation) for call in book.of(target))
    return [_left(*name, batches[name], back, _Later(book, target)) for name, back in groups.items()]


class _Later:
    """Which keys a caller wrote when for the last time."""

    def __init__(self, book: CallBook, target: Target) -> None:
        self._by_key = book.by_key(target)

    def is_written(self, key: KeyName | None, call: Call) -> bool:
        """Whether the caller of a batch wrote a key of it again."""
        calls = () if key is None else self._by_key.get(key, ())
        return any(one.time > call.time and one.caller == call.caller and one.shape.writes for one in calls)


def _left(caller: str | None, operation: str, batches: int, back: list[HandedBack], later: _Later) -> Left:
    left, items = [], 0
    for one in back:
        missing = _missing(one, later) if one.is_dropped else 0
        if missing:
            left.append(one)
            items += missing
    return Left(caller, operation, batches, len(back), tuple(left), items)


def _missing(one: HandedBack, later: _Later) -> int:
    """Return how many keys or items were not sent again."""
    call = one.call
    if call.operation == "BatchGetItem":
        return len(one.missing) if one.missing is not None else call.unprocessed
    if one.missing is not None:
        return sum(not later.is_written(part.key, call) for part in one.missing)
    is_written = any(later.is_written(part.key, call) for part in call.parts)
    return 0 if is_written else call.unprocessed
