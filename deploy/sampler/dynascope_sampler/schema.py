"""What is known of the tables: key attributes, index keys, literals. Given, or learnt from calls that succeeded."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Union

__all__ = ["Schema", "TableSchema", "load_schema", "schema_of_description"]

Names = tuple[str, ...]
SchemaLike = Union[str, "os.PathLike[str]", Mapping[str, Any], Iterable[Mapping[str, Any]], None]

_TABLES_LEARNT = 2_000
_OPERATOR = re.compile(r"^\s*(?:begins_with\s+|between\s+|<=\s+|>=\s+|<\s+|>\s+|=\s+)")
_VARIABLE = re.compile(r"<[^<>]*>")
_NOT_TEMPLATES = frozenset({"name", "item_bytes", "description", "type"})


class TableSchema:
    """One table: `key` is its key attributes, partition first where that is known."""

    __slots__ = ("indexes", "key", "literals", "partition", "ttl_attribute", "version_attribute")

    def __init__(
        self,
        key: Names = (),
        partition: Names = (),
        indexes: Mapping[str, Names] | None = None,
        literals: frozenset[str] = frozenset(),
        ttl_attribute: str | None = None,
        version_attribute: str | None = None,
    ) -> None:
        """Take names of attributes; an empty `key` or `partition` means "not known"."""
        self.key = key
        self.partition = partition
        self.indexes = dict(indexes or {})
        self.literals = literals
        self.ttl_attribute = ttl_attribute
        self.version_attribute = version_attribute

    def attributes(self, index: str | None) -> Names:
        """Return the key attributes of the table, or of one of its indexes; empty where they are not known."""
        return self.key if index is None else self.indexes.get(index, ())


class Schema:
    """All tables: what was given wins over what was learnt, attribute by attribute."""

    def __init__(self, given: Mapping[str, TableSchema]) -> None:
        """Take tables by name or glob."""
        self._given = given
        self._tables: dict[str, TableSchema] = {}

    def table(self, name: str) -> TableSchema:
        """Return what is known of a table, never None."""
        found = self._tables.get(name)
        return found if found is not None else self._remember(name, TableSchema())

    def learn_key(self, name: str, attributes: Iterable[str]) -> None:
        """Take the attribute names of a `Key` that DynamoDB accepted."""
        table = self.table(name)
        names = tuple(attributes)
        if set(table.key) != set(names):
            self._keep(name, _merge(table, TableSchema(names, names if len(names) == 1 else ())))

    def learn_partition(self, name: str, attribute: str) -> None:
        """Take the partition key that a Query of the base table used."""
        table = self.table(name)
        if not table.partition:
            key = (attribute, *(other for other in table.key if other != attribute)) if table.key else ()
            self._keep(name, _merge(table, TableSchema(key, (attribute,))))

    def learn(self, name: str, described: TableSchema) -> None:
        """Take what DescribeTable said."""
        self._keep(name, _merge(self.table(name), described))

    def _remember(self, name: str, learnt: TableSchema) -> TableSchema:
        given = self._given.get(name)
        if given is None:
            given = next((table for glob, table in self._given.items() if fnmatchcase(name, glob)), None)
        table = _merge(learnt, given) if given is not None else learnt
        self._keep(name, table)
        return table

    def _keep(self, name: str, table: TableSchema) -> None:
        """Remember a table, as long as there are not too many: names may come from outside."""
        if name in self._tables or len(self._tables) < _TABLES_LEARNT:
            self._tables[name] = table


def _merge(older: TableSchema, newer: TableSchema) -> TableSchema:
    return TableSchema(
        newer.key or older.key,
        newer.partition or older.partition,
        {**older.indexes, **newer.indexes},
        older.literals | newer.literals,
        newer.ttl_attribute or older.ttl_attribute,
        newer.version_attribute or older.version_attribute,
    )


def schema_of_description(table: Mapping[str, Any]) -> TableSchema:
    """Read the `Table` of DescribeTable; an index may have several partition and sort attributes."""
    indexes = {
        index["IndexName"]: _by_role(index["KeySchema"], "HASH") + _by_role(index["KeySchema"], "RANGE")
        for index in (*(table.get("GlobalSecondaryIndexes") or ()), *(table.get("LocalSecondaryIndexes") or ()))
    }
    partition = _by_role(table["KeySchema"], "HASH")
    return TableSchema(partition + _by_role(table["KeySchema"], "RANGE"), partition, indexes)


def _by_role(elements: Iterable[Mapping[str, str]], role: str) -> Names:
    return tuple(element["AttributeName"] for element in elements if element["KeyType"] == role)


def load_schema(given: SchemaLike) -> dict[str, TableSchema]:
    """Read `schema=`: a map by table, a contract's structure, its list of tables, or the path of such a JSON file."""
    if given is None:
        return {}
    if isinstance(given, (str, os.PathLike)):
        with open(given, encoding="utf-8") as file:
            given = json.load(file)
    tables: Any = given
    if isinstance(tables, dict) and isinstance(tables.get("tables"), (list, dict)):
        tables = tables["tables"]
    if isinstance(tables, dict):
        return {name: _read_table(table) for name, table in tables.items()}
    return {table["name"]: _read_table(table) for table in tables}


def _read_table(table: Mapping[str, Any]) -> TableSchema:
    partition = _names(table.get("partition_key"))
    indexes = table.get("indexes") or {}
    if not isinstance(indexes, dict):
        indexes = {index["name"]: index for index in indexes}
    return TableSchema(
        partition + _names(table.get("sort_key")) if partition else (),
        partition,
        {name: _index_names(index) for name, index in indexes.items()},
        frozenset(table.get("literals") or ()) | frozenset(_literals(table)),
        table.get("ttl_attribute"),
        table.get("version_attribute"),
    )


def _index_names(index: Any) -> Names:
    if isinstance(index, dict):
        return _names(index.get("partition_key")) + _names(index.get("sort_key"))
    return _names(index)


def _names(value: Any) -> Names:
    if not value:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _literals(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the literal segments of a contract's templates: of its entities and of its patterns' keys."""
    for entity in table.get("entities") or ():
        for name, template in entity.items():
            if name not in _NOT_TEMPLATES and isinstance(template, str):
                yield from _literal_segments(template)
    for pattern in table.get("patterns") or ():
        keys = pattern.get("key") or ()
        for key in [keys] if isinstance(keys, dict) else keys:
            for template in key.values() if isinstance(key, dict) else ():
                if isinstance(template, str):
                    yield from _literal_segments(template)


def _literal_segments(template: str) -> Iterator[str]:
    """Yield the segments of a template that hold no variable, and the values that a variable names (`<a=X|Y>`)."""
    operator = _OPERATOR.match(template)
    text = template[operator.end() :] if operator else template
    texts = text.split(" and ") if operator and operator.group().strip() == "between" else [text]
    for part in texts:
        for variable in _VARIABLE.findall(part):
            _, _, values = variable[1:-1].partition("=")
            yield from filter(None, values.split("|"))
        masked = _VARIABLE.sub("\0", part.strip().strip("\"'"))
        yield from (segment for segment in re.split(r"[#|/]", masked) if segment and "\0" not in segment)
