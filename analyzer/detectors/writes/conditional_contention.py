"""Conditional writes that keep failing: somebody else was first, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, statistics
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, counted, number, percent, who
from analyzer.detectors.writing import key_named
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.statistics.rates import share_bounds
from analyzer.traffic.conditions import Guard, guard_of
from analyzer.traffic.endings import CONDITIONS, Blamed, Ended, blamed, ended_by
from analyzer.traffic.measure import evidence_of
from analyzer.traffic.series import series_in, series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["ConditionalContention"]

_WRITES = ("DeleteItem", "PutItem", "UpdateItem")
_DECLARED = {"create-only": Guard.CREATE, "version": Guard.VERSION}
_WHY = {
    Guard.CREATE: "another one was there first, which is what the condition asks",
    Guard.LOCK: "another one held it, which is what the condition asks",
    Guard.EXISTS: "the item was not there",
    Guard.VERSION: "the item had changed since it was read",
    Guard.UNKNOWN: "which condition it was is not told",
}
_LEAST_OBSERVED = 10
"""Of fewer records of a sample a share is chance, whatever its bounds say: many shapes and callers are looked at."""


class _Failing(NamedTuple):
    """The writes of one row that fail on their condition, and the keys they fail on."""

    ended: Ended
    guard: Guard
    share: float
    keys: list[Blamed]

    @property
    def least_share(self) -> float:
        """The part that fails: of a sample the least that it may be, and none where the sample is too thin."""
        row = self.ended.row
        if row.requests.is_exact and self.ended.calls.is_exact:
            return self.share
        if row.observed < _LEAST_OBSERVED:
            return 0.0
        return share_bounds(self.share * row.observed, row.observed).low

    @property
    def failures(self) -> int:
        """How many failures are of known keys."""
        return sum(one.calls for one in self.keys)


class ConditionalContention(Struct, frozen=True):
    """Judges each shape of conditional write by the part that fails, by what it guards, and by whether keys repeat."""

    failing_share: Share = 0.2
    least_failures: Whole = 10
    repeated_share: Share = 0.5
    key_share: Share = 0.5

    name: ClassVar[str] = "conditional-contention"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.CONTRACT, Sight.METRICS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape, of the caller that fails most; from metrics one a table."""
        if traffic.target.index is not None:
            return
        ended = ended_by(traffic, CONDITIONS)
        worst: dict[str, _Failing] = {}
        for failing in (self._failing(one, traffic) for one in ended):
            fingerprint = failing.ended.row.shape.fingerprint
            if self._counts(failing.ended.calls.value, failing.least_share) and fingerprint not in worst:
                worst[fingerprint] = failing
        for failing in worst.values():
            yield self._finding(failing, traffic)
        if not ended:
            yield from self._by_metrics(traffic)

    def _counts(self, failures: float, share: float) -> bool:
        return failures >= self.least_failures and share >= self.failing_share

    def _failing(self, ended: Ended, traffic: Traffic) -> _Failing:
        share = ended.calls.value / ended.row.requests.value
        return _Failing(ended, _guard(ended.row, traffic), share, blamed(ended.seen, CONDITIONS))

    def _severity(self, failing: _Failing, traffic: Traffic) -> Severity:
        """Judge version checks alone as waste: they lose work; and only where the same keys are fought for."""
        if failing.guard is not Guard.VERSION or traffic.place.library is not None:
            return Severity.LOW
        again = sum(one.calls for one in failing.keys if one.calls > 1)
        is_fought_for = not failing.keys or again >= self.repeated_share * failing.failures
        return Severity.MEDIUM if is_fought_for else Severity.LOW

    def _finding(self, failing: _Failing, traffic: Traffic) -> Finding:
        row, keys = failing.ended.row, failing.keys
        worst = keys[0] if keys and keys[0].calls >= self.key_share * failing.failures and keys[0].calls > 1 else None
        key = None if worst is None else key_named(worst.name, worst.shape, traffic)
        place = f"{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
        is_known = failing.guard is not Guard.UNKNOWN
        return finding(
            self.name,
            traffic,
            self._severity(failing, traffic),
            f"{between(failing.ended.calls)} of {number(row.requests.value)} {row.shape.operation} of {who(row.caller)}"
            f" to {place} ({percent(failing.share)}) failed on their condition: {_WHY[failing.guard]}",
            confidence=Confidence.CERTAIN if is_known else Confidence.LIKELY,
            **(
                {}
                if is_known
                else {"because": "the log does not tell the condition: it may be one that is meant to fail"}
            ),
            subject=row.shape.fingerprint,
            key=key,
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause=failing.guard.value,
            direction=Direction.WRITE,
            evidence={
                **evidence_of(failed_conditions=failing.ended.calls, requests=row.requests),
                "failed_share": round(failing.share, 4),
                "keys_seen": len(keys) or None,
                "key_failures": None if worst is None else worst.calls,
                "condition": row.shape.condition,
                **({"library": traffic.place.library} if traffic.place.library else {}),
            },
            advice=tuple(_advice(failing.guard, key, traffic)),
        )

    def _by_metrics(self, traffic: Traffic) -> Iterator[Finding]:
        failed = total(series_of(traffic.metrics, "ConditionalCheckFailedRequests"), traffic.window)
        served = [
            total(one, traffic.window)
            for operation in _WRITES
            for one in series_in(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation)
        ]
        known = sum(one for one in served if one is not None)
        share = failed / (failed + known) if failed and known else None
        if failed is None or share is None or not self._counts(failed, share):
            return
        yield finding(
            self.name,
            traffic,
            Severity.LOW,
            f"{counted(failed, 'write')} to {traffic.target} failed on their condition, {percent(share)} of those that"
            " CloudWatch counts",
            confidence=Confidence.POSSIBLE,
            because="CloudWatch tells neither condition nor key: locks and create-once writes are meant to fail",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            cause=Guard.UNKNOWN.value,
            direction=Direction.WRITE,
            evidence={**evidence_of(failed_conditions=Estimate.exact(failed)), "failed_share": round(share, 4)},
            advice=tuple(_advice(Guard.UNKNOWN, None, traffic)),
        )


def _guard(row: PatternTraffic, traffic: Traffic) -> Guard:
    """Return what a row's condition guards: as declared, else as it reads.

    A lease is renewed by its counter, so a contract can only call that a version: what reads as a lock is one.
    """
    declared = traffic.place.patterns.get(row.attribution.pattern or "")
    said = None if declared is None else _DECLARED.get(declared.condition or "")
    reads = guard_of(row.shape)
    return reads if said is None or (said is Guard.VERSION and reads is Guard.LOCK) else said


def _advice(guard: Guard, key: KeyShown | None, traffic: Traffic) -> Iterator[Advice]:
    metric = statistics(traffic.target, "ConditionalCheckFailedRequests", traffic.window)
    yield advise(
        "check-client",
        "Look how the failures go on, and ask the callers' owners what they do after one",
        effect="tells whether tries in vain follow one another",
        command=aws(traffic.target, metric),
        takes="minutes",
    )
    yield advise(
        "retry-with-jitter",
        "Read the item again, strongly, before each new try, and wait a random time; a try with what was read before"
        " fails again, and each costs a write"
        if guard is Guard.VERSION
        else "Take the failure as the answer that it is, and do not try again at once: each try costs a write",
        effect="fewer tries in vain",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='item = table.get_item(Key=key, ConsistentRead=True)["Item"]  # and condition on its version'
        if guard is Guard.VERSION
        else 'table.put_item(..., ReturnValuesOnConditionCheckFailure="ALL_OLD")  # who was first',
    )
    if guard is Guard.VERSION and key is not None:
        yield advise(
            "split-item",
            "Let writers of {key} change items of their own, or add up with ADD, which needs no version",
            effect="writers no longer wait for one another",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet='table.update_item(Key=key, UpdateExpression="ADD done :n", ExpressionAttributeValues={":n": 1})',
        )
        yield advise(
            "use-queue",
            "Let one consumer write {key}: a FIFO queue with the key as its message group",
            effect="one write a change",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="sqs.send_message(QueueUrl=queue, MessageBody=body, MessageGroupId=item_key)",
        )
