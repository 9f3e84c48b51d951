"""Slower than at the same hour of other days, and where the time goes."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number
from analyzer.knowledge.operations import OPERATIONS, READS, WRITES
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.baseline import same_hour
from analyzer.traffic.client_wait import client_wait, waits_now
from analyzer.traffic.latency import quantile_ms
from analyzer.traffic.series import mean_a_second, points, series_in, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.traffic.client_wait import ClientWait

__all__ = ["LatencyShift"]


class _Shift(NamedTuple):
    """One operation that became slower: milliseconds now and before, and how many days speak for before."""

    operation: str
    now: float
    before: float
    days: int


class LatencyShift(Struct, frozen=True):
    """Judges the p99 of each operation against the same hour of past days."""

    factor: Positive = 2.0
    days: Whole = 3
    requests_a_minute: Whole = 50
    bigger: Positive = 1.5
    attempts: Positive = 1.05
    least_ms: Positive = 5.0

    name: ClassVar[str] = "latency-shift"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS}), frozenset({Sight.REQUESTS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding an operation; without a past there is nothing to be slower than."""
        if traffic.target.index is not None:
            return
        days = 0
        for operation in OPERATIONS:
            series = series_of(traffic.metrics, "SuccessfulRequestLatency", "p99", Operation=operation)
            before = _usual(traffic, "SuccessfulRequestLatency", "p99", operation)
            days = max(days, len(before))
            minutes = [point.value for point in points(series, traffic.window)]
            if not minutes or len(before) < self.days or not self._is_busy(traffic, operation):
                continue
            shift = _Shift(operation, median(minutes), median(before), len(before))
            if shift.now >= self.factor * shift.before and shift.now - shift.before >= self.least_ms:
                yield self._finding(shift, *self._explain(shift, traffic), traffic)
            elif (wait := self._waits(shift, traffic)) is not None:
                yield self._of_callers(wait, shift, traffic)
        if days < self.days:
            needs = (f"the same hour of {self.days} past days in CloudWatch or in history",)
            yield Skipped(self.name, traffic.target.table, None, SkipReason.NOT_COVERED, needs)

    def _is_busy(self, traffic: Traffic, operation: str) -> bool:
        counted = series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation)
        rate = mean_a_second(counted, traffic.window)
        return rate is not None and 60 * rate >= self.requests_a_minute

    def _explain(self, shift: _Shift, traffic: Traffic) -> tuple[str, str]:
        """Say where the time goes, and why: into bigger answers, retries, the client, or DynamoDB itself."""
        items_now, items_before = _items(traffic, shift.operation)
        if items_now and items_before and median(items_now) >= self.bigger * median(items_before) > 0:
            more, usual = number(median(items_now)), number(median(items_before))
            return "bigger-reads", f"an answer has {more} items, usually {usual}"
        rows = _rows(shift, traffic)
        tries = _tries(rows)
        if tries >= self.attempts:
            return "retries", f"{tries:.2f} tries a call"
        seen = quantile_ms(rows, 0.99)
        if seen is not None and seen - shift.now >= self.factor * shift.now:
            return "client", f"callers wait {number(seen)} ms for it"
        return "service", "DynamoDB's own latency rose, answers did not grow"

    def _waits(self, shift: _Shift, traffic: Traffic) -> ClientWait | None:
        """Return what callers wait where that rose though DynamoDB itself is as quick as ever."""
        rows = _rows(shift, traffic)
        now = waits_now(rows)
        if now is None or now - shift.now < max(self.least_ms, self.factor * shift.now):
            return None
        wait = client_wait(rows, shift.operation, traffic)
        if wait is None or wait.days < self.days:
            return None
        added, usual = wait.now - shift.now, max(0.0, wait.before - shift.before)
        is_slower = wait.now >= self.factor * wait.before and added >= self.factor * usual
        return wait if is_slower and added - usual >= self.least_ms else None

    def _of_callers(self, wait: ClientWait, shift: _Shift, traffic: Traffic) -> Finding:
        tries = _tries(_rows(shift, traffic))
        cause = "retries" if tries >= self.attempts else "client"
        why = f"{tries:.2f} tries a call" if cause == "retries" else "the time is lost before or after it"
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"callers wait {number(wait.now)} ms for {shift.operation} on {traffic.target} at p99,"
            f" {number(wait.before)} at this hour of {wait.days} past days, while DynamoDB takes"
            f" {number(shift.now)} ms as ever: {why}",
            confidence=Confidence.LIKELY,
            because="a few past days are a small baseline",
            sources=(SourceName.REQUEST_LOG.value, SourceName.CLOUDWATCH_METRICS.value),
            subject=shift.operation,
            caller=wait.caller,
            direction=_direction(shift.operation),
            cause=cause,
            evidence={
                "client_p99_ms": round(wait.now, 2),
                "usual_client_p99_ms": round(wait.before, 2),
                "p99_ms": round(shift.now, 2),
                "usual_p99_ms": round(shift.before, 2),
                "ratio": round(wait.now / wait.before, 2),
                "days": wait.days,
                "operation": shift.operation,
            },
            advice=_ADVICE[cause],
        )

    def _finding(self, shift: _Shift, cause: str, why: str, traffic: Traffic) -> Finding:
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{shift.operation} on {traffic.target} takes {number(shift.now)} ms at p99, {number(shift.before)} at this"
            f" hour of {shift.days} past days: {why}",
            confidence=Confidence.LIKELY,
            because="a few past days are a small baseline",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject=shift.operation,
            direction=_direction(shift.operation),
            cause=cause,
            evidence={
                "p99_ms": round(shift.now, 2),
                "usual_p99_ms": round(shift.before, 2),
                "ratio": round(shift.now / shift.before, 2) if shift.before else None,
                "days": shift.days,
                "operation": shift.operation,
            },
            advice=_ADVICE[cause],
        )


def _rows(shift: _Shift, traffic: Traffic) -> list[PatternTraffic]:
    return [row for row in traffic.rows if row.shape.operation == shift.operation and not row.secondary]


def _tries(rows: list[PatternTraffic]) -> float:
    """Return the most tries a call of any caller; 0 where none tells."""
    return max((row.attempts_a_request for row in rows if row.attempts_a_request is not None), default=0.0)


def _usual(traffic: Traffic, metric: str, stat: str, operation: str) -> list[float]:
    """Return what was usual at this hour, by the series that knows most days: hours are kept of more than minutes."""
    every = series_in(traffic.metrics, metric, stat, Operation=operation)
    return max((same_hour(series, traffic.window) for series in every), key=len, default=[])


def _items(traffic: Traffic, operation: str) -> tuple[list[float], list[float]]:
    """Return the items of an answer, minute by minute and on past days; where only sums are known, sum ÷ calls."""
    average = series_of(traffic.metrics, "ReturnedItemCount", "Average", Operation=operation)
    if average is not None:
        now = [point.value for point in points(average, traffic.window)]
        return now, _usual(traffic, "ReturnedItemCount", "Average", operation)
    items = series_of(traffic.metrics, "ReturnedItemCount", "Sum", Operation=operation)
    calls = series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation)
    counted = {point.start: point.value for point in points(calls, traffic.window)}
    now = [point.value / counted[point.start] for point in points(items, traffic.window) if counted.get(point.start)]
    before = zip(
        _usual(traffic, "ReturnedItemCount", "Sum", operation),
        _usual(traffic, "SuccessfulRequestLatency", "SampleCount", operation),
        strict=False,
    )
    return now, [some / of for some, of in before if of]


def _direction(operation: str) -> Direction | None:
    """Return what an operation does; None of a PartiQL one, whose statement decides."""
    return Direction.READ if operation in READS else Direction.WRITE if operation in WRITES else None


_ADVICE: dict[str, tuple[Advice, ...]] = {
    "service": (
        advise(
            "check-service-health",
            "Look at the AWS Health Dashboard for DynamoDB in this region",
            effect="tells whether to wait",
        ),
    ),
    "client": (
        advise(
            "check-client",
            "Look at the callers' connection pool, CPU, garbage collection and network",
            effect="the time is lost before or after DynamoDB",
        ),
    ),
    "retries": (
        advise(
            "back-off",
            "Find what is refused and retried; findings of throttling and errors name it",
            effect="a call takes one try again",
        ),
    ),
    "bigger-reads": (
        advise(
            "check-client",
            "Ask the owner of the caller what its answers hold more of: items that came, a page without a Limit",
            effect="tells whether so much is wanted",
            takes="minutes",
        ),
        advise(
            "follow-pages",
            "Ask for smaller pages, or for fewer attributes",
            effect="each call is as quick as before",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet='table.query(KeyConditionExpression=condition, Limit=100, ProjectionExpression="PK, SK, total")',
        ),
    ),
}
