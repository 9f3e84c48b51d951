"""Keys slice by slice, made by hand: units a second of each key in each slice of an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.model.counts import Cell
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from analyzer.model.key_slices import KeyColumn, KeySlices, KeyUse
from analyzer.model.shape import Shape
from analyzer.model.window import Window
from tests.support.evidence import CASES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SLICES", "cell_of", "key_slices", "noise"]

SLICES = 360


def noise(mean: float, seed: int = 1) -> np.ndarray:
    """Return units a second that scatter a little, as those of a busy key do."""
    return np.random.default_rng(seed).gamma(40.0, mean / 40, SLICES)


def cell_of(fingerprint: str = "f0", caller: str | None = "api", rate: float = 1.0) -> Cell:
    """Return what a key's weight came from."""
    return Cell(CASES, Shape(fingerprint=fingerprint, operation="GetItem", table="cases"), caller, rate)


def key_slices(
    rates: Mapping[str, np.ndarray], tries: Mapping[str, np.ndarray] | None = None, **fields: Any
) -> KeySlices:
    """Return the slices of some keys; `floor`, `prefixes` and `seconds` (by key) may be given, and what a map holds."""
    floor, prefixes = fields.pop("floor", 0.0), fields.pop("prefixes", {})
    seconds: Mapping[str, tuple[float, ...]] = fields.pop("seconds", {})
    tries = tries or {}
    columns = []
    for at in range(SLICES):
        keys = {
            name: KeyUse(
                rate[at] * 10,
                rate[at] * 10,
                rate[at] * 10,
                max(1, int(rate[at])),
                float(tries[name][at]) if name in tries else 0.0,
                seconds.get(name),
            )
            for name, rate in rates.items()
            if rate[at] or (name in tries and tries[name][at])
        }
        of_prefixes = {name: (rate[at] * 10, rate[at] * 10) for name, rate in prefixes.items()}
        columns.append(KeyColumn(at * SLICE_MS, keys, of_prefixes, floor * 10))
    units = sum(rates.values(), np.zeros(SLICES)) * 10 + fields.pop("beside", np.zeros(SLICES)) * 10
    given: dict[str, Any] = {
        "target": CASES,
        "direction": Direction.READ,
        "window": Window(0, SLICES * SLICE_MS),
        "known_from": 0,
        "attributes": ("PK", "SK"),
        "templates": {},
    }
    return KeySlices(columns=tuple(columns), units=units, **{**given, **fields})
