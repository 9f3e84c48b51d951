"""What one request of a declared pattern should cost: size × consistency × transaction × index factors.

What nobody declared is taken at its least, and named in `assumed`: the true cost is that or more. An entry of an index
with all attributes is as large as its item, one of keys alone fits a write unit; each write is taken to change its
entry once (a moved key costs two, an untouched entry none). Source: Developer Guide, "Using Global Secondary Indexes
in DynamoDB", read 2026-11-30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.capacity import PAGE_BYTES, Consistency, read_units, write_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from analyzer.contract.model import (
        EntityDeclaration,
        IndexDeclaration,
        KeyTemplate,
        PatternDeclaration,
        TableDeclaration,
    )

__all__ = ["Expected", "altogether", "expected_of", "holders_of", "is_reached"]

_TRANSACTIONS = frozenset({"TransactGetItems", "TransactWriteItems", "ExecuteTransaction"})


class Expected(Struct, frozen=True, kw_only=True):
    """Units of one request at the place that serves it, and at each index that it writes to.

    `units` is None where they follow from nothing declared: a Scan reads what there is. `words` is the arithmetic.
    """

    units: float | None
    words: str
    index_units: dict[str, float] = {}
    assumed: tuple[str, ...] = ()

    @property
    def total(self) -> float | None:
        """Units of the request altogether."""
        return altogether(self.units, self.index_units)


def altogether(units: float | None, index_units: Mapping[str, float]) -> float | None:
    """Return the units of a request and of what it writes to indexes; None where the first are not known."""
    return None if units is None else units + sum(index_units.values())


def expected_of(table: TableDeclaration, pattern: PatternDeclaration) -> Expected:
    """Return what one request should cost as declared."""
    if pattern.scans:
        return Expected(units=None, words="a Scan reads all there is: the size of the table decides")
    return _written(table, pattern) if pattern.writes else _read(table, pattern)


def holders_of(table: TableDeclaration, index: IndexDeclaration) -> tuple[EntityDeclaration, ...] | None:
    """Return the entities that an index holds; None where nobody declares it, and it is said to be sparse."""
    keyed = tuple(e for e in table.entities if any(k.attribute in index.partition_key for k in e.key))
    if keyed:
        return keyed
    return None if index.sparse else table.entities


def is_reached(table: TableDeclaration, pattern: PatternDeclaration, index: IndexDeclaration) -> bool | None:
    """Whether a pattern writes to an index; None where that is not declared."""
    if not pattern.writes or index.kind == "vector":
        return False
    holders = holders_of(table, index)
    if holders is None:
        return None
    entities = [entity for _, entity in _items(table, pattern)]
    if any(entity in holders for entity in entities if entity is not None):
        return True
    is_said = bool(index.sparse) or len(holders) < len(table.entities)
    return (None if is_said else True) if None in entities else False


def _items(
    table: TableDeclaration, pattern: PatternDeclaration
) -> Iterator[tuple[tuple[KeyTemplate, ...], EntityDeclaration | None]]:
    """Yield the items of one request with the entity of each, as its keys or the pattern tell it."""
    for key in pattern.keys or ((),):
        texts = {(one.attribute, one.template.text) for one in key}
        fitting = [e for e in table.entities if texts and texts <= {(k.attribute, k.template.text) for k in e.key}]
        yield key, fitting[0] if len(fitting) == 1 else table.entity(pattern.entity)


def _written(table: TableDeclaration, pattern: PatternDeclaration) -> Expected:
    transactional = bool(_TRANSACTIONS.intersection(pattern.operations))
    items = list(_items(table, pattern))
    count = max(pattern.transaction_items or 0, len(items)) if transactional else len(items)
    assumed: dict[str, None] = {}
    terms, units = [], 0.0
    sizes = [pattern.item_bytes or (e.item_bytes if e is not None else None) for _, e in items]
    for size in [*sizes, *([None] * (count - len(items)))]:
        if size is None:
            assumed["an item without a declared size is counted as 1 KB"] = None
        cost = write_units(0, size or 1, transactional=transactional)
        units += cost
        terms.append(f"⌈{size:,} B ÷ 1 KB⌉" if size is not None else "1 KB")
    words = " + ".join(terms)
    if transactional:
        words = f"{f'({words})' if len(terms) > 1 else words} × 2 in a transaction"
    if "BatchWriteItem" in pattern.operations:
        assumed["a batch is counted as one item"] = None
    index_units = {}
    for index in table.indexes:
        reached = is_reached(table, pattern, index)
        if reached is None:
            assumed[f"which writes reach {index.name} is not declared: none is counted"] = None
        elif reached:
            index_units[index.name] = _entry_units(index, sizes, units, assumed, transactional=transactional)
    words += "".join(f" + {name} {cost:g}" for name, cost in index_units.items())
    return Expected(units=units, words=words, index_units=index_units, assumed=tuple(assumed))


def _entry_units(
    index: IndexDeclaration,
    sizes: list[int | None],
    table_units: float,
    assumed: dict[str, None],
    *,
    transactional: bool,
) -> float:
    if index.expected_write_amplification is not None:
        return table_units * index.expected_write_amplification
    size = max((one for one in sizes if one is not None), default=None) if index.projection == "all" else None
    if index.projection != "keys_only" and size is None:
        assumed[f"an entry of {index.name} is counted as 1 KB"] = None
    return write_units(0, size or 1, transactional=transactional)


def _read(table: TableDeclaration, pattern: PatternDeclaration) -> Expected:
    assumed: dict[str, None] = {}
    transactional = bool(_TRANSACTIONS.intersection(pattern.operations))
    price = Consistency.TRANSACTIONAL if transactional else Consistency.EVENTUAL
    if pattern.consistency == "strong" and not transactional:
        price = Consistency.STRONG
    size = _read_bytes(table, pattern)
    if size is None:
        assumed["without a declared size a read is counted as one block of 4 KB"] = None
    items = _read_items(pattern, assumed)
    if "Query" in pattern.operations:
        units = read_units(min(round(items * (size or 1)), PAGE_BYTES), price)
        words = f"⌈{items:g} × {size:,} B ÷ 4 KB⌉ × {price.value:g}" if size else f"4 KB × {price.value:g}"
    else:
        units = items * read_units(size or 1, price)
        each = f"⌈{size:,} B ÷ 4 KB⌉ × {price.value:g}" if size else f"4 KB × {price.value:g}"
        words = each if items == 1 else f"{items:g} × {each}"
    return Expected(units=units, words=words, assumed=tuple(assumed))


def _read_bytes(table: TableDeclaration, pattern: PatternDeclaration) -> int | None:
    """Return the size of one item, or entry of an index, that is read."""
    if pattern.item_bytes is not None:
        return pattern.item_bytes
    index = table.index(pattern.index)
    entity = table.entity(pattern.entity)
    is_whole = pattern.index is None or (index is not None and index.projection == "all")
    return entity.item_bytes if entity is not None and is_whole else None


def _read_items(pattern: PatternDeclaration, assumed: dict[str, None]) -> float:
    if "Query" in pattern.operations:
        page = None if pattern.returns_all else pattern.page_size
        known = [count for count in (page, pattern.items_per_key) if count is not None]
        if not known:
            assumed["without page_size or items_per_key a query is counted as one item"] = None
        return min(known, default=1.0)
    if pattern.transaction_items is not None:
        return float(pattern.transaction_items)
    if any(operation.startswith("Batch") for operation in pattern.operations):
        assumed["a batch is counted as one item"] = None
    return 1.0
