"""Minutes below the limit, seconds far above it: what CloudWatch's minutes hide.

Provisioned capacity is enforced a second at a time, with a store of up to 300 seconds of what was not used (Developer
Guide, "Burst capacity", read 2026-11-30). A mean over a minute says little of its fullest second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.model.window import Window
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import busiest_caller
from analyzer.traffic.provisioned import units_provisioned
from analyzer.traffic.seconds import fullest_second
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import Traffic

__all__ = ["SubMinuteBurst"]

_CAUSES = frozenset({"provisioned", "unknown"})


class _Burst(NamedTuple):
    """Minutes that were refused although their use was below the limit, the fullest of them, and what was refused."""

    minutes: tuple[Window, ...]
    use: float
    limit: float
    events: float
    share: float


class SubMinuteBurst(Struct, frozen=True):
    """Judges refusals beside a mean below provisioned capacity, by the fullest second that the log shows."""

    least_tries: Whole = 10
    over: Positive = 1.0
    high_share: Share = 0.01

    name: ClassVar[str] = "sub-minute-burst"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS, Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction."""
        for direction in Direction:
            burst = _burst(traffic, direction)
            if burst is None or burst.events < self.least_tries:
                continue
            fullest = fullest_second(traffic, direction, burst.minutes)
            if fullest is None:
                needs = ("the request log of that target in those seconds, whole or by its key stratum",)
                target = traffic.target
                yield Skipped(self.name, target.table, target.index, SkipReason.TOO_LITTLE, needs)
            elif fullest.low > self.over * burst.limit:
                yield self._finding(burst, fullest, direction, traffic)

    def _finding(self, burst: _Burst, fullest: Estimate, direction: Direction, traffic: Traffic) -> Finding:
        caller = busiest_caller((row for row in traffic.rows if not row.secondary), direction)
        sure = Confidence.CERTAIN if fullest.is_exact else Confidence.LIKELY
        return finding(
            self.name,
            traffic,
            Severity.HIGH if burst.share >= self.high_share else Severity.MEDIUM,
            f"{direction} tries on {traffic.target} are refused in minutes of up to {number(burst.use)} units a second,"
            f" below its {number(burst.limit)}: single seconds ask for {number(fullest.low)} or more, mostly for"
            f" {who(caller)}",
            confidence=Confidence.POSSIBLE if traffic.sampled else sure,
            because=None if fullest.is_exact else "not every call is kept: the fullest second is an estimate",
            sources=(SourceName.CLOUDWATCH_METRICS.value, SourceName.REQUEST_LOG.value),
            subject=direction.value,
            caller=caller,
            direction=direction,
            evidence={
                "fullest_second_units": round(fullest.value, 1),
                "fullest_second_units_low": round(fullest.low, 1),
                "fullest_second_units_high": round(fullest.high, 1),
                "fullest_minute_units_a_second": round(burst.use, 1),
                "limit_units_a_second": burst.limit,
                "use_of_fullest_minute": percent(burst.use / burst.limit),
                "refused": burst.events,
            },
            advice=(
                ask_owner(
                    caller,
                    "whether all that it sends at the same moment has to be sent then",
                    "a timer moved by some seconds ends the refusals",
                ),
                *_advice(who(caller)),
            ),
        )


def _burst(traffic: Traffic, direction: Direction) -> _Burst | None:
    """Return the minutes that were refused below the limit of provisioned capacity; None where there were none."""
    hits = [hit for hit in limits_hit(traffic) if hit.direction is direction and hit.cause in _CAUSES]
    if not hits or traffic.place.capacity.billing_mode == "PAY_PER_REQUEST":
        return None
    used = points(series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits"), traffic.window)
    told = [
        Window(start, start + one.period_seconds * 1000)
        for one in traffic.metric_throttles
        if one.direction is direction and one.cause in _CAUSES
        for start, _ in one.minutes
    ]
    below: list[tuple[Window, float, float]] = []
    for point in used:
        minute = Window(point.start, point.end)
        limit = units_provisioned(traffic, direction, minute)
        was_refused = not told or any(one.start < minute.end and minute.start < one.end for one in told)
        if was_refused and limit and point.a_second < limit:
            below.append((minute, point.a_second, limit))
    if not below:
        return None
    _, use, limit = max(below, key=lambda one: one[1])
    events = sum(hit.events or (hit.tries.value if hit.tries is not None else 0.0) for hit in hits)
    share = max((hit.share.low for hit in hits if hit.share is not None), default=0.0)
    return _Burst(tuple(minute for minute, _, _ in below), use, limit, events, share)


def _advice(caller: str) -> tuple[Advice, ...]:
    return (
        advise(
            "smooth-traffic",
            f"Spread what {caller} sends at once over the minute: a timer with jitter, a queue, a smaller batch",
            effect="the same work without a refusal",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="time.sleep(random.uniform(0, 60))",
        ),
        advise(
            "switch-to-on-demand",
            "If bursts are the nature of this workload, bill the table on demand",
            effect="no limit of a second but those of a partition",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        ),
    )
