"""One kept call with the claims on it, and the floor that claims have to reach."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from analyzer.model.calls import Call

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant

__all__ = ["NAMES", "NO_RANK", "CallState", "Floor", "Kept", "in_order", "restored"]

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
_TIME = attrgetter("call.time")


class Kept(Struct, gc=False):
    """A kept call with the number of its cell, and the ranks of its names: trace, key, caller with shape (-1: none).

    `by_kind` is the rank by which it is kept as notable. It is heavy where it takes much memory.
    """

    call: Call
    cell: int
    by_trace: int
    by_key: int
    by_shape: int
    by_kind: int
    is_heavy: bool
    written: bytes = b""

    @classmethod
    def of(cls, call: Call, cell: int, ranks: tuple[int, int, int], by_kind: int) -> Kept:
        """Keep a call of which the ranks of its names are these."""
        size = len(call.parts) + len(call.returned or ()) + len(call.tries)
        return cls(call, cell, *ranks, by_kind, size > _LIGHT)

    def ranks(self) -> tuple[int, int, int]:
        """Return the ranks of the names that have a claim on it."""
        return self.by_trace, self.by_key, self.by_shape

    def write(self) -> bytes:
        """Return the call in MessagePack, without what its cell tells; done once."""
        if not self.written:
            self.written = _ENCODE(_Rest(*_GET_REST(self.call)))
        return self.written

    def order(self) -> tuple[Any, ...]:
        """Order calls of the same time: first pages first, then in a way that is the same everywhere."""
        call = self.call
        return (call.resumed, call.target.order(), call.shape.fingerprint, call.caller or "", self.write())


def _key_name(kept: Kept) -> object:
    key = kept.call.key
    return None if key is None else (kept.call.target, key.partition)


def _shape_name(kept: Kept) -> object:
    return kept.call.caller, kept.call.target, kept.call.shape.fingerprint


_TRACE = attrgetter("call.trace")
NAMES: tuple[tuple[str, Callable[[Kept], object], Callable[[Kept], object]], ...] = (
    ("by_trace", _TRACE, _TRACE),
    ("by_key", attrgetter("call.key.partition"), _key_name),
    ("by_shape", attrgetter("call.shape.fingerprint"), _shape_name),
)
"""For each kind of name the field with its rank, a word of the name that is quick to have, and the name."""


def in_order(kept: Iterable[Kept]) -> list[Kept]:
    """Sort by time; few have the same."""
    ordered: list[Kept] = []
    for _, group in groupby(sorted(kept, key=_TIME), key=_TIME):
        same = list(group)
        ordered += same if len(same) == 1 else sorted(same, key=Kept.order)
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


def restored(
    cells: Sequence[Cell], at: int, by_trace: int, by_key: int, by_shape: int, by_kind: int, written: Raw
) -> Kept:
    """Rebuild a kept call from its state."""
    cell = cells[at]
    rest = zip(_REST, _GET_REST(_DECODE(written)), strict=True)
    call = Call(target=cell.target, shape=cell.shape, caller=cell.caller, **dict(rest))
    kept = Kept.of(call, at, (by_trace, by_key, by_shape), by_kind)
    kept.written = bytes(written)
    return kept
