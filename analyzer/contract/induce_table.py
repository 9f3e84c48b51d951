"""One table of a drafted contract: its key, kinds of items, indexes and patterns."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.contract.draft import Draft, SetAside, Unsure
from analyzer.contract.entities import Entities, unique, words_of
from analyzer.contract.rates import Rates
from analyzer.contract.schemas import Schema, guess_schema
from analyzer.contract.seen import operation_of, tag_of
from analyzer.contract.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.contract.evidence import Evidence
    from analyzer.contract.model import TableDeclaration
    from analyzer.contract.seen import Seen
    from analyzer.model.counts import Counts
    from analyzer.model.table import IndexDescription

__all__ = ["TableDraft"]

_MOST_PATTERNS = 200
_NEVER_ANSWERED = "every call was refused; nothing shows that it is meant"
_VERBS = {
    "GetItem": "get",
    "Query": "list",
    "Scan": "scan",
    "PutItem": "put",
    "UpdateItem": "update",
    "DeleteItem": "delete",
    "BatchGetItem": "batch-get",
    "BatchWriteItem": "batch-write",
    "TransactGetItems": "transact-get",
    "TransactWriteItems": "transact-write",
}
_FIELDS = (
    *("id", "entity", "operation", "index", "key", "order", "page_size", "consistency", "filter", "items_per_key"),
    *("item_bytes", "rate", "callers"),
)
"""The fields of a pattern in their order."""


class TableDraft:
    """Drafts one table."""

    def __init__(self, name: str, seen: Sequence[Seen], evidence: Evidence) -> None:
        self._name = name
        self._evidence = evidence
        self._meant = [one for one in seen if one.is_answered]
        self._refused = [one for one in seen if not one.is_answered]
        self._known = next((table for table in evidence.known.tables if table.name == name), None)
        self._described = evidence.described.get(name)
        self._unsure: list[Unsure] = []
        self._rates = evidence.rates or _rates_of(evidence.counts)
        self._stems = Counter(_stem(one) for one in seen)
        self._used = Counter(pattern.id for pattern in self._known.patterns) if self._known else Counter[str]()

    def draft(self) -> Draft:
        """Return the table's share of the document; a table whose every call was refused has none."""
        listed = []
        entities = Entities(Schema())
        if self._meant:
            schema = self._schema(None, [s for s in self._meant if s.shape.index is None])
            taken = () if self._known is None else [entity.name for entity in self._known.entities]
            entities = Entities(schema, taken)
            listed.append(self._table(schema, entities))
        aside = [SetAside(self._name, self._pattern(one, entities)[0], _NEVER_ANSWERED) for one in self._refused]
        left_out = {self._name: len(self._meant) - _MOST_PATTERNS} if len(self._meant) > _MOST_PATTERNS else {}
        return Draft({"version": 1, "tables": listed}, tuple(aside), tuple(self._unsure), left_out)

    def _table(self, schema: Schema, entities: Entities) -> dict[str, Any]:
        table: dict[str, Any] = {"name": self._name, "partition_key": schema.partition or "PK"}
        if schema.sort:
            table["sort_key"] = schema.sort
        table |= self._types(schema)
        if schema.unsure and self._known is None:
            self._doubt("", "", "partition_key", schema.unsure)
        indexes = self._indexes(schema)
        entities.take(self._meant)
        declared = [] if self._known is None else [index.name for index in self._known.indexes]
        entities.describe(self._name, self._evidence.details, [*declared, *(index["name"] for index in indexes)])
        known = set() if self._known is None else {_key_of_entity(self._known, e.name) for e in self._known.entities}
        new = [e for e in entities.found.values() if _comparable(e, schema) not in known]
        table |= {"entities": new} if new else {}
        table |= {"indexes": indexes} if indexes else {}
        table["patterns"] = self._patterns(entities)
        return table

    def _types(self, schema: Schema) -> dict[str, Any]:
        """Return the types of key attributes that are no strings, where the table is described."""
        if self._described is None or self._known is not None:
            return {}
        told = {
            name: self._described.attribute_types.get(name, "S") for name in (schema.partition, schema.sort) if name
        }
        types = {name: kind for name, kind in told.items() if kind != "S"}
        return {"types": types} if types else {}

    def _schema(self, index: str | None, seen: Sequence[Seen]) -> Schema:
        if self._known is not None and (self._known.schema(index)[0]):
            partition, sort = self._known.schema(index)
            return Schema(partition[0], sort[0] if sort else None)
        described = self._described and (self._described if index is None else self._described.index(index))
        if described:
            return Schema(described.partition_key[0], described.sort_key[0] if described.sort_key else None)
        told = next(
            (
                heavy.attributes
                for heavy in self._evidence.counts.keys
                if heavy.target.table == self._name and heavy.target.index == index and heavy.attributes
            ),
            (),
        )
        written = () if index is None else self._evidence.details.indexes(self._name).get(index, ())
        return guess_schema([key for s in seen for key in s.keys], told, written)

    def _indexes(self, schema: Schema) -> list[dict[str, Any]]:
        """Return the indexes that are read, written or described, and not declared."""
        read = {s.shape.index for s in self._meant if s.shape.index is not None}
        counted = {
            cell.target.index
            for cell in self._evidence.counts.cells
            if cell.target.index is not None and self._evidence.declared_name(cell.target.table) == self._name
        }
        written = self._evidence.details.indexes(self._name)
        described = () if self._described is None else [index.name for index in self._described.indexes]
        refused = {s.shape.index for s in self._refused} - set(written) - set(described)
        known = () if self._known is None else [index.name for index in self._known.indexes]
        names = (read | ((counted - refused) | {*written, *described})) - set(known) - {None}
        return [self._index(name, schema, is_read=name in read) for name in sorted(filter(None, names))]

    def _index(self, name: str, base: Schema, *, is_read: bool) -> dict[str, Any]:
        readers = [s for s in self._meant if s.shape.index == name]
        schema = self._schema(name, readers)
        is_strong = any(s.shape.consistent for s in readers)
        index: dict[str, Any] = {"name": name, "kind": "lsi" if is_strong else "gsi"}
        described = None if self._described is None else self._described.index(name)
        if described is not None:
            index |= _of_description(described)
        elif not is_strong and schema.partition is not None and schema.partition == base.partition:
            self._doubt("indexes", name, "kind", "it has the table's partition key, so it may be an lsi")
        index["partition_key"] = schema.partition or f"{name}PK"
        index |= {"sort_key": schema.sort} if schema.sort else {}
        if described is not None and len(described.partition_key) + len(described.sort_key) > 2:  # noqa: PLR2004 -- a pair
            index |= {"partition_key": [*described.partition_key], "sort_key": [*described.sort_key]}
        if schema.unsure:
            self._doubt("indexes", name, "partition_key", schema.unsure)
        if not is_read:
            self._doubt("indexes", name, "name", "no request of the log reads it, and every write of its items pays")
        return index

    def _patterns(self, entities: Entities) -> list[dict[str, Any]]:
        drafted = [(one, *self._pattern(one, entities)) for one in self._meant[:_MOST_PATTERNS]]
        _tell_apart([(one, pattern) for one, pattern, _ in drafted])
        for _, pattern, unsure in drafted:
            for name, text in unsure.items():
                self._doubt("patterns", pattern["id"], name, text)
        return [{name: pattern[name] for name in _FIELDS if name in pattern} for _, pattern, _ in drafted]

    def _pattern(self, seen: Seen, entities: Entities) -> tuple[dict[str, Any], dict[str, str]]:
        pattern: dict[str, Any] = {"id": self._id(seen)}
        entity = entities.name_of(seen)
        pattern |= {"entity": entity} if entity else {}
        operations = [*seen.operations]
        pattern["operation"] = operations[0] if len(operations) == 1 else operations
        pattern |= {"index": seen.shape.index} if seen.shape.index is not None else {}
        if seen.keys:
            maps = [dict(key) for key in seen.keys]
            pattern["key"] = maps[0] if len(maps) == 1 else maps
        detail = self._evidence.details.of_pattern(seen.shape.table, seen.identities)
        usage, unsure = usage_of(seen, detail, self._evidence.counts, self._rates, has_entity=entity is not None)
        doubts = (self._evidence.doubts.get((seen.shape.table, text)) for key in seen.keys for _, text in key)
        doubt = next(filter(None, doubts), None)
        return pattern | usage, ({"key": doubt} | unsure) if doubt else unsure

    def _id(self, seen: Seen) -> str:
        """Name a pattern by its tag or by what it does; of two that do the same one says how it differs."""
        tag = tag_of(seen.shape)
        stem = _stem(seen)
        if tag is None and self._stems[stem] > 1:
            if seen.shape.filter is not None:
                stem = f"{stem}-filtered"
            elif seen.shape.forward is False:
                stem = f"{stem}-descending"
        return unique(tag or stem, self._used)

    def _doubt(self, part: str, name: str, field_name: str, text: str) -> None:
        self._unsure.append(Unsure(self._name, part, name, field_name, text))


def _rates_of(counts: Counts) -> Rates:
    rates = Rates()
    rates.take(counts)
    return rates


def _comparable(entity: Mapping[str, Any], schema: Schema) -> frozenset[tuple[str, str]]:
    """Return what makes two entities the same kind: the key of the table, whatever the variables are called."""
    return frozenset(
        (name, _bare(entity[name])) for name in (schema.partition or "", schema.sort or "") if name in entity
    )


def _key_of_entity(table: TableDeclaration, name: str) -> frozenset[tuple[str, str]]:
    entity = table.entity(name)
    keys = {*table.partition_key, *table.sort_key}
    told = () if entity is None else entity.key
    return frozenset((k.attribute, _bare(k.template.text)) for k in told if k.attribute in keys)


def _bare(template: str) -> str:
    return re.sub(r"<[^<>]*>", "<>", template)


def _of_description(described: IndexDescription) -> dict[str, Any]:
    projection = described.projection
    told = [*projection] if isinstance(projection, tuple) else projection
    return {"kind": described.kind} | ({} if told is None else {"projection": told})


def _stem(seen: Seen) -> str:
    """Return an id of what a pattern does: the verb and the words of its key."""
    shape = seen.shape
    operation = operation_of(shape)
    words = [word.lower() for key in seen.keys[:1] for _, text in key for word in words_of(text)]
    place = [shape.index.lower()] if shape.index is not None else []
    verb = _VERBS.get(operation, re.sub(r"(?<!^)(?=[A-Z])", "-", operation).lower())
    distinct = list(dict.fromkeys(words))
    stem = "-".join([verb, *(place if not words else ()), *(distinct[:4] or ([] if place else [shape.table.lower()]))])
    return re.sub(r"[^a-z0-9-]+", "-", stem).strip("-")


def _tell_apart(drafted: Sequence[tuple[Seen, dict[str, Any]]]) -> None:
    """Say of a pattern that it has no filter, or reads upwards, where its twin has one, or reads downwards."""
    twins: dict[tuple[object, ...], list[tuple[Seen, dict[str, Any]]]] = {}
    for seen, pattern in drafted:
        twins.setdefault((seen.shape.index, operation_of(seen.shape), tuple(sorted(seen.keys))), []).append(
            (seen, pattern)
        )
    for listed in twins.values():
        filtered = {"filter" in pattern for _, pattern in listed}
        ordered = {"order" in pattern for _, pattern in listed}
        for seen, pattern in listed:
            if len(filtered) > 1 and "filter" not in pattern:
                pattern["filter"] = "none"
            if len(ordered) > 1 and "order" not in pattern and seen.shape.operation == "Query":
                pattern["order"] = "ascending"
