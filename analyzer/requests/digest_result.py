"""Heavy keys of a stretch: slices are united key by key, with bounds that add up."""

from __future__ import annotations

from heapq import nlargest
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from analyzer.model.counts import HeavyKey, HeavyKeys, KeyLevel, KeyName
from analyzer.model.instant import SLICE_MS
from analyzer.requests.digest_cells import WEIGHT_SCALE
from analyzer.requests.digest_heavy import CEILINGS
from analyzer.requests.digest_sides import REGISTERS, either, estimate_distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.model.finding import Direction
    from analyzer.model.target import Target
    from analyzer.requests.digest_sides import Name, SideKeys, Track
    from analyzer.requests.lexicon import Lexicon
    from analyzer.statistics.space_saving import SpaceSaving

__all__ = ["Part", "heaviest_sides", "heavy_keys"]

_SHOWN = 32
_ALWAYS_SHOWN = 1
_SHOWN_SHARE = 0.02
"""At most so many keys of a level are listed, at least the first, others with this share of the weight."""

_MOST_SIDES = 1024
"""Of so many targets and directions keys are told: of ten thousand it would take seconds, and most of them are idle."""

Part = tuple[int | None, "SideKeys"]
"""The number of a slice, None for the past, and its keys."""


def heavy_keys(
    target: Target, direction: Direction, parts: Sequence[Part], lexicon: Lexicon, shapes: Callable[[str, str], str]
) -> HeavyKeys:
    """Return the heaviest keys of a target and direction over some slices, and perhaps the past.

    `shapes` tells the template of a value of a table.
    """
    keys: list[HeavyKey] = []
    floor = 0
    total = sum([part.total for _, part in parts])
    for level in KeyLevel:
        names, rest = _heaviest(level, parts, total)
        if names:
            known = _Known.of(level, parts)
            keys += [_heavy_key(level, name, high, known, direction) for name, high in names]
        if level is KeyLevel.PARTITION:
            floor = rest
    schema = lexicon.schema(target.table, target.index)
    attributes = tuple("|".join(names) for names in schema if names) if schema else ()
    keys.sort(key=lambda key: (-key.high, -key.low, key.name))
    marks = np.frombuffer(b"".join([part.registers for _, part in parts]), dtype=np.uint8).reshape(-1, REGISTERS)
    return HeavyKeys(
        target=target,
        direction=direction,
        total=_down(total),
        floor=floor,
        keys=tuple([_with_templates(key, target.table, shapes) for key in keys]),
        distinct=estimate_distinct(marks.max(axis=0)),
        attributes=attributes,
    )


def heaviest_sides(parts: dict[int, list[Part]], sides: Sequence[tuple[Target, Direction]]) -> list[int]:
    """Return, in order, the targets and directions whose keys are told: with refused tries first, then the heaviest."""
    if len(parts) <= _MOST_SIDES:
        return sorted(parts)

    def weight(side: int) -> tuple[int, int, tuple[str, ...], str]:
        target, direction = sides[side]
        refused = sum([part.tries[KeyLevel.PARTITION].total for _, part in parts[side]])
        return -refused, -sum([part.total for _, part in parts[side]]), target.order(), direction

    return sorted(sorted(parts, key=weight)[:_MOST_SIDES])


def _heaviest(level: KeyLevel, parts: Sequence[Part], total: int) -> tuple[list[tuple[Name, int]], int]:
    """Return the keys with the greatest upper bounds, those with refused tries, and the bound on all others."""
    highs: dict[Name, int] = {}
    refused: dict[Name, int] = {}
    floors = 0
    for _, part in parts:
        floors += part.sketches[level].add_to(highs)
        if len(part.tries[level]):
            part.tries[level].add_to(refused)
    shown, rest = _ranked(highs, ceil(total * _SHOWN_SHARE) - floors)
    if refused:
        hurt = sorted(refused, key=refused.__getitem__, reverse=True)[:_SHOWN]
        shown = list(dict.fromkeys(shown + hurt))
    return [(name, highs.get(name, 0) + floors) for name in shown], _up(floors + max(0, rest))


def _ranked(highs: dict[Name, int], least: int) -> tuple[list[Name], int]:
    """Return the keys to list, greatest first, and what the next one has, 0 where there is none."""
    shown = [name for name, high in highs.items() if high >= least]
    if not shown:
        shown = nlargest(_ALWAYS_SHOWN, highs, key=highs.__getitem__)
        rest = nlargest(len(shown) + 1, highs.values())[len(shown) :]
        return shown, max(rest, default=0)
    shown.sort(key=highs.__getitem__, reverse=True)
    if len(shown) > _SHOWN:
        return shown[:_SHOWN], highs[shown[_SHOWN]]
    return shown, max([high for high in highs.values() if high < least], default=0)


class _Known(NamedTuple):
    """What slices, and perhaps the past, know of keys of one level: number, details and bounds; sketches of tries."""

    slices: list[tuple[int | None, dict[Name, Track], Callable[[Name], tuple[int, int]]]]
    tries: list[SpaceSaving[Name]]

    @classmethod
    def of(cls, level: KeyLevel, parts: Sequence[Part]) -> _Known:
        return cls(
            [(number, part.tracks[level], part.sketches[level].bounds) for number, part in parts],
            [part.tries[level] for _, part in parts if len(part.tries[level])],
        )


def _heavy_key(level: KeyLevel, name: Name, high: int, known: _Known, direction: Direction) -> HeavyKey:
    series: list[tuple[int, int, int]] = []
    sampled = requests = sorts = over = 0
    peak: int | None = None
    since: int | None = None
    cells: dict[int, int] = {}
    low = 0
    for number, tracks, bounds in known.slices:
        track = tracks.get(name)
        if track is None:  # as of every key that its sketch does not hold
            continue
        least, most = bounds(name)
        low += least
        series.append(track.past.best if number is None else (number, least, most))
        sampled += track.sampled
        requests += track.requests
        sorts = max(sorts, track.sorts)
        for cell, weight in track.by_cell():
            cells[cell] = cells.get(cell, 0) + weight
        if track.ring is not None or track.past.peak is not None:
            top, seconds, first = track.seconds(CEILINGS[direction], number or 0)
            peak, over, since = either(max, peak, top), over + seconds, either(min, since, first)
    tries = sum([sketch.bounds(name)[0] for sketch in known.tries])
    return HeavyKey(
        name=KeyName(level, name) if isinstance(name, str) else KeyName(level, name[0], name[1]),
        low=_down(low),
        high=_up(high),
        series=tuple([(number * SLICE_MS, _down(least), _up(most)) for number, least, most in sorted(series)]),
        tries=_down(tries),
        by_cell=tuple([(cell, _down(weight)) for cell, weight in sorted(cells.items(), key=lambda c: (-c[1], c))]),
        peak_second=None if peak is None else _down(peak),
        seconds_over=None if peak is None else over,
        tracked_since=None if since is None else since * SLICE_MS,
        sampled=sampled,
        requests=_down(requests),
        distinct_sorts=sorts or None,
    )


def _with_templates(key: HeavyKey, table: str, shapes: Callable[[str, str], str]) -> HeavyKey:
    name = key.name
    values = (name.partition,) if name.sort is None else (name.partition, name.sort)
    return msgspec.structs.replace(key, templates=tuple([shapes(table, value) for value in values]))


def _down(weight: int) -> int:
    return weight // WEIGHT_SCALE


def _up(weight: int) -> int:
    return -(-weight // WEIGHT_SCALE)
