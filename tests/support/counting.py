"""Counts built by hand: what a digest would say of a few cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Cell, Count, Counts, HeavyKeys, Refusal, ThrottleCount
from analyzer.model.window import Window
from tests.support.evidence import CASES, shape

if TYPE_CHECKING:
    from analyzer.model.shape import Shape
    from analyzer.model.target import Target

Row = dict[Count, int]

_MINUTE = Window(0, 60_000)


def cell(
    of: Shape | None = None,
    target: Target = CASES,
    caller: str | None = "api",
    rate: float = 1.0,
    *,
    secondary: bool = False,
) -> Cell:
    return Cell(target, of or shape(), caller, rate, secondary)


def counts(
    *cells: tuple[Cell, Row],
    window: Window = _MINUTE,
    keys: tuple[HeavyKeys, ...] = (),
    throttles: tuple[ThrottleCount, ...] = (),
    refusals: tuple[Refusal, ...] = (),
    latency_buckets: dict[int, dict[int, int]] | None = None,
) -> Counts:
    values = np.zeros((len(cells), N_COUNTS), dtype=np.int64)
    latency = np.zeros((len(cells), len(LATENCY_BOUNDS_MS) + 1), dtype=np.int64)
    for number, (_, row) in enumerate(cells):
        for column, value in row.items():
            values[number, column] = value
        for bucket, calls in (latency_buckets or {}).get(number, {}).items():
            latency[number, bucket] = calls
    series = np.zeros((len(window.slices()), len(cells), 3), dtype=np.int64)
    return Counts(
        window=window,
        cells=tuple(one for one, _ in cells),
        values=values,
        series=series,
        latency=latency,
        keys=keys,
        throttles=throttles,
        refusals=refusals,
    )
