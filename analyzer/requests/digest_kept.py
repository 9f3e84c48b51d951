"""One kept call with the claims on it, and the floor that claims have to reach."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from analyzer.model.calls import Call, Notable
from analyzer.model.counts import Cell
from analyzer.model.instant import Instant
from analyzer.requests.digest_drafts import Draft

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

__all__ = [
    "NAMES",
    "NO_RANK",
    "CallState",
    "DraftState",
    "Floor",
    "Kept",
    "Read",
    "in_order",
    "restored",
    "restored_draft",
]

NO_RANK = -1
"""Stands for a name that a call has not, or that has no claim on it any more."""

_LIGHT = 4
"""A call with more parts, items returned and failed tries is heavy: it takes much memory."""

_FIELDS = [field for field in msgspec.structs.fields(Call) if field.name not in {"target", "shape", "caller"}]
_Rest: Any = msgspec.defstruct(
    "_Rest",
    [(f.encode_name, f.type) if f.required else (f.encode_name, f.type, f.default) for f in _FIELDS],
    omit_defaults=True,
)
"""A call without what its cell tells."""

_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(_Rest).decode
_REST = tuple(field.name for field in _FIELDS)
_GET_REST = attrgetter(*_REST)
_TIME = attrgetter("time")

Read = Callable[[Draft, Instant, Cell, Notable | None], Call]
"""Reads a draft of a time and cell, notable for this."""


class Kept(Struct, gc=False):
    """A kept call with its cell, that one's number, and the ranks of its names: trace, key, caller with shape.

    A rank of -1 is none. `kind` is what it is notable for, `by_kind` the rank by which it is kept for that. It is heavy
    where it takes much memory.
    """

    told: Call | Draft
    time: Instant
    place: Cell
    cell: int
    by_trace: int
    by_key: int
    by_shape: int
    by_kind: int
    kind: Notable | None
    is_heavy: bool
    written: bytes = b""

    @classmethod
    def of(
        cls,
        told: Call | Draft,
        time: Instant,
        place: tuple[Cell, int],
        ranks: tuple[int, int, int],
        notable: tuple[int, Notable | None],
    ) -> Kept:
        """Keep a call of which the ranks of its names are these; `place` is its cell with that one's number."""
        is_heavy = isinstance(told, Call) and len(told.parts) + len(told.returned or ()) + len(told.tries) > _LIGHT
        return cls(told, time, *place, *ranks, *notable, is_heavy)

    def call(self, read: Read) -> Call:
        """Return the call, read where nobody asked for it before."""
        told = self.told
        if isinstance(told, Draft):
            told = self.told = read(told, self.time, self.place, self.kind)
        return told

    def write(self, read: Read) -> bytes:
        """Return the call in MessagePack, without what its cell tells; done once."""
        if not self.written:
            self.written = _ENCODE(_Rest(*_GET_REST(self.call(read))))
        return self.written

    def order(self, read: Read) -> tuple[Any, ...]:
        """Order calls of the same time: first pages first, then in a way that is the same everywhere."""
        place = self.place
        is_resumed = self.call(read).resumed
        return (is_resumed, place.target.order(), place.shape.fingerprint, place.caller or "", self.write(read))


def _partition(kept: Kept) -> str | None:
    told = kept.told
    if isinstance(told, Draft):
        return None if told.part is None else told.part.decode("utf-8", "replace")
    return None if told.key is None else told.key.partition


def _key_name(kept: Kept) -> object:
    return kept.place.target, _partition(kept)


def _shape_name(kept: Kept) -> object:
    return kept.place.caller, kept.place.target, kept.place.shape.fingerprint


NAMES: tuple[tuple[str, Callable[[Kept], object], Callable[[Kept], object]], ...] = (
    ("by_trace", attrgetter("told.trace"), attrgetter("told.trace")),
    ("by_key", _partition, _key_name),
    ("by_shape", attrgetter("place.shape.fingerprint"), _shape_name),
)
"""For each kind of name the field with its rank, a word of the name that is quick to have, and the name."""


def in_order(kept: Iterable[Kept], read: Read) -> list[Kept]:
    """Sort by time; few have the same."""
    ordered: list[Kept] = []
    for _, group in groupby(sorted(kept, key=_TIME), key=_TIME):
        same = list(group)
        ordered += same if len(same) == 1 else sorted(same, key=lambda one: one.order(read))
    return ordered


class Floor(Struct):
    """From which rank on is kept, and what it was before it sank: (until when calls were kept by that, it)."""

    rank: int = 0
    before: list[tuple[int, int]] = []

    def highest(self) -> int:
        """Return the floor that held for all calls that are kept."""
        return max([self.rank, *(rank for _, rank in self.before)])

    def raise_to_fit(self, ranks: Counter[int], bound: int) -> None:
        """Raise it until no more than so many calls lie at or above it."""
        above = sum(calls for rank, calls in ranks.items() if rank >= self.rank)
        while above > bound:
            above -= ranks[self.rank]
            self.rank += 1

    def sink(self, *, has_room: bool, newest: Instant, oldest: Instant) -> None:
        """Forget floors of times that are gone, and sink by one where there is room."""
        self.before = [(until, rank) for until, rank in self.before if until >= oldest]
        if self.rank and has_room:
            self.before.append((newest, self.rank))
            self.rank -= 1

    def merge(self, other: Floor) -> None:
        """Take the higher floor of two parts."""
        self.rank = max(self.rank, other.rank)
        self.before = sorted({*self.before, *other.before})


CallState = tuple[list[tuple[int, int, int, int, int, Raw]], Floor, dict[str, Floor], int, int, int | None]
"""Kept calls (cell, ranks, MessagePack), floors of names and kinds, calls seen and forgotten, horizon."""


DraftState = list[tuple[int, tuple[int, int, int, int], Notable | None, Instant, Draft]]
"""Kept calls that were not read yet: cell, ranks, what they are notable for, time, and what was told."""


def restored(
    cells: Sequence[Cell], at: int, by_trace: int, by_key: int, by_shape: int, by_kind: int, written: Raw
) -> Kept:
    """Rebuild a kept call from its state."""
    cell = cells[at]
    rest = zip(_REST, _GET_REST(_DECODE(written)), strict=True)
    call = Call(target=cell.target, shape=cell.shape, caller=cell.caller, **dict(rest))
    kept = Kept.of(call, call.time, (cell, at), (by_trace, by_key, by_shape), (by_kind, call.notable))
    kept.written = bytes(written)
    return kept


def restored_draft(
    cells: Sequence[Cell],
    at: int,
    ranks: tuple[int, int, int, int],
    kind: Notable | None,
    time: Instant,
    draft: Draft,
) -> Kept:
    """Rebuild a kept call that was not read."""
    return Kept(draft, time, cells[at], at, *ranks, kind, is_heavy=False)
