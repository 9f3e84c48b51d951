"""Latency of several rows together, from their log buckets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.statistics.log_histogram import quantile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic

__all__ = ["bucket_quantile_ms", "quantile_ms", "slowest_ms"]


def quantile_ms(rows: Iterable[PatternTraffic], share: float) -> float | None:
    """Return the upper bound of the bucket (a factor of 1.4 wide) that holds a quantile; None where none is known."""
    buckets = [row.latency.buckets for row in rows if row.latency.calls]
    return bucket_quantile_ms(tuple(map(sum, zip(*buckets, strict=True))), share)


def bucket_quantile_ms(buckets: tuple[int, ...], share: float) -> float | None:
    """Return the upper bound of the one of these buckets that holds a quantile; None where none is known."""
    found = quantile(buckets, LATENCY_BOUNDS_MS, share)
    return None if found is None or math.isinf(found[1]) else found[1]


def slowest_ms(rows: Iterable[PatternTraffic]) -> float | None:
    """Return the lower bound of the slowest bucket that holds a call; None where no latency is known."""
    buckets = [row.latency.buckets for row in rows if row.latency.calls]
    found = quantile(tuple(map(sum, zip(*buckets, strict=True))), LATENCY_BOUNDS_MS, 1.0)
    return None if found is None else found[0]
