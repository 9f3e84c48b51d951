"""Batches and transactions: one internal record a table, the units spread evenly over the members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from analyzer.model.counts import Cell
from analyzer.model.request import Part
from analyzer.model.target import Target
from analyzer.requests.digest_block import ABSENT
from analyzer.requests.digest_keys import IRREGULAR
from analyzer.requests.digest_routes import table_name
from analyzer.requests.digest_units import UNKNOWN, read_consumed, units_of
from analyzer.requests.masking import mask_statement
from analyzer.requests.shapes import parts_shape
from analyzer.requests.statements import table_of

if TYPE_CHECKING:
    from analyzer.model.request import Consumed
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_keys import FormTable, KeySpace
    from analyzer.requests.digest_routes import Route, Router
    from analyzer.requests.digest_units import Units
    from analyzer.requests.lexicon import Lexicon

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


class TableCall(NamedTuple):
    """What a call asked of one table: its cell and units, form, partition and sort key of each member, index keys."""

    cell: int
    units: Units
    keys: list[tuple[int, bytes, bytes]]
    index_keys: list[Raw]


_READ_MEMBERS = msgspec.json.Decoder(list[Member]).decode
_READ_PARTS = msgspec.json.Decoder(list[Part]).decode

Signature = frozenset[tuple[Any, ...]]


class PartReader:
    """Cells of batches and transactions, remembered by what their members have in common."""

    def __init__(self, lexicon: Lexicon, router: Router, cells: CellTable, forms: FormTable, *, most: int) -> None:
        self._lexicon = lexicon
        self._forms = forms
        self._router = router
        self._cells = cells
        self._most = most
        self._known: dict[tuple[int, str, Signature], int] = {}

    def clear(self) -> None:
        """Forget what depends on the numbers of routes."""
        self._known.clear()

    def read(self, line: Line, route: Route) -> list[TableCall]:
        """Split a call by table."""
        try:
            members = _READ_MEMBERS(line.parts)
        except ValueError:
            members = []
        tables: dict[str, list[Member]] = {}
        for member in members:
            tables.setdefault(_table_of(member, route.record.table), []).append(member)
        consumed = read_consumed(bytes(line.consumed)) if line.consumed else None
        return [
            self._table_call(line, route, table, of_table, _consumed_by(consumed, table, len(tables)))
            for table, of_table in (tables or {table_name(route.record.table): []}).items()
        ]

    def _table_call(
        self, line: Line, route: Route, table: str, members: list[Member], consumed: Consumed | None
    ) -> TableCall:
        space = self._router.space(table, None, route.record.keys)
        keys = _read_keys(space, [bytes(member.key) for member in members])
        class_of = self._forms.class_of
        signature = frozenset(
            [
                (member.op, class_of[key[0]], member.condition, member.update, member.statement)
                for member, key in zip(members, keys, strict=True)
            ]
        )
        known = (route.number, table, signature)
        cell = self._known.get(known)
        if cell is None:
            if len(self._known) >= self._most:
                self._known.clear()
            cell = self._known[known] = self._cell(line, route, table)
        writes = self._cells.cells[cell].shape.writes
        units = UNKNOWN if consumed is None else units_of(consumed, None, writes=writes, is_local=space.is_local)
        return TableCall(cell, units, keys, [member.index_keys for member in members if member.index_keys])

    def _cell(self, line: Line, route: Route, table: str) -> int:
        try:
            parts = _READ_PARTS(line.parts) or None
        except ValueError:
            parts = None
        record = msgspec.structs.replace(route.record, parts=parts)
        skeletons = self._router.skeletons(record)
        skeleton = next((one for one in skeletons if one.table == table), skeletons[0])
        if skeleton.is_parted and skeleton.parsed:
            shape = parts_shape(record, table, self._lexicon, record.pattern)
        else:
            shape = skeleton.shape((), record.pattern)
        return self._cells.number(
            Cell(Target(record.account, record.region, table, None), shape, route.caller, route.rate)
        )


def _read_keys(space: KeySpace, raws: list[bytes]) -> list[tuple[int, bytes, bytes]]:
    """Return form, partition and sort key of each member."""
    if not raws:
        return []
    found = []
    forms = space.forms
    for raw, signature in zip(raws, space.squash(b"\n".join(raws)).split(b"\n"), strict=True):
        number = space.seen.get(signature)
        if number is None:
            number = space.learn(signature, raw)
        if number == IRREGULAR or b"\\" in raw:
            found.append(space.parse(raw))
            continue
        form = forms[number]
        pieces = raw.split(b'"')
        part = pieces[form.part_at] if form.part_at else b""
        found.append((number, part, pieces[form.sort_at] if form.sort_at else b""))
    return found


def _table_of(member: Member, table: str | None) -> str:
    return table_name(member.table or table) or (table_of(mask_statement(member.statement)) if member.statement else "")


def _consumed_by(consumed: Consumed | None, table: str, tables: int) -> Consumed | None:
    """Return the units of one table of a call; without a split they are known only if it is the one table."""
    if consumed is None:
        return None
    if consumed.by_table:
        return consumed.by_table.get(table)
    return consumed if tables == 1 else None


def spread(halves: int, members: int) -> list[int]:
    """Spread half-units evenly over members, the first ones taking what does not divide."""
    each, rest = divmod(halves, members)
    return [each + 1] * rest + [each] * (members - rest)
