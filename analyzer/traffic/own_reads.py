"""Reads of an index right after a write of their own trace: what they returned, and what came of it.

An index is written after its table, within a fraction of a second as a rule (Developer Guide, "Using Global Secondary
Indexes in DynamoDB", read 2026-11-30): a read in between sees the index as it was.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.operations import WRITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.calls import Call, CallBook, Calls
    from analyzer.model.counts import KeyName
    from analyzer.model.traffic import Traffic

__all__ = ["OwnRead", "own_reads"]

_FAILED_CONDITIONS = frozenset({"ConditionalCheckFailedException", "ConditionalCheckFailed"})


class OwnRead(NamedTuple):
    """A write, and a read of the index after it in its trace.

    `is_stale` says whether what was returned shows the index as it was before, None where that cannot be told. `failed`
    is a conditional write after the read that lost, on an item that the write or the read named.
    """

    write: Call
    read: Call
    is_stale: bool | None
    failed: Call | None

    @property
    def after_ms(self) -> int:
        """How much later the read came."""
        return self.read.time - self.write.time


def own_reads(traffic: Traffic, within_ms: int, then_ms: int) -> list[OwnRead]:
    """Return the reads of an index that follow a write which concerns them, in the order of their traces.

    `then_ms` is how long after the read a failed condition still belongs to it. Calls of one trace alone are compared.
    """
    book = traffic.calls
    if book is None:
        return []
    has_index_keys = _tells_index_keys(book, traffic)
    found = []
    for calls in book.traces_at(traffic.target):
        for at, read in enumerate(calls):
            if read.target != traffic.target or read.failed or read.operation in WRITES or read.resumed:
                continue
            write = _write_before(calls[:at], read, traffic, within_ms, has_index_keys=has_index_keys)
            if write is not None:
                failed = _failed_after(calls[at + 1 :], write, read, then_ms)
                found.append(OwnRead(write, read, _is_stale(write, read, traffic), failed))
    return found


def _tells_index_keys(book: CallBook, traffic: Traffic) -> bool:
    """Whether the log tells the index keys of written items: a write without them is then none of the index."""
    index = traffic.target.index
    calls = book.of(traffic.target.base)
    return any(name == index for call in calls for name, _ in call.index_keys)


def _write_before(calls: Calls, read: Call, traffic: Traffic, within_ms: int, *, has_index_keys: bool) -> Call | None:
    """Return the last write before a read that concerns it."""
    for call in reversed(calls):
        if read.time - call.time > within_ms:
            return None
        is_write = call.operation in WRITES and not call.failed and call.target == traffic.target.base
        is_done = call.time + (call.latency_ms or 0) <= read.time
        if is_write and is_done and _concerns(call, read, traffic, has_index_keys=has_index_keys):
            return call
    return None


def _concerns(write: Call, read: Call, traffic: Traffic, *, has_index_keys: bool) -> bool:
    if write.key is not None and write.key in _returned(read):
        return True
    entry = _entry(write, traffic)
    if entry is not None and read.key is not None and entry.partition == read.key.partition:
        return True
    is_put = write.operation == "PutItem"
    if is_put and (entry is not None or has_index_keys):
        return False
    texts = [text for text in (write.shape.update, *(part.update for part in write.shape.parts)) if text]
    if write.operation == "UpdateItem" or (texts and all(part.operation == "Update" for part in write.shape.parts)):
        return any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts for name in _key_attributes(traffic))
    return True


def _key_attributes(traffic: Traffic) -> tuple[str, ...]:
    return (*traffic.place.partition_key, *traffic.place.sort_key)


def _entry(write: Call, traffic: Traffic) -> KeyName | None:
    return next((key for name, key in write.index_keys if name == traffic.target.index), None)


def _returned(read: Call) -> frozenset[KeyName]:
    return frozenset(item.key for item in read.returned or ())


def _is_stale(write: Call, read: Call, traffic: Traffic) -> bool | None:
    """Whether an item is missing that the write put under the key read, or still there though it left it."""
    if read.returned is None or write.key is None or read.key is None:
        return None
    is_there = write.key in _returned(read)
    entry = _entry(write, traffic)
    if write.operation == "DeleteItem":
        return is_there
    if entry is None:
        return None
    is_wanted = entry.partition == read.key.partition
    return None if not is_there and not _is_whole_answer(read) else is_there is not is_wanted


def _is_whole_answer(read: Call) -> bool:
    """Whether everything under the key was returned, and told."""
    is_cut = read.more or read.shape.filter is not None or read.sort_operator is not None or read.key is None
    return (
        not is_cut and read.key is not None and read.key.sort is None and (read.count or 0) <= len(read.returned or ())
    )


def _failed_after(calls: Calls, write: Call, read: Call, within_ms: int) -> Call | None:
    named = {*_returned(read), *([write.key] if write.key is not None else [])}
    for call in calls:
        if call.time - read.time > within_ms:
            return None
        is_lost = call.error in _FAILED_CONDITIONS or bool(_FAILED_CONDITIONS & set(call.cancellation))
        if is_lost and call.target == write.target and (not named or not _keys(call) or named & set(_keys(call))):
            return call
    return None


def _keys(call: Call) -> list[KeyName]:
    return list(_all_keys(call))


def _all_keys(call: Call) -> Iterator[KeyName]:
    if call.key is not None:
        yield call.key
    yield from (part.key for part in call.parts if part.key is not None)
