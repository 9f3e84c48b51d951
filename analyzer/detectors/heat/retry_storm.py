"""Retries that multiply demand: what fails is asked again and again, by the SDK or by the application itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.insistence import asked_again

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        """Yield one finding a shape, of the caller that insists most; calls are asked for where something fails."""
        failing = [row for row in traffic.rows if not row.secondary and self._is_failing(row)]
        again = asked_again(traffic, self.least_repeats) if failing else {}
        worst: dict[str, _Storm] = {}
        for row in failing:
            storm = self._judge(row, again.get((row.caller, row.shape.fingerprint), 0), traffic)
            known = worst.get(row.shape.fingerprint)
            if storm is not None and (known is None or _tries(row) > _tries(known.row)):
                worst[row.shape.fingerprint] = storm
        for storm in worst.values():
            yield self._finding(storm, traffic)

    def _is_failing(self, row: PatternTraffic) -> bool:
        return row.observed >= self.least_requests and _refused_share(row) >= self.failing_share

    def _judge(self, row: PatternTraffic, repeated: int, traffic: Traffic) -> _Storm | None:
        refused = _refused_share(row)
        attempts = row.attempts_a_request
        if attempts is not None and attempts >= self.attempts:
            return _Storm(row, attempts, refused, f"{number(attempts)} tries a call", repeated)
        factor = row.observed / max(row.observed - repeated, 1)
        if repeated and factor >= self.attempts:
            why = f"{counted(repeated, 'call')} asked again what had just failed"
            return _Storm(row, factor, refused, why, repeated)
        declared = traffic.place.patterns.get(row.attribution.pattern or "")
        rate = row.requests.low * (attempts or 1.0) / traffic.window.rate_seconds
        peak = declared.peak_rate if declared is not None else None
        if peak and rate >= self.peak_factor * peak and _failed(row) >= self.peak_errors * row.requests.value:
            return _Storm(row, rate / peak, refused, f"{number(rate / peak)} times its declared peak", repeated)
        return None

    def _finding(self, storm: _Storm, traffic: Traffic) -> Finding:
        row = storm.row
        of_all = _tries(row) / sum(_tries(one) for one in traffic.rows if not one.secondary)
        is_most = of_all >= self.most_of_traffic and _failed(row) > 0
        tries = row.attempts_a_request
        mode = None if tries is None else _SDK_ATTEMPTS.get(round(tries))
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL if is_most else Severity.HIGH if _failed(row) else Severity.MEDIUM,
            f"{who(row.caller)} multiplies {row.shape.operation} on {traffic.target} while it fails: {storm.why},"
            f" {percent(storm.refused_share)} refused",
            confidence=Confidence.LIKELY if traffic.sampled else Confidence.CERTAIN,
            subject=row.shape.fingerprint,
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            direction=Direction.WRITE if row.shape.writes else Direction.READ,
            evidence={
                "demand_factor": round(storm.factor, 3),
                "attempts_a_request": None if tries is None else round(tries, 3),
                "refused_share": round(storm.refused_share, 5),
                "repeated_calls": storm.repeated,
                "requests": round(row.requests.value, 1),
                "share_of_tries": round(of_all, 5),
                "retry_mode": mode,
            },
            advice=tuple(_advice(row, mode)),
        )


def _failed(row: PatternTraffic) -> float:
    """Return the calls that failed; a failed condition is an answer."""
    return row.failed.value - row.condition_failed.value


def _refused_share(row: PatternTraffic) -> float:
    """Return which part of a row's calls was refused at least once; of rows in which something was asked."""
    return max(_failed(row), row.throttled.value) / row.requests.value


def _tries(row: PatternTraffic) -> float:
    return row.requests.value * (row.attempts_a_request or 1.0)


def _advice(row: PatternTraffic, mode: str | None) -> Iterator[Advice]:
    known = "" if mode is None else f" (its tries look like the SDK's {mode} mode)"
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(row.caller)} what asks again after a refusal: the SDK, a loop of its own, a queue that"
        " delivers anew; and whether it may be slowed until the refusals end",
        effect="tells which of them multiply; fewer callers at once are the quickest relief",
        takes="minutes",
    )
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
