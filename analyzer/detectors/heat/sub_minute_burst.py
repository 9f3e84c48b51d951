"""Minutes below the limit, seconds far above it: what CloudWatch's minutes hide.

Provisioned capacity is enforced a second at a time, with a store of up to 300 seconds of what was not used (Developer
Guide, "Burst capacity", read 2026-11-30). A mean over a minute says little of its fullest second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import busiest_caller
from analyzer.traffic.seconds import fullest_second
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import Traffic

__all__ = ["SubMinuteBurst"]

_HURTS = 0.01
_CAUSES = frozenset({"provisioned", "unknown"})


class SubMinuteBurst(Struct, frozen=True):
    """Judges refusals beside a mean below provisioned capacity, by the fullest second that the log shows."""

    below: Share = 1.0
    over: Positive = 1.5

    name: ClassVar[str] = "sub-minute-burst"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS, Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction."""
        for direction in Direction:
            yield from self._judge(traffic, direction)

    def _judge(self, traffic: Traffic, direction: Direction) -> Iterable[Finding | Skipped]:
        hits = [
            hit for hit in limits_hit(traffic) if hit.direction is direction and hit.cause in {"provisioned", "unknown"}
        ]
        capacity = traffic.place.capacity
        limit = capacity.read_units if direction is Direction.READ else capacity.write_units
        series = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
        minutes = [point.a_second for point in points(series, traffic.window)]
        if not hits or not limit or not minutes or max(minutes) >= self.below * limit:
            return
        fullest = fullest_second(traffic, direction)
        if fullest is None:
            yield Skipped(
                self.name,
                traffic.target.table,
                traffic.target.index,
                SkipReason.TOO_LITTLE,
                ("the request log of that target in those seconds, whole or by its key stratum",),
            )
        elif fullest.low >= self.over * limit:
            share = max((hit.share.low for hit in hits if hit.share is not None), default=0.0)
            caller = busiest_caller(traffic.rows, direction)
            yield finding(
                self.name,
                traffic,
                Severity.HIGH if share >= _HURTS else Severity.MEDIUM,
                f"{direction} tries on {traffic.target} are refused in minutes of {number(max(minutes))} units"
                f" a second, below its {number(limit)}: single seconds ask for {number(fullest.low)} or more,"
                f" mostly for {who(caller)}",
                confidence=Confidence.CERTAIN if fullest.is_exact else Confidence.POSSIBLE,
                because=None if fullest.is_exact else "the log is sampled: the fullest second is an estimate",
                sources=(SourceName.CLOUDWATCH_METRICS.value, SourceName.REQUEST_LOG.value),
                subject=direction.value,
                caller=caller,
                direction=direction,
                evidence={
                    "fullest_second_units": round(fullest.value, 1),
                    "fullest_second_units_low": round(fullest.low, 1),
                    "fullest_minute_units_a_second": round(max(minutes), 1),
                    "limit_units_a_second": limit,
                    "use_of_fullest_minute": percent(max(minutes) / limit),
                    "throttle_events": sum(hit.events or 0.0 for hit in hits),
                },
                advice=(
                    advise(
                        "smooth-traffic",
                        f"Spread what {who(caller)} sends at once over the minute: a timer, a queue, a smaller batch",
                        effect="the same work without a refusal",
                        risk=Risk.LOW,
                        reversible=True,
                        takes="a deploy",
                    ),
                    advise(
                        "switch-to-on-demand",
                        "If bursts are the nature of this workload, bill the table on demand",
                        effect="no limit of a second but those of a partition",
                        risk=Risk.LOW,
                        reversible=True,
                        takes="minutes",
                    ),
                ),
            )
