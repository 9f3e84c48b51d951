"""Heavy keys of a stretch: slices are united key by key, with bounds that add up."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from analyzer.model.counts import HeavyKey, HeavyKeys, KeyLevel, KeyName
from analyzer.model.instant import SLICE_MS
from analyzer.requests.digest_cells import WEIGHT_SCALE
from analyzer.requests.digest_heavy import CEILINGS
from analyzer.requests.digest_sides import REGISTERS, Track, estimate_distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.finding import Direction
    from analyzer.model.target import Target
    from analyzer.requests.digest_sides import Name, SideKeys
    from analyzer.requests.lexicon import Lexicon

__all__ = ["heavy_keys"]

_SHOWN = 32
_ALWAYS_SHOWN = 3
_SHOWN_SHARE = 0.02
"""At most so many keys of a level are listed, at least the first few, others with this share of the weight."""

Part = tuple[int | None, "SideKeys"]
"""The number of a slice, None for the past, and its keys."""


def heavy_keys(target: Target, direction: Direction, parts: Sequence[Part], lexicon: Lexicon) -> HeavyKeys:
    """Return the heaviest keys of a target and direction over some slices, and perhaps the past."""
    keys: list[HeavyKey] = []
    floor = 0
    for level in KeyLevel:
        names, rest = _heaviest(level, parts)
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
        total=_down(sum(part.total for _, part in parts)),
        floor=floor,
        keys=tuple(_with_templates(key, target.table, lexicon) for key in keys),
        distinct=estimate_distinct(marks.max(axis=0)),
        attributes=attributes,
    )


def _heaviest(level: KeyLevel, parts: Sequence[Part]) -> tuple[list[tuple[Name, int, int]], int]:
    """Return the keys with the greatest upper bounds, those with refused tries, and the bound on all others."""
    lows: dict[Name, int] = {}
    slacks: dict[Name, int] = {}
    floors = 0
    for _, part in parts:
        floors += part.sketches[level].add_to(lows, slacks)
    least = sum(part.total for _, part in parts) * _SHOWN_SHARE
    ranked = nlargest(_SHOWN + 1, lows, key=lambda name: (lows[name] + slacks[name], lows[name]))
    shown = {
        name: None
        for rank, name in enumerate(ranked[:_SHOWN])
        if rank < _ALWAYS_SHOWN or lows[name] + slacks[name] + floors >= least
    }
    rest = max((lows[name] + slacks[name] + floors for name in ranked[len(shown) :]), default=0)
    refused = {name: tries for _, part in parts for name, tries, _ in part.tries[level].items()}
    shown.update(dict.fromkeys(nlargest(_SHOWN, refused, key=lambda name: refused[name])))
    bounds = [(name, lows.get(name, 0), lows.get(name, 0) + slacks.get(name, 0) + floors) for name in shown]
    return bounds, _up(max(floors, rest))


def _heavy_key(
    level: KeyLevel, name: Name, low: int, high: int, parts: Sequence[Part], direction: Direction
) -> HeavyKey:
    ceiling = CEILINGS[direction]
    series: list[tuple[int, int, int]] = []
    joined = Track()
    cells = joined.cells
    tries = 0
    for number, part in parts:
        if len(part.tries[level]):
            tries += part.tries[level].bounds(name)[0]
        track = part.tracks[level].get(name)
        if track is None:
            continue
        if number is None:
            series += [] if track.best is None else [track.best]
            joined.add(track)
            continue
        series.append((number, *part.sketches[level].bounds(name)))
        joined.sampled += track.sampled
        joined.requests += track.requests
        joined.sorts = max(joined.sorts, track.sorts)
        for cell, weight in track.cells.items():
            cells[cell] = cells.get(cell, 0) + weight
        if track.ring is not None or track.peak is not None:
            peak, over, since = track.seconds(ceiling, number)
            joined.add(Track(peak=peak, over=over, since=since))
    has_ring = joined.peak is not None
    return HeavyKey(
        name=KeyName(level, name) if isinstance(name, str) else KeyName(level, name[0], name[1]),
        low=_down(low),
        high=_up(high),
        series=tuple((number * SLICE_MS, _down(least), _up(most)) for number, least, most in sorted(series)),
        tries=_down(tries),
        by_cell=tuple((cell, _down(weight)) for cell, weight in sorted(joined.cells.items(), key=lambda c: (-c[1], c))),
        peak_second=None if joined.peak is None else _down(joined.peak),
        seconds_over=joined.over if has_ring else None,
        tracked_since=None if joined.since is None else joined.since * SLICE_MS,
        sampled=joined.sampled,
        requests=_down(joined.requests),
        distinct_sorts=joined.sorts or None,
    )


def _with_templates(key: HeavyKey, table: str, lexicon: Lexicon) -> HeavyKey:
    values = (key.name.partition,) if key.name.sort is None else (key.name.partition, key.name.sort)
    templates = tuple([lexicon.template(table, value, clear="~" not in value) for value in values])
    return msgspec.structs.replace(key, templates=templates)


def _down(weight: int) -> int:
    return weight // WEIGHT_SCALE


def _up(weight: int) -> int:
    return -(-weight // WEIGHT_SCALE)
