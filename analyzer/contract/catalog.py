"""Declared tables against those that exist: what DescribeTable says of keys, indexes and projections."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from analyzer.contract.faults import did_you_mean
from analyzer.contract.lint import Remark
from analyzer.contract.model import UNNAMED, is_glob
from analyzer.contract.scope import FAIL, WARN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.model import Contract, IndexDeclaration, TableDeclaration
    from analyzer.model.table import IndexDescription, TableDescription

__all__ = ["compare"]

RULE = "differs-from-table"


def compare(contract: Contract, tables: Sequence[TableDescription]) -> tuple[Remark, ...]:
    """Return where declarations and tables differ; a glob is compared with every table that it fits."""
    remarks: list[Remark] = []
    for declared in contract.tables:
        matching = [table for table in tables if fnmatchcase(table.name, declared.name)]
        if declared.name == UNNAMED and len(matching) > 1:
            matching = []
        elif not matching:
            kind = "no table fits it" if is_glob(declared.name) else "there is no such table"
            mend = did_you_mean(declared.name, [table.name for table in tables])
            remarks.append(_remark(WARN, declared, declared.line, declared.name, kind, mend))
        for table in matching:
            remarks += _differences(declared, table)
    return tuple(remarks)


def _remark(severity: str, table: TableDeclaration, line: int | None, field: str, message: str, mend: str) -> Remark:
    index = table.index(field)
    file = table.file if index is None else index.file
    return Remark(severity, field, file, line, message, mend, RULE, table.name)


def _differences(declared: TableDeclaration, table: TableDescription) -> Iterator[Remark]:
    keys = ((declared.partition_key, declared.sort_key), (table.partition_key, table.sort_key))
    if not declared.keys_assumed and keys[0] != keys[1]:
        message = f"it is declared with key {_written(keys[0])}, and has {_written(keys[1])}"
        yield _remark(FAIL, declared, declared.line, table.name, message, "correct partition_key and sort_key")
    existing = {index.name: index for index in table.indexes}
    for index in declared.indexes:
        other = existing.get(index.name)
        if other is None:
            mend = did_you_mean(index.name, list(existing)) if existing else "create it, or remove the declaration"
            message = f"{table.name} has no index {index.name}"
            yield _remark(FAIL, declared, index.line, index.name, message, mend)
        else:
            yield from _index_differences(declared, index, other)
    for name in existing:
        if declared.index(name) is None:
            message = f"{table.name} has an index {name} that nobody declared"
            yield _remark(WARN, declared, declared.line, name, message, "declare it with its patterns, or drop it")


def _index_differences(
    declared: TableDeclaration, index: IndexDeclaration, other: IndexDescription
) -> Iterator[Remark]:
    mine, theirs = (index.partition_key, index.sort_key), (other.partition_key, other.sort_key)
    if not index.keys_assumed and mine != theirs:
        message = f"it is declared with key {_written(mine)}, and has {_written(theirs)}"
        yield _remark(FAIL, declared, index.line, index.name, message, "correct its partition_key and sort_key")
    if not index.keys_assumed and index.kind != other.kind:
        message = f"it is declared as {index.kind.upper()}, and is a {other.kind.upper()}"
        yield _remark(FAIL, declared, index.line, index.name, message, f"write kind: {other.kind}")
    projection = tuple(sorted(index.projection)) if isinstance(index.projection, tuple) else index.projection
    if None not in {projection, other.projection} and projection != other.projection:
        message = f"it is declared to project {_shown(projection)}, and projects {_shown(other.projection)}"
        yield _remark(FAIL, declared, index.line, index.name, message, "correct the declaration, or rebuild the index")


def _shown(projection: str | tuple[str, ...] | None) -> str:
    return "+".join(projection) if isinstance(projection, tuple) else str(projection)


def _written(key: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    return ", ".join("+".join(part) for part in key if part)
