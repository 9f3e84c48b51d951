"""The capacity units of a call, in halves, split by what they were consumed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.request import Capacity, Consumed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UNKNOWN", "Units", "read_consumed", "units_of"]

_MOST_UNITS = 1_000_000.0
_DECODE = msgspec.json.Decoder(Consumed).decode


class Units(Struct, frozen=True):
    """Half-units: those of the request's own target, and of others as (index or None, half-units).

    None: the call did not tell.
    """

    read: int | None
    write: int | None
    others: tuple[tuple[str | None, int], ...] = ()


UNKNOWN = Units(None, None)


def read_consumed(raw: bytes) -> Consumed | None:
    """Decode what a record says of its units; None for nothing that can be read."""
    try:
        return _DECODE(raw)
    except (ValueError, RecursionError):
        return None


def units_of(consumed: Consumed, index: str | None, *, writes: bool, is_local: Callable[[str], bool]) -> Units:
    """Split the units of a call at a table (or, where a Query reads an index, at that) by what they count on.

    Without a split all count on the request's own target. Those of a local index count on the table.
    """
    total = _halves(consumed.write if writes else consumed.read)
    if total is None:
        total = _halves(consumed.total)
    table = _part(consumed.table, writes=writes)
    indexes = {name: _part(part, writes=writes) or 0 for name, part in (consumed.indexes or {}).items()}
    if total is None:
        if table is None and not indexes:
            return UNKNOWN
        total = (table or 0) + sum(indexes.values())
    others: list[tuple[str | None, int]] = []
    own = total
    if index is not None and index in indexes and not is_local(index):
        own = indexes.pop(index)
        if table:
            others.append((None, table))
        others += [(name, part) for name, part in indexes.items() if part]
    elif index is None or is_local(index):
        others = [(name, part) for name, part in indexes.items() if part and not is_local(name)]
        own = max(0, total - sum(part for _, part in others))
    return Units(None if writes else own, own if writes else None, tuple(others))


def _part(part: float | Capacity | None, *, writes: bool) -> int | None:
    if isinstance(part, Capacity):
        part = part.write if writes else part.read
    return _halves(part)


def _halves(units: float | None) -> int | None:
    """Round units to whole halves; None for what nobody can have consumed."""
    return None if units is None or not 0 <= units <= _MOST_UNITS else int(2 * units + 0.5)
