"""What keys took, put into columns: of keys with rows of their own, and of all that is left under a prefix."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from analyzer.figures.prefix_tree import home_of, prefixes_of
from analyzer.model.estimate import Estimate
from analyzer.model.instant import SLICE_MS
from analyzer.statistics.intervals import estimate_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.key_slices import KeySlices, KeyUse

__all__ = ["Columns", "Rest", "Uses"]

Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of one row: heat with its bounds, units a second, throttled tries."""

_SLICE_SECONDS = SLICE_MS // 1000
_UNSURE = 0.1
"""A key that was not among the heaviest of a slice had less than their least; where that is little, it had none."""


class Uses:
    """The keys of a map by name; `ceiling` is in units a second, `step_ms` a slice or a second.

    `known` flags the columns of which anything is known. `prefix_totals` are units of prefixes in the map's time.
    """

    def __init__(self, slices: KeySlices, ceiling: float, step_ms: int = SLICE_MS) -> None:
        self._slices = slices
        self._ceiling = ceiling
        self._per = SLICE_MS // step_ms
        count = len(slices.units)
        self.columns = count * self._per
        self.floor = np.zeros(count)
        self._factors: dict[tuple[int, float], tuple[float, float]] = {}
        self._uses: dict[str, list[tuple[int, KeyUse]]] = defaultdict(list)
        self._prefixes: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
        for column in slices.columns:
            at = (column.start - slices.window.start) // SLICE_MS
            self.floor[at] = column.floor
            for name, use in column.keys.items():
                self._uses[name].append((at, use))
            for prefix, (low, high) in column.prefixes.items():
                self._prefixes[prefix].append((at, low, high))
        self.known = np.isfinite(slices.units)
        self._all = np.maximum(np.nan_to_num(slices.units), self._listed(self._uses))
        self.every = float(self._all[self.known].sum())
        self.prefix_totals = self._prefix_totals()

    def _prefix_totals(self) -> dict[str, float]:
        """Return the units of every prefix: as the digest counted it, else of the keys that were listed."""
        listed: dict[str, float] = defaultdict(float)
        for name, found in self._uses.items():
            units = sum((use.low + use.high) / 2 for _, use in found)
            for prefix in prefixes_of(name):
                listed[prefix] += units
        counted = {prefix: sum((low + high) / 2 for _, low, high in found) for prefix, found in self._prefixes.items()}
        return {**listed, **counted}

    @property
    def names(self) -> Iterable[str]:
        """Every key that was listed at any time."""
        return self._uses.keys()

    @property
    def top(self) -> np.ndarray:
        """Units a second of the target by column; within a slice they are told evenly."""
        return self._spread(np.where(self.known, self._all / _SLICE_SECONDS, np.nan))

    def first_seen(self, name: str) -> int:
        """Return the first slice in which a key was listed."""
        return self._uses[name][0][0]

    def tries(self, name: str) -> float:
        """Return the throttled tries of a key."""
        return sum(use.tries for _, use in self._uses[name])

    def peak(self, name: str) -> float:
        """Return the greatest share of the ceiling that a key asked for in a slice."""
        return max(self._demand(name, use)[0] for _, use in self._uses[name]) / self._ceiling / _SLICE_SECONDS

    def total(self, name: str) -> Estimate:
        """Return the units of a key; where it was not listed it may have had as much as the least that was."""
        value = low = high = 0.0
        for _, use in self._uses[name]:
            below, above = self._sampling(name, use)
            value += (use.low + use.high) / 2
            low += use.low * below
            high += use.high * above
        absent = np.minimum(self.floor, self._all).sum() - sum(self.floor[at] for at, _ in self._uses[name])
        return Estimate(value, low, high + max(0.0, float(absent)))

    def of_key(self, name: str) -> Columns:
        """Return the columns of a key."""
        heat, low, high, units, tries = (np.zeros(len(self.known)) for _ in range(5))
        high[:] = np.minimum(self.floor, self._all)
        heat[high / self._ceiling / _SLICE_SECONDS >= _UNSURE] = np.nan
        for at, use in self._uses[name]:
            heat[at], low[at], high[at] = self._demand(name, use)
            units[at], tries[at] = (use.low + use.high) / 2, use.tries
        shares = [column / self._ceiling / _SLICE_SECONDS for column in (heat, low, high)]
        told = [*shares, units / _SLICE_SECONDS, tries]
        for column in told[:4]:
            column[~self.known] = np.nan
        spread = [self._spread(column) for column in told]
        if self._per > 1:
            self._put_seconds(name, spread)
        return spread[0], spread[1], spread[2], spread[3], spread[4] / self._per

    def units(self, name: str) -> np.ndarray:
        """Return the units of a key by slice."""
        return self._listed((name,))

    def _put_seconds(self, name: str, spread: Sequence[np.ndarray]) -> None:
        """Put a key's own seconds where they were kept; where they were not, its heat within the slice is not known."""
        for at, use in self._uses[name]:
            part = slice(at * self._per, (at + 1) * self._per)
            whole = sum(use.seconds or ())
            if use.seconds is None or not whole:
                for column in spread[:4]:
                    column[part] = np.nan
                continue
            rhythm = np.array(use.seconds) * _SLICE_SECONDS / whole
            below, above = self._sampling_of_seconds(name, use)
            heat, low, high, units = (column[part] for column in spread[:4])
            low[:], high[:] = heat * rhythm * below, heat * (rhythm * above)
            heat *= rhythm
            units *= rhythm

    def _sampling_of_seconds(self, name: str, use: KeyUse) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of `_sampling` by second: it holds a tenth of the records, and less is sure."""
        whole = sum(use.seconds or ())
        counts = [round(use.sampled * second / whole) for second in use.seconds or ()]
        factors = [self._sampling(name, use._replace(sampled=max(1, count))) for count in counts]
        return np.array([low for low, _ in factors]), np.array([high for _, high in factors])

    def _demand(self, name: str, use: KeyUse) -> tuple[float, float, float]:
        """Return the units that were asked for in a slice, with bounds: throttled tries consume nothing."""
        middle = (use.low + use.high) / 2
        if not middle or not use.requests:
            asked = middle + use.tries * self._units_a_request(name)
            return asked, asked, asked
        demand = 1 + use.tries / use.requests
        below, above = self._sampling(name, use)
        return middle * demand, use.low * below * demand, use.high * above * demand

    def _units_a_request(self, name: str) -> float:
        requests = sum(use.requests for _, use in self._uses[name])
        return sum((use.low + use.high) / 2 for _, use in self._uses[name]) / requests if requests else 1.0

    def _sampling(self, name: str, use: KeyUse) -> tuple[float, float]:
        """Return by which factors sampling may have over- and understated what a key took."""
        cell = self._slices.cells.get(name)
        if cell is None or cell.sample_rate >= 1 or not use.sampled:
            return 1.0, 1.0
        seen = use.sampled, cell.sample_rate
        known = self._factors.get(seen)
        if known is None:
            estimate = estimate_count([seen])
            known = self._factors[seen] = (estimate.low / estimate.value, estimate.high / estimate.value)
        return known

    def rest(self, own: Iterable[str], buckets: Iterable[str]) -> Rest:
        """Return what is left under each prefix, and under none, when the keys with rows of their own are taken out."""
        return Rest(self, frozenset(own), tuple(buckets))

    def homes(self, names: Iterable[str], buckets: tuple[str, ...]) -> dict[str, list[str]]:
        """Return some keys by the prefix that they belong to, the empty one where they belong to none."""
        found: dict[str, list[str]] = {prefix: [] for prefix in (*buckets, "")}
        for name in names:
            found[home_of(name, buckets)].append(name)
        return found

    def prefix_units(self, prefix: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the units of a prefix by slice and by how much they may be wrong; of the empty one those of all."""
        if not prefix:
            return self._all, np.zeros(len(self._all))
        middle = self._listed(name for name in self._uses if name.startswith(prefix))
        error = np.zeros(len(middle))
        for at, low, high in self._prefixes.get(prefix, ()):
            middle[at], error[at] = (low + high) / 2, (high - low) / 2
        return middle, error

    def hottest(self, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return by slice the demand of the hottest of some keys, its bounds, and the tries of them all."""
        value, low, high, tries = (np.zeros(len(self.known)) for _ in range(4))
        for name in names:
            for at, use in self._uses[name]:
                asked = self._demand(name, use)
                if asked[0] > value[at]:
                    value[at], low[at] = asked[:2]
                high[at] = max(high[at], asked[2])
                tries[at] += use.tries
        return value, low, high, tries

    def columns_of(self, demand: Sequence[np.ndarray], units: np.ndarray, tries: np.ndarray) -> Columns:
        """Return the columns of a row of many keys from sums by slice; the seconds of such a row are not kept."""
        told = [column / self._ceiling / _SLICE_SECONDS for column in demand] + [units / _SLICE_SECONDS]
        told = [np.where(self.known, column, np.nan) for column in told]
        if self._per > 1:
            told[:3] = [np.full(len(self.known), np.nan)] * 3
        spread = [self._spread(column) for column in (*told, tries)]
        return spread[0], spread[1], spread[2], spread[3], spread[4] / self._per

    def _listed(self, names: Iterable[str]) -> np.ndarray:
        units = np.zeros(len(self.floor))
        for name in names:
            for at, use in self._uses[name]:
                units[at] += (use.low + use.high) / 2
        return units

    def _spread(self, by_slice: np.ndarray) -> np.ndarray:
        return by_slice.copy() if self._per == 1 else np.repeat(by_slice, self._per)


class Rest:
    """The keys without rows of their own, by the longest prefix with a row that they have."""

    def __init__(self, uses: Uses, own: frozenset[str], buckets: tuple[str, ...]) -> None:
        self._uses = uses
        self._buckets = buckets
        self._own = uses.homes(own, buckets)
        self._others = uses.homes((name for name in uses.names if name not in own), buckets)
        self._units = {prefix: self._left(prefix) for prefix in (*buckets, "")}

    def _left(self, prefix: str) -> tuple[np.ndarray, float]:
        """Return the units by slice under a prefix beside what has rows, and by how much their sum may be wrong."""
        inner = [one for one in self._buckets if one != prefix and one.startswith(prefix)]
        outermost = [one for one in inner if not home_of(one, [other for other in inner if other != one])]
        left, error = (part.copy() for part in self._uses.prefix_units(prefix))
        for one in outermost:
            units, more = self._uses.prefix_units(one)
            left -= units
            error += more
        for name in self._own[prefix]:
            left -= self._uses.units(name)
        return np.maximum(left, 0.0), float(error.sum())

    def members(self, prefix: str) -> int:
        """Return how many keys were told apart."""
        return len(self._others[prefix])

    def total(self, prefix: str) -> Estimate:
        """Return the units of what is left."""
        left, error = self._units[prefix]
        value = float(left.sum())
        return Estimate(value, max(0.0, value - error), value + error)

    def of(self, prefix: str) -> Columns:
        """Return the columns of what is left: the heat of its hottest key, the units and tries of all."""
        left, _ = self._units[prefix]
        value, low, high, tries = self._uses.hottest(self._others[prefix])
        high = np.maximum(high, np.minimum(self._uses.floor, left))
        return self._uses.columns_of((value, low, high), left, tries)
