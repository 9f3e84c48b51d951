"""Reads that guard a write: what was read is written under a condition right after."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from analyzer.traffic.sequences import SETTLE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.counts import KeyName
    from analyzer.model.target import Target

__all__ = ["guarding_share"]


def guarding_share(book: CallBook, target: Target, fingerprints: frozenset[str]) -> float:
    """Return the part of the reads of these shapes after which a conditional write of the same partition came.

    In the same trace, else by the same caller within a minute; 0 where no such read is here with what followed it.
    """
    waiting: dict[tuple[str | None, str], list[Call]] = defaultdict(list)
    reads = guarding = 0
    for call in book.of(target):
        if call.fingerprint in fingerprints and call.key is not None and (call.trace_whole or call.key_whole):
            reads += 1
            waiting[call.caller, call.key.partition].append(call)
        elif call.shape.writes:
            for key in _conditional(call):
                open_reads = waiting.pop((call.caller, key.partition), [])
                guarding += sum(_belongs(read, call) for read in open_reads)
    return guarding / reads if reads else 0.0


def _conditional(call: Call) -> Iterator[KeyName]:
    """Yield the keys that a call wrote, or checked, under a condition."""
    if call.condition is not None and call.key is not None:
        yield call.key
    yield from (part.key for part in call.parts if part.has_condition and part.key is not None)


def _belongs(read: Call, write: Call) -> bool:
    if read.trace is not None and write.trace is not None:
        return read.trace == write.trace
    return write.time - read.time <= SETTLE_MS
