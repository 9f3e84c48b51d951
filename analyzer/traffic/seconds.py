"""The fullest second of a target: what was asked of it at once, admitted or not."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import NormalDist
from typing import TYPE_CHECKING

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.traffic import Traffic
    from analyzer.model.window import Window

__all__ = ["fullest_second"]

_TAIL = 0.025


def fullest_second(traffic: Traffic, direction: Direction, within: Sequence[Window] | None = None) -> Estimate | None:
    """Return the most units that one second saw, estimated where log or call book hold only a part of the calls.

    Seconds are the clock's: a burst across two of them counts half in each. `within` are the stretches to look at, the
    whole window where None. None where no call of that direction with units is in the book.

    What is kept of a sample is kept by key, so that variance is of keys (Horvitz and Thompson, with whole keys as the
    units that are drawn). The bounds hold for all seconds at once (Bonferroni): of many even seconds the fullest one
    of a sample would else look like a burst.
    """
    book = traffic.calls
    if book is None:
        return None
    seconds: dict[int, defaultdict[object, float]] = {}
    rate = book.share
    for call in book.of(traffic.target):
        used = call.read_units if direction is Direction.READ else call.write_units
        if used and call.is_whole and any(one.holds(call.time) for one in within or (traffic.window,)):
            by_key = seconds.setdefault(call.time // 1000, defaultdict(float))
            by_key[call.key or id(call)] += used
            rate = min(rate, call.sample_rate * book.share)
    if not seconds:
        return None
    if rate >= 1:
        return Estimate.exact(max(sum(by_key.values()) for by_key in seconds.values()))
    z = -NormalDist().inv_cdf(_TAIL / len(seconds))
    return max((_estimate(tuple(by_key.values()), rate, z) for by_key in seconds.values()), key=lambda one: one.low)


def _estimate(units: tuple[float, ...], rate: float, z: float) -> Estimate:
    seen = sum(units)
    spread = z * math.sqrt(sum(one * one for one in units) * (1 - rate)) / rate
    return Estimate(seen / rate, max(seen, seen / rate - spread), seen / rate + spread)
