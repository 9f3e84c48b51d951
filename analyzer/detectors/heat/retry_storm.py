"""Retries that multiply demand: what fails is asked again and again, by the SDK or by the application itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.sequences import repeats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.calls import Call
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["RetryStorm"]

_SDK_ATTEMPTS = {3: "standard or adaptive", 4: "standard or adaptive", 5: "legacy", 10: "legacy", 11: "legacy"}
"""Tries after which an SDK gives up, by retry mode: 3 (4 with some SDKs) in standard mode, and 10 retries for DynamoDB
in legacy mode (SDKs and Tools Reference Guide, "Retry behavior", read 2026-11-30)."""


class _Storm(NamedTuple):
    """One shape of one caller that is asked again, and how much more that makes."""

    row: PatternTraffic
    factor: float
    refused_share: float
    why: str
    repeated: int


class RetryStorm(Struct, frozen=True):
    """Judges failing shapes by tries a call, by calls repeated while failing, and by demand over the declared peak."""

    attempts: Positive = 2.0
    failing_share: Share = 0.05
    peak_factor: Positive = 3.0
    peak_errors: Share = 0.2
    least_requests: Whole = 10
    least_repeats: Whole = 3
    most_of_traffic: Share = 0.5

    name: ClassVar[str] = "retry-storm"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_SEQUENCES, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and shape."""
        again = self._repeated(traffic)
        for row in traffic.rows:
            storm = (
                None if row.secondary else self._judge(row, again.get((row.caller, row.shape.fingerprint), 0), traffic)
            )
            if storm is not None:
                yield self._finding(storm, traffic)

    def _repeated(self, traffic: Traffic) -> dict[tuple[str | None, str], int]:
        """Count, by caller and shape, the calls that asked again what had just failed."""
        if traffic.calls is None or Sight.REQUEST_SEQUENCES not in traffic.sights:
            return {}
        within = [call for call in traffic.calls.of(traffic.target) if traffic.window.holds(call.time)]
        counted: dict[tuple[str | None, str], int] = {}
        for same in repeats(within, has_all=traffic.calls.share >= 1):
            after_failure = sum(1 for before in same.calls[:-1] if _is_transient(before))
            if after_failure >= self.least_repeats - 1:
                name = (same.caller, same.fingerprint)
                counted[name] = counted.get(name, 0) + after_failure
        return counted

    def _judge(self, row: PatternTraffic, repeated: int, traffic: Traffic) -> _Storm | None:
        requests = row.requests.value
        if row.observed < self.least_requests:
            return None
        refused = max(row.failed.value, row.throttled.value) / requests
        attempts = row.attempts_a_request
        if attempts is not None and attempts >= self.attempts and refused >= self.failing_share:
            return _Storm(row, attempts, refused, f"{number(attempts)} tries a call", repeated)
        if repeated and refused >= self.failing_share:
            kept = max(row.observed - repeated, 1)
            return _Storm(
                row, row.observed / kept, refused, f"{number(repeated)} calls asked again what had failed", repeated
            )
        declared = traffic.place.patterns.get(row.attribution.pattern or "")
        rate = requests * (attempts or 1.0) / max(traffic.window.seconds, 1)
        peak = declared.peak_rate if declared is not None else None
        if peak and rate >= self.peak_factor * peak and row.failed.value >= self.peak_errors * requests:
            return _Storm(row, rate / peak, refused, f"{number(rate / peak)} times its declared peak", repeated)
        return None

    def _finding(self, storm: _Storm, traffic: Traffic) -> Finding:
        row = storm.row
        tries = row.requests.value * (row.attempts_a_request or 1.0)
        of_all = tries / max(sum(one.requests.value * (one.attempts_a_request or 1.0) for one in traffic.rows), 1.0)
        is_most = of_all >= self.most_of_traffic and row.failed.value > 0
        mode = _SDK_ATTEMPTS.get(round(row.attempts_a_request or 0))
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL if is_most else Severity.HIGH if row.failed.value else Severity.MEDIUM,
            f"{who(row.caller)} multiplies {row.shape.operation} on {traffic.target} while it fails: {storm.why},"
            f" {percent(storm.refused_share)} refused",
            confidence=Confidence.LIKELY if traffic.sampled else Confidence.CERTAIN,
            subject=f"{row.shape.fingerprint}:{row.caller or ''}",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            direction=Direction.WRITE if row.shape.writes else Direction.READ,
            evidence={
                "demand_factor": round(storm.factor, 3),
                "attempts_a_request": None if row.attempts_a_request is None else round(row.attempts_a_request, 3),
                "refused_share": round(storm.refused_share, 5),
                "repeated_calls": storm.repeated,
                "share_of_tries": round(of_all, 5),
                "retry_mode": mode,
            },
            advice=tuple(_advice(row, mode)),
        )


def _is_transient(call: Call) -> bool:
    """Whether a call failed in a way that another try may mend; a failed condition is an answer."""
    return call.error is not None and call.error != "ConditionalCheckFailedException" and "Validation" not in call.error


def _advice(row: PatternTraffic, mode: str | None) -> Iterator[Advice]:
    known = "" if mode is None else f" (its tries look like the SDK's {mode} mode)"
    yield advise(
        "retry-with-jitter",
        f"Let {who(row.caller)} retry with exponential backoff, jitter and a cap{known}; retry only what failed",
        effect="demand falls to what is asked for once",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='Config(retries={"mode": "adaptive", "max_attempts": 3})',
    )
    yield advise(
        "back-off",
        "Stop the caller's own loop around the SDK's retries: both multiply",
        effect="tries add instead of multiplying",
        takes="a deploy",
    )
