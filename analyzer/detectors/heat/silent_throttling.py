"""Throttles that retries hide: callers see no error, only latency.

An SDK retries a throttled try by itself. As long as a later try succeeds nothing fails and nothing is logged; the call
only takes longer (Developer Guide, "Error handling with DynamoDB", "Error retries and exponential backoff", read
2026-11-30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.latency import quantile_ms, slowest_ms
from analyzer.traffic.limits_hit import LimitHit, limits_hit
from analyzer.traffic.measure import add, busiest_caller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["SilentThrottling"]


class SilentThrottling(Struct, frozen=True):
    """Judges limits that refused tries without a caller's seeing an error."""

    least_tries: Whole = 10
    failed_share: Share = 0.01
    attempts: Positive = 1.05
    slow_factor: Positive = 3.0

    name: ClassVar[str] = "silent-throttling"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction in which refusals were absorbed."""
        for direction in Direction:
            hits = [hit for hit in limits_hit(traffic) if hit.direction is direction]
            refused = sum(hit.tries.value if hit.tries is not None else hit.events or 0.0 for hit in hits)
            if refused >= self.least_tries and (found := self._judge(hits, refused, direction, traffic)) is not None:
                yield found

    def _judge(self, hits: list[LimitHit], refused: float, direction: Direction, traffic: Traffic) -> Finding | None:
        rows = [row for row in traffic.rows if row.shape.writes == (direction is Direction.WRITE) and not row.secondary]
        failed = add(hit.failed for hit in hits if hit.failed is not None)
        if not rows or failed.value > self.failed_share * refused:
            return None
        if sum(row.failed.value for row in rows) > self.failed_share * sum(row.requests.value for row in rows):
            return None
        attempts = max((row.attempts_a_request for row in rows if row.attempts_a_request is not None), default=None)
        told = self._told(rows, attempts)
        return None if told is None else self._finding(traffic, direction, rows, refused, attempts, told)

    def _told(self, rows: list[PatternTraffic], attempts: float | None) -> str | None:
        """Say in what the refusals show; None where they do not."""
        if attempts is not None and attempts >= self.attempts:
            return f"{attempts:.2f} tries a call"
        usual, slowest = quantile_ms(rows, 0.5), slowest_ms(rows)
        if usual is not None and slowest is not None and slowest >= self.slow_factor * usual:
            return f"calls of up to {number(slowest)} ms beside a median of {number(usual)} ms"
        return None

    def _finding(
        self,
        traffic: Traffic,
        direction: Direction,
        rows: list[PatternTraffic],
        refused: float,
        attempts: float | None,
        told: str,
    ) -> Finding:
        is_logged = any(throttles.direction is direction for throttles in traffic.throttles)
        caller = busiest_caller(rows, direction)
        requests = sum(row.requests.value for row in rows)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{number(refused)} {direction} tries on {traffic.target} were refused and retried until they succeeded:"
            f" no error, but {told}, mostly for {who(caller)}",
            confidence=Confidence.CERTAIN if is_logged else Confidence.LIKELY,
            because=None if is_logged else "metrics count refusals that the log does not show: the SDK absorbed them",
            sources=(SourceName.REQUEST_LOG.value,)
            if is_logged
            else (SourceName.REQUEST_LOG.value, SourceName.CLOUDWATCH_METRICS.value),
            subject=direction.value,
            caller=caller,
            direction=direction,
            evidence={
                "refused_tries": refused,
                "refused_share": round(refused / requests, 5) if requests else None,
                "attempts_a_request": None if attempts is None else round(attempts, 3),
                "median_ms": quantile_ms(rows, 0.5),
                "p99_ms": quantile_ms(rows, 0.99),
            },
            advice=(
                advise(
                    "back-off",
                    "Watch tries and latency beside errors: let the caller log attempts of each call",
                    effect="the next time it shows before callers wait",
                    takes="minutes",
                ),
                advise(
                    "smooth-traffic",
                    f"Spread the {direction}s of {who(caller)} over time, or lower its concurrency",
                    effect="fewer refusals, the same work",
                    takes="a deploy",
                ),
            ),
        )
