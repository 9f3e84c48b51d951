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
from analyzer.statistics.isotonic import isotonic, quantile_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.traffic.lag_pairs import LagPair

__all__ = ["GsiLag", "estimate_lag"]

_CELLS = 120
"""From a millisecond to ten minutes: a cell is a ninth wide, far less than what an estimate can tell."""
_EDGES = np.concatenate(([0.0], np.geomspace(0.001, 600.0, _CELLS)))
_DRAWS = 200
_MOST_ITEMS = 2000
"""Items beyond it are drawn together with others: enough to draw from, and bounded memory."""
_TAIL = 0.01
"""A drawn anew isotonic estimate scatters less than it should: 98 % of the draws cover the truth in 95 of 100 logs."""
_SHARES = (0.5, 0.95, 0.99)
_LEAST_WRITES = (20, 60, 300)
"""Writes from which on a quantile is told: fewer hold no example of what lies beyond it."""
_SECOND = 1.0


class GsiLag(Struct, frozen=True, kw_only=True):
    """The lag of an index in seconds: quantiles with bounds, None where too few writes were seen to tell.

    An infinite bound or value says that reads were stale as far as anybody looked. `lows` and `highs` bound the lag of
    each write for certain (infinite where no read was fresh); `regressions` are writes that were seen and then not.
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


def estimate_lag(pairs: Iterable[LagPair]) -> GsiLag | None:
    """Estimate the lag from pairs; None without any. The same pairs give the same answer."""
    seen = list(pairs)
    if not seen:
        return None
    fresh = np.array([pair.is_fresh for pair in seen])
    late = np.array([pair.age >= _SECOND for pair in seen])
    lows, highs, regressions = _by_write(seen)
    quantiles = _quantiles(seen, fresh)
    told = [one if len(lows) >= least else None for one, least in zip(quantiles, _LEAST_WRITES, strict=True)]
    return GsiLag(
        pairs=len(seen),
        writes=len(lows),
        items=len({pair.key for pair in seen}),
        stale=int((~fresh).sum()),
        p50=told[0],
        p95=told[1],
        p99=told[2],
        stale_after_second=float((~fresh[late]).mean()) if late.any() else None,
        lows=tuple(lows),
        highs=tuple(highs),
        regressions=regressions,
    )


def _by_write(pairs: list[LagPair]) -> tuple[list[float], list[float], int]:
    """Return for each write bounds of its lag, and how many contradict themselves."""
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    for pair in pairs:
        low.setdefault(pair.write, 0.0)
        high.setdefault(pair.write, math.inf)
        if pair.is_fresh:
            high[pair.write] = min(high[pair.write], pair.high)
        else:
            low[pair.write] = max(low[pair.write], pair.low)
    return list(low.values()), list(high.values()), sum(low[write] > high[write] for write in low)


def _quantiles(pairs: list[LagPair], fresh: np.ndarray) -> list[Estimate]:
    """Return the quantiles by the middle of each age, their bounds by its ends and by drawing items anew."""
    numbers: dict[object, int] = {}
    rows = np.array([numbers.setdefault(pair.key, len(numbers)) % _MOST_ITEMS for pair in pairs])
    items = min(len(numbers), _MOST_ITEMS)
    draws = np.random.default_rng(0).multinomial(items, [1 / items] * items, size=_DRAWS)
    tables = {
        name: _table(rows, [getattr(pair, name) for pair in pairs], fresh, items) for name in ("age", "low", "high")
    }
    middle = _of_counts(*(table.sum(axis=0) for table in tables["age"]))
    below = np.array([_of_counts(*(draw @ table for table in tables["low"])) for draw in draws])
    above = np.array([_of_counts(*(draw @ table for table in tables["high"])) for draw in draws])
    low = np.quantile(below, _TAIL, axis=0, method="nearest")
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


def _of_counts(counts: np.ndarray, shown: np.ndarray) -> list[float]:
    """Return the quantiles of the curve through shares of cells, as far as there are pairs."""
    last = int(counts.nonzero()[0][-1]) + 1
    shares = np.divide(shown, counts, out=np.zeros_like(shown), where=counts > 0)
    curve = isotonic(shares[:last].tolist(), counts[:last].tolist())
    edges = _EDGES[: last + 1].tolist()
    return [quantile_of(edges, curve, share) for share in _SHARES]
