"""Throttle events of a target's metrics, by direction and limit, with what was served beside them.

An event is not a request: a put into a table with three indexes may count four (Developer Guide, "DynamoDB metrics and
dimensions", ReadThrottleEvents, read 2026-11-30). Requests are counted by ThrottledRequests and by the sample counts of
SuccessfulRequestLatency, which know no index: what the events of indexes account for is no limit of their table.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from analyzer.knowledge.operations import READS, WRITES
from analyzer.model.finding import Direction
from analyzer.model.traffic import MetricThrottles
from analyzer.model.window import Window
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.batch import MetricSeries
    from analyzer.model.instant import Instant
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
    metrics: tuple[MetricSeries, ...],
    capacity: Capacity,
    window: Window,
    of_indexes: Sequence[tuple[MetricSeries, ...]] = (),
) -> tuple[MetricThrottles, ...]:
    """Return the throttle events of a window, by direction and cause; none where there were none.

    `of_indexes` are the metrics of each index of a table.
    """
    return tuple(
        one for direction in Direction for one in _of_direction(metrics, capacity, window, direction, of_indexes)
    )


def _of_direction(
    metrics: tuple[MetricSeries, ...],
    capacity: Capacity,
    window: Window,
    direction: Direction,
    of_indexes: Sequence[tuple[MetricSeries, ...]],
) -> list[MetricThrottles]:
    word = direction.value.capitalize()
    named = {cause: series_of(metrics, f"{word}{limit}ThrottleEvents") for limit, cause in _LIMITS.items()}
    told = {cause: series for cause, series in named.items() if total(series, window)}
    if not told:
        rest = _all_events(metrics, window, direction, of_indexes)
        told = {_unnamed(metrics, capacity, window, direction, rest): rest} if rest is not None else {}
    return [
        MetricThrottles(
            direction=direction,
            cause=cause,
            events=total(series, window) or 0.0,
            minutes=tuple((point.start, point.value) for point in points(series, window) if point.value),
            period_seconds=series.period_seconds,
            is_reason_told=series is named.get(cause),
            throttled_requests=_requests(metrics, window, direction, "ThrottledRequests", "Sum"),
            served_requests=_requests(metrics, window, direction, "SuccessfulRequestLatency", "SampleCount"),
        )
        for cause, series in told.items()
        if series is not None
    ]


def _all_events(
    metrics: tuple[MetricSeries, ...],
    window: Window,
    direction: Direction,
    of_indexes: Sequence[tuple[MetricSeries, ...]],
) -> MetricSeries | None:
    """Return the series that counts refusals whatever their reason: of events, else of the requests most refused.

    Requests name no index: none where in each minute indexes refused at least as many.
    """
    word = direction.value.capitalize()
    events = series_of(metrics, f"{word}ThrottleEvents")
    if total(events, window):
        return events
    operations = READS if direction is Direction.READ else WRITES
    refused = [series_of(metrics, "ThrottledRequests", Operation=operation) for operation in sorted(operations)]
    asked = _by_minute(refused, window)
    elsewhere = _by_minute((series_of(index, f"{word}ThrottleEvents") for index in of_indexes), window)
    if all(elsewhere.get(minute, 0.0) >= requests for minute, requests in asked.items()):
        return None
    return max(refused, key=lambda series: total(series, window) or 0.0)


def _by_minute(listed: Iterable[MetricSeries | None], window: Window) -> dict[Instant, float]:
    """Add up series by the minute that a point begins in; those without anything are left out."""
    found: dict[Instant, float] = defaultdict(float)
    for series in listed:
        for point in points(series, window):
            if point.value:
                found[point.start] += point.value
    return found


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
        for used in points(consumed, Window(refused.start, refused.end)):
            limits = [point.value for point in points(provisioned, Window(used.start, used.end))]
            limit = min(limits, default=fixed)
            if limit and used.a_second >= _FULL * limit:
                return "provisioned"
    return "unknown"


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
