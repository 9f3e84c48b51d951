"""What a batch handed back was never sent again: writes are lost, reads come back short, and nobody saw an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.detectors.writing import row_of
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.dropped import Left, left_behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["UnprocessedDropped"]

_WRITES = frozenset({"BatchWriteItem"})


class UnprocessedDropped(Struct, frozen=True):
    """Judges the batches of one caller and operation that were not processed whole, by what became of the rest."""

    left_share: Share = 0.5
    sure_batches: Whole = 2

    name: ClassVar[str] = "unprocessed-dropped"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and operation; where no such batch can be followed, say so."""
        if traffic.calls is None:
            return
        groups = left_behind(traffic.calls, traffic.target, traffic.window.end)
        for group in groups:
            if group.left:
                yield self._finding(group, traffic)
        if not groups and any(call.unprocessed for call in traffic.calls.of(traffic.target)):
            target = traffic.target
            needs = ("every request, or the traces of batches that were not processed whole",)
            yield Skipped(self.name, target.table, target.index, SkipReason.NOT_COVERED, needs)

    def _finding(self, group: Left, traffic: Traffic) -> Finding:
        is_write = group.operation in _WRITES
        first = group.left[0].call
        row = row_of(first.shape, group.caller, traffic.rows)
        share = len(group.left) / group.handed_back
        is_habit = share >= self.left_share
        items = counted(group.items, "item was", "items were")
        batches = "a batch" if len(group.left) == 1 else f"{number(len(group.left))} batches"
        return finding(
            self.name,
            traffic,
            _severity(is_write=is_write, is_habit=is_habit),
            f"{who(group.caller)} never sent again what {group.operation} handed back of {batches} to {traffic.target}:"
            f" {items} not {'written' if is_write else 'read'}, and no error says so",
            confidence=Confidence.CERTAIN if is_habit and len(group.left) >= self.sure_batches else Confidence.LIKELY,
            because=_because(group, share, is_habit=is_habit),
            subject="\x1f".join((group.operation, group.caller or "")),
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=first.fingerprint,
            caller=group.caller,
            direction=Direction.WRITE if is_write else Direction.READ,
            evidence={
                "operation": group.operation,
                "items_dropped": group.items,
                "batches_left": len(group.left),
                "batches_handed_back": group.handed_back,
                "left_share": round(share, 4),
                "batches": group.batches,
            },
            self_heals=SelfHeals("no", "DynamoDB does not send again what it handed back: the caller has to"),
            advice=(
                ask_owner(
                    group.caller,
                    "to keep its input of this time: what was handed back has to be sent again",
                    "what was dropped can be made good",
                ),
                *_advice(group, traffic),
            ),
        )


def _severity(*, is_write: bool, is_habit: bool) -> Severity:
    """Lost writes are critical; a caller that sends most of it again and gives up at last may well come back later."""
    if is_write:
        return Severity.CRITICAL if is_habit else Severity.MEDIUM
    return Severity.HIGH if is_habit else Severity.LOW


def _because(group: Left, share: float, *, is_habit: bool) -> str | None:
    if not is_habit:
        tells = "whether it told its own caller, or queues the rest, is not visible"
        return f"it sends most again and gave up on {percent(share)}: {tells}"
    return "it was seen once" if len(group.left) == 1 else None


_SNIPPETS = {
    "BatchWriteItem": """\
request = {table: puts}
while request:
    request = client.batch_write_item(RequestItems=request).get("UnprocessedItems")
    if request:
        time.sleep(backoff())""",
    "BatchGetItem": """\
request, found = {table: {"Keys": keys}}, []
while request:
    answer = client.batch_get_item(RequestItems=request)
    found += answer["Responses"].get(table, [])
    request = answer.get("UnprocessedKeys")
    if request:
        time.sleep(backoff())""",
}


def _advice(group: Left, traffic: Traffic) -> Iterator[Advice]:
    back = "UnprocessedItems" if group.operation in _WRITES else "UnprocessedKeys"
    yield advise(
        "retry-unprocessed",
        f"Let {who(group.caller)} look at {back} of each answer, whose status is 200, and send it again with backoff"
        + ("; then run its input again: puts and deletes may be repeated" if group.operation in _WRITES else ""),
        effect="nothing is dropped any more",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=_SNIPPETS[group.operation],
    )
    if group.operation in _WRITES:
        yield advise(
            "pace-writes",
            f"Slow the writes to what {traffic.target} takes: batches are handed back where capacity is short",
            effect="less comes back",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
