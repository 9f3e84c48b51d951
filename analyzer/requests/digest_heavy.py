"""Weights of keys by slice, target and direction: rows wait in arrays, and are folded into sketches by the thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.requests.digest_cells import WEIGHT_SCALE
from analyzer.requests.digest_key_rows import KeyRows
from analyzer.requests.digest_keys import prefix_of
from analyzer.requests.digest_sides import COLD_KEYS, REGISTERS, SLICE_SECONDS, SideKeys, Track
from analyzer.statistics.space_saving import SpaceSaving

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.model.target import Target
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_keys import FormTable
    from analyzer.requests.digest_sides import Name

__all__ = ["CEILINGS", "HeavySlices"]

CEILINGS = {Direction.READ: 3000 * 2 * WEIGHT_SCALE, Direction.WRITE: 1000 * 2 * WEIGHT_SCALE}
"""What one partition serves in a second, as a weight (Developer Guide, "Designing partition keys")."""

_IDLE_KEYS = 4
_IDLE_HEAT = 0.01
"""A key with a quarter of what little there is ranks fourth or better in some slice."""

_WARM_KEYS = 32
_DETAILED = 16
_COLD_HEAT = 0.1
_RING_HEAT = 0.02
_KEYS_A_CEILING = 20
_WIDEST = 1_000_000
_MOST_NAMES = 8192
"""So many names, and so many numbers, are remembered, so that those of heavy keys lie in memory once."""

_SMALL, _MOST_SMALL = np.uint16, 1 << 16
"""Numbers of two bytes are sorted in linear time."""

_NO_SORTS = np.zeros(0, dtype=np.int64)
_MIX = -7046029254386353131
"""An odd number that tells the codes of equal keys in different groups apart."""


class _Rows(NamedTuple):
    """Rows of one level: the number of the group (slice and side), the code of group and key, and where it stands."""

    group: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    sampled: np.ndarray
    requests: np.ndarray
    second: np.ndarray
    cell: np.ndarray
    at: np.ndarray


class _Group(NamedTuple):
    """How much is kept of each group: number of keys, from which weight on the seconds as well, and how names are."""

    side_keys: list[SideKeys]
    kept: np.ndarray
    ring_from: np.ndarray
    most: int
    tables: list[str]
    write: Callable[[str, str], str] | None
    names: dict[Any, Any]

    def named(self, group: int, name: Name) -> Name:
        """Write a name of a key as it may be kept, the same one each time: heavy keys come back slice after slice."""
        known = self.names
        if self.write is not None:
            table, write = self.tables[group], self.write
            name = write(table, name) if isinstance(name, str) else (write(table, name[0]), write(table, name[1]))
        found: Name | None = known.get(name)
        if found is not None:
            return found
        if len(known) >= _MOST_NAMES:
            known.clear()
        if not isinstance(name, str):
            part, sort = name
            name = (known.setdefault(part, part), known.setdefault(sort, sort))
        known[name] = name
        return name


class HeavySlices:
    """The heavy keys of every slice that is kept, by slice and side."""

    def __init__(self, most_keys: int, most_past: int, write: Callable[[str, str], str] | None = None) -> None:
        self._most = most_keys
        self._write = write
        self._most_past = most_past
        self._names: dict[Any, Any] = {}
        self._numbers: dict[int, int] = {}
        self._settled = -1
        self.slices: dict[int, dict[int, SideKeys]] = {}
        self.past: dict[int, SideKeys] = {}

    def side(self, number: int, side: int) -> SideKeys:
        """Return the keys of a slice and side."""
        sides = self.slices.setdefault(number, {})
        keys = sides.get(side)
        if keys is None:
            keys = sides[side] = SideKeys()
        return keys

    def forget(self, number: int, sides: list[tuple[Target, Direction]]) -> None:
        """Fold a slice into the past."""
        for side, keys in self.slices.pop(number, {}).items():
            keys.bury(number, CEILINGS[sides[side][1]])
            past = self.past.setdefault(side, SideKeys())
            past.merge(keys, lambda cell: cell, self._most_past)

    def merge(self, other: HeavySlices, cells: list[int], sides: list[int]) -> None:
        """Take in another part; `cells` and `sides` map its numbers to ours."""
        for number, theirs in other.slices.items():
            for side, keys in theirs.items():
                self.side(number, sides[side]).merge(keys, cells.__getitem__, self._most)
        for side, keys in other.past.items():
            past = self.past.setdefault(sides[side], SideKeys())
            past.merge(keys, cells.__getitem__, self._most_past)

    def plain(self) -> list[Any]:
        """Return the whole state."""
        slices = {number: {side: keys.plain() for side, keys in of.items()} for number, of in self.slices.items()}
        return [slices, {side: keys.plain() for side, keys in self.past.items()}]

    def restore(self, state: Any) -> None:  # noqa: ANN401 - as `plain` wrote it, decoded from MessagePack
        """Take on a state."""
        slices, past = state
        self.slices = {
            number: {side: SideKeys.from_plain(keys) for side, keys in of.items()} for number, of in slices.items()
        }
        self.past = {side: SideKeys.from_plain(keys) for side, keys in past.items()}

    def fold(self, parts: Sequence[KeyRows], forms: FormTable, cells: CellTable) -> None:
        """Fold rows into the sketches of their slices."""
        rows = KeyRows.joined(parts)
        slices = rows.seconds // SLICE_SECONDS
        first = int(slices.min())
        n_sides = len(cells.sides)
        codes, group = _numbered((slices - first) * n_sides + np.array(cells.side_of)[rows.cells])
        weights = np.array(cells.weights)[rows.cells]
        weight = rows.halves * weights
        totals = np.zeros(len(codes), dtype=np.int64)
        np.add.at(totals, group, weight)
        groups = self._groups(codes.tolist(), totals, first, cells)
        mixed = group * _MIX
        every = _Rows(
            group,
            rows.hashes ^ mixed,
            weight,
            rows.sampled,
            rows.sampled * weights,
            rows.seconds,
            rows.cells,
            np.arange(len(group)),
        )
        sorted_rows = _Rows(*(column[rows.has_sort] for column in every._replace(code=rows.pair_hashes ^ mixed)))
        items = _Uniques(sorted_rows)
        sorts = np.sort(every.code[items.at])
        names = (rows.parts, rows.sorts)
        _fold_level(KeyLevel.ITEM, items, lambda at: (names[0][at].decode(), names[1][at].decode()), groups, _NO_SORTS)
        of_parts = _Uniques(every)
        _fold_level(KeyLevel.PARTITION, of_parts, lambda at: names[0][at].decode(), groups, sorts)
        self._fold_prefixes(every, rows, forms, groups)
        _mark(of_parts, rows.marks, groups.side_keys)
        _add_tries(rows, group, np.array(cells.weights), groups)
        self._settle_before(int(slices.max()) - 1)

    def _settle_before(self, number: int) -> None:
        """Make slices small that are over."""
        if number <= self._settled:
            return
        if len(self._numbers) > _MOST_NAMES:
            self._numbers.clear()
        for over, sides in self.slices.items():
            if self._settled <= over < number:
                for keys in sides.values():
                    keys.settle(self._numbers)
        self._settled = number

    def _groups(self, codes: list[int], totals: np.ndarray, first: int, cells: CellTable) -> _Group:
        n_sides = len(cells.sides)
        side_keys = []
        ceilings = []
        tables = []
        for code, total in zip(codes, totals.tolist(), strict=True):
            side = code % n_sides
            keys = self.side(first + code // n_sides, side)
            keys.total += total
            side_keys.append(keys)
            ceilings.append(CEILINGS[cells.sides[side][1]] * SLICE_SECONDS)
            tables.append(cells.sides[side][0].table)
        heat = totals / np.array(ceilings)
        warm = np.clip(heat * _KEYS_A_CEILING, _WARM_KEYS, self._most).astype(np.int64)
        kept = np.where(heat < _IDLE_HEAT, _IDLE_KEYS, np.where(heat < _COLD_HEAT, COLD_KEYS, warm))
        return _Group(side_keys, kept, _RING_HEAT * np.array(ceilings), self._most, tables, self._write, self._names)

    @staticmethod
    def _fold_prefixes(every: _Rows, rows: KeyRows, forms: FormTable, groups: _Group) -> None:
        """Fold the prefixes of partition keys; few keys have one."""
        has_prefix = np.frombuffer(forms.has_prefix, dtype=np.int8)[rows.forms] > 0
        where = np.flatnonzero(has_prefix).tolist()
        found = [
            (at, prefix_of(rows.parts[at], cut))
            for at, form in zip(where, rows.forms[has_prefix].tolist(), strict=True)
            for cut in forms.forms[form].cuts
        ]
        if not found:
            return
        prefixes = [prefix for _, prefix in found]
        at = np.array([at for at, _ in found])
        columns = _Rows(*(column[at] for column in every))
        code = np.fromiter(map(hash, prefixes), np.int64, len(prefixes)) ^ (columns.group * _MIX)
        numbered = columns._replace(code=code, at=np.arange(len(prefixes)))
        _fold_level(KeyLevel.PREFIX, _Uniques(numbered), lambda number: prefixes[number].decode(), groups, _NO_SORTS)


class _Uniques:
    """The distinct codes of rows of one level, in order: where each begins in the order of codes, and its sums."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows
        self.order = np.argsort(rows.code)
        code = rows.code[self.order]
        self.begins = np.flatnonzero(np.concatenate((np.ones(min(1, len(code)), dtype=bool), code[1:] != code[:-1])))
        self.code = code[self.begins]
        first = self.order[self.begins]
        self.at = rows.at[first]
        self.group = rows.group[first]
        self.weight = self._sums(rows.weight)
        self.sampled = self._sums(rows.sampled)
        self.requests = self._sums(rows.requests)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values[self.order], self.begins) if len(self.begins) else values[:0]


def _numbered(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct codes, whole numbers from 0, in order, and of each code its place among them."""
    if codes.max() > _WIDEST:
        return np.unique(codes, return_inverse=True)
    is_there = np.zeros(int(codes.max()) + 1, dtype=bool)
    is_there[codes] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[codes]


def _fold_level(
    level: KeyLevel,
    keys: _Uniques,
    name_of: Callable[[int], Name],
    groups: _Group,
    sorts: np.ndarray,
) -> None:
    most = groups.most
    if not len(keys.begins):
        return
    ranked = np.argsort(-keys.weight)
    ranked = ranked[
        np.argsort(
            keys.group[ranked].astype(_SMALL if len(groups.side_keys) < _MOST_SMALL else np.int64), kind="stable"
        )
    ]
    of_group = keys.group[ranked]
    first = np.flatnonzero(np.concatenate(([True], of_group[1:] != of_group[:-1])))
    rank = np.arange(len(ranked)) - np.repeat(first, np.diff(np.append(first, len(ranked))))
    kept = groups.kept[of_group]
    is_next = rank == kept
    floors = dict(zip(of_group[is_next].tolist(), keys.weight[ranked[is_next]].tolist(), strict=True))
    totals = np.add.reduceat(keys.weight[ranked], first)
    chosen = ranked[rank < kept]
    details = _details(keys, ranked[rank < np.minimum(kept, _DETAILED)], groups)
    found: dict[int, tuple[dict[Name, int], dict[Name, Track]]] = {g: ({}, {}) for g in of_group[first].tolist()}
    codes = keys.code[chosen]
    distinct = np.searchsorted(sorts, codes, side="right") - np.searchsorted(sorts, codes)
    columns = (keys.group[chosen], keys.at[chosen], keys.weight[chosen], distinct)
    counted = (keys.sampled[chosen], keys.requests[chosen])
    for number, g, at, weight, n_sorts, sampled, requests in zip(
        *(column.tolist() for column in (chosen, *columns, *counted)), strict=True
    ):
        lows, tracks = found[g]
        name = groups.named(g, name_of(at))
        lows[name] = lows.get(name, 0) + weight
        cells, ring = details.get(number) or ((), None)
        track = Track(sampled, requests, n_sorts, cells, ring)
        if name in tracks:
            tracks[name].add(track)
        else:
            tracks[name] = track
    for g, total in zip(of_group[first].tolist(), totals.tolist(), strict=True):
        lows, tracks = found[g]
        groups.side_keys[g].take(
            level, SpaceSaving.of(int(groups.kept[g]), lows, floors.get(g, 0), total), tracks, most
        )


def _details(keys: _Uniques, chosen: np.ndarray, groups: _Group) -> dict[int, tuple[tuple[int, ...], list[int] | None]]:
    """Return for the chosen keys which cells their weight came from, and of those that are hot the weight a second."""
    number = np.full(len(keys.begins), -1)
    number[chosen] = np.arange(len(chosen))
    rows = keys.rows
    of_row = np.repeat(number, np.diff(np.append(keys.begins, len(rows.code))))
    wanted = np.flatnonzero(of_row >= 0)
    of_row, at = of_row[wanted], keys.order[wanted]
    n_cells = int(rows.cell.max()) + 1
    codes, inverse = np.unique(of_row * n_cells + rows.cell[at], return_inverse=True)
    sums = np.zeros(len(codes), dtype=np.int64)
    np.add.at(sums, inverse, rows.weight[at])
    cells: list[list[int]] = [[] for _ in range(len(chosen))]
    for code, total in zip(codes.tolist(), sums.tolist(), strict=True):
        cells[code // n_cells] += (code % n_cells, total)
    is_hot = keys.weight[chosen] >= groups.ring_from[keys.group[chosen]]
    rings: dict[int, list[int]] = {}
    if is_hot.any():
        seconds = np.zeros((len(chosen), SLICE_SECONDS), dtype=np.int64)
        np.add.at(seconds, (of_row, rows.second[at] % SLICE_SECONDS), rows.weight[at])
        hot = np.flatnonzero(is_hot)
        rings = dict(zip(hot.tolist(), seconds[hot].tolist(), strict=True))
    return {key: (tuple(cells[i]), rings.get(i)) for i, key in enumerate(chosen.tolist())}


def _mark(keys: _Uniques, marks: np.ndarray, side_keys: list[SideKeys]) -> None:
    """Mark the partition keys of each group in its estimate of distinct keys."""
    hashed = marks[keys.at]
    registers = np.zeros((len(side_keys), REGISTERS), dtype=np.uint8)
    rank = 24 - np.floor(np.log2(np.maximum(hashed >> 8, 0.5))).astype(np.int64)
    np.maximum.at(registers, (keys.group, hashed & (REGISTERS - 1)), rank.astype(np.uint8))
    for side, marked in zip(side_keys, registers, strict=True):
        side.registers = bytearray(np.maximum(np.frombuffer(side.registers, dtype=np.uint8), marked).tobytes())


def _add_tries(rows: KeyRows, group: np.ndarray, weights: np.ndarray, groups: _Group) -> None:
    for at in np.flatnonzero(rows.tries).tolist():
        tries = int(rows.tries[at]) * int(weights[rows.cells[at]])
        g = int(group[at])
        side = groups.side_keys[g]
        part, sort = rows.parts[at].decode(), rows.sorts[at].decode()
        if sort:
            side.add_tries(KeyLevel.ITEM, groups.named(g, (part, sort)), tries)
        side.add_tries(KeyLevel.PARTITION, groups.named(g, part), tries)
