"""The lag of indexes as a histogram: each write that reads told something of counts once, with both of its bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.exporters.from_counts import bucket_of, target_labels
from analyzer.exporters.metrics import DURATION_BUCKETS
from analyzer.figures.lag import SKEW_MS
from analyzer.traffic.lag_pairs import lag_pairs, probe_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.exporters.assemble import Kept
    from analyzer.exporters.series import SeriesTable
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

__all__ = ["COUNTED_UNTIL", "LAG", "count_lags", "show_lags"]

LAG = "dynascope_gsi_lag_seconds"
COUNTED_UNTIL = "counted until"
"""Among what is kept: up to which write (milliseconds since the epoch) the lag of an index was counted."""

_SUM = "sum"
_SETTLED_MS = 120_000
"""So long after a write it is counted: reads that show it have come by then, or what they miss is a lag."""

Place = tuple[str, ...]


def count_lags(kept: Kept, traffics: Iterable[Traffic], place_of: Callable[[Target], Place] = target_labels) -> Kept:
    """Return what is kept with the writes that were not counted yet; what is judged twice is counted once."""
    until = dict(kept.get(COUNTED_UNTIL, {}))
    counts = dict(kept.get(LAG, {}))
    for traffic in traffics:
        place, edge = place_of(traffic.target), traffic.window.end - _SETTLED_MS
        if traffic.target.index is None or edge <= until.get(place, 0):
            continue
        for bound, seconds in _writes(traffic, int(until.get(place, 0)), edge):
            for name, value in ((str(_bucket(seconds)), 1.0), (_SUM, seconds if math.isfinite(seconds) else 0.0)):
                labels = (*place, bound, name)
                counts[labels] = counts.get(labels, 0.0) + value
        until[place] = float(edge)
    return {**kept, COUNTED_UNTIL: until, LAG: counts} if until else kept


def show_lags(table: SeriesTable, kept: Kept) -> None:
    """Put the histograms into a rendering."""
    found: dict[Place, tuple[list[float], list[float]]] = {}
    for labels, value in kept.get(LAG, {}).items():
        counts, total = found.setdefault(labels[:-1], ([0.0] * (len(DURATION_BUCKETS) + 1), [0.0]))
        if labels[-1] == _SUM:
            total[0] = value
        else:
            counts[int(labels[-1])] = value
    for labels, (counts, total) in found.items():
        table.observe(LAG, labels, counts, total[0])


def _writes(traffic: Traffic, since: Instant, until: Instant) -> Iterable[tuple[str, float]]:
    """Yield the bounds of every write in a stretch, in seconds; one that no read showed has no upper bound."""
    bounds: dict[int, tuple[float, float]] = {}
    for pair in (*lag_pairs(traffic, SKEW_MS), *probe_pairs(traffic.probes)):
        if since < pair.time <= until:
            low, high = bounds.get(pair.write, (0.0, math.inf))
            bounds[pair.write] = (low, min(high, pair.high)) if pair.is_fresh else (max(low, pair.low), high)
    for low, high in bounds.values():
        if low <= high:  # else a read showed it and a later one did not: it tells of no lag
            yield "lower", low
            yield "upper", high


def _bucket(seconds: float) -> int:
    return bucket_of(seconds) if math.isfinite(seconds) else len(DURATION_BUCKETS)
