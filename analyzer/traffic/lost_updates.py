"""Items that are read, changed in the caller and put back whole: what others wrote in between is lost, unseen."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.counts import KeyName
    from analyzer.model.target import Target

__all__ = ["PutBack", "put_backs"]


class PutBack(NamedTuple):
    """A read of an item and the unconditional put of it in the same trace; `between` are writes of it by others."""

    read: Call
    put: Call
    between: tuple[Call, ...]


def put_backs(book: CallBook, target: Target) -> dict[tuple[str | None, str], list[PutBack]]:
    """Return what was put back without a condition, by caller and shape of the put.

    A read that found nothing is followed by a new item, and takes nothing from anybody.
    """
    found: dict[tuple[str | None, str], list[PutBack]] = defaultdict(list)
    by_key = book.by_key(target)
    for calls in book.traces_at(target):
        reads: dict[KeyName, Call] = {}
        for call in calls:
            if call.target != target or call.failed:
                continue
            if call.operation in {"GetItem", "BatchGetItem"}:
                reads |= dict.fromkeys(_keys(call), call) if call.count != 0 else {}
            elif call.operation == "PutItem" and call.key is not None:
                read = reads.pop(call.key, None)
                if read is not None and call.condition is None:
                    found[call.caller, call.fingerprint].append(_put_back(read, call, by_key.get(call.key, ())))
            elif call.shape.writes:
                for key in _keys(call):
                    reads.pop(key, None)
    return dict(found)


def _keys(call: Call) -> list[KeyName]:
    return [key for key in (call.key, *(part.key for part in call.parts)) if key is not None]


def _put_back(read: Call, put: Call, at_key: Iterable[Call]) -> PutBack:
    """Find the writes of others that came after the read was answered and before the put."""
    seen = read.time + (read.latency_ms or 0)
    others = (call for call in at_key if call.trace != put.trace and call.shape.writes and not call.failed)
    return PutBack(read, put, tuple(call for call in others if seen < call.time < put.time))
