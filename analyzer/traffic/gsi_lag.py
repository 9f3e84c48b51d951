"""How long writes take to appear in an index, estimated from reads that saw a write and reads that did not.

Each pair says only whether the lag was shorter than an age: isotonic regression of "fresh" on age gives the likeliest
distribution of the lag. The time at which a write was first seen says less: with a query a second it is mostly the wait
for the next query. Intervals come from drawing items anew, since pairs of one item hang together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from analyzer.model.estimate import Estimate
from analyzer.statistics.isotonic import isotonic, reached

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.traffic.lag_pairs import LagPair

__all__ = ["LEAST_WRITES", "Lag", "estimate_lag"]

_CELLS = 200
"""From a millisecond to ten minutes: a cell is 7 % wide, less than what an estimate can tell."""
_EDGES = np.concatenate(([0.0], np.geomspace(0.001, 600.0, _CELLS)))
_DRAWS = 200
_MOST_ITEMS = 2000
"""Items beyond it are drawn together with others: enough to draw from, and bounded memory."""
_TAIL = 0.01
"""A drawn anew isotonic estimate scatters less than it should: 98 % of the draws cover the truth in 95 of 100 logs."""
_SHARES = (0.5, 0.95, 0.99)
LEAST_WRITES = (20, 60, 300)
"""Writes from which on a quantile is told: fewer hold no example of what lies beyond it."""
_SECOND = 1.0


class Lag(Struct, frozen=True, kw_only=True):
    """The lag of an index in seconds: quantiles with bounds, None where too few writes were seen to tell.

    An infinite upper bound or value says that reads were stale as far as anybody looked. `lows` and `highs` bound the
    lag of each write for certain (infinite where no read was fresh).

    `regressions` are writes that were seen, and then not: an item that somebody removed without a word in the log looks
    so. They are left out of all else.
    """

    pairs: int
    writes: int
    items: int
    stale: int
    p50: Estimate | None
    p95: Estimate | None
    p99: Estimate | None
    stale_after_second: float | None
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    regressions: int = 0


def estimate_lag(pairs: Iterable[LagPair]) -> Lag | None:
    """Estimate the lag from pairs; None without any. The same pairs give the same answer."""
    told = list(pairs)
    bounds = _by_write(told)
    seen = [pair for pair in told if pair.write in bounds]
    if not seen:
        return None
    fresh = np.array([pair.is_fresh for pair in seen])
    late = np.array([pair.age >= _SECOND for pair in seen])
    quantiles = _quantiles(seen, fresh)
    p50, p95, p99 = (one if len(bounds) >= least else None for one, least in zip(quantiles, LEAST_WRITES, strict=True))
    return Lag(
        pairs=len(seen),
        writes=len(bounds),
        items=len({pair.key for pair in seen}),
        stale=int((~fresh).sum()),
        p50=p50,
        p95=p95,
        p99=p99,
        stale_after_second=float((~fresh[late]).mean()) if late.any() else None,
        lows=tuple(low for low, _ in bounds.values()),
        highs=tuple(high for _, high in bounds.values()),
        regressions=len({pair.write for pair in told}) - len(bounds),
    )


def _by_write(pairs: list[LagPair]) -> dict[int, tuple[float, float]]:
    """Return for each write bounds of its lag, of those that do not contradict themselves."""
    found: dict[int, tuple[float, float]] = {}
    for pair in pairs:
        low, high = found.get(pair.write, (0.0, math.inf))
        found[pair.write] = (low, min(high, pair.high)) if pair.is_fresh else (max(low, pair.low), high)
    return {write: (low, high) for write, (low, high) in found.items() if low <= high}


def _quantiles(pairs: list[LagPair], fresh: np.ndarray) -> list[Estimate]:
    """Return the quantiles by the middle of each age, their bounds by its ends and by drawing items anew."""
    numbers: dict[object, int] = {}
    rows = np.array([numbers.setdefault(pair.key, len(numbers)) % _MOST_ITEMS for pair in pairs])
    items = min(len(numbers), _MOST_ITEMS)
    draws = np.random.default_rng(0).multinomial(items, [1 / items] * items, size=_DRAWS)
    tables = {
        name: _table(rows, [getattr(pair, name) for pair in pairs], fresh, items) for name in ("age", "low", "high")
    }
    middle = [one.value for one in _of_counts(*(table.sum(axis=0) for table in tables["age"]))]
    below = [[one.low for one in _of_counts(*(draw @ table for table in tables["low"]))] for draw in draws]
    above = [[one.high for one in _of_counts(*(draw @ table for table in tables["high"]))] for draw in draws]
    oldest = max(pair.low for pair in pairs)
    low = np.minimum(np.quantile(below, _TAIL, axis=0, method="nearest"), oldest)
    high = np.quantile(above, 1 - _TAIL, axis=0, method="nearest")
    return [
        Estimate(value, min(value, float(least)), max(value, float(most)))
        for value, least, most in zip(middle, low, high, strict=True)
    ]


def _table(rows: np.ndarray, ages: list[float], fresh: np.ndarray, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Count pairs, and fresh ones, by item and cell of age."""
    cells = np.clip(np.searchsorted(_EDGES, ages, side="right") - 1, 0, _CELLS - 1)
    counts = np.zeros((items, _CELLS))
    shown = np.zeros((items, _CELLS))
    np.add.at(counts, (rows, cells), 1)
    np.add.at(shown, (rows, cells), fresh)
    return counts, shown


def _of_counts(counts: np.ndarray, shown: np.ndarray) -> list[Estimate]:
    """Return the quantiles of the curve through shares of cells, as far as there are pairs."""
    last = int(counts.nonzero()[0][-1]) + 1
    shares = np.divide(shown, counts, out=np.zeros_like(shown), where=counts > 0)
    weights = counts[:last].tolist()
    curve = isotonic(shares[:last].tolist(), weights)
    return [reached(_EDGES.tolist(), curve, weights, share) for share in _SHARES]
