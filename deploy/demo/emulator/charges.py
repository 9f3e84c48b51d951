"""What a call costs: units by resource and partition key, and how DynamoDB tells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from analyzer.knowledge.capacity import index_write_units, item_bytes, project, write_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deploy.demo.emulator.store import Item, ItemKey, Table

__all__ = ["Charge", "Direction", "charge_write", "tell_consumed", "whole"]

Direction = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Charge:
    """Units on one partition key of a table (index None) or index; those of an LSI stand on the table's partition.

    `shares` divides them over sort keys where single items were read or written: a Query that reads several is one
    access of a collection and has none.
    """

    table: Table
    index: str | None
    direction: Direction
    partition: ItemKey
    units: float
    is_local: bool = False
    shares: tuple[tuple[ItemKey, float], ...] = ()

    @property
    def resource(self) -> str | None:
        """Name of the index whose limits count, None for the table's."""
        return None if self.is_local else self.index


def charge_write(table: Table, before: Item | None, after: Item | None, *, transactional: bool = False) -> list[Charge]:
    """Return what changing one item costs the table and each of its indexes."""
    item = after or before
    home: ItemKey = () if item is None else table.base.schema.partition_of(item)
    sizes = [0 if each is None else item_bytes(each) for each in (before, after)]
    units_of_table = write_units(sizes[0], sizes[1], transactional=transactional)
    shares = () if item is None else whole(table.base.schema.sort_of(item))
    charges = [Charge(table, None, "write", home, units_of_table, shares=shares)]
    for view in table.views():
        schema = view.schema
        entries = [None if each is None else project(each, schema.key, schema.attributes) for each in (before, after)]
        units = index_write_units(entries[0], entries[1], schema.key, transactional=transactional)
        for entry, amount in zip(entries, units, strict=True):
            if entry is not None and amount:
                place = home if schema.is_local else schema.partition_of(entry)
                shares = () if schema.is_local else whole(schema.sort_of(entry))
                charges.append(Charge(table, schema.name, "write", place, amount, schema.is_local, shares))
    return charges


def whole(sort: ItemKey) -> tuple[tuple[ItemKey, float], ...]:
    """Return the shares of what one item takes alone; none where there is no sort key."""
    return ((sort, 1.0),) if sort else ()


def tell_consumed(
    charges: Iterable[Charge], table_name: str, wanted: str | None, *, transactional: bool = False
) -> dict[str, Any] | None:
    """Return ConsumedCapacity as INDEXES or TOTAL asks for it, None where nothing was asked."""
    if wanted not in {"INDEXES", "TOTAL"}:
        return None
    charges = list(charges)
    told: dict[str, Any] = {"TableName": table_name, **_capacity(charges, transactional=transactional)}
    if wanted == "INDEXES":
        told["Table"] = _capacity([c for c in charges if c.index is None], transactional=transactional)
        for member, is_local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            names = dict.fromkeys(c.index for c in charges if c.index is not None and c.is_local is is_local)
            if names:
                told[member] = {
                    name: _capacity([c for c in charges if c.index == name], transactional=transactional)
                    for name in names
                }
    return told


def _capacity(charges: list[Charge], *, transactional: bool) -> dict[str, float]:
    told = {"CapacityUnits": _sum(charges)}
    if transactional:
        for direction, member in (("read", "ReadCapacityUnits"), ("write", "WriteCapacityUnits")):
            if any(c.direction == direction for c in charges):
                told[member] = _sum([c for c in charges if c.direction == direction])
    return told


def _sum(charges: list[Charge]) -> float:
    """Add units; a Scan's were divided over keys, which leaves dust in the last digits."""
    return round(float(sum(c.units for c in charges)), 6)
