"""Throttled requests, and which of DynamoDB's limits refused them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, warm
from analyzer.detectors.capacity import raise_capacity, raise_maximum, raise_quota, wanted_units
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.knowledge.throttling import ACCOUNT_CODE
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.limits_hit import LimitHit, limits_hit
from analyzer.traffic.measure import evidence_of, tells_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import KeyHeat, Traffic

__all__ = ["Throttling"]

_LIMITS = {
    "key-range": "the limit of one key range (3,000 read or 1,000 write units a second)",
    "provisioned": "its provisioned capacity",
    "max-on-demand": "the on-demand maximum that was set on it",
    "account-limit": "the account's limit for one table",
    "on-demand-ramp": "a rise beyond what on-demand capacity was warm for",
    "partitions-splitting": "partitions that are still splitting after a change of its capacity",
    "unknown": "a limit that nothing names",
}
_ACCOUNT = "the account's quota of its region"


class Throttling(Struct, frozen=True):
    """Judges refused requests by direction and limit, on the table or index whose limit it was."""

    medium_share: Share = 0.001
    high_share: Share = 0.01
    critical_caller_share: Share = 0.05
    least_tries: Whole = 10
    least_failed: Whole = 3
    key_share: Share = 0.25
    least_key_tries: Whole = 5

    name: ClassVar[str] = "throttling"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_KEYS, Sight.METRICS, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a direction and cause; the limit that refused most speaks for its direction.

        Its id does not depend on the cause, which may become known later.
        """
        hits = sorted(limits_hit(traffic), key=_refused, reverse=True)
        told: set[Direction] = set()
        for hit in hits:
            subject = f"{hit.direction}:{hit.cause}" if hit.direction in told else hit.direction.value
            told.add(hit.direction)
            yield self._finding(hit, subject, traffic)

    def _severity(self, hit: LimitHit) -> Severity:
        """Say how bad it is; a handful of refusals that nobody noticed is how autoscaling works."""
        if any(one.failed >= max(self.least_failed, self.critical_caller_share * one.calls) for one in hit.hurt):
            return Severity.CRITICAL
        if hit.failed is not None and hit.failed.value:
            return Severity.HIGH
        is_much = _refused(hit) >= self.least_tries
        if hit.share is None:
            return Severity.MEDIUM if is_much else Severity.LOW
        if hit.share.low >= self.high_share and is_much:
            return Severity.HIGH
        return Severity.MEDIUM if hit.share.value >= self.medium_share else Severity.LOW

    def _finding(self, hit: LimitHit, subject: str, traffic: Traffic) -> Finding:
        most = hit.hurt[0] if hit.hurt else None
        asked = self._asked_most(hit, traffic)
        return finding(
            self.name,
            traffic,
            self._severity(hit),
            _summary(hit, traffic) + ("" if asked is None else _of_key(asked, hit)),
            confidence=_confidence(hit),
            **({"because": hit.because} if hit.because else {}),
            sources=hit.sources,
            subject=subject,
            pattern=most.pattern if most else None,
            caller=most.caller if most else None,
            victims=tuple(dict.fromkeys(Victim(one.caller, one.pattern) for one in hit.hurt)),
            cause=hit.cause,
            direction=hit.direction,
            key=None if asked is None else asked.key,
            key_template=None if asked is None else asked.key_template,
            evidence=_evidence(hit) | ({} if asked is None else _key_evidence(asked)),
            advice=tuple(_advice(hit, traffic)),
        )

    def _asked_most(self, hit: LimitHit, traffic: Traffic) -> KeyHeat | None:
        """Return the key that most refused tries asked for, where no request tells units: no heat would name it.

        An item speaks for its partition key where it has as many; refusals that spread name none.
        """
        if hit.tries is None or tells_units(traffic):
            return None
        keys = [one for one in traffic.keys if one.direction is hit.direction and one.level is not KeyLevel.PREFIX]
        most = max(keys, key=lambda one: (one.tries, one.level), default=None)
        if most is None or most.tries < self.least_key_tries or most.tries_share < self.key_share:
            return None
        return most


def _of_key(asked: KeyHeat, hit: LimitHit) -> str:
    return f"; {number(asked.tries)} of {number(max(asked.tries, _refused(hit)))} refused tries asked for {{key}}"


def _key_evidence(asked: KeyHeat) -> dict[str, float | str | None]:
    return {"key_tries": asked.tries, "key_tries_share": round(asked.tries_share, 3)}


def _refused(hit: LimitHit) -> float:
    """Return the tries that a limit refused, or the events where nobody saw requests."""
    return hit.tries.value if hit.tries is not None else hit.events or 0.0


def _confidence(hit: LimitHit) -> Confidence:
    """Say how sure the cause is; a key-range fault of an on-demand table may be a ramp as long as keys are not seen."""
    is_ambiguous = hit.cause == "key-range" and hit.ramp.is_on_demand and hit.ramp.is_uniform is None
    if hit.cause == "unknown" or (is_ambiguous and hit.tries is None):
        return Confidence.POSSIBLE
    return Confidence.CERTAIN if hit.is_sure else Confidence.LIKELY


def _limit_words(hit: LimitHit) -> str:
    """Name the limit; an error code without a reason does not say that it was the quota of one table."""
    return _ACCOUNT if _is_by_code(hit) else _LIMITS[hit.cause]


def _is_by_code(hit: LimitHit) -> bool:
    return hit.reasons == (ACCOUNT_CODE,)


def _summary(hit: LimitHit, traffic: Traffic) -> str:
    limit = _limit_words(hit)
    if hit.tries is None:
        least = "at least " if hit.share is not None and not hit.share.is_exact else ""
        share = "some" if hit.share is None else f"{least}{percent(hit.share.value)}"
        busiest = max(hit.operations, key=lambda operation: hit.operations[operation], default=None)
        of = f", most of them {busiest}" if busiest else ""
        return (
            f"{share} of {hit.direction} requests to {traffic.target} were throttled"
            f" ({counted(_refused(hit), 'throttle event')}{of}) by {limit}"
        )
    most = hit.hurt[0] if hit.hurt else None
    failed = "" if hit.failed is None else f", {counted(hit.failed, 'call')} failed"
    return (
        f"{'some' if hit.share is None else percent(hit.share.value)} of {hit.direction} requests to {traffic.target}"
        f" were throttled ({counted(hit.tries, 'try', 'tries')}{failed}) by {limit}, mostly those of"
        f" {who(most.caller if most else None)}"
    )


def _evidence(hit: LimitHit) -> dict[str, float | str | None]:
    known = {
        "throttled_share": hit.share,
        "throttled_tries": hit.tries,
        "failed_calls": hit.failed,
        "calls": hit.calls,
    }
    return {
        **evidence_of(**{name: value for name, value in known.items() if value is not None}),
        **{name: None for name, value in known.items() if value is None},
        "throttle_events": hit.events,
        "reason": ", ".join(hit.reasons) or None,
        "ramp_ratio": None if hit.ramp.ratio is None else round(hit.ramp.ratio, 3),
    }


def _advice(hit: LimitHit, traffic: Traffic) -> Iterator[Advice]:
    yield advise(
        "back-off",
        "Let the callers retry with jitter and a cap",
        effect="no more demand than one try a call",
        takes="minutes",
    )
    if hit.cause == "provisioned":
        yield from raise_capacity(traffic, hit.direction)
    elif hit.cause == "max-on-demand":
        yield raise_maximum(traffic, hit.direction)
    elif hit.cause == "account-limit":
        yield raise_quota(traffic, *(["throughput"] if _is_by_code(hit) else []))
    elif hit.cause in {"on-demand-ramp", "partitions-splitting"}:
        yield from _wait_or_warm(hit, traffic)


def _wait_or_warm(hit: LimitHit, traffic: Traffic) -> Iterator[Advice]:
    there, units = traffic.target, wanted_units(traffic, hit.direction)
    yield advise(
        "wait-for-split",
        "Wait, or let the callers rise more slowly: DynamoDB adds partitions while demand stands",
        effect="it serves the new peak",
        takes="up to half an hour",
    )
    yield advise(
        "prewarm",
        f"Raise the warm throughput of {traffic.target} before the next such {hit.direction} peak",
        effect="the peak is served from its first second",
        command=None
        if units is None
        else aws(there, warm(there.table, there.index, hit.direction, units), changes=True),
        risk=Risk.LOW,
        reversible=False,
        takes="minutes to hours",
    )
