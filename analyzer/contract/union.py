"""Several files as one contract: a table may be declared in parts, as long as they agree on its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.contract.model import CallerNames, Contract, TableDeclaration
from analyzer.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.contract.model import IndexDeclaration

__all__ = ["Part", "unite"]


class Part(Struct, frozen=True):
    """One file's share of a contract, and its faults."""

    tables: tuple[TableDeclaration, ...] = ()
    callers: tuple[CallerNames, ...] = ()
    faults: tuple[Fault, ...] = ()


def unite(parts: Sequence[Part]) -> tuple[Contract, tuple[Fault, ...]]:
    """Join the files; what they say of one table in one place goes together, the first to say a thing wins."""
    faults = [fault for part in parts for fault in part.faults]
    tables: dict[tuple[object, ...], TableDeclaration] = {}
    callers: dict[str, CallerNames] = {}
    for part in parts:
        for table in part.tables:
            where = table.where
            key = (table.name, where.accounts, where.regions, tuple(sorted(where.tags.items())))
            first = tables.get(key)
            if first is not None:
                faults += _conflicts(first, table)
            tables[key] = table if first is None else _joined(first, table)
        for caller in part.callers:
            callers.setdefault(caller.name, caller)
    return Contract(tuple(tables.values()), tuple(callers.values())), tuple(faults)


def _conflicts(first: TableDeclaration, second: TableDeclaration) -> Iterator[Fault]:
    """Tell where two parts of one table contradict each other."""
    field = f"tables.{second.name}"
    keys = [(table.partition_key, table.sort_key) for table in (first, second) if not table.keys_assumed]
    if len(set(keys)) > 1:
        message = f"table {second.name!r} is declared already with another key, at {first.file}:{first.line}"
        mend = "correct one of the two, give each table its name, or tell them apart by `where`"
        yield Fault(second.file, second.line, field, message, mend)
    for pattern in second.patterns:
        other = first.pattern(pattern.id)
        if other is not None:
            message = f"{pattern.id!r} is declared already, at {other.file}:{other.line}"
            mend = "give each a name of its own"
            yield Fault(second.file, pattern.line, f"{field}.patterns.{pattern.id}", message, mend)
    for index in second.indexes:
        known = first.index(index.name)
        if known is not None and _key(known) != _key(index) and not (known.keys_assumed or index.keys_assumed):
            message = f"{index.name!r} is declared already with another key, at {known.file}:{known.line}"
            yield Fault(second.file, index.line, f"{field}.indexes.{index.name}", message, "correct one of the two")


def _key(index: IndexDeclaration) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return index.partition_key, index.sort_key


def _joined(first: TableDeclaration, second: TableDeclaration) -> TableDeclaration:
    """Add to a table what another part says of it; key attributes that somebody named win over assumed ones."""
    surer, other = (second, first) if first.keys_assumed else (first, second)
    return replace(
        surer,
        owner=surer.owner or other.owner,
        patterns=(*first.patterns, *(p for p in second.patterns if first.pattern(p.id) is None)),
        indexes=tuple(_indexes((*first.indexes, *second.indexes))),
        entities=(*first.entities, *(e for e in second.entities if first.entity(e.name) is None)),
    )


def _indexes(declared: Iterable[IndexDeclaration]) -> Iterator[IndexDeclaration]:
    by_name: dict[str, IndexDeclaration] = {}
    for index in declared:
        known = by_name.get(index.name)
        if known is None or (known.keys_assumed and not index.keys_assumed):
            by_name[index.name] = index
    yield from by_name.values()
