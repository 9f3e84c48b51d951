"""Writes: moto validates and executes them, the buckets admit them, the mirror keeps them.

moto holds only the items that recent writes touched: before a write, the mirror's version of each item is put there
where moto lacks it. A write that moto accepted and the buckets refuse never reaches the mirror, and moto is told the
mirror's version again before that item is next used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.knowledge.limits import BATCH_WRITE_ITEMS
from deploy.demo.emulator.charges import charge_write
from deploy.demo.emulator.store import restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.moto import Moto
    from deploy.demo.emulator.store import Item, ItemKey, Table

__all__ = ["Change", "WorkingSet", "change_of"]

_HELD_AT_MOST = 100
"""moto copies whole tables for each transaction, so that its tables are kept small."""


@dataclass(slots=True)
class Change:
    """One item that a call changes or checks: `after` is known before moto was asked unless it is an Update."""

    kind: str
    table: Table
    key: ItemKey
    key_item: Item
    before: Item | None
    after: Item | None
    is_known: bool

    def charges(self, *, transactional: bool = False) -> list[Charge]:
        """Return what it costs, once `after` is known."""
        return charge_write(self.table, self.before, self.after, transactional=transactional)


def change_of(kind: str, part: Mapping[str, Any], table: Table) -> Change:
    """Read one member of a write; raises KeyError where a key attribute is missing."""
    source: Item = part["Item"] if kind == "Put" else part["Key"]
    key = table.key_of(source)
    before = table.get(key)
    after = part["Item"] if kind == "Put" else None if kind == "Delete" else before
    key_item = {name: source[name] for name in table.base.schema.key}
    return Change(kind, table, key, key_item, before, after, kind != "Update")


class WorkingSet:
    """What moto holds of each table."""

    def __init__(self, moto: Moto) -> None:
        self._moto = moto

    async def hold(self, changes: Iterable[Change], headers: Mapping[str, str]) -> None:
        """Make moto's version of the items the mirror's."""
        for table, keys in _by_table(changes).items():
            await self._shrink(table, keys, headers)
            lacking = {
                key: item
                for key, item in keys.items()
                if not table.held.get(key, False) and (key in table.held or table.get(key) is not None)
            }
            await self._write(table, [_request(table, key, item) for key, item in lacking.items()], headers)
            for key in keys:
                table.held.pop(key, None)
                table.held[key] = True

    async def hold_all(self, table: Table, headers: Mapping[str, str]) -> None:
        """Make moto's version of a whole table the mirror's, for what only moto can answer."""
        wanted = {key: table.get(key) for key in (*table.base.entries, *table.held) if not table.held.get(key, False)}
        names = table.base.schema.key
        requests = []
        for key, item in wanted.items():
            if item is not None:
                requests.append({"PutRequest": {"Item": item}})
            else:
                requests.append({"DeleteRequest": {"Key": _key_item(names, key)}})
        await self._write(table, requests, headers)
        table.held.update(dict.fromkeys(wanted, True))

    def doubt(self, changes: Iterable[Change]) -> None:
        """Remember that moto holds what was refused."""
        for change in changes:
            change.table.held[change.key] = False

    async def _shrink(self, table: Table, wanted: Mapping[ItemKey, Item], headers: Mapping[str, str]) -> None:
        if len(table.held) <= _HELD_AT_MOST:
            return
        names = table.base.schema.key
        leaving = [key for key in table.held if key not in wanted][: len(table.held) - _HELD_AT_MOST // 2]
        await self._write(table, [{"DeleteRequest": {"Key": _key_item(names, key)}} for key in leaving], headers)
        for key in leaving:
            del table.held[key]

    async def _write(self, table: Table, requests: list[dict[str, Any]], headers: Mapping[str, str]) -> None:
        for start in range(0, len(requests), BATCH_WRITE_ITEMS):
            await self._moto.call(
                "BatchWriteItem", {"RequestItems": {table.name: requests[start : start + BATCH_WRITE_ITEMS]}}, headers
            )


def _by_table(changes: Iterable[Change]) -> dict[Table, dict[ItemKey, Item]]:
    found: dict[Table, dict[ItemKey, Item]] = {}
    for change in changes:
        found.setdefault(change.table, {})[change.key] = change.key_item
    return found


def _request(table: Table, key: ItemKey, key_item: Item) -> dict[str, Any]:
    item = table.get(key)
    return {"DeleteRequest": {"Key": key_item}} if item is None else {"PutRequest": {"Item": item}}


def _key_item(names: Iterable[str], key: ItemKey) -> Item:
    return {name: restore(part) for name, part in zip(names, key, strict=True)}
