"""The hot loop: some hundreds of lines at once become rows of counts and rows of keys.

Every step treats all lines at once, in C or numpy; only what a cache does not know is looked at alone.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.requests.digest_block import ABSENT
from analyzer.requests.digest_codes import CodeMap
from analyzer.requests.digest_key_rows import KeyRows
from analyzer.requests.digest_keyed import Keys, keys_of, signatures_of
from analyzer.requests.digest_keys import NO_KEY, KeySpace, canonical_all
from analyzer.requests.digest_parts import PartReader, TableCall, spread
from analyzer.requests.digest_routes import CLASS_BITS, Router, route_keys
from analyzer.requests.digest_told import SEPARATOR, bytes_of
from analyzer.requests.digest_units import UNKNOWN, read_consumed, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

    from analyzer.model.request import Consumed
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_keys import FormTable
    from analyzer.requests.digest_told import Told
    from analyzer.requests.digest_units import Units
    from analyzer.requests.lexicon import Lexicon

__all__ = ["WHOLE", "Columns", "Rows"]

WHOLE = ("attempts", "scanned", "count", "returned_bytes", "more", "resumed", "unprocessed")
"""Numbers that a line tells."""

_UNIT_BITS = 24
_UNIT_MASK = (1 << _UNIT_BITS) - 1
_MOST_CONSUMED = 4096
Plan = tuple[tuple[int, KeySpace, str | None, int, int, int], ...]
"""What a call costs at other targets: cell, key space, index, half-units, these as read and as written (-1: not)."""

Price = tuple[int, int, Plan]

_PLAIN, _VALUED, _PARTED, _NONE = range(4)


class Rows(NamedTuple):
    """Rows of a block, as columns: requests first, then, with -1 as source, what calls cost at other targets.

    `source` is the number of the line that a row comes from, `whole` the numbers told by the line (-1: not told), one
    row of it a field of WHOLE. `keys` are the keys of all rows, `of_lines` those of the lines.
    """

    source: np.ndarray
    seconds: np.ndarray
    cells: np.ndarray
    read: np.ndarray
    write: np.ndarray
    whole: np.ndarray
    latency: np.ndarray
    is_parted: np.ndarray
    keys: KeyRows
    of_lines: Keys


class _Found:
    """Rows that are found one by one: requests of parted calls, units at other targets, and keys."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, int, int]] = []
        self.units: list[tuple[int, int, int, int]] = []
        self.keys: list[tuple[int, int, int, int]] = []
        self.parts: list[bytes] = []
        self.sorts: list[bytes] = []

    def add_key(self, at: int, cell: int, halves: int, form: int, part: bytes, sort: bytes) -> None:
        """Add what a line cost at a key."""
        self.keys.append((at, cell, halves, form))
        self.parts.append(part)
        self.sorts.append(sort)


class Columns:
    """From lines to rows, with all the caches that this takes."""

    def __init__(self, lexicon: Lexicon, forms: FormTable, cells: CellTable, *, routes: int, grammar: int) -> None:
        self._forms = forms
        self._cells = cells
        self.router = Router(lexicon, forms, cells, most=routes, budget=grammar)
        self._parts = PartReader(self.router, cells, most=routes)
        self._kinds = array("b", [_NONE])
        self._spaces = [KeySpace(forms, lexicon, "", None, None)]  # the first stands for what is no request
        self._consumed: dict[bytes, int] = {}
        self._consumed_values: list[Consumed | None] = []
        self._unit_codes = CodeMap(self._make_units)
        self._units: list[Units] = []
        self._others: dict[tuple[int, str | None], tuple[int, KeySpace, bool]] = {}
        self._plans: list[Plan] = []
        self._plan_codes = CodeMap(self._make_plan)
        self._prices: dict[tuple[int, int, int], Price] = {}
        self._forget_units()

    def _forget_units(self) -> None:
        self._consumed = {b"": 0}
        self._consumed_values = [None]
        self._unit_codes.clear()
        self._units.clear()
        self._reads = np.zeros(0, dtype=np.int64)
        self._writes = np.zeros(0, dtype=np.int64)
        self._has_others = np.zeros(0, dtype=bool)

    def _make_room(self) -> None:
        if self.router.is_full:
            self.router.clear()
            self._parts.clear()
            del self._kinds[1:], self._spaces[1:]
        if len(self._consumed) > _MOST_CONSUMED or len(self._plans) + len(self._prices) > 4 * _MOST_CONSUMED:
            self._forget_units()
            self._others.clear()
            self._plans.clear()
            self._plan_codes.clear()
            self._prices.clear()

    def routes(self, told: Told, seconds: np.ndarray) -> np.ndarray:
        """Return the number of each line's route."""
        self._make_room()
        router = self.router
        router.refill(int(seconds.min()), int(seconds.max()))
        keys = route_keys(told)
        found: list[int | None] = list(map(router.known.get, keys))
        lacking = [at for at, number in enumerate(found) if number is None]
        if lacking:
            for at in lacking:
                found[at] = router.add(told.lines[at], keys[at])
            for route in router.routes[len(self._kinds) - 1 :]:
                self._kinds.append(_PARTED if route.is_parted else _VALUED if route.has_values else _PLAIN)
                self._spaces.append(route.space)
        return np.array(found, dtype=np.int64)

    def rows(self, told: Told, seconds: np.ndarray, routes: np.ndarray) -> Rows:
        """Return the rows of requests; no line may be a counter."""
        lines = told.lines
        kinds = np.frombuffer(self._kinds, dtype=np.int8)[routes]
        numbers = routes.tolist()
        raws = list(told.key)
        spaces = list(map(self._spaces.__getitem__, numbers))
        parted = [
            (at, self._parts.split(lines[at], self.router.route(numbers[at])))
            for at in np.flatnonzero(kinds == _PARTED).tolist()
        ]
        for _, calls in parted:
            for call in calls:
                raws += [member.key for member in call.members]
                spaces += [call.space] * len(call.members)
        every = keys_of(raws, spaces, self._forms)
        keys = every.first(len(lines))
        cells = self._cells_of(told, routes, keys, kinds)
        single = np.flatnonzero(kinds != _PARTED)
        consumed = self._consumed_of(told)
        entries = self._entries(consumed[single], cells[single])
        read, write = self._reads[entries], self._writes[entries]
        found = _Found()
        self._find_others(lines, single, cells, entries, found)
        self._find_parts(lines, parted, numbers, every, consumed, found)
        of_calls = np.array(found.calls, dtype=np.int64).reshape(-1, 4).T
        units = np.array(found.units, dtype=np.int64).reshape(-1, 4).T
        joined = [
            np.concatenate(parts) for parts in zip((single, cells[single], read, write), of_calls, units, strict=True)
        ]
        halves = np.zeros(len(lines), dtype=np.int64)
        halves[single] = np.maximum(read, 0) + np.maximum(write, 0)
        key_rows = _key_rows(seconds, cells, halves, keys, found)
        bounds = (len(single), len(single) + of_calls.shape[1])
        return _rows(told, seconds, joined, bounds, key_rows, keys)

    def _cells_of(self, told: Told, routes: np.ndarray, keys: Keys, kinds: np.ndarray) -> np.ndarray:
        """Return the cell of each line; -1 for parted ones. Where values alone tell the key, `keys` is filled in."""
        classes = np.frombuffer(self._forms.class_of, dtype=np.int64)[keys.forms]
        cells = np.full(len(routes), -1)
        plain = kinds == _PLAIN
        cells[plain] = self.router.cell_codes.look_up((routes[plain] << CLASS_BITS) | classes[plain])
        valued = np.flatnonzero(kinds == _VALUED)
        where = valued.tolist()
        if where:
            lines = told.lines
            joined = SEPARATOR.join([lines[at].values for at in where])
            raws = joined.split(SEPARATOR)
            codes = ((routes[valued] << CLASS_BITS) | classes[valued]).tolist()
            signatures = signatures_of(joined, list(map(self._spaces.__getitem__, routes[valued].tolist())))
            cells[valued] = self.router.value_cells(codes, raws, signatures)
            for at, raw in zip(where, raws, strict=True):
                if told.key[at] is ABSENT:
                    route = self.router.route(int(routes[at]))
                    keys.forms[at], keys.parts[at], keys.sorts[at] = self.router.key_from_values(route, raw)
                    keys.is_known[at] = bool(keys.parts[at])
        return cells

    def _consumed_of(self, told: Told) -> np.ndarray:
        """Return for each line the number of what it says of its units in `_consumed_values`."""
        raws = bytes_of(told.consumed)
        found = list(map(self._consumed.get, raws))
        for at in [at for at, number in enumerate(found) if number is None]:
            number = self._consumed.get(raws[at])
            if number is None:
                number = self._consumed[raws[at]] = len(self._consumed_values)
                self._consumed_values.append(read_consumed(raws[at]))
            found[at] = number
        return np.array(found, dtype=np.int64)

    def _entries(self, consumed: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Return for each single call the number of its units in `_units`."""
        if not len(cells):
            return cells
        places = np.frombuffer(self._cells.place_of, dtype=np.int64)[cells]
        return self._unit_codes.look_up((places << _UNIT_BITS) | consumed)

    def _make_units(self, code: int) -> int:
        consumed = self._consumed_values[code & _UNIT_MASK]
        table, index, writes = self._cells.places[code >> _UNIT_BITS]
        space = self.router.space(table, None, None)
        units = UNKNOWN if consumed is None else units_of(consumed, index, writes=writes, is_local=space.is_local)
        self._units.append(units)
        self._reads = np.append(self._reads, -1 if units.read is None else units.read)
        self._writes = np.append(self._writes, -1 if units.write is None else units.write)
        self._has_others = np.append(self._has_others, bool(units.others))
        return len(self._units) - 1

    def _find_others(
        self, lines: list[Line], single: np.ndarray, cells: np.ndarray, entries: np.ndarray, found: _Found
    ) -> None:
        """Find what calls cost at other targets than their own, and the keys of the index entries that they wrote."""
        has_others = self._has_others[entries]
        if not has_others.any():
            return
        where = single[has_others]
        numbers = self._plan_codes.look_up((cells[where] << _UNIT_BITS) | entries[has_others]).tolist()
        raws = _unescaped([lines[at].index_keys for at in where.tolist()])
        for at, raw, plan in zip(where.tolist(), raws, map(self._plans.__getitem__, numbers), strict=True):
            for other, space, index, halves, read, write in plan:
                found.units.append((at, other, read, write))
                key = space.entry(raw, index) if index is not None and raw else None
                if key is not None:
                    found.keys.append((at, other, halves, NO_KEY))
                    found.parts.append(key[0])
                    found.sorts.append(key[1])

    def _make_plan(self, code: int) -> int:
        self._plans.append(self._plan(code >> _UNIT_BITS, self._units[code & _UNIT_MASK]))
        return len(self._plans) - 1

    def _plan(self, cell: int, units: Units) -> Plan:
        """Return what a call of a cell with these units costs at other targets."""
        plan = []
        for index, halves in units.others:
            other, space, writes = self._other(cell, index)
            plan.append((other, space, index, halves, -1 if writes else halves, halves if writes else -1))
        return tuple(plan)

    def _find_parts(
        self,
        lines: list[Line],
        parted: list[tuple[int, list[TableCall]]],
        numbers: list[int],
        keys: Keys,
        consumed: np.ndarray,
        found: _Found,
    ) -> None:
        """Find the calls of batches and transactions, one a table; their keys come after those of the lines."""
        classes = np.frombuffer(self._forms.class_of, dtype=np.int64)[keys.forms[len(lines) :]].tolist()
        forms, is_known = keys.forms[len(lines) :].tolist(), keys.is_known[len(lines) :].tolist()
        parts, sorts = keys.parts[len(lines) :], keys.sorts[len(lines) :]
        begin = 0
        for at, calls in parted:
            line, route = lines[at], self.router.route(numbers[at])
            for call in calls:
                end = begin + len(call.members)
                cell = self._parts.cell(line, route, call, classes[begin:end])
                read, write, plan = self._price(call, cell, int(consumed[at]), len(calls))
                found.calls.append((at, cell, read, write))
                for number, share in enumerate(spread(max(read, 0) + max(write, 0), end - begin), begin):
                    if is_known[number]:
                        found.add_key(at, cell, share, forms[number], parts[number], sorts[number])
                if plan:
                    self._add_entries(at, call, plan, found)
                begin = end

    def _price(self, call: TableCall, cell: int, consumed: int, tables: int) -> Price:
        """Return what a call to one table cost there, as read and as written (-1: not known), and elsewhere."""
        price = self._prices.get((cell, consumed, tables))
        if price is None:
            units = self._parts.units(call, cell, self._consumed_values[consumed], tables)
            read, write = (-1 if halves is None else halves for halves in (units.read, units.write))
            price = self._prices[cell, consumed, tables] = (read, write, self._plan(cell, units))
        return price

    @staticmethod
    def _add_entries(at: int, call: TableCall, plan: Plan, found: _Found) -> None:
        """Add what the members of a call cost at indexes, spread over the entries that they wrote."""
        for other, space, index, halves, read, write in plan:
            found.units.append((at, other, read, write))
            raws = [bytes(member.index_keys) for member in call.members if member.index_keys]
            entries = [key for raw in raws if index is not None and (key := space.entry(raw, index)) is not None]
            for key, share in zip(entries, spread(halves, len(entries)), strict=True):
                found.add_key(at, other, share, NO_KEY, *key)

    def refused(self, rows: Rows, row: int, line: Line, index: str | None) -> tuple[int, bytes, bytes] | None:
        """Return cell, partition and sort key of a refused try: the line's own, or at an index that held a write up."""
        cell, at = int(rows.cells[row]), int(rows.source[row])
        if index is None:
            keys = rows.of_lines
            return (cell, keys.parts[at], keys.sorts[at]) if keys.is_known[at] else None
        other, space, _ = self._other(cell, index)
        entry = space.entry(bytes(line.index_keys), index) if line.index_keys else None
        return None if entry is None else (other, *entry)

    def _other(self, cell: int, index: str | None) -> tuple[int, KeySpace, bool]:
        """Return the cell of what calls of a cell cost at an index (None: the table), and the space of its keys."""
        known = self._others.get((cell, index))
        if known is None:
            of_call = self._cells.cells[cell]
            number = self._cells.secondary(cell, of_call.target.at(index))
            space = self.router.space(of_call.target.table, index, None)
            known = self._others[cell, index] = (number, space, of_call.shape.writes)
        return known


def _unescaped(raws: Sequence[Raw]) -> list[bytes]:
    """Return the JSON of each without needless escapes, with which every one would have to be parsed."""
    joined = SEPARATOR.join(raws)
    return (canonical_all(joined, SEPARATOR) if b"\\" in joined else joined).split(SEPARATOR)


def _rows(
    told: Told,
    seconds: np.ndarray,
    joined: list[np.ndarray],
    bounds: tuple[int, int],
    key_rows: KeyRows,
    keys: Keys,
) -> Rows:
    source, cells, read, write = joined
    singles, requests = bounds
    is_parted = np.zeros(len(source), dtype=bool)
    is_parted[singles:requests] = True
    at = source[:requests]
    whole = np.full((len(WHOLE), len(source)), -1)
    whole[:, :requests] = _whole_numbers(told)[:, at]
    latency = np.full(len(source), -1.0)
    latency[:requests] = np.fromiter(told.latency_ms, np.float64, len(told.lines))[at]
    of_rows = seconds[source]
    source[requests:] = -1
    return Rows(source, of_rows, cells, read, write, whole, latency, is_parted, key_rows, keys)


def _whole_numbers(told: Told) -> np.ndarray:
    """Return what lines tell of WHOLE, a row each."""
    count = len(told.lines)
    numbers = np.zeros((len(WHOLE), count), dtype=np.int64)
    for row, name in zip(numbers, WHOLE, strict=True):
        column = getattr(told, name)
        if any(column):
            row[:] = np.fromiter(column, np.int64, count)
    return numbers


def _key_rows(seconds: np.ndarray, cells: np.ndarray, halves: np.ndarray, keys: Keys, found: _Found) -> KeyRows:
    """Join the keys of lines and those that were found one by one."""
    more = np.array(found.keys, dtype=np.int64).reshape(-1, 4).T
    keyed = np.flatnonzero(keys.is_known & (cells >= 0))
    where = keyed.tolist()
    mine = (keyed, cells[keyed], halves[keyed], keys.forms[keyed])
    at, of_row, weight, forms = (np.concatenate(parts) for parts in zip(mine, more, strict=True))
    parts, sorts = keys.parts, keys.sorts
    if len(where) < len(parts):
        parts, sorts = [parts[at] for at in where], [sorts[at] for at in where]
    return KeyRows.of(seconds[at], of_row, weight, forms, parts + found.parts, sorts + found.sorts)
