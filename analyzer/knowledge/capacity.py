"""How DynamoDB counts bytes and capacity units: item sizes, reads, writes, and what a write costs each index.

Items and values are as they go over the wire: `{"PK": {"S": "CASE#1"}}`; binary is base64 text. 1 KB is 1,024 bytes.
"""

from __future__ import annotations

import binascii
from decimal import Context, Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "PAGE_BYTES",
    "READ_BLOCK_BYTES",
    "WRITE_BLOCK_BYTES",
    "Consistency",
    "index_write_units",
    "item_bytes",
    "number_bytes",
    "project",
    "read_units",
    "value_bytes",
    "write_units",
]

# Developer Guide, "DynamoDB read and write operations" (capacity unit consumption), read 2026-11-30.
READ_BLOCK_BYTES = 4096
"""One read unit is one strongly consistent read of up to this much."""
WRITE_BLOCK_BYTES = 1024
"""One write unit is one write of up to this much."""

# API Reference, "Query" and "Scan", read 2026-11-30.
PAGE_BYTES = 1024 * 1024
"""What one page of a Query or Scan evaluates at most."""

_CONTAINER_BYTES = 3
_WIDE = Context(prec=60)  # DynamoDB keeps 38 significant digits; never round what it would refuse


class Consistency(Enum):
    """What a read promises; the value is its price in units a block.

    Source: Developer Guide, "DynamoDB read and write operations", read 2026-11-30.
    """

    EVENTUAL = 0.5
    STRONG = 1.0
    TRANSACTIONAL = 2.0


def number_bytes(text: str) -> int:
    """Return the size of a number: a byte for each pair of significant digits, one more, and one for a minus sign.

    Source: Developer Guide, "DynamoDB item sizes and formats", read 2026-11-30, which says "approximately". That pairs
    are aligned at the decimal point and a minus sign costs a byte is dynalite 4.0.0's measurement.
    """
    number = Decimal(text)
    if not number:
        return 1
    sign, digits, exponent = number.normalize(_WIDE).as_tuple()
    lead = len(digits) + int(exponent) - 1
    straddles = len(digits) % 2 == 0 and lead % 2 == 0
    return 1 + (len(digits) + 1) // 2 + straddles + sign


def value_bytes(value: Mapping[str, Any]) -> int:
    """Return the size of an AttributeValue without its attribute's name.

    A list or map takes 3 bytes, and one more for each element. Source: Developer Guide, "DynamoDB item sizes and
    formats", read 2026-11-30. An unknown type counts nothing.
    """
    kind, content = next(iter(value.items()))
    measure = _SIZES.get(kind)
    return 0 if measure is None else measure(content)


def item_bytes(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Return the size of an item: its attributes' names in UTF-8 and their values.

    Source: Developer Guide, "DynamoDB item sizes and formats", read 2026-11-30.
    """
    return sum(_text_bytes(name) + value_bytes(value) for name, value in item.items())


def read_units(size_bytes: int, consistency: Consistency = Consistency.EVENTUAL) -> float:
    """Return the read units of one item, or of the sum of what one Query or Scan evaluated.

    A read that finds nothing still costs a block. GetItem, BatchGetItem and TransactGetItems round each item up,
    Query and Scan round their sum. Source: Developer Guide, "DynamoDB read and write operations", read 2026-11-30.
    """
    return max(1, -(-size_bytes // READ_BLOCK_BYTES)) * consistency.value


def write_units(before_bytes: int, after_bytes: int, *, transactional: bool = False) -> float:
    """Return what a write costs the base table: the larger of the item before and after, 0 where there is none.

    A condition that fails is charged by the item that is there; a transaction costs double.
    Source: Developer Guide, "DynamoDB read and write operations", read 2026-11-30.
    """
    blocks = max(1, -(-max(before_bytes, after_bytes) // WRITE_BLOCK_BYTES))
    return float(blocks * 2 if transactional else blocks)


def project(
    item: Mapping[str, Mapping[str, Any]], key: Iterable[str], attributes: Iterable[str] | None
) -> dict[str, Mapping[str, Any]] | None:
    """Return an item's entry in an index, or None where it lacks a key attribute of it (a sparse index).

    `key` are the key attributes of the index; `attributes` all that it holds, keys of index and table included, or
    None for all. Source: Developer Guide, "Using Global Secondary Indexes in DynamoDB", read 2026-11-30.
    """
    if any(name not in item for name in key):
        return None
    return dict(item) if attributes is None else {name: item[name] for name in attributes if name in item}


def index_write_units(
    before: Mapping[str, Mapping[str, Any]] | None,
    after: Mapping[str, Mapping[str, Any]] | None,
    key: Iterable[str],
    *,
    transactional: bool = False,
) -> tuple[float, float]:
    """Return what a write costs an index, as (units on the entry's old key, units on its new key).

    An entry that appears or goes costs one write, one whose key changes a delete and a put, one whose other projected
    attributes change one write by the larger size, an unchanged one nothing. Entries are those of `project`.
    Source: Developer Guide, "Using Global Secondary Indexes in DynamoDB", read 2026-11-30.
    """
    if before is not None and after is not None:
        if before == after:
            return 0.0, 0.0
        if all(before[name] == after[name] for name in key):
            return 0.0, write_units(item_bytes(before), item_bytes(after), transactional=transactional)
    old = 0.0 if before is None else write_units(item_bytes(before), 0, transactional=transactional)
    new = 0.0 if after is None else write_units(0, item_bytes(after), transactional=transactional)
    return old, new


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _binary_bytes(base64_text: str) -> int:
    return len(binascii.a2b_base64(base64_text))


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": _text_bytes,
    "N": number_bytes,
    "B": _binary_bytes,
    "BOOL": lambda _: 1,
    "NULL": lambda _: 1,
    "SS": lambda texts: sum(map(_text_bytes, texts)),
    "NS": lambda numbers: sum(map(number_bytes, numbers)),
    "BS": lambda binaries: sum(map(_binary_bytes, binaries)),
    "L": lambda elements: _CONTAINER_BYTES + sum(1 + value_bytes(element) for element in elements),
    "M": lambda members: _CONTAINER_BYTES + len(members) + item_bytes(members),
}
