"""The keys of one target and direction slice by slice, taken out of the sketches: what a map of heat is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from analyzer.model.counts import Count, KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from analyzer.model.key_slices import KeyColumn, KeySlices, KeyUse
from analyzer.requests.digest_cells import WEIGHT_SCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.model.window import Window
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_heavy import HeavySlices
    from analyzer.requests.digest_sides import SideKeys, Track
    from analyzer.requests.digest_slices import SliceCounts
    from analyzer.requests.lexicon import Lexicon

    Listed = Iterable[tuple[str, int, int]]
    """Keys with bounds of their weight; on these levels names are texts."""

__all__ = ["Kept", "calls_over_time", "is_place", "key_slices"]

_UNIT = 2 * WEIGHT_SCALE
"""What one unit weighs in a sketch."""

_Merged = dict[str, KeyUse]


def is_place(target: Target, wanted: Target) -> bool:
    """Whether a log's target is the one that is wanted: a log need not say account and region."""
    told = (target.account, wanted.account), (target.region, wanted.region)
    is_same = (target.table, target.index) == (wanted.table, wanted.index)
    return is_same and all(None in pair or pair[0] == pair[1] for pair in told)


class Kept(NamedTuple):
    """What a digest keeps, with the words for it; it is read at once, before more is counted.

    Slices before `forgotten` were folded away.
    """

    heavy: HeavySlices
    slices: SliceCounts
    cells: CellTable
    lexicon: Lexicon
    shapes: Callable[[str, str], str]
    forgotten: Instant


def calls_over_time(kept: Kept, window: Window, every: int) -> tuple[tuple[Cell, ...], np.ndarray]:
    """Return all cells, and their requests by stretch of so many slices, unweighted."""
    numbers = range(window.start // SLICE_MS, -(-window.end // SLICE_MS))
    sums = kept.slices.by_cell(numbers, Count.REQUESTS, len(kept.cells), every)
    return tuple(kept.cells.cells), sums


def key_slices(kept: Kept, target: Target, direction: Direction, window: Window) -> KeySlices:
    """Return the keys of a target and direction in the whole slices of a window."""
    heavy, slices, cells = kept.heavy, kept.slices, kept.cells
    sides = [number for number, (at, way) in enumerate(cells.sides) if way is direction and is_place(at, target)]
    numbers = range(window.start // SLICE_MS, window.end // SLICE_MS)
    weights: dict[str, dict[int, int]] = {}
    columns = []
    for number in numbers:
        found = heavy.slices.get(number, {})
        here = [found[side] for side in sides if side in found]
        if here:
            columns.append(_column(number * SLICE_MS, here))
            _weigh(here, weights)
    first = None if slices.first_and_last is None else slices.first_and_last[0]
    known_from = window.end if first is None else max(first * SLICE_MS, kept.forgotten)
    names = {name for column in columns for name in (*column.keys, *column.prefixes)}
    return KeySlices(
        target=target,
        direction=direction,
        window=window,
        known_from=known_from,
        columns=tuple(columns),
        units=_units(numbers, known_from, direction, sides, slices, cells),
        cells={name: cells.cells[max(of, key=of.__getitem__)] for name, of in weights.items() if of},
        attributes=_attributes(kept.lexicon, target),
        templates={name: kept.shapes(target.table, name) for name in sorted(names)},
    )


def _column(start: Instant, sides: Iterable[SideKeys]) -> KeyColumn:
    """Return one slice; a log that told a target's place now and then has it as several sides, which are added."""
    keys: _Merged = {}
    prefixes: dict[str, tuple[float, float]] = {}
    floor = 0.0
    for side in sides:
        sketch = side.sketches[KeyLevel.PARTITION]
        floor += sketch.floor / _UNIT
        for name, low, high in cast("Listed", sketch.items()):
            keys[name] = _added(keys.get(name), _use(side, name, low, high))
        for name in cast("Iterable[str]", side.tries[KeyLevel.PARTITION]):
            if name not in sketch:  # it took too little to be listed
                keys[name] = _added(keys.get(name), _use(side, name, 0, 0))
        for name, low, high in cast("Listed", side.sketches[KeyLevel.PREFIX].items()):
            before = prefixes.get(name, (0.0, 0.0))
            prefixes[name] = (before[0] + low / _UNIT, before[1] + high / _UNIT)
    return KeyColumn(start, keys, prefixes, floor)


def _use(side: SideKeys, name: str, low: int, high: int) -> KeyUse:
    track = side.tracks[KeyLevel.PARTITION].get(name)
    refused = side.tries[KeyLevel.PARTITION]
    tries = refused.bounds(name)[0] / WEIGHT_SCALE if name in refused else 0.0
    if track is None:
        return KeyUse(low / _UNIT, high / _UNIT, tries=tries)
    ring = None if track.ring is None else tuple(weight / _UNIT for weight in track.ring)
    return KeyUse(low / _UNIT, high / _UNIT, track.requests / WEIGHT_SCALE, track.sampled, tries, ring)


def _added(one: KeyUse | None, other: KeyUse) -> KeyUse:
    if one is None:
        return other
    seconds = None
    if one.seconds is not None and other.seconds is not None:
        seconds = tuple(a + b for a, b in zip(one.seconds, other.seconds, strict=True))
    return KeyUse(
        one.low + other.low,
        one.high + other.high,
        one.requests + other.requests,
        one.sampled + other.sampled,
        one.tries + other.tries,
        seconds,
    )


def _weigh(sides: Iterable[SideKeys], weights: dict[str, dict[int, int]]) -> None:
    """Add up which cells the weight of each key came from."""
    for side in sides:
        for level in (KeyLevel.PARTITION, KeyLevel.PREFIX):
            for name, track in cast("dict[str, Track]", side.tracks[level]).items():
                of = weights.setdefault(name, {})
                for cell, weight in track.by_cell():
                    of[cell] = of.get(cell, 0) + weight


def _units(
    numbers: range, known_from: Instant, direction: Direction, sides: list[int], slices: SliceCounts, cells: CellTable
) -> np.ndarray:
    """Return all units of each slice, whether their keys are known or not."""
    column = Count.READ_HALF_UNITS if direction is Direction.READ else Count.WRITE_HALF_UNITS
    wanted = np.isin(np.array(cells.side_of), sides)
    rates = np.array([cell.sample_rate for cell in cells.cells])
    factors = np.where(wanted, 0.5 / rates, 0.0) if len(rates) else rates
    units = slices.weighted(numbers, column, factors)
    starts = np.arange(numbers.start, numbers.stop) * SLICE_MS
    known: np.ndarray = np.where(starts >= known_from, units, np.nan)
    return known


def _attributes(lexicon: Lexicon, target: Target) -> tuple[str, ...]:
    schema = lexicon.schema(target.table, target.index)
    return tuple("|".join(names) for names in schema if names) if schema else ()
