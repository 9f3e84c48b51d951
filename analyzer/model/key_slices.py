"""Which keys took what of a target, slice by slice: what a map of heat is drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from analyzer.model.counts import Cell
from analyzer.model.finding import Direction
from analyzer.model.instant import Instant
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = ["KeyColumn", "KeySlices", "KeyUse"]


class KeyUse(NamedTuple):
    """What one partition key took in one slice: its units lie in [low, high], weighted by 1 ÷ sample rate.

    `requests` are weighted too, `sampled` is the number of records. `tries` are throttled ones. `seconds` are the units
    of each second, None where no ring was kept.
    """

    low: float
    high: float
    requests: float = 0.0
    sampled: int = 0
    tries: float = 0.0
    seconds: tuple[float, ...] | None = None


class KeyColumn(Struct, frozen=True):
    """The keys of one slice; one that is not here took at most `floor` units. `prefixes` hold bounds of units."""

    start: Instant
    keys: dict[str, KeyUse]
    prefixes: dict[str, tuple[float, float]] = {}
    floor: float = 0.0


class KeySlices(Struct, frozen=True, kw_only=True):
    """The slices of a window at one target and direction; those that are missing held no key.

    `units` are all units of each slice of the window, of keys or not, NaN where nothing is known of it: before
    `known_from`. `cells` says which cell most of a key came from. `attributes` names the partition key, where known.
    `templates` is the shown shape of each key and prefix.
    """

    target: Target
    direction: Direction
    window: Window
    known_from: Instant
    columns: tuple[KeyColumn, ...]
    units: np.ndarray
    cells: dict[str, Cell] = {}
    attributes: tuple[str, ...] = ()
    templates: dict[str, str] = {}
