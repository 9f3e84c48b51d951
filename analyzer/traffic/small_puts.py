"""Small items that are put together: one caller puts several under one partition key, one right after the other."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.capacity import write_units
from analyzer.model.counts import KeyLevel, KeyName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target

__all__ = ["PutGroup", "SmallPuts", "small_puts"]

_PUTS = frozenset({"PutItem", "BatchWriteItem"})


class PutGroup(NamedTuple):
    """Items of one partition key that were put together, with their sizes in bytes; `call` is the first."""

    call: Call
    sizes: tuple[int, ...]

    @property
    def units(self) -> float:
        """What they cost one by one."""
        return sum(write_units(0, size) for size in self.sizes)

    @property
    def units_as_one(self) -> float:
        """What they would cost as one item."""
        return write_units(0, sum(self.sizes))


class SmallPuts(NamedTuple):
    """All puts of one shape and caller that the book holds whole.

    `puts` items, `sized` of them of known size, in so many `calls`; `units` is what they cost altogether.
    """

    call: Call
    calls: int
    puts: int
    sized: int
    units: float
    groups: tuple[PutGroup, ...]

    @property
    def grouped_share(self) -> float:
        """The part of the items that was put together with others."""
        return sum(len(group.sizes) for group in self.groups) / self.puts

    @property
    def saved_share(self) -> float:
        """The part of all units that would be saved with one item a group."""
        return sum(group.units - group.units_as_one for group in self.groups) / self.units


class _Put(NamedTuple):
    time: Instant
    call: Call
    key: KeyName
    size: int | None
    units: float


def small_puts(book: CallBook, target: Target, *, most_bytes: int, within_ms: int) -> list[SmallPuts]:
    """Return the puts at a table by shape and caller, those of at most so many bytes in groups.

    What belongs together has one caller, one partition key and, where traces are known, one trace, and came within a
    moment; an item that is put twice in it counts once.
    """
    by_writer: dict[tuple[str, str | None], list[_Put]] = defaultdict(list)
    for call in book.of(target):
        if call.operation in _PUTS and call.is_whole and not call.failed:
            by_writer[call.fingerprint, call.caller].extend(_puts(call))
    return [
        SmallPuts(
            call=puts[0].call,
            calls=len({id(put.call) for put in puts}),
            puts=len(puts),
            sized=sum(put.size is not None for put in puts),
            units=sum(put.units for put in puts),
            groups=tuple(_groups(puts, most_bytes, within_ms)),
        )
        for puts in by_writer.values()
        if puts
    ]


def _puts(call: Call) -> list[_Put]:
    """Return the items that a call put; what one of unknown size cost is its part of the call's units."""
    named = [(call.key, call.item_bytes)]
    named += [(part.key, part.item_bytes) for part in call.parts if part.operation == "Put"]
    even = max((call.write_units or 0.0) / max(len(call.parts), 1), 1.0)
    return [
        _Put(call.time, call, key, size, even if size is None else write_units(0, size))
        for key, size in named
        if key is not None
    ]


def _groups(puts: list[_Put], most_bytes: int, within_ms: int) -> Iterator[PutGroup]:
    """Yield groups of two and more, of puts in the order of time."""
    opened: dict[tuple[str | None, str], dict[KeyName, _Put]] = {}
    for put in puts:
        if put.size is None or put.size > most_bytes or put.key.level is not KeyLevel.ITEM:
            continue
        name = (put.call.trace, put.key.partition)
        group = opened.get(name)
        if group is not None and put.time - next(iter(group.values())).time > within_ms:
            yield from _closed(group)
            group = None
        if group is None:
            group = opened[name] = {}
        group[put.key] = put
    for group in opened.values():
        yield from _closed(group)


def _closed(group: dict[KeyName, _Put]) -> Iterator[PutGroup]:
    if len(group) > 1:
        puts = list(group.values())
        yield PutGroup(puts[0].call, tuple(put.size or 0 for put in puts))
