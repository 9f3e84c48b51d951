"""The mirror: every item of every table with its size, and the entries of its indexes in key order.

Reads are answered from here; moto holds only the items that a write needs to be validated against.
"""

from __future__ import annotations

import base64
import hashlib
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.knowledge.capacity import item_bytes, project, value_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Entry", "Item", "ItemKey", "Limits", "Schema", "Table", "View", "comparable", "restore"]

Item = dict[str, Any]
"""Attribute to AttributeValue."""

ItemKey = tuple[Any, ...]
"""The values of a table's key attributes, comparable with those of the same table."""

_CHUNK_BYTES = 3072
_ENTRY_BYTES = 18
_SHORT_TEXT = 128
_LONG_TEXT = 16384


class _Binary(bytes):
    """A binary key value, so that it can be told from text."""

    __slots__ = ()


def comparable(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - bytes or Decimal, as the type orders
    """Return a scalar AttributeValue as something that sorts and equals as DynamoDB does."""
    kind, content = next(iter(value.items()))
    if kind == "N":
        return Decimal(content)
    return _Binary(base64.b64decode(content)) if kind == "B" else str(content).encode()


def restore(part: Any) -> dict[str, str]:  # noqa: ANN401 - what `comparable` returned
    """Return the AttributeValue of a key value."""
    if isinstance(part, Decimal):
        return {"N": format(part, "f")}
    return {"B": base64.b64encode(part).decode()} if isinstance(part, _Binary) else {"S": part.decode()}


@dataclass(frozen=True, slots=True)
class Limits:
    """Units a second that a table or index may serve; None is unlimited."""

    provisioned_read: float | None = None
    provisioned_write: float | None = None
    maximum_read: float | None = None
    maximum_write: float | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """Keys and projection of a table (name None) or index; `attributes` None means all."""

    name: str | None
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    attributes: tuple[str, ...] | None = None
    is_local: bool = False
    limits: Limits = Limits()

    @property
    def key(self) -> tuple[str, ...]:
        """All key attributes, partition key first."""
        return self.partition + self.sort

    def partition_of(self, item: Mapping[str, Any]) -> ItemKey:
        """Return an item's partition key."""
        return tuple(comparable(item[name]) for name in self.partition)

    def sort_of(self, item: Mapping[str, Any]) -> ItemKey:
        """Return an item's sort key; empty where the schema has none."""
        return tuple(comparable(item[name]) for name in self.sort)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item as a table or index holds it, with its size for units and for pages."""

    item: Item
    size_bytes: int
    page_bytes: int


@dataclass(slots=True)
class View:
    """The items of a table or index by partition key, each partition sorted by (sort key, item key)."""

    schema: Schema
    partitions: dict[ItemKey, list[tuple[ItemKey, ItemKey]]] = field(default_factory=dict)
    entries: dict[ItemKey, Entry] = field(default_factory=dict)
    _hashed: list[tuple[bytes, ItemKey]] | None = None

    def replace(self, key: ItemKey, item: Item | None, page_key: str | None) -> None:
        """Put an item's entry, or take it away where the item is None or has no key for this view."""
        old = self.entries.pop(key, None)
        if old is not None:
            self._take(self.schema.partition_of(old.item), (self.schema.sort_of(old.item), key))
        projected = None if item is None else project(item, self.schema.key, self.schema.attributes)
        if projected is None:
            return
        self.entries[key] = Entry(projected, item_bytes(projected), _page_bytes(projected, page_key))
        partition = self.schema.partition_of(projected)
        if partition not in self.partitions:
            self.partitions[partition] = []
            self._hashed = None
        insort(self.partitions[partition], (self.schema.sort_of(projected), key))

    def _take(self, partition: ItemKey, place: tuple[ItemKey, ItemKey]) -> None:
        rows = self.partitions[partition]
        del rows[bisect_left(rows, place)]
        if not rows:
            del self.partitions[partition]
            self._hashed = None

    def by_hash(self) -> list[tuple[bytes, ItemKey]]:
        """Return the partition keys in the order in which a Scan meets them."""
        if self._hashed is None:
            self._hashed = sorted((hash_of(partition), partition) for partition in self.partitions)
        return self._hashed


class Table:
    """One table: its items, its indexes, and which of its items moto holds."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self.name: str = description["TableName"]
        self.arn: str = description["TableArn"]
        _, _, _, region, account, _ = self.arn.split(":", 5)
        self.place = (account, region)
        self.base = View(_schema(description, None))
        self.indexes: dict[str, View] = {}
        self.learn(description)
        self.held: dict[ItemKey, bool] = {}
        """Keys that moto knows; False where it has another version than the mirror."""

    def learn(self, description: Mapping[str, Any]) -> None:
        """Take limits and indexes from a TableDescription; an index that is new is filled."""
        self.base.schema = _schema(description, None)
        schemas = [
            *(_schema(index, self.base.schema, description) for index in description.get(_GLOBAL) or ()),
            *(_schema(index, self.base.schema, is_local=True) for index in description.get(_LOCAL) or ()),
        ]
        for name in set(self.indexes) - {schema.name for schema in schemas}:
            del self.indexes[name]
        for schema in schemas:
            name = str(schema.name)
            if name in self.indexes:
                self.indexes[name].schema = schema
                continue
            self.indexes[name] = View(schema)
            for key, entry in self.base.entries.items():
                self.indexes[name].replace(key, entry.item, self._page_key)

    @property
    def _page_key(self) -> str | None:
        return self.base.schema.sort[0] if self.base.schema.sort else None

    def views(self) -> Iterator[View]:
        """Yield the indexes."""
        yield from self.indexes.values()

    def key_of(self, item: Mapping[str, Any]) -> ItemKey:
        """Return the key of an item, or of a Key parameter; raises KeyError where an attribute is missing."""
        return tuple(comparable(item[name]) for name in self.base.schema.key)

    def get(self, key: ItemKey) -> Item | None:
        """Return an item, or None."""
        entry = self.base.entries.get(key)
        return None if entry is None else entry.item

    def replace(self, key: ItemKey, item: Item | None) -> None:
        """Put an item into the table and its indexes, or take it out of all."""
        for view in (self.base, *self.indexes.values()):
            view.replace(key, item, self._page_key)

    def resource(self, index: str | None) -> str:
        """Return the ARN of the table or of one of its indexes."""
        return self.arn if index is None else f"{self.arn}/index/{index}"


_GLOBAL = "GlobalSecondaryIndexes"
_LOCAL = "LocalSecondaryIndexes"


def hash_of(partition: ItemKey) -> bytes:
    """Return what a Scan orders partitions by."""
    return hashlib.md5(repr(partition).encode(), usedforsecurity=False).digest()


def _schema(
    described: Mapping[str, Any],
    base: Schema | None,
    table: Mapping[str, Any] | None = None,
    *,
    is_local: bool = False,
) -> Schema:
    keys: Iterable[Mapping[str, str]] = described["KeySchema"]
    partition = tuple(k["AttributeName"] for k in keys if k["KeyType"] == "HASH")
    sort = tuple(k["AttributeName"] for k in keys if k["KeyType"] == "RANGE")
    attributes: tuple[str, ...] | None = None
    if base is not None and described["Projection"].get("ProjectionType", "ALL") != "ALL":
        named = described["Projection"].get("NonKeyAttributes") or ()
        attributes = tuple(dict.fromkeys((*partition, *sort, *base.key, *named)))
    limits = Limits() if is_local else _limits(described, table or described)
    return Schema(described.get("IndexName"), partition, sort, attributes, is_local, limits)


def _limits(described: Mapping[str, Any], table: Mapping[str, Any]) -> Limits:
    mode = (table.get("BillingModeSummary") or {}).get("BillingMode", "PROVISIONED")
    if mode == "PAY_PER_REQUEST":
        most = described.get("OnDemandThroughput") or {}
        return Limits(
            maximum_read=_units(most.get("MaxReadRequestUnits")), maximum_write=_units(most.get("MaxWriteRequestUnits"))
        )
    given = described.get("ProvisionedThroughput") or {}
    return Limits(_units(given.get("ReadCapacityUnits")), _units(given.get("WriteCapacityUnits")))


def _units(value: float | None) -> float | None:
    return None if value is None or value <= 0 else float(value)


def _page_bytes(item: Item, sort_key: str | None) -> int:
    """Return what an item takes of the 1 MB of a page: its size as stored, one byte a name, and a head a chunk.

    Source: dynalite 4.0.0, whose authors measured it against DynamoDB; a test compares pages.
    """
    sort_bytes = value_bytes(item[sort_key]) if sort_key is not None and sort_key in item else 0
    rest = sum(_stored_bytes(value) + 1 for name, value in item.items() if name != sort_key)
    return 2 + rest + (1 + (1 + rest) // _CHUNK_BYTES) * (_ENTRY_BYTES + sort_bytes)


def _stored_bytes(value: Mapping[str, Any]) -> int:
    kind, content = next(iter(value.items()))
    if kind in {"L", "M"}:
        elements = content if kind == "L" else content.values()
        return 3 + (0 if kind == "L" else len(content)) + sum(1 + _stored_bytes(element) for element in elements)
    size = value_bytes(value)
    if kind == "S":
        return size + (1 if size < _SHORT_TEXT else 2 if size < _LONG_TEXT else 3)
    if kind in {"NULL", "BOOL"}:
        return size - (kind == "NULL")
    return size + 1 + (len(content) if kind in {"SS", "NS", "BS"} else 0)
