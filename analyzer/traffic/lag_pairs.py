"""Writes of items beside reads of an index that must show them, or must not yet: how old a write was, and was it seen.

A pair counts where nothing but the index's lag decides what the read returns: every write of the item is known, none
lies between the two, the read asked for the whole key without a filter and got its last page, and its keys are told.
What a write changes in the index is known from the index keys of the item before and after; where it leaves them as
they are, from a version that the reads return.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.operations import WRITES
from analyzer.knowledge.throttling import is_throttle
from analyzer.model.counts import KeyLevel, KeyName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from analyzer.model.batch import LagProbe
    from analyzer.model.calls import Call, Calls
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

__all__ = ["LagPair", "lag_pairs", "probe_pairs"]

_NOT_DONE = frozenset({"ConditionalCheckFailedException", "ValidationException", "AccessDeniedException"})
"""Errors after which nothing was written, throttles beside them; after others it may have been."""

_WITHIN_MS = 600_000
"""A lag beyond ten minutes is told as such; pairs that are older say no more."""

_SETTLED_MS = 30_000
"""So long after a write its version is taken to be the one that is returned, where no other was known."""

_UNKNOWN = "unknown"
"""The state of an entry of which nothing is known: neither a key nor absent."""

_State = KeyName | str | None
"""Where an item stands in the index: its key there, None where it is not in it."""


class LagPair(NamedTuple):
    """A read of the index after a write: the write's age is between bounds in seconds, told by when both were answered.

    `key` names the item, `write` the write, which was made at `time`; pairs of one item are not independent.
    """

    key: KeyName
    write: int
    low: float
    high: float
    is_fresh: bool
    time: Instant = 0

    @property
    def age(self) -> float:
        """The middle of the bounds, in seconds."""
        return (self.low + self.high) / 2


def lag_pairs(traffic: Traffic, skew_ms: float = 0.0) -> Iterator[LagPair]:
    """Yield every pair of an index; `skew_ms` is by how much the clocks of writers and readers may differ."""
    book, target = traffic.calls, traffic.target
    if book is None:
        return
    reads = _reads(book.of(target))
    if not reads:
        return
    of_table = book.of(target.base)
    is_batched = any(call.parts and call.operation in WRITES for call in of_table)
    if is_batched and (book.share < 1 or any(call.sample_rate < 1 for call in of_table)):
        return  # batches are never kept by key: some may be missing
    pattern = _of_key(traffic)
    tells = any(name == target.index for call in of_table for name, _ in call.index_keys)
    number = 0
    for key, calls in book.by_key(target.base).items():
        writes = [call for call in calls if call.operation in WRITES and _was_done(call)]
        if not writes or not any(call.key_whole for call in writes):
            continue
        item = _Item(key, target, pattern, tells_keys=tells)
        for at, write in enumerate(writes):
            until = writes[at + 1].time if at + 1 < len(writes) else write.time + _WITHIN_MS
            number += 1
            for read, is_fresh in item.after(write, reads, until):
                low = max(0.0, read.time - _answered(write) - skew_ms) / 1000
                high = (_answered(read) - write.time + skew_ms) / 1000
                yield LagPair(key, number, low, high, is_fresh, write.time)


def probe_pairs(probes: Iterable[LagProbe]) -> Iterator[LagPair]:
    """Yield the pairs of the canary: each write is of an item of its own, with a number apart from those of a log."""
    for number, probe in enumerate(probes, 1):
        key = KeyName(KeyLevel.ITEM, probe.key, str(number))
        for low, high, is_fresh in probe.polls:
            yield LagPair(key, -number, low / 1000, high / 1000, is_fresh, probe.time)


def _reads(calls: Calls) -> Mapping[str, Calls]:
    """Return the reads whose answer is whole and told, by the partition key of the index, in the order of time."""
    found: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        is_cut = call.more or call.resumed or call.shape.filter is not None or call.sort_operator is not None
        is_told = call.returned is not None and (call.count or 0) <= len(call.returned)
        if call.operation == "Query" and call.key is not None and not call.failed and not is_cut and is_told:
            found[call.key.partition].append(call)
    return {partition: tuple(reads) for partition, reads in found.items()}


def _of_key(traffic: Traffic) -> re.Pattern[str]:
    """Return what finds an attribute of the index's key in the text of an update."""
    names = (*traffic.place.partition_key, *traffic.place.sort_key)
    return re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names) if names else r"(?!)")


def _was_done(call: Call) -> bool:
    return not (call.error in _NOT_DONE or is_throttle(call.error))


def _answered(call: Call) -> float:
    return call.time + (call.latency_ms or 0.0)


class _Item:
    """Follows one item through its writes: where it stands in the index, and what reads have shown of that.

    `_is_shown` says that a read has shown the last change of its key: before that the index may still be where it was
    two writes ago. `_is_newest_seen` says the same of versions: one that was not seen must then be of a later write.
    """

    def __init__(self, key: KeyName, target: Target, of_key: re.Pattern[str], *, tells_keys: bool) -> None:
        self._key = key
        self._index = target.index
        self._of_key = of_key
        self._tells_keys = tells_keys
        self._state: _State = _UNKNOWN
        self._been: set[str | None] = set()
        self._was_elsewhere = False
        self._is_shown = False
        self._versions: frozenset[str] = frozenset()
        self._is_newest_seen = False

    def after(self, write: Call, reads: Mapping[str, Calls], until: int) -> Iterator[tuple[Call, bool]]:
        """Yield the reads that one write alone decides, until the next; each with whether it shows the write."""
        before, now = self._moved(write)
        there = _between(reads, now, write, until) if isinstance(now, KeyName) else []
        if _UNKNOWN in {before, now}:
            self._begin(write, there)
        elif _partition(before) == _partition(now):
            yield from self._by_version(there)
        else:
            gone = _between(reads, before, write, until) if isinstance(before, KeyName) else []
            yield from self._by_key(now, there, gone)
        self._been.add(_partition(now))

    def _by_key(self, now: _State, there: list[Call], gone: list[Call]) -> Iterator[tuple[Call, bool]]:
        """Yield reads of the key that the item came to, and of the key that it left."""
        pairs = []
        is_new_there = not self._was_elsewhere and _partition(now) not in self._been
        if self._is_shown or is_new_there:
            pairs += [(read, self._version_in(read) is not _ABSENT) for read in there]
        if self._is_shown:
            pairs += [(read, self._version_in(read) is _ABSENT) for read in gone]
        yield from pairs
        self._is_shown = any(is_fresh for _, is_fresh in pairs)
        self._versions = self._versions_in(there)  # its entry is new, and bears no older version
        self._is_newest_seen = self._is_shown and bool(self._versions)

    def _moved(self, write: Call) -> tuple[_State, _State]:
        """Return where the item stood before a write and where it stands after it."""
        before: _State = self._state
        if write.operation == "PutItem" and "attribute_not_exists" in (write.condition or ""):
            before = None
            self._is_shown = before == self._state and self._is_shown
        self._state = self._stands(write, before)
        return before, self._state

    def _stands(self, write: Call, before: _State) -> _State:
        if write.failed or write.parts:
            return _UNKNOWN
        if write.operation == "DeleteItem":
            return None
        entry = next((key for name, key in write.index_keys if name == self._index), None)
        if entry is not None:
            return entry
        if write.operation == "PutItem":
            return None if self._tells_keys else _UNKNOWN
        return _UNKNOWN if self._of_key.search(write.shape.update or "") else before

    def _begin(self, write: Call, reads: list[Call]) -> None:
        """Learn which versions there are, where nothing was known before: the last is the write's, once it settled."""
        self._was_elsewhere = True
        is_settled = bool(reads) and reads[-1].time - write.time >= _SETTLED_MS
        self._is_shown = is_settled and self._version_in(reads[-1]) is not _ABSENT
        self._versions = self._versions_in(reads)
        self._is_newest_seen = is_settled and bool(self._versions)

    def _by_version(self, reads: list[Call]) -> Iterator[tuple[Call, bool]]:
        """Yield reads that return a version: one that was seen before the write is old, any other is the write's."""
        before = self._versions
        if self._is_newest_seen:
            for read in reads:
                version = self._version_in(read)
                if isinstance(version, str):
                    yield read, version not in before
        now = self._versions_in(reads)
        self._is_newest_seen = self._is_newest_seen and bool(now - before)
        self._versions = before | now

    def _versions_in(self, reads: list[Call]) -> frozenset[str]:
        return frozenset(version for read in reads if isinstance(version := self._version_in(read), str))

    def _version_in(self, read: Call) -> object:
        """Return the version of the item in an answer, None where it bears none."""
        return next((item.version for item in read.returned or () if item.key == self._key), _ABSENT)


_ABSENT = object()
"""An answer without the item."""


def _partition(state: _State) -> str | None:
    return state.partition if isinstance(state, KeyName) else None


def _between(reads: Mapping[str, Calls], entry: KeyName, write: Call, until: int) -> list[Call]:
    """Return the reads of an entry's key that began after a write was answered, and ended before the next began."""
    calls = reads.get(entry.partition, ())
    at = bisect_left(calls, _answered(write), key=lambda call: call.time)
    found = []
    for call in calls[at:]:
        if _answered(call) > until:
            break
        if call.key is not None and call.key.sort in {None, entry.sort}:
            found.append(call)
    return found
