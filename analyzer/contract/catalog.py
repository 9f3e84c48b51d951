"""Declared tables against those that exist: what DescribeTable says of keys, indexes and projections."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.contract.faults import did_you_mean
from analyzer.contract.lint import Remark
from analyzer.contract.model import UNNAMED, is_glob
from analyzer.contract.scope import FAIL, WARN
from analyzer.errors import ContractError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.model import Contract, IndexDeclaration, TableDeclaration

__all__ = ["Described", "compare", "parse_tables"]

RULE = "differs-from-table"


class DescribedIndex(Struct, frozen=True):
    """An index that exists; `projection` is keys_only, all, or attributes."""

    name: str
    kind: str
    partition_key: tuple[str, ...]
    sort_key: tuple[str, ...]
    projection: str | tuple[str, ...]


class Described(Struct, frozen=True):
    """A table that exists."""

    name: str
    partition_key: tuple[str, ...]
    sort_key: tuple[str, ...]
    indexes: tuple[DescribedIndex, ...]


def parse_tables(text: str, file: str) -> tuple[Described, ...]:
    """Read DescribeTable output: one, a list, or JSON Lines, with or without `Table` around; raises ContractError."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            fault = Fault(file, None, "", "this is no JSON", "give the output of `aws dynamodb describe-table`")
            raise ContractError((fault,)) from error
    listed = [one for document in documents for one in (document if isinstance(document, list) else [document])]
    try:
        return tuple(_described(_table_of(one)) for one in listed if _table_of(one) is not None)
    except (KeyError, TypeError, AttributeError) as error:
        mend = "give the output of `aws dynamodb describe-table`"
        raise ContractError((Fault(file, None, "", f"a table lacks {error}", mend),)) from error


def _table_of(one: Any) -> Any:  # noqa: ANN401 (a document is what its author wrote)
    """Return the `Table` object; a recording's line of another kind holds none."""
    if isinstance(one, dict) and "kind" in one:
        return one["table"] if one["kind"] == "table" else None
    return one.get("Table", one)


def _described(table: dict[str, Any]) -> Described:
    partition, sort = _keys(table["KeySchema"])
    gsis, lsis = (table.get(f"{kind}SecondaryIndexes") or () for kind in ("Global", "Local"))
    indexes = [_described_index(index, "gsi") for index in gsis] + [_described_index(index, "lsi") for index in lsis]
    return Described(table["TableName"], partition, sort, tuple(indexes))


def _described_index(index: dict[str, Any], kind: str) -> DescribedIndex:
    partition, sort = _keys(index["KeySchema"])
    projection = index.get("Projection") or {}
    how = str(projection.get("ProjectionType", "ALL")).lower()
    kept = tuple(sorted(projection.get("NonKeyAttributes") or ())) if how == "include" else how
    return DescribedIndex(index["IndexName"], kind, partition, sort, kept)


def _keys(schema: list[dict[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    partition, sort = (tuple(k["AttributeName"] for k in schema if k["KeyType"] == t) for t in ("HASH", "RANGE"))
    return partition, sort


def compare(contract: Contract, tables: Sequence[Described]) -> tuple[Remark, ...]:
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


def _differences(declared: TableDeclaration, table: Described) -> Iterator[Remark]:
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


def _index_differences(declared: TableDeclaration, index: IndexDeclaration, other: DescribedIndex) -> Iterator[Remark]:
    mine, theirs = (index.partition_key, index.sort_key), (other.partition_key, other.sort_key)
    if not index.keys_assumed and mine != theirs:
        message = f"it is declared with key {_written(mine)}, and has {_written(theirs)}"
        yield _remark(FAIL, declared, index.line, index.name, message, "correct its partition_key and sort_key")
    if not index.keys_assumed and index.kind != other.kind:
        message = f"it is declared as {index.kind.upper()}, and is a {other.kind.upper()}"
        yield _remark(FAIL, declared, index.line, index.name, message, f"write kind: {other.kind}")
    projection = tuple(sorted(index.projection)) if isinstance(index.projection, tuple) else index.projection
    if projection is not None and projection != other.projection:
        message = f"it is declared to project {_shown(projection)}, and projects {_shown(other.projection)}"
        yield _remark(FAIL, declared, index.line, index.name, message, "correct the declaration, or rebuild the index")


def _shown(projection: str | tuple[str, ...]) -> str:
    return projection if isinstance(projection, str) else "+".join(projection)


def _written(key: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    return ", ".join("+".join(part) for part in key if part)
