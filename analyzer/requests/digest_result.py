"""Heavy keys of a stretch: slices are united key by key, with bounds that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from analyzer.requests.digest_sides import Name, SideKeys
    from analyzer.requests.lexicon import Lexicon

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
        keys += [_heavy_key(level, name, low, high, parts, direction) for name, low, high in names]
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


def _heaviest(level: KeyLevel, parts: Sequence[Part], total: int) -> tuple[list[tuple[Name, int, int]], int]:
    """Return the keys with the greatest upper bounds, those with refused tries, and the bound on all others."""
    lows: dict[Name, int] = {}
    slacks: dict[Name, int] = {}
    floors = 0
    refused: dict[Name, int] = {}
    unsure: dict[Name, int] = {}
    for _, part in parts:
        floors += part.sketches[level].add_to(lows, slacks)
        if part.tries[level]:
            part.tries[level].add_to(refused, unsure)
    uppers = {name: low + slacks[name] + floors for name, low in lows.items()}
    ranked = sorted(uppers, key=uppers.__getitem__, reverse=True)[: _SHOWN + 1]
    least = total * _SHOWN_SHARE
    shown = [name for rank, name in enumerate(ranked[:_SHOWN]) if rank < _ALWAYS_SHOWN or uppers[name] >= least]
    rest = uppers[ranked[len(shown)]] if len(ranked) > len(shown) else 0
    if refused:
        hurt = sorted(refused, key=refused.__getitem__, reverse=True)[:_SHOWN]
        shown = list(dict.fromkeys(shown + hurt))
    return [(name, lows.get(name, 0), uppers.get(name, floors)) for name in shown], _up(max(floors, rest))


def _heavy_key(
    level: KeyLevel, name: Name, low: int, high: int, parts: Sequence[Part], direction: Direction
) -> HeavyKey:
    series: list[tuple[int, int, int]] = []
    sampled = requests = sorts = tries = over = 0
    peak: int | None = None
    since: int | None = None
    cells: dict[int, int] = {}
    for number, part in parts:
        if part.tries[level]:
            tries += part.tries[level].bounds(name)[0]
        track = part.tracks[level].get(name)
        if track is None:
            continue
        series.append(track.best if number is None else (number, *part.sketches[level].bounds(name)))
        sampled += track.sampled
        requests += track.requests
        sorts = max(sorts, track.sorts)
        for cell, weight in track.by_cell():
            if cell in cells:
                cells[cell] += weight
            else:
                cells[cell] = weight
        if track.ring is not None or track.peak is not None:
            top, seconds, first = track.seconds(CEILINGS[direction], number or 0)
            peak, over, since = either(max, peak, top), over + seconds, either(min, since, first)
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
