"""Throttled requests, and which of DynamoDB's limits refused them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Throttles, Traffic

__all__ = ["Throttling"]

_LIMITS = {
    "key-range": "the limit of one key range (3,000 read or 1,000 write units a second)",
    "provisioned": "its provisioned capacity",
    "max-on-demand": "the on-demand maximum that was set on it",
    "account-limit": "the account's limit for one table",
    "unknown": "a limit that the log does not name",
}


class Throttling(Struct, frozen=True):
    """Judges refused requests by direction and limit, on the table or index whose limit it was."""

    medium_share: Share = 0.001
    high_share: Share = 0.01
    critical_caller_share: Share = 0.05

    name: ClassVar[str] = "throttling"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction and cause."""
        for throttles in traffic.throttles:
            yield self._finding(throttles, traffic)

    def _severity(self, throttles: Throttles, share: float) -> Severity:
        if any(one.failed >= self.critical_caller_share * one.calls for one in throttles.hurt if one.failed):
            return Severity.CRITICAL
        if share >= self.high_share or throttles.failed.value:
            return Severity.HIGH
        return Severity.MEDIUM if share >= self.medium_share else Severity.LOW

    def _finding(self, throttles: Throttles, traffic: Traffic) -> Finding:
        share = throttles.throttled.value / max(throttles.calls.value, 1.0)
        most = throttles.hurt[0] if throttles.hurt else None
        words = (
            f"{percent(share)} of {throttles.direction} requests to {traffic.target} were throttled"
            f" ({between(throttles.tries)} tries, {between(throttles.failed)} calls failed) by"
            f" {_LIMITS[throttles.cause]}, mostly those of {who(most.caller if most else None)}"
        )
        return finding(
            self.name,
            traffic,
            self._severity(throttles, share),
            words,
            confidence=Confidence.CERTAIN if throttles.cause != "unknown" else Confidence.POSSIBLE,
            subject=f"{throttles.direction}:{throttles.cause}",
            pattern=most.pattern if most else None,
            caller=most.caller if most else None,
            victims=tuple(dict.fromkeys(Victim(one.caller, one.pattern) for one in throttles.hurt)),
            cause=throttles.cause,
            direction=throttles.direction,
            evidence={
                "throttled_share": round(share, 5),
                **evidence_of(throttled_tries=throttles.tries, failed_calls=throttles.failed, calls=throttles.calls),
                "reason": ", ".join(throttles.reasons) or None,
            },
            advice=tuple(_advice(throttles, traffic)),
        )


def _advice(throttles: Throttles, traffic: Traffic) -> Iterator[Advice]:
    yield advise(
        "back-off",
        "Let the callers retry with jitter and a cap",
        effect="no more demand than one try a call",
        takes="minutes",
    )
    if throttles.cause == "provisioned":
        index = traffic.target.index is not None
        units = "ReadCapacityUnits" if throttles.direction is Direction.READ else "WriteCapacityUnits"
        yield advise(
            "raise-index-capacity" if index else "raise-capacity",
            f"Raise {units} of {traffic.target}, or the maximum of its autoscaling",
            effect="the table serves what is asked of it",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
    elif throttles.cause == "max-on-demand":
        yield advise(
            "raise-on-demand-maximum",
            f"Raise the on-demand maximum of {traffic.target}",
            effect="the limit that was set no longer refuses requests",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
    elif throttles.cause == "account-limit":
        yield advise(
            "raise-account-quota",
            "Ask AWS for a higher table-level quota",
            effect="the account's limit no longer refuses requests",
            takes="hours",
        )
