"""DynamoDB, or the path to it, fails: it is not you."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent
from analyzer.knowledge.operations import OPERATIONS
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.series import series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["ServiceFault"]


class ServiceFault(Struct, frozen=True):
    """Judges 5xx answers and calls that got no answer, one table at a time and over all of them."""

    errors_share: Share = 0.001
    many_share: Share = 0.1
    least_errors: Whole = 5
    tables: Whole = 2
    transport_share: Share = 0.01
    critical_failed_share: Share = 0.05

    name: ClassVar[str] = "service-fault"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS}), frozenset({Sight.REQUESTS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.METRICS, Sight.REQUESTS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a table for 5xx, and one for a path that answers nothing."""
        if traffic.target.index is not None:
            return
        injected = _metric(traffic, "FaultInjectionServiceInducedErrors")
        if injected:
            yield self._injected(traffic, injected)
            return
        yield from self._errors(traffic)
        yield from self._transport(traffic)

    def _errors(self, traffic: Traffic) -> Iterable[Finding]:
        by_log = sum(row.server_errors.value for row in _rows(traffic))
        by_metrics = _metric(traffic, "SystemErrors")
        errors = max(by_log, by_metrics)
        asked = _asked(traffic)
        share = errors / asked if asked else None
        tables = traffic.around.with_server_errors
        least = self.errors_share * (self.many_share if tables >= self.tables else 1)
        if errors < self.least_errors or (share is not None and share < least):
            return
        calls = sum(row.requests.value for row in _rows(traffic))
        is_failing = 0 < self.critical_failed_share * calls <= by_log
        where = f", {tables} of {traffic.around.asked} tables with it" if tables >= self.tables else ""
        yield finding(
            self.name,
            traffic,
            Severity.CRITICAL if is_failing else Severity.HIGH,
            f"DynamoDB answered {counted(errors, 'request')} to {traffic.target} with an error of its own"
            f" ({'share unknown' if share is None else percent(share)}){where}: it is not your requests",
            sources=tuple(_sources(by_log, by_metrics)),
            subject="5xx",
            cause="service",
            evidence={
                "server_errors": round(errors, 1),
                "server_error_share": None if share is None else round(share, 6),
                "failed_calls": round(by_log, 1) or None,
                "requests": asked,
                "tables_with_it": tables,
                "tables_seen": traffic.around.asked,
            },
            advice=_ADVICE,
        )

    def _transport(self, traffic: Traffic) -> Iterable[Finding]:
        lost = sum(row.transport_failures.value for row in _rows(traffic))
        calls = sum(row.requests.value for row in _rows(traffic))
        across = traffic.around.with_transport_failures
        if lost < self.least_errors or lost < self.transport_share * calls:
            return
        is_path = across >= self.tables
        is_hard = lost >= self.critical_failed_share * calls
        callers = {row.caller for row in _rows(traffic) if row.transport_failures.value}
        beside = f", and so it is with {across} of {traffic.around.asked} tables" if is_path else ""
        yield finding(
            self.name,
            traffic,
            _severity_of_path(is_path=is_path, is_hard=is_hard),
            f"{number(lost)} of {number(calls)} calls to {traffic.target} got no answer at all{beside}",
            confidence=Confidence.CERTAIN if is_path else Confidence.POSSIBLE,
            because=None if is_path else "one table alone: it may be the client's own pool or network",
            subject="transport",
            cause="path",
            caller=callers.pop() if len(callers) == 1 else None,
            evidence={
                "transport_failures": round(lost, 1),
                "requests": round(calls, 1),
                "tables_with_it": across,
                "tables_seen": traffic.around.asked,
            },
            advice=_ADVICE[::-1],
        )

    def _injected(self, traffic: Traffic, injected: float) -> Finding:
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"{number(injected)} errors of {traffic.target} were induced by AWS Fault Injection Service: an exercise",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="injected",
            cause="fault-injection",
            evidence={"induced_errors": injected},
        )


_ADVICE = (
    advise(
        "check-service-health",
        "Look at the AWS Health Dashboard for DynamoDB in this region; stop tuning the table",
        effect="no time is lost on keys and capacity",
        command="aws health describe-events --filter services=DYNAMODB  # read-only",
    ),
    advise(
        "check-client",
        "Look at the callers' network, connection pool and DNS, and at the VPC endpoint",
        effect="tells the path from the service",
    ),
)


def _severity_of_path(*, is_path: bool, is_hard: bool) -> Severity:
    """Say how bad lost calls are; those of one table alone page nobody."""
    if is_path:
        return Severity.CRITICAL if is_hard else Severity.HIGH
    return Severity.HIGH if is_hard else Severity.MEDIUM


def _rows(traffic: Traffic) -> Iterator[PatternTraffic]:
    """Yield what was asked of the table and of its indexes: the service is one."""
    for one in (traffic, *traffic.indexes):
        yield from (row for row in one.rows if not row.secondary)


def _metric(traffic: Traffic, metric: str) -> float:
    """Return the sum of a metric over all operations; 0 also where nobody asked for it."""
    found = [total(series_of(traffic.metrics, metric, Operation=operation), traffic.window) for operation in OPERATIONS]
    found.append(total(series_of(traffic.metrics, metric), traffic.window))
    return sum(one for one in found if one is not None)


def _asked(traffic: Traffic) -> float | None:
    """Return how many requests there were: of the log, else those that CloudWatch saw succeed."""
    logged = sum(row.requests.value for row in _rows(traffic))
    if logged:
        return logged
    counted = [
        total(
            series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation), traffic.window
        )
        for operation in OPERATIONS
    ]
    return sum(one for one in counted if one is not None) or None


def _sources(by_log: float, by_metrics: float) -> Iterable[str]:
    if by_log:
        yield SourceName.REQUEST_LOG.value
    if by_metrics:
        yield SourceName.CLOUDWATCH_METRICS.value
