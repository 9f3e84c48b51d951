"""Limits that refused requests of a target in a window: one account of each, whoever told it.

The request log knows callers, failures and reasons; metrics know every refusal, but events instead of requests. Where
both tell of one limit, the log speaks and the metrics name the reason that it left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.throttling import ACCOUNT_CODE
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.traffic import Hurt, MetricThrottles, Throttles
from analyzer.traffic.ramp import UNKNOWN_RAMP, Ramp, ramp_of
from analyzer.traffic.series import series_of, total

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["LimitHit", "limits_hit"]


class LimitHit(Struct, frozen=True, kw_only=True):
    """Refusals by one limit; what is None nobody told.

    `share` is throttled ÷ (throttled + served) requests; from metrics its lower bound alone may be known. `events` are
    CloudWatch's. `is_sure` says whether the cause was named by DynamoDB; `because` is why it was concluded otherwise.
    """

    direction: Direction
    cause: str
    is_sure: bool
    because: str | None = None
    share: Estimate | None = None
    tries: Estimate | None = None
    failed: Estimate | None = None
    calls: Estimate | None = None
    events: float | None = None
    reasons: tuple[str, ...] = ()
    hurt: tuple[Hurt, ...] = ()
    operations: dict[str, float] = {}
    sources: tuple[str, ...] = ()
    ramp: Ramp = UNKNOWN_RAMP


def limits_hit(traffic: Traffic) -> tuple[LimitHit, ...]:
    """Return the limits that refused requests, by direction and cause."""
    told = [_by_requests(throttles, traffic) for throttles in traffic.throttles]
    seen = {(one.direction, one.cause) for one in told}  # as concluded
    seen |= {(one.direction, one.cause) for one in traffic.throttles}  # as DynamoDB said
    told += [_by_metrics(throttles, traffic) for throttles in traffic.metric_throttles if not _is_told(throttles, seen)]
    return tuple(told)


def _is_told(throttles: MetricThrottles, seen: set[tuple[Direction, str]]) -> bool:
    """Whether the request log told of the same refusals: of that cause, or of any where metrics name none."""
    if throttles.is_reason_told:
        return (throttles.direction, throttles.cause) in seen
    return any(direction is throttles.direction for direction, _ in seen)


def _by_requests(throttles: Throttles, traffic: Traffic) -> LimitHit:
    cause, because, ramp = _cause(throttles.cause, throttles.direction, traffic, is_reason_told=True)
    metrics = [one for one in traffic.metric_throttles if one.direction is throttles.direction]
    if throttles.reasons == (ACCOUNT_CODE,) and cause not in {one.cause for one in metrics}:
        because = f"{ACCOUNT_CODE} is AWS's code for the account's quota; no reason names the resource"
    return LimitHit(
        direction=throttles.direction,
        cause=cause,
        is_sure=because is None and cause != "unknown",
        because=because,
        share=_share(throttles),
        tries=throttles.tries,
        failed=throttles.failed,
        calls=throttles.calls,
        events=sum(one.events for one in metrics) or None,
        reasons=throttles.reasons,
        hurt=throttles.hurt,
        sources=(throttles.source, *((SourceName.CLOUDWATCH_METRICS.value,) if metrics else ())),
        ramp=ramp,
    )


def _share(throttles: Throttles) -> Estimate:
    calls = max(throttles.calls.value, 1.0)
    return Estimate(*(min(1.0, part / calls) for part in throttles.throttled))


def _by_metrics(throttles: MetricThrottles, traffic: Traffic) -> LimitHit:
    cause, because, ramp = _cause(
        throttles.cause, throttles.direction, traffic, is_reason_told=throttles.is_reason_told
    )
    return LimitHit(
        direction=throttles.direction,
        cause=cause,
        is_sure=throttles.is_reason_told and because is None,
        because=because,
        share=_share_of_events(throttles, traffic),
        events=throttles.events,
        operations=throttles.throttled_requests,
        sources=(SourceName.CLOUDWATCH_METRICS.value,),
        ramp=ramp,
    )


def _share_of_events(throttles: MetricThrottles, traffic: Traffic) -> Estimate | None:
    """Return the share of refused requests: counted where both sides are, else what units and events allow at least.

    A write refused by a table and its indexes counts once for each of them; a served read costs half a unit at least,
    a served write one.
    """
    refused = sum(throttles.throttled_requests.values())
    served = sum(throttles.served_requests.values())
    if refused and served and traffic.target.index is None:
        return Estimate.exact(refused / (refused + served))
    word = throttles.direction.value.capitalize()
    units = total(series_of(traffic.metrics, f"Consumed{word}CapacityUnits"), traffic.window)
    if units is None:
        return None
    is_read = throttles.direction is Direction.READ
    events = throttles.events if is_read else throttles.events / (1 + len(traffic.place.index_keys))
    most_served = units * 2 if is_read else units
    least = events / (events + most_served)
    return Estimate(least, least, 1.0)


def _cause(cause: str, direction: Direction, traffic: Traffic, *, is_reason_told: bool) -> tuple[str, str | None, Ramp]:
    """Return the cause, why it is not what DynamoDB said (None where it is), and how steep demand rose."""
    ramp = ramp_of(traffic, direction)
    if cause == "unknown":
        named = {one.cause for one in traffic.metric_throttles if one.direction is direction}
        if len(named) == 1 and named != {"unknown"}:
            return named.pop(), "metrics of the same minutes name this limit alone", ramp
        return cause, "neither requests nor metrics name the limit", ramp
    if cause != "key-range":
        return cause, None if is_reason_told else "its use stood at its provisioned capacity", ramp
    if ramp.is_uniform and ramp.is_fresh:
        because = "its keys are used evenly, and its capacity was raised or it was restored just before"
        return "partitions-splitting", because, ramp
    if ramp.is_uniform and ramp.is_steep:
        return "on-demand-ramp", "its keys are used evenly, and demand rose beyond what it was warm for", ramp
    return cause, None, ramp
