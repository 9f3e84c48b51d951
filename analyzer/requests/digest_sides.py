"""Heavy keys of one slice, or of the past, at one target and direction: a sketch a level, with details of each key."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.statistics.space_saving import SpaceSaving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "COLD_KEYS",
    "NO_PAST",
    "REGISTERS",
    "SLICE_SECONDS",
    "Name",
    "SideKeys",
    "Track",
    "either",
    "estimate_distinct",
]

REGISTERS = 256
"""Registers of the estimate of how many partition keys there were (HyperLogLog, standard error 6.5 %)."""

SLICE_SECONDS = 10

Name = str | tuple[str, str]
"""A prefix or partition key, or (partition key, sort key)."""

COLD_KEYS = 8
"""How many keys a sketch holds at least."""

_EVERY_LEVEL = tuple(KeyLevel)
_NOTHING: SpaceSaving[Name] = SpaceSaving(COLD_KEYS)
"""Stands for every sketch into which nothing was put, and is never changed: most have no refused tries, no prefixes."""


class Past(Struct, frozen=True, gc=False):
    """What is known of a key in slices that were forgotten.

    `peak` is the most in a second, `over` how many seconds stood at the ceiling, `since` the first slice with a ring,
    `best` the heaviest slice as (number, low, high).
    """

    peak: int | None = None
    over: int = 0
    since: int | None = None
    best: tuple[int, int, int] = (0, 0, 0)

    def joined(self, other: Past) -> Past:
        """Return what both know together."""
        return Past(
            either(max, self.peak, other.peak),
            self.over + other.over,
            either(min, self.since, other.since),
            other.best if other.best[2] > self.best[2] else self.best,
        )


NO_PAST = Past()


class Track(Struct, gc=False):
    """What is known of a kept key beside its weight.

    `requests` is weighted, `ring` has a weight a second. `cells` are cell, weight, cell, weight and so on: there are
    tens of thousands of tracks, most have one cell, and a map takes four times the memory.
    """

    sampled: int = 0
    requests: int = 0
    sorts: int = 0
    cells: tuple[int, ...] = ()
    ring: list[int] | None = None
    past: Past = NO_PAST

    def add(self, other: Track) -> None:
        """Take in what another part of the same slice, or of the past, knows."""
        self.sampled += other.sampled
        self.requests += other.requests
        self.sorts = max(self.sorts, other.sorts)
        if self.cells and other.cells:
            weights = dict(self.by_cell())
            for cell, weight in other.by_cell():
                weights[cell] = weights.get(cell, 0) + weight
            self.cells = tuple(chain.from_iterable(weights.items()))
        else:
            self.cells = self.cells or other.cells
        if other.ring is not None:
            mine = self.ring
            self.ring = other.ring if mine is None else [a + b for a, b in zip(mine, other.ring, strict=True)]
        if other.past is not NO_PAST:
            self.past = self.past.joined(other.past)

    def by_cell(self) -> Iterator[tuple[int, int]]:
        """Yield each cell with its weight."""
        return zip(self.cells[::2], self.cells[1::2], strict=True)

    def moved(self, cell: Callable[[int], int]) -> Track:
        """Return one that can change without this; `cell` maps its cell numbers to others."""
        cells: dict[int, int] = {}
        for number, weight in self.by_cell():
            there = cell(number)
            cells[there] = cells.get(there, 0) + weight
        return msgspec.structs.replace(self, cells=tuple(chain.from_iterable(cells.items())))

    def plain(self) -> dict[str, Any]:
        """Return the whole state."""
        fields = msgspec.structs.asdict(self) | {"cells": dict(self.by_cell())}
        return fields | msgspec.structs.asdict(fields.pop("past"))

    @classmethod
    def from_plain(cls, state: dict[str, Any]) -> Track:
        """Rebuild from the state."""
        cells = {int(cell): weight for cell, weight in state["cells"].items()}
        past = msgspec.convert(state, Past, strict=False)
        fields = state | {
            "cells": tuple(chain.from_iterable(cells.items())),
            "past": NO_PAST if past == NO_PAST else past,
        }
        return msgspec.convert(fields, cls, strict=False)

    def seconds(self, ceiling: int, number: int) -> tuple[int | None, int, int | None]:
        """Return the most in a second, how many stood at the ceiling (a weight), and the first slice with a ring."""
        past = self.past
        if self.ring is None:
            return past.peak, past.over, past.since
        over = past.over + sum(weight >= ceiling for weight in self.ring)
        return either(max, past.peak, max(self.ring)), over, either(min, past.since, number)


def either(choose: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    """Choose between two numbers, either of which may not be known."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


class SideKeys:
    """The heavy keys of a target and direction; `total` is the exact weight of all keys."""

    __slots__ = ("registers", "sketches", "total", "tracks", "tries")

    def __init__(self) -> None:
        self.total = 0
        self.registers = bytearray(REGISTERS)
        self.sketches: list[SpaceSaving[Name]] = [_NOTHING] * len(_EVERY_LEVEL)
        self.tries: list[SpaceSaving[Name]] = [_NOTHING] * len(_EVERY_LEVEL)
        self.tracks: list[dict[Name, Track]] = [{} for _ in _EVERY_LEVEL]

    def add_tries(self, level: int, name: Name, tries: int) -> None:
        """Add refused tries at a key."""
        _own(self.tries, level).add(name, tries)

    def take(self, level: int, sketch: SpaceSaving[Name], tracks: dict[Name, Track], most: int) -> None:
        """Take in one level of another part; no more than `most` keys are kept for good."""
        mine = _own(self.sketches, level)
        mine.capacity = min(most, max(mine.capacity, sketch.capacity))
        mine.merge(sketch)
        kept = self.tracks[level]
        for name, track in tracks.items():
            known = kept.get(name)
            if known is None:
                kept[name] = track
            else:
                known.add(track)
        if len(kept) > len(mine):
            self.tracks[level] = {name: track for name, track in kept.items() if name in mine}

    def merge(self, other: SideKeys, cell: Callable[[int], int], most: int) -> None:
        """Take in another part, which stays as it is; `cell` maps its cell numbers to ours."""
        self.total += other.total
        self.registers = bytearray(map(max, self.registers, other.registers))
        for level in _EVERY_LEVEL:
            if other.tries[level] is not _NOTHING:
                _own(self.tries, level).merge(other.tries[level])
            if other.sketches[level] is not _NOTHING:
                tracks = {name: track.moved(cell) for name, track in other.tracks[level].items()}
                self.take(level, other.sketches[level], tracks, most)

    def bury(self, number: int, ceiling: int) -> None:
        """Turn the keys of a slice into keys of the past: rings into peaks, and this slice into the best one."""
        for level in _EVERY_LEVEL:
            sketch = self.sketches[level]
            for name, track in self.tracks[level].items():
                track.past = Past(*track.seconds(ceiling, number), (number, *sketch.bounds(name)))
                track.ring = None

    def settle(self, numbers: dict[int, int]) -> None:
        """Share equal numbers, of which thousands lie in memory once a slice is over; `numbers` are known ones."""
        for sketch in self.sketches:
            sketch.share(numbers)
        for tracks in self.tracks:
            for track in tracks.values():
                track.requests = numbers.setdefault(track.requests, track.requests)

    def plain(self) -> list[Any]:
        """Return the whole state."""
        return [
            self.total,
            bytes(self.registers),
            [sketch.plain() for sketch in self.sketches],
            [sketch.plain() for sketch in self.tries],
            [[(name, track.plain()) for name, track in tracks.items()] for tracks in self.tracks],
        ]

    @classmethod
    def from_plain(cls, state: Any) -> SideKeys:  # noqa: ANN401 - as `plain` wrote it, decoded from MessagePack
        """Rebuild from the state."""
        keys = cls()
        keys.total, registers, sketches, tries, tracks = state
        keys.registers = bytearray(registers)
        keys.sketches = [_sketch(plain) for plain in sketches]
        keys.tries = [_sketch(plain) for plain in tries]
        keys.tracks = [{_name(name): Track.from_plain(track) for name, track in level} for level in tracks]
        return keys


def _own(sketches: list[SpaceSaving[Name]], level: int) -> SpaceSaving[Name]:
    """Return the sketch of a level to put something into."""
    if sketches[level] is _NOTHING:
        sketches[level] = SpaceSaving(COLD_KEYS)
    return sketches[level]


def _sketch(plain: Any) -> SpaceSaving[Name]:  # noqa: ANN401 - decoded from MessagePack
    capacity, floor, total, keys = plain
    if not keys and not total:
        return _NOTHING
    return SpaceSaving.from_plain(capacity, floor, total, [(_name(name), low, slack) for name, low, slack in keys])


def _name(written: Any) -> Name:  # noqa: ANN401 - decoded from MessagePack
    return written if isinstance(written, str) else (written[0], written[1])


def estimate_distinct(registers: np.ndarray) -> int:
    """Estimate how many different keys left their mark (Flajolet et al. 2007, with its small-range correction)."""
    size = len(registers)
    empty = int((registers == 0).sum())
    estimate = 0.7213 / (1 + 1.079 / size) * size * size / float(np.exp2(-registers.astype(np.float64)).sum())
    if estimate <= 2.5 * size and empty:
        estimate = size * math.log(size / empty)
    return round(estimate)
