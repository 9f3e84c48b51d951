"""Transactions that collide with one another, or with plain writes of the same item, and are canceled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, statistics
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.detectors.writing import key_named
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.collisions import Collisions, collisions
from analyzer.traffic.endings import cancel_reasons
from analyzer.traffic.measure import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import Traffic

__all__ = ["TransactionConflict"]

_FEW_PLACES = 3
_ONE_KEY = 0.5
"""A key with half of the conflicts is the one to look at."""


class TransactionConflict(Struct, frozen=True):
    """Judges conflicts by the part of the calls that they fail, and by whether they become more."""

    least_conflicts: Whole = 2
    medium_conflicts: Whole = 5
    high_conflicts: Whole = 20
    low_share: Share = 0.001
    medium_share: Share = 0.01
    high_share: Share = 0.25
    critical_share: Share = 0.5
    growing_share: Share = 0.05
    growth: Positive = 2.0

    name: ClassVar[str] = "transaction-conflict"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_KEYS, Sight.METRICS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a table; the item that collides stands in it where one stands out."""
        if traffic.target.index is not None:
            return
        told = collisions(traffic)
        if told is None or told.failed.value < self.least_conflicts:
            return
        if told.share is None or told.share >= self.low_share:
            yield self._finding(told, traffic)

    def _severity(self, told: Collisions) -> Severity:
        conflicts, share = told.failed.value, told.share
        if conflicts < self.medium_conflicts or (share is not None and share < self.medium_share):
            return Severity.LOW
        if share is None or conflicts < self.high_conflicts:
            return Severity.MEDIUM
        is_growing = told.growth is not None and told.growth >= self.growth
        if share >= self.critical_share and is_growing:
            return Severity.CRITICAL
        return (
            Severity.HIGH
            if share >= self.high_share or (is_growing and share >= self.growing_share)
            else Severity.MEDIUM
        )

    def _finding(self, told: Collisions, traffic: Traffic) -> Finding:
        row = told.ended[0].row if told.ended else None
        blamed = sum(one.calls for one in told.keys)
        worst = told.keys[0] if told.keys and told.keys[0].calls >= _ONE_KEY * blamed else None
        key = None if worst is None else key_named(worst.name, worst.shape, traffic)
        doubt = _doubt(told)
        return finding(
            self.name,
            traffic,
            self._severity(told),
            _summary(told, key, traffic),
            confidence=Confidence.CERTAIN if doubt is None else Confidence.LIKELY,
            **({} if doubt is None else {"because": doubt}),
            sources=(told.source.value,),
            subject="",
            key=key,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=None if row is None else row.shape.fingerprint,
            caller=None if row is None else row.caller,
            victims=tuple(dict.fromkeys(Victim(one.row.caller, one.row.attribution.pattern) for one in told.ended)),
            direction=Direction.READ if row is not None and not row.shape.writes else Direction.WRITE,
            evidence={
                **evidence_of(conflicts=told.failed, calls=told.calls),
                "conflict_share": None if told.share is None else round(told.share, 5),
                "growth": None if told.growth is None else round(told.growth, 2),
                "keys": len(told.keys) or None,
                "key_conflicts": None if worst is None else worst.calls,
                "one_item_share": None if told.one_item_share is None else round(told.one_item_share, 3),
                "cancellations": _reasons(traffic),
            },
            advice=tuple(_advice(told, key, traffic)),
        )


def _summary(told: Collisions, key: KeyShown | None, traffic: Traffic) -> str:
    place = f"{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
    growth = _growth(told)
    grows = "" if growth is None else f", {number(round(growth, 1))} times as often in the end as at first"
    share = "" if told.share is None else f" ({percent(told.share)} of {number(told.calls.value)})"
    if told.source is SourceName.CLOUDWATCH_METRICS:
        return f"CloudWatch counts {counted(told.failed.value, 'conflict')} of transactions on items of {place}{grows}"
    row = told.ended[0].row
    return (
        f"{counted(told.failed, 'call')} of {who(row.caller)} on {place} failed{share} because another"
        f" transaction held the item{grows}"
    )


def _growth(told: Collisions) -> float | None:
    """Return by how much conflicts became more; None where they did not, or nobody knows."""
    return told.growth if told.growth is not None and told.growth > 1 else None


def _doubt(told: Collisions) -> str | None:
    """Say what keeps the finding from being certain."""
    if told.source is SourceName.CLOUDWATCH_METRICS:
        return "CloudWatch counts items that collided, not calls; which items and callers is not visible"
    if told.share is None:
        return "the log holds nothing but failures: which part of the calls they are is not told"
    return None


def _reasons(traffic: Traffic) -> str | None:
    """Write why transactions were canceled, with the positions of the parts to blame."""
    words = []
    for code, (calls, places) in cancel_reasons(traffic).items():
        at = f" (part {', '.join(map(str, places))})" if len(places) <= _FEW_PLACES else ""
        words.append(f"{code} {calls}{at}")
    return ", ".join(words) or None


def _advice(told: Collisions, key: KeyShown | None, traffic: Traffic) -> Iterator[Advice]:
    metric = statistics(traffic.target, "TransactionConflict", traffic.window, "Sum SampleCount")
    yield advise(
        "check-client",
        "Look how the conflicts go on, and ask the callers' owners whether they retry a canceled transaction",
        effect="tells a burst from a backlog that grows",
        command=aws(traffic.target, metric),
        takes="minutes",
    )
    yield advise(
        "retry-with-jitter",
        "Retry a canceled transaction whose reasons are conflicts or throttles alone, after a random wait; SDKs give up"
        " at once. Read the reasons one by one: a failed condition is an answer, and no retry mends it",
        effect="few conflicts reach a caller",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet="retry = {c['Code'] for c in error.response['CancellationReasons']} <= {'None', 'TransactionConflict'}",
    )
    if told.one_item_share == 1:
        yield advise(
            "drop-transaction",
            "Send the one item by a plain UpdateItem: writes of one item then wait for one another",
            effect="no conflict among them, and half the units",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet='table.update_item(Key=key, UpdateExpression="ADD done :n", ExpressionAttributeValues={":n": 1})',
        )
    elif key is not None:
        yield advise(
            "shard-key",
            "Take {key} out of the transactions: spread it over several items that are summed when read, or update it"
            " from the stream",
            effect="transactions no longer meet at one item",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy of writers and readers",
            snippet='key["SK"] = f"TOTAL#{random.randrange(10)}"  # one of ten, read them all',
        )
    if _growth(told) is not None:
        yield advise(
            "use-queue",
            "Let one consumer an item write: a FIFO queue with the item's key as its message group",
            effect="what waits is written once, in order",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="sqs.send_message(QueueUrl=queue, MessageBody=body, MessageGroupId=item_key)",
        )
