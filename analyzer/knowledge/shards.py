"""How many parts a hot partition key needs, and what they cost: the arithmetic of write sharding.

A random suffix spreads writes evenly on average only: of N parts the fullest takes 1 + sqrt(2 (ln N + ln 100) ÷ (writes
a second ÷ N)) times the mean, but once in a hundred seconds (a Chernoff bound over N parts). Each read of a range
becomes N reads, each of half a unit at least (Developer Guide, "Using write sharding to distribute workloads evenly",
read 2026-11-30).
"""

from __future__ import annotations

import math

from msgspec import Struct

from analyzer.knowledge.limits import WRITE_UNITS_A_PARTITION

__all__ = ["Shards", "fan_out_units", "imbalance", "shards_needed"]

_CALM = 0.7
_BURSTY = 0.5
"""Which part of its ceiling a shard may be given: less where seconds stand far above the mean."""

_BURSTS = 2.0
_ONCE_IN = 100
_LEAST_READ_UNITS = 0.5
_MOST = 1000
"""More parts than that are another design."""


class Shards(Struct, frozen=True):
    """So many parts, the fullest of which takes `hottest_units` a second; `imbalance` is that beside the mean."""

    count: int
    imbalance: float
    hottest_units: float


def imbalance(parts: int, writes_a_second: float) -> float:
    """Return how much more than the mean the fullest of several parts takes."""
    if parts <= 1 or writes_a_second <= 0:
        return 1.0
    return 1 + math.sqrt(2 * (math.log(parts) + math.log(_ONCE_IN)) / (writes_a_second / parts))


def shards_needed(
    units_a_second: float, writes_a_second: float, *, burst_factor: float = 1.0, ceiling: int = WRITE_UNITS_A_PARTITION
) -> Shards:
    """Return the least number of parts that keep the fullest one below what a partition should be given.

    `units_a_second` is the demand of the fullest second, at the upper end of what it may be. Where many parts would
    have too few writes each to be even, the least that holds the mean is returned with its imbalance.
    """
    allowed = ceiling * (_BURSTY if burst_factor > _BURSTS else _CALM)
    least = min(_MOST, max(1, math.ceil(units_a_second / allowed)))
    for parts in range(least, _MOST + 1):
        hottest = units_a_second / parts * min(imbalance(parts, writes_a_second), parts)
        if hottest <= allowed:
            return Shards(parts, min(imbalance(parts, writes_a_second), parts), hottest)
    uneven = min(imbalance(least, writes_a_second), least)
    return Shards(least, uneven, units_a_second / least * uneven)


def fan_out_units(reads_a_second: float, parts: int) -> float:
    """Return at least how many read units a second are added when each read of a key asks all its parts."""
    return reads_a_second * (parts - 1) * _LEAST_READ_UNITS
