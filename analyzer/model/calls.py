"""The call book: a bounded sample of whole sequences of calls, for what no sum can tell.

A call has *names*: its trace, and its table or index with its partition key; a call with neither is named by caller and
shape. The book holds all calls of a name or none of them, and which names it holds follows from their hashes alone.
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.model.counts import KeyName
from analyzer.model.instant import Instant
from analyzer.model.shape import Shape
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Call", "CallBook", "CallPart", "CallTry", "Calls", "DeferredBook", "Notable", "ReturnedItem", "TtlValue"]


class Notable(StrEnum):
    """Why a call was kept whatever its names; the first that holds. Each kind is a sample of its own."""

    UNPROCESSED = "unprocessed"  # keys or items were handed back
    CANCELED = "canceled"  # a canceled transaction
    LARGE = "large"  # an item of 350 KB or more
    EXPIRED = "expired"  # expired items were returned
    THROTTLED = "throttled"  # it ended in a throttle
    FAILED = "failed"  # it ended in another error
    TTL = "ttl"  # an item with a time to live was written


class CallTry(Struct, frozen=True, gc=False):
    """One failed try; `at_ms` counts from the call's time."""

    at_ms: float | None
    code: str | None


class ReturnedItem(Struct, frozen=True, gc=False):
    """One item that a read returned: its key in the base table, as collected, and its version where it has one."""

    key: KeyName
    version: str | None


class TtlValue(Struct, frozen=True, kw_only=True, gc=False):
    """What was seen of the time-to-live attribute: of an item written its value, of items returned how many expired.

    `type` is DynamoDB's (`N`, `S` …), `number` the value where it is a number or a text that reads as one.
    """

    attribute: str | None = None
    type: str | None = None
    number: float | None = None
    expired_returned: int | None = None


class CallPart(Struct, frozen=True, kw_only=True, gc=False):
    """One member of a batch or transaction, at `position` in the request.

    `canceled` is its code in a canceled transaction (None: not its fault, or not known), `is_handed_back` tells
    whether it came back unprocessed (None: not known).
    """

    position: int
    operation: str
    table: str
    key: KeyName | None = None
    item_bytes: int | None = None
    has_condition: bool = False
    canceled: str | None = None
    is_handed_back: bool | None = None


class Call(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call at one table or index; a call over several tables is one at each, with its `parts` there alone.

    Of `trace_whole`, `key_whole` and `shape_whole` each says that the log and the book hold *all* calls of that trace;
    of that target and partition key; of that caller and shape (only calls that have neither trace nor key). Batches and
    transactions are never held by key. Where none is true, the call is here because it is `notable`, and nothing may be
    concluded from what did not follow it.

    `target` is where its units were consumed (a local index: the table), `shape.index` what was asked. `trace` is
    opaque. `key` is as collected (tokens where keys are tokens); of a Query what is bound by equality. `asked` is equal
    for calls of one shape that asked the same, values of the key condition included. `more` and `resumed` tell of pages
    (False: no, or not known). `members` counts all parts of the request, `parts` are those at this table. `unprocessed`
    and `cancellation` (codes by position) are the whole request's. `index_keys` are the keys of the item written in its
    indexes. Units are those of `target` alone. What is None, or an empty tuple, is not known or was not there.
    """

    time: Instant
    target: Target
    shape: Shape
    caller: str | None = None
    trace: str | None = None
    key: KeyName | None = None
    asked: str = ""
    trace_whole: bool = False
    key_whole: bool = False
    shape_whole: bool = False
    notable: Notable | None = None
    sample_rate: float = 1.0
    count: int | None = None
    scanned: int | None = None
    limit: int | None = None
    more: bool = False
    resumed: bool = False
    unprocessed: int = 0
    item_bytes: int | None = None
    returned_bytes: int | None = None
    latency_ms: float | None = None
    attempts: int | None = None
    tries: tuple[CallTry, ...] = ()
    error: str | None = None
    message: str = ""
    cancellation: tuple[str | None, ...] = ()
    members: int = 0
    parts: tuple[CallPart, ...] = ()
    index_keys: tuple[tuple[str, KeyName], ...] = ()
    returned: tuple[ReturnedItem, ...] | None = None
    token_sent: bool | None = None
    ttl: TtlValue | None = None
    read_units: float | None = None
    write_units: float | None = None

    @property
    def fingerprint(self) -> str:
        """The id of its shape."""
        return self.shape.fingerprint

    @property
    def operation(self) -> str:
        """The API operation."""
        return self.shape.operation

    @property
    def condition(self) -> str | None:
        """The canonical text of its condition; those of parts stand in the shape."""
        return self.shape.condition

    @property
    def sort_operator(self) -> str | None:
        """The operator of the condition that is no equality: of a Query, that on the sort key."""
        return next((predicate.operator for predicate in self.shape.key if predicate.operator != "="), None)

    @property
    def consistent(self) -> bool | None:
        """Whether it asked for a strong read."""
        return self.shape.consistent

    @property
    def units(self) -> float | None:
        """Its capacity units at this target, read or written; None where it did not tell them."""
        if self.read_units is None and self.write_units is None:
            return None
        return (self.read_units or 0.0) + (self.write_units or 0.0)

    @property
    def is_whole(self) -> bool:
        """Whether all calls of one of its names are here."""
        return self.trace_whole or self.key_whole or self.shape_whole

    @property
    def failed(self) -> bool:
        """Whether it ended in an error."""
        return self.error is not None


Calls = tuple[Call, ...]
"""Calls in the order of their times."""


class CallBook:
    """Calls in the order of their times, and how much of all calls they are; what is asked for is computed once.

    `share` is the part of all names that is here with all their calls since `since` (None: since the log began), 1.0
    where nothing had to go; of a name with very many calls the newest are kept. `notable` is the share of each kind of
    notable call that is here. `dropped` counts the calls that were seen and are not here.
    """

    def __init__(
        self,
        calls: Iterable[Call] = (),
        *,
        share: float = 1.0,
        notable: Mapping[Notable, float] | None = None,
        since: Instant | None = None,
        dropped: int = 0,
    ) -> None:
        self.calls: Calls = tuple(calls)
        self.share = share
        self.notable: Mapping[Notable, float] = dict.fromkeys(Notable, 1.0) | dict(notable or {})
        self.since = since
        self.dropped = dropped

    def __len__(self) -> int:
        return len(self.calls)

    def __eq__(self, other: object) -> bool:
        """Two books are equal where they tell the same."""
        if not isinstance(other, CallBook):
            return NotImplemented
        mine, theirs = ((one.calls, one.share, one.notable, one.since, one.dropped) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"CallBook({len(self.calls)} calls, share={self.share}, since={self.since}, dropped={self.dropped})"

    def at_home(self, home: Callable[[Target], Target], name: Callable[[str | None], str | None]) -> CallBook:
        """Return the book with every target at its home, and every caller by the name that the contract knows."""
        places = {(call.target, call.caller) for call in self.calls}
        homes = {place: (home(place[0]), name(place[1])) for place in places}
        moved = {place: there for place, there in homes.items() if place != there}
        if not moved:
            return self
        calls = [
            msgspec.structs.replace(call, target=there[0], caller=there[1])
            if (there := moved.get((call.target, call.caller))) is not None
            else call
            for call in self.calls
        ]
        return CallBook(calls, share=self.share, notable=self.notable, since=self.since, dropped=self.dropped)

    def of(self, target: Target) -> Calls:
        """Return the calls at a table or index."""
        return self._of_target.get(target, ())

    def by_trace(self) -> Mapping[str, Calls]:
        """Return the calls of each trace that is here with all its calls."""
        return self._by_trace

    def traces_at(self, target: Target) -> Sequence[Calls]:
        """Return the calls of each such trace that has any at a table or index."""
        return self._traces_at.get(target, ())

    def by_key(self, target: Target) -> Mapping[KeyName, Calls]:
        """Return the calls at each key of a target, as whole as each call says.

        A call with parts stands at the key of each of them. Look at `key_whole` before concluding from an absence.
        """
        return self._by_key.get(target, {})

    def has_whole(self, target: Target) -> bool:
        """Whether any call at a target belongs to a sequence that is whole."""
        return target in self._whole_targets

    def has_returned(self, target: Target) -> bool:
        """Whether reads of a target tell the keys that they returned."""
        return any(call.returned is not None for call in self.of(target))

    @cached_property
    def _of_target(self) -> dict[Target, Calls]:
        found: dict[Target, list[Call]] = defaultdict(list)
        for call in self.calls:
            found[call.target].append(call)
        return {target: tuple(calls) for target, calls in found.items()}

    @cached_property
    def _by_trace(self) -> dict[str, Calls]:
        found: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            if call.trace is not None and call.trace_whole:
                found[call.trace].append(call)
        return {trace: tuple(calls) for trace, calls in found.items()}

    @cached_property
    def _traces_at(self) -> dict[Target, list[Calls]]:
        found: dict[Target, list[Calls]] = defaultdict(list)
        for calls in self._by_trace.values():
            for target in {call.target for call in calls}:
                found[target].append(calls)
        return dict(found)

    @cached_property
    def _by_key(self) -> dict[Target, dict[KeyName, Calls]]:
        found: dict[Target, dict[KeyName, list[Call]]] = defaultdict(lambda: defaultdict(list))
        for call in self.calls:
            for key in {call.key, *(part.key for part in call.parts)}:
                if key is not None:
                    found[call.target][key].append(call)
        return {target: {key: tuple(calls) for key, calls in keys.items()} for target, keys in found.items()}

    @cached_property
    def _whole_targets(self) -> frozenset[Target]:
        return frozenset(call.target for call in self.calls if call.is_whole)


class DeferredBook(CallBook):
    """A book that is opened when somebody reads it first: of most windows of a long log nobody asks for calls."""

    _TOLD = frozenset({"calls", "share", "notable", "since", "dropped"})

    def __init__(self, opened: Callable[[], CallBook]) -> None:
        self._opened = opened

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- what a book tells, taken from the opened one
        """Open the book for what it tells."""
        if name not in self._TOLD:
            raise AttributeError(name)
        book = self._opened()
        super().__init__(book.calls, share=book.share, notable=book.notable, since=book.since, dropped=book.dropped)
        return getattr(self, name)

    def at_home(self, home: Callable[[Target], Target], name: Callable[[str | None], str | None]) -> CallBook:
        """Return the book at home, still closed."""
        return DeferredBook(lambda: self._opened().at_home(home, name))
