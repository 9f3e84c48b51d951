"""The fullest second of a target: what was asked of it at once, admitted or not."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.statistics.intervals import estimate_count

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["fullest_second"]


def fullest_second(traffic: Traffic, direction: Direction) -> Estimate | None:
    """Return the most units that one second saw, estimated where log or call book hold only a part of the calls.

    Seconds are the clock's: a burst across two of them counts half in each. None where no call of that direction with
    units is in the book.
    """
    book = traffic.calls
    if book is None:
        return None
    units: defaultdict[int, float] = defaultdict(float)
    calls: Counter[int] = Counter()
    rate = book.share
    for call in book.of(traffic.target):
        used = call.read_units if direction is Direction.READ else call.write_units
        if used and call.is_whole and traffic.window.holds(call.time):
            second = call.time // 1000
            units[second] += used
            calls[second] += 1
            rate = min(rate, call.sample_rate * book.share)
    if not units:
        return None
    second = max(units, key=lambda one: units[one])
    if rate >= 1:
        return Estimate.exact(units[second])
    estimate = estimate_count([(calls[second], rate)])
    each = units[second] / calls[second]
    return Estimate(*(part * each for part in estimate))
