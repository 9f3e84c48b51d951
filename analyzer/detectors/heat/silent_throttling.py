"""Throttles that retries hide: callers see no error, only latency.

An SDK retries a throttled try by itself. As long as a later try succeeds nothing fails and nothing is logged; the call
only takes longer (Developer Guide, "Error handling with DynamoDB", "Error retries and exponential backoff", read
2026-11-30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.latency import quantile_ms, slowest_ms
from analyzer.traffic.limits_hit import LimitHit, limits_hit
from analyzer.traffic.measure import busiest_caller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["SilentThrottling"]


class _Hidden(NamedTuple):
    """Refused tries of one direction, the requests of it that somebody saw, and in what the refusals show."""

    direction: Direction
    rows: tuple[PatternTraffic, ...]
    refused: float
    share: float
    attempts: float | None
    told: str


class SilentThrottling(Struct, frozen=True):
    """Judges limits that refused tries without a caller's seeing an error."""

    least_tries: Whole = 10
    least_share: Share = 0.001
    failed_share: Share = 0.01
    attempts: Positive = 1.05
    slow_factor: Positive = 3.0
    absorbed_share: Share = 0.1

    name: ClassVar[str] = "silent-throttling"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction in which refusals were absorbed."""
        for direction in Direction:
            hits = [hit for hit in limits_hit(traffic) if hit.direction is direction]
            refused = sum(hit.tries.value if hit.tries is not None else hit.events or 0.0 for hit in hits)
            rows = tuple(row for row in traffic.rows if _is_of(row, direction))
            if rows and all(hit.tries is None for hit in hits):
                refused = min(refused, _events_within(traffic, direction))
            if refused < self.least_tries:
                continue
            if rows:
                hidden = self._by_requests(hits, refused, rows, direction)
                if hidden is not None:
                    yield _logged(self.name, hidden, traffic)
            elif all(hit.tries is None for hit in hits):
                shares = [hit.share.high for hit in hits if hit.share is not None]
                if shares and self.least_share <= max(shares) <= self.absorbed_share:
                    yield _measured(self.name, direction, refused, max(shares), traffic)

    def _by_requests(
        self, hits: list[LimitHit], refused: float, rows: tuple[PatternTraffic, ...], direction: Direction
    ) -> _Hidden | None:
        """Judge what the log shows; None where calls failed, or nothing shows that they waited."""
        requests = sum(row.requests.value for row in rows)
        failed = sum(row.failed.value - row.condition_failed.value for row in rows)
        ended = sum(hit.failed.value for hit in hits if hit.failed is not None)
        share = refused / requests if requests else 0.0
        if share < self.least_share or ended > self.failed_share * refused or failed > self.failed_share * requests:
            return None
        hurt = [row for row in rows if row.throttled.value] or list(rows)
        known = [(row.attempts_a_request, row.requests.value) for row in hurt if row.attempts_a_request is not None]
        weight = sum(calls for _, calls in known)
        attempts = sum(tries * calls for tries, calls in known) / weight if weight else None
        told = self._told(hurt, attempts)
        return None if told is None else _Hidden(direction, rows, refused, share, attempts, told)

    def _told(self, rows: list[PatternTraffic], attempts: float | None) -> str | None:
        """Say in what the refusals show; None where they do not."""
        if attempts is not None and attempts >= self.attempts:
            return f"{attempts:.2f} tries a call"
        usual, slowest = quantile_ms(rows, 0.5), slowest_ms(rows)
        if usual is not None and slowest is not None and slowest >= self.slow_factor * usual:
            return f"calls of up to {number(slowest)} ms beside a median of {number(usual)} ms"
        return None


def _events_within(traffic: Traffic, direction: Direction) -> float:
    """Return the throttle events of periods that lie wholly in the window: of the rest the log tells nothing."""
    return sum(
        events
        for told in traffic.metric_throttles
        if told.direction is direction
        for start, events in told.minutes
        if traffic.window.start <= start and start + told.period_seconds * 1000 <= traffic.window.end
    )


def _is_of(row: PatternTraffic, direction: Direction) -> bool:
    return row.shape.writes == (direction is Direction.WRITE) and not row.secondary


def _logged(detector: str, hidden: _Hidden, traffic: Traffic) -> Finding:
    """State what the request log shows."""
    is_logged = any(throttles.direction is hidden.direction for throttles in traffic.throttles)
    caller = busiest_caller((row for row in hidden.rows if row.throttled.value), hidden.direction)
    caller = caller if is_logged else busiest_caller(hidden.rows, hidden.direction)
    on = f"on {traffic.target}"
    metrics = () if is_logged else (SourceName.CLOUDWATCH_METRICS.value,)
    because = (
        {} if is_logged else {"because": "metrics count refusals that the log does not show: the SDK absorbed them"}
    )
    return finding(
        detector,
        traffic,
        Severity.MEDIUM,
        f"{counted(hidden.refused, f'{hidden.direction} try {on} was', f'{hidden.direction} tries {on} were')} refused"
        f" and retried until they succeeded: no error, but {hidden.told}, mostly for {who(caller)}",
        confidence=Confidence.CERTAIN if is_logged and not traffic.sampled else Confidence.LIKELY,
        **because,
        sources=(SourceName.REQUEST_LOG.value, *metrics),
        subject=hidden.direction.value,
        caller=caller,
        direction=hidden.direction,
        evidence={
            "throttled_tries": round(hidden.refused, 1),
            "refused_share": round(hidden.share, 5),
            "attempts_a_request": None if hidden.attempts is None else round(hidden.attempts, 3),
            "median_ms": quantile_ms(hidden.rows, 0.5),
            "p99_ms": quantile_ms(hidden.rows, 0.99),
        },
        advice=_advice(hidden.direction, who(caller)),
    )


def _measured(detector: str, direction: Direction, events: float, share: float, traffic: Traffic) -> Finding:
    """State what metrics alone allow: so few of so many requests are refused that three tries nearly always succeed."""
    on = f"on {traffic.target}"
    return finding(
        detector,
        traffic,
        Severity.MEDIUM,
        f"{counted(events, f'{direction} throttle event {on} is', f'{direction} throttle events {on} are')} at most"
        f" {percent(share)} of its requests: an SDK's retries absorb so few, and callers only wait",
        confidence=Confidence.POSSIBLE,
        because="metrics do not tell whether callers saw errors",
        sources=(SourceName.CLOUDWATCH_METRICS.value,),
        subject=direction.value,
        direction=direction,
        evidence={"throttle_events": events, "refused_share_high": round(share, 5)},
        advice=_advice(direction, "the callers"),
    )


def _advice(direction: Direction, callers: str) -> tuple[Advice, ...]:
    return (
        advise(
            "back-off",
            "Watch tries and latency beside errors: let the callers log the attempts of each call",
            effect="the next time it shows before callers wait",
            takes="minutes",
            snippet='response["ResponseMetadata"]["RetryAttempts"]',
        ),
        advise(
            "smooth-traffic",
            f"Spread the {direction}s of {callers} over time, or lower its concurrency",
            effect="fewer refusals, the same work",
            takes="a deploy",
        ),
    )
