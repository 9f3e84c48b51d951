"""Batches and transactions: one internal record a table, the units spread evenly over the members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from analyzer.model.counts import Cell
from analyzer.model.request import Part
from analyzer.model.target import Target
from analyzer.requests.digest_block import ABSENT
from analyzer.requests.digest_routes import table_name
from analyzer.requests.digest_units import UNKNOWN, units_of
from analyzer.requests.masking import mask_statement
from analyzer.requests.shapes import parts_shape
from analyzer.requests.statements import table_of

if TYPE_CHECKING:
    from analyzer.model.request import Consumed
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_keys import KeySpace
    from analyzer.requests.digest_routes import Route, Router
    from analyzer.requests.digest_units import Units

__all__ = ["Member", "PartReader", "TableCall", "spread"]


class Member(Struct):
    """One member of a call, slimly decoded."""

    op: str
    table: str | None = None
    key: Raw = ABSENT
    index_keys: Raw = ABSENT
    condition: str | None = None
    update: str | None = None
    statement: str | None = None
    item_bytes: int | None = None


class TableCall(NamedTuple):
    """What a call asks of one table: the space of its keys, and its members."""

    table: str
    space: KeySpace
    members: list[Member]


_READ_MEMBERS = msgspec.json.Decoder(list[Member]).decode
_READ_PARTS = msgspec.json.Decoder(list[Part]).decode

Signature = frozenset[tuple[Any, ...]]


class PartReader:
    """Cells of batches and transactions, remembered by what their members have in common."""

    def __init__(self, router: Router, cells: CellTable, *, most: int) -> None:
        self._router = router
        self._cells = cells
        self._most = most
        self._known: dict[tuple[int, str, Signature], int] = {}

    def clear(self) -> None:
        """Forget what depends on the numbers of routes."""
        self._known.clear()

    @staticmethod
    def placed(line: Line) -> list[tuple[str, Member]]:
        """Return the members of a call in its order, each with its table."""
        try:
            members = _READ_MEMBERS(line.parts)
        except (ValueError, RecursionError):
            return []
        own = line.table
        if own is None or own[:4] == "arn:":
            return [(_table_of(member, own), member) for member in members]
        return [(own if member.table is None else _table_of(member, own), member) for member in members]

    def split(self, line: Line, route: Route) -> list[TableCall]:
        """Split a call by table."""
        tables: dict[str, list[Member]] = {}
        for table, member in self.placed(line):
            tables.setdefault(table, []).append(member)
        return [
            TableCall(table, self._router.space(table, None, route.record.keys), of_table)
            for table, of_table in (tables or {table_name(route.record.table): []}).items()
        ]

    def cell(self, line: Line, route: Route, call: TableCall, classes: list[int]) -> int:
        """Return the cell of a call to one table whose members' keys are of these classes."""
        signature = frozenset(
            [
                (member.op, key_class, member.condition, member.update, member.statement)
                for member, key_class in zip(call.members, classes, strict=True)
            ]
        )
        known = (route.number, call.table, signature)
        cell = self._known.get(known)
        if cell is None:
            if len(self._known) >= self._most:
                self._known.clear()
            cell = self._known[known] = self._cell(line, route, call)
        return cell

    def units(self, call: TableCall, cell: int, consumed: Consumed | None, tables: int) -> Units:
        """Return the units of a call to one table; without a split they are known only if it is the one table."""
        if consumed is not None and consumed.by_table:
            consumed = consumed.by_table.get(call.table)
        elif tables > 1:
            consumed = None
        if consumed is None:
            return UNKNOWN
        return units_of(consumed, None, writes=self._cells.cells[cell].shape.writes, is_local=call.space.is_local)

    def _cell(self, line: Line, route: Route, call: TableCall) -> int:
        table = call.table
        try:
            parts = _READ_PARTS(line.parts) or None
        except (ValueError, RecursionError):
            parts = None
        record = msgspec.structs.replace(route.record, parts=parts)
        skeletons = self._router.skeletons(record)
        skeleton = next((one for one in skeletons if one.table == table), skeletons[0])
        if skeleton.is_parted and skeleton.parsed:
            shape = parts_shape(record, table, call.space.lexicon, record.pattern)
        else:
            shape = skeleton.shape((), record.pattern)
        return self._cells.number(
            Cell(Target(record.account, record.region, table, None), shape, route.caller, route.rate)
        )


def _table_of(member: Member, table: str | None) -> str:
    return table_name(member.table or table) or (table_of(mask_statement(member.statement)) if member.statement else "")


def spread(halves: int, members: int) -> list[int]:
    """Spread half-units evenly over members, the first ones taking what does not divide."""
    if members == 1:
        return [halves]
    each, rest = divmod(halves, members) if members else (0, 0)
    return [each + 1] * rest + [each] * (members - rest)
