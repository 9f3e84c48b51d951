"""What whole sequences of calls show: pages followed or left, keys sent again or not, repeats, sizes, who follows whom.

Pure, and shared by the detectors. Only calls whose sequence is whole are looked at; what cannot be known yet because
the book ends too early is told as open, never as left.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from analyzer.knowledge.capacity import READ_BLOCK_BYTES, WRITE_BLOCK_BYTES
from analyzer.model.counts import KeyLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from analyzer.model.calls import Call, CallBook, CallPart, Calls
    from analyzer.model.counts import KeyName
    from analyzer.model.instant import Instant
    from analyzer.model.shape import Shape
    from analyzer.model.target import Target

__all__ = [
    "SETTLE_MS",
    "FanOut",
    "Follow",
    "HandedBack",
    "Page",
    "Repeated",
    "SeenSize",
    "fan_outs",
    "follows",
    "handed_back",
    "intervals",
    "pages",
    "repeats",
    "runs_by_key",
    "sizes",
]

SETTLE_MS = 60_000
"""What a minute has not taken up is left: records may be out of order by as much, and no caller waits longer."""

_READS = frozenset({"GetItem", "Query"})


class Page(NamedTuple):
    """A call whose answer said that there was more; `follower` took it up. Open: it may still be taken up."""

    call: Call
    follower: Call | None
    is_open: bool

    @property
    def is_left(self) -> bool:
        """Whether nobody took it up, and nobody will."""
        return self.follower is None and not self.is_open


def pages(book: CallBook, target: Target, until: Instant) -> list[Page]:
    """Return every page at a target that had more, in the order of time.

    The next page comes from the same trace, else from the same caller within a minute, with the same key and the same
    shape but for the limit. What is younger than a minute at `until` is open unless it was taken up.
    """
    waiting: dict[tuple[object, ...], list[Call]] = defaultdict(list)
    followers: dict[int, Call] = {}
    shapes: dict[str, Shape] = {}
    opened = []
    for call in book.of(target):
        name = _page_name(call, shapes)
        if name is None:
            continue
        before = waiting[name]
        if call.resumed and before:
            last = before.pop()
            if call.trace_whole or call.time - last.time <= SETTLE_MS:
                followers[id(last)] = call
        if call.more:
            before.append(call)
            opened.append(call)
    return [
        Page(call, follower, follower is None and call.time > until - SETTLE_MS)
        for call in opened
        for follower in (followers.get(id(call)),)
    ]


def _page_name(call: Call, shapes: dict[str, Shape]) -> tuple[object, ...] | None:
    """Return what a call shares with the next page of what it reads; None where its sequence is not whole."""
    if not call.is_whole:
        return None
    if call.fingerprint not in shapes:
        shapes[call.fingerprint] = msgspec.structs.replace(call.shape, fingerprint="", limit_bucket=None)
    shape = shapes[call.fingerprint]
    return (call.trace, call.key, shape) if call.trace_whole else (None, call.caller, call.key, shape)


class HandedBack(NamedTuple):
    """A batch of which something came back unprocessed.

    `missing` are the parts that were not sent again, None where it is not known which came back; `is_sent_again` tells
    whether anything that came back was. Open: it may still be.
    """

    call: Call
    missing: tuple[CallPart, ...] | None
    is_sent_again: bool
    is_open: bool

    @property
    def is_dropped(self) -> bool:
        """Whether something was never sent again, and will not be."""
        lacks = bool(self.missing) if self.missing is not None else not self.is_sent_again
        return lacks and not self.is_open


def handed_back(book: CallBook, target: Target, until: Instant) -> list[HandedBack]:
    """Return what became of the batches at a table that were not processed whole.

    What came back is sent again in the same trace, else by the same caller within a minute, in a batch or one by one.
    Without a trace that is known only where every call is in the book.
    """
    found = []
    of_table = book.of(target)
    after: dict[object, list[Call]] = defaultdict(list)
    has_all = book.share >= 1
    for call in reversed(of_table):
        if call.trace_whole:
            name: object = call.trace
        elif has_all and call.is_whole:
            name = (call.caller,)
        else:
            continue
        if call.unprocessed:
            reach = None if call.trace_whole else call.time + SETTLE_MS
            later = [one for one in reversed(after[name]) if reach is None or one.time <= reach]
            found.append(_handed_back(call, later, until))
        after[name].append(call)
    return found[::-1]


def _handed_back(call: Call, later: Sequence[Call], until: Instant) -> HandedBack:
    again = {key for one in later for key in (one.key, *(part.key for part in one.parts)) if key is not None}
    back = [part for part in call.parts if part.is_handed_back and part.key is not None]
    is_open = call.time > until - SETTLE_MS
    if back:
        missing = tuple(part for part in back if part.key not in again)
        return HandedBack(call, missing, len(missing) < len(back), is_open)
    is_sent_again = any(_may_send_again(call, one) for one in later)
    return HandedBack(call, None, is_sent_again, is_open)


def _may_send_again(call: Call, later: Call) -> bool:
    """Whether a batch may hold what another one got back: its keys are among that one's, as far as they are known."""
    if later.operation != call.operation:
        return False
    first = {part.key for part in call.parts if part.key is not None}
    second = {part.key for part in later.parts if part.key is not None}
    return not first or not second or bool(first & second)


class Repeated(NamedTuple):
    """Calls of one caller that asked the same, in the order of time."""

    caller: str | None
    fingerprint: str
    key: KeyName | None
    calls: Calls


def repeats(calls: Iterable[Call], *, has_all: bool = False) -> list[Repeated]:
    """Return what was asked more than once by one caller: the same shape, key and values.

    With `has_all` (a book whose share is 1) calls count that belong to nothing but a trace; else of those more may have
    come than are here. First pages alone count: to read on is no repeat.
    """
    found: dict[tuple[str | None, str, KeyName | None, str], list[Call]] = defaultdict(list)
    for call in calls:
        is_whole = call.key_whole or call.shape_whole or (has_all and call.is_whole)
        if is_whole and not call.resumed and _is_told(call):
            found[call.caller, call.fingerprint, call.key, call.asked].append(call)
    return [Repeated(*name[:3], tuple(same)) for name, same in found.items() if len(same) > 1]


def _is_told(call: Call) -> bool:
    """Whether it is known what a call asked: of a statement only parameters that are compared with keys are kept."""
    return call.key is not None or "?" not in (call.shape.statement or "")


def intervals(calls: Sequence[Call]) -> list[float]:
    """Return the seconds between each call and the next."""
    times = [call.time for call in calls]
    return [(later - earlier) / 1000 for earlier, later in pairwise(times)]


def runs_by_key(book: CallBook, target: Target) -> Mapping[KeyName, Calls]:
    """Return the calls at each key of a target of which all calls are here, in the order of time.

    Batches and transactions among them stand at the keys of their parts, but others of them may be missing.
    """
    return {key: calls for key, calls in book.by_key(target).items() if any(call.key_whole for call in calls)}


class SeenSize(NamedTuple):
    """How large an item was, between bounds in bytes; `is_exact` where its size was told."""

    time: Instant
    low: int
    high: int
    call: Call

    @property
    def is_exact(self) -> bool:
        """Whether the size was told."""
        return self.low == self.high


def sizes(calls: Iterable[Call], *, has_sort_key: bool) -> list[SeenSize]:
    """Return what calls at one key tell of the size of its item, in their order: told, else from the units.

    A write costs the larger of the item before and after: what a DeleteItem costs is no size that is still there. A
    table without a sort key has one item a partition key. Failed calls and those of a Query tell nothing.
    """
    found = []
    for call in calls:
        is_item = call.key is not None and (call.key.level is KeyLevel.ITEM or not has_sort_key)
        if not is_item or call.failed or call.operation == "DeleteItem":
            continue
        size = _size(call)
        if size is not None:
            found.append(size)
    return found


def _size(call: Call) -> SeenSize | None:
    if call.item_bytes is not None and call.operation in {"PutItem", "UpdateItem", "GetItem"}:
        return SeenSize(call.time, call.item_bytes, call.item_bytes, call)
    if call.operation in {"PutItem", "UpdateItem"} and call.write_units:
        return SeenSize(call.time, *_blocks(call.write_units, WRITE_BLOCK_BYTES), call)
    if call.operation == "GetItem" and call.read_units and call.count != 0 and call.consistent is not None:
        blocks = call.read_units if call.consistent else call.read_units * 2
        return SeenSize(call.time, *_blocks(blocks, READ_BLOCK_BYTES), call)
    return None


def _blocks(blocks: float, size: int) -> tuple[int, int]:
    """Return the least and most bytes that round up to so many blocks."""
    return round((blocks - 1) * size) + 1, round(blocks * size)


class Follow(NamedTuple):
    """A call, and the first one after it in the same trace that fits."""

    first: Call
    then: Call

    @property
    def after_ms(self) -> int:
        """How much later it came."""
        return self.then.time - self.first.time


def follows(
    book: CallBook,
    is_first: Callable[[Call], bool],
    is_then: Callable[[Call, Call], bool],
    within_ms: int | None = None,
) -> Iterator[Follow]:
    """Yield who follows whom in a trace: for each first call the next one that fits it, in whatever table."""
    for calls in book.by_trace().values():
        for at, first in enumerate(calls):
            if not is_first(first):
                continue
            for then in calls[at + 1 :]:
                if within_ms is not None and then.time - first.time > within_ms:
                    break
                if is_then(first, then):
                    yield Follow(first, then)
                    break


class FanOut(NamedTuple):
    """A Query or Scan, and the reads of one shape after it in its trace, one key each where keys are known."""

    first: Call
    reads: Calls


def fan_outs(book: CallBook, target: Target, at_least: int) -> list[FanOut]:
    """Return where a Query or Scan of a target was followed in its trace by so many reads of one shape, on any table.

    Reads of one item or of one partition count, a further page or the same key again does not; where keys are not
    known each of them counts. They belong to the last Query or Scan of another shape before them, else to the first of
    their own where it returned so many items.
    """
    found = []
    for calls in book.traces_at(target):
        if len(calls) <= at_least:  # most traces: what is read and what came before it are more
            continue
        for first, reads in _fans(calls):
            if first.target == target and len(reads) >= at_least:
                found.append(FanOut(first, tuple(reads)))
    return found


def _fans(calls: Calls) -> Iterator[tuple[Call, list[Call]]]:
    """Give the reads of a trace to what came before them; the reads of a fan are not beginnings of their own."""
    by_shape: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call.operation in {"Query", "Scan", "GetItem"} and not call.resumed:
            by_shape[call.fingerprint].append(call)
    starts = [call for call in calls if call.operation in {"Query", "Scan"} and not call.resumed]
    for fingerprint, reads in by_shape.items():
        each = {read.key or id(read): read for read in reversed(reads) if read.operation in _READS}
        distinct = list(each.values())[::-1]
        begins = [one for one in starts if one.fingerprint != fingerprint and one.time <= reads[0].time]
        if begins:
            yield begins[-1], distinct
        elif distinct and _is_listed_by_its_first(distinct):
            yield distinct[0], distinct[1:]


def _is_listed_by_its_first(reads: Sequence[Call]) -> bool:
    """Whether the first of the reads may have returned what the others ask for; those without keys may all ask that."""
    first = reads[0]
    return first.operation == "Query" and first.key is not None and (first.count or 0) >= len(reads) - 1
