"""What callers waited for an operation, now and at the same time of day on past days that the call book still holds."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.model.instant import DAY_MS
from analyzer.traffic.latency import bucket_quantile_ms, quantile_ms

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["ClientWait", "client_wait", "waits_now"]

_P99 = 0.99
_HALF_HOUR_MS = 1_800_000
_LEAST_CALLS = 100
"""The p99 of fewer calls is one slow call."""


class ClientWait(NamedTuple):
    """The p99 that callers saw in milliseconds, now and usually; of how many days; who waits longest."""

    now: float
    before: float
    days: int
    caller: str | None


def waits_now(rows: list[PatternTraffic]) -> float | None:
    """Return the p99 that callers see; None where too few calls tell."""
    return quantile_ms(rows, _P99) if sum(row.latency.calls for row in rows) >= _LEAST_CALLS else None


def client_wait(rows: list[PatternTraffic], operation: str, traffic: Traffic) -> ClientWait | None:
    """Return what callers wait for an operation, whose `rows` these are; None where nobody knows now or before."""
    now, usual = waits_now(rows), _past(operation, traffic)
    if now is None or not usual:
        return None
    callers = defaultdict[str | None, list["PatternTraffic"]](list)
    for row in rows:
        callers[row.caller].append(row)
    slowest = max(callers, key=lambda one: (waits_now(callers[one]) or 0.0, str(one)))
    return ClientWait(now, median(usual), len(usual), slowest)


def _past(operation: str, traffic: Traffic) -> list[float]:
    """Return the p99 of each past day of which enough calls are there; notable ones alone would be a choice."""
    window, days = traffic.window, defaultdict[int, list[int]](lambda: [0] * (len(LATENCY_BOUNDS_MS) + 1))
    for call in () if traffic.calls is None else traffic.calls.of(traffic.target):
        day = (window.end + _HALF_HOUR_MS - 1 - call.time) // DAY_MS
        is_near = call.time + day * DAY_MS >= window.start - _HALF_HOUR_MS
        if day > 0 and is_near and call.is_whole and call.operation == operation and call.latency_ms is not None:
            days[day][bisect_left(LATENCY_BOUNDS_MS, call.latency_ms)] += 1
    quantiles = [bucket_quantile_ms(tuple(days[day]), _P99) for day in sorted(days) if sum(days[day]) >= _LEAST_CALLS]
    return [one for one in quantiles if one is not None]
