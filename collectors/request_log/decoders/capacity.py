"""ConsumedCapacity as DynamoDB answers it, made a record's `consumed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.knowledge.names import table_name
from analyzer.model.request import Capacity, Consumed
from collectors.request_log.decoders.fields import mapping, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["consumed_of"]

_INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def consumed_of(capacity: object) -> Consumed | None:
    """Read ConsumedCapacity, or the list of them that batches and transactions answer with, one a table."""
    if isinstance(capacity, dict):
        return _of_table(capacity)
    entries = [entry for entry in capacity if isinstance(entry, dict)] if isinstance(capacity, list) else []
    if len(entries) <= 1:
        return _of_table(entries[0]) if entries else None
    told = {table_name(text(entry.get("TableName")) or ""): _of_table(entry) for entry in entries}
    by_table = {table: consumed for table, consumed in told.items() if consumed is not None}
    if not by_table:
        return None
    return Consumed(total=sum(consumed.total or 0 for consumed in by_table.values()), by_table=by_table)


def _of_table(capacity: Mapping[str, Any]) -> Consumed | None:
    indexes = {
        name: units
        for member in _INDEXES
        for name, given in mapping(capacity.get(member)).items()
        if (units := _units(given)) is not None
    }
    consumed = Consumed(
        total=number(capacity.get("CapacityUnits")),
        read=number(capacity.get("ReadCapacityUnits")),
        write=number(capacity.get("WriteCapacityUnits")),
        table=_units(capacity.get("Table")),
        indexes=indexes or None,
    )
    return consumed if consumed != Consumed() else None


def _units(given: object) -> float | Capacity | None:
    told = mapping(given)
    read, write = number(told.get("ReadCapacityUnits")), number(told.get("WriteCapacityUnits"))
    if read is None and write is None:
        return number(told.get("CapacityUnits"))
    return Capacity(read, write)
