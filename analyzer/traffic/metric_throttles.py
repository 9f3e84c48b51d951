"""Throttle events of a target's metrics, by direction and limit, with what was served beside them.

An event is not a request: a put into a table with three indexes may count four (Developer Guide, "DynamoDB metrics and
dimensions", ReadThrottleEvents, read 2026-11-30). Requests are counted by ThrottledRequests and by the sample counts of
SuccessfulRequestLatency, which know no index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.knowledge.operations import READS, WRITES
from analyzer.model.finding import Direction
from analyzer.model.traffic import MetricThrottles
from analyzer.model.window import Window
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from analyzer.model.batch import MetricSeries
    from analyzer.model.traffic import Capacity

__all__ = ["metric_throttles"]

_LIMITS = {
    "KeyRangeThroughput": "key-range",
    "ProvisionedThroughput": "provisioned",
    "MaxOnDemandThroughput": "max-on-demand",
    "AccountLimit": "account-limit",
}
_FULL = 0.8
"""Use ÷ provisioned over a minute from which a refusal without a reason is put down to provisioned capacity: what is
refused within a minute is uneven, so that its mean lies below the limit."""


def metric_throttles(
    metrics: tuple[MetricSeries, ...], capacity: Capacity, window: Window
) -> tuple[MetricThrottles, ...]:
    """Return the throttle events of a window, by direction and cause; none where there were none."""
    return tuple(one for direction in Direction for one in _of_direction(metrics, capacity, window, direction))


def _of_direction(
    metrics: tuple[MetricSeries, ...], capacity: Capacity, window: Window, direction: Direction
) -> list[MetricThrottles]:
    word = direction.value.capitalize()
    by_cause: dict[str, tuple[MetricSeries | None, float]] = {}
    for limit, cause in _LIMITS.items():
        series = series_of(metrics, f"{word}{limit}ThrottleEvents")
        events = total(series, window)
        if events:
            by_cause[cause] = (series, events)
    all_series = series_of(metrics, f"{word}ThrottleEvents")
    rest = (total(all_series, window) or 0.0) - sum(events for _, events in by_cause.values())
    if rest > 0 and not by_cause:
        by_cause[_unnamed(metrics, capacity, window, direction, all_series)] = (all_series, rest)
    return [
        MetricThrottles(
            direction=direction,
            cause=cause,
            events=events,
            minutes=tuple((point.start, point.value) for point in points(series, window) if point.value),
            period_seconds=series.period_seconds if series is not None else 0,
            is_reason_told=series is not all_series,
            throttled_requests=_requests(metrics, window, direction, "ThrottledRequests", "Sum"),
            served_requests=_requests(metrics, window, direction, "SuccessfulRequestLatency", "SampleCount"),
        )
        for cause, (series, events) in by_cause.items()
    ]


def _unnamed(
    metrics: tuple[MetricSeries, ...],
    capacity: Capacity,
    window: Window,
    direction: Direction,
    throttles: MetricSeries | None,
) -> str:
    """Return the cause of refusals whose reason nobody told: provisioned where use stood at it, else unknown."""
    word = direction.value.capitalize()
    provisioned = series_of(metrics, f"Provisioned{word}CapacityUnits", "Average") or series_of(
        metrics, f"Provisioned{word}CapacityUnits", "Maximum"
    )
    consumed = series_of(metrics, f"Consumed{word}CapacityUnits")
    fixed = capacity.read_units if direction is Direction.READ else capacity.write_units
    for refused in points(throttles, window):
        if not refused.value:
            continue
        for used in points(consumed, _stretch(refused.start, refused.end)):
            limits = [point.value for point in points(provisioned, _stretch(used.start, used.end))]
            limit = min(limits, default=fixed)
            if limit and used.a_second >= _FULL * limit:
                return "provisioned"
    return "unknown"


def _stretch(start: int, end: int) -> Window:
    return Window(start, end)


def _requests(
    metrics: tuple[MetricSeries, ...], window: Window, direction: Direction, metric: str, stat: str
) -> dict[str, float]:
    """Return requests by operation; empty where the series are not there."""
    found = {}
    for operation in READS if direction is Direction.READ else WRITES:
        requests = total(series_of(metrics, metric, stat, Operation=operation), window)
        if requests:
            found[operation] = requests
    return found
