"""A reader that relies on an index right after its own write: most of the time it sees the write, now and then not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.own_reads import OwnRead, own_reads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["GsiStaleRead"]


class GsiStaleRead(Struct, frozen=True):
    """Judges index reads after a write of the same trace by how soon they come, and by what came of them."""

    within_ms: Whole = 1000
    then_ms: Whole = 5000
    least_reads: Whole = 1

    name: ClassVar[str] = "gsi-stale-read"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.RETURNED_KEYS, Sight.REQUEST_KEYS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape of read; without traces nobody's own write is known."""
        if traffic.target.index is None or traffic.calls is None:
            return
        calls = traffic.calls.of(traffic.target)
        if calls and not any(call.trace_whole for call in calls):
            target = traffic.target
            yield Skipped(self.name, target.table, target.index, SkipReason.NOT_COVERED, ("traces",))
            return
        by_shape: dict[str, list[OwnRead]] = {}
        for one in own_reads(traffic, self.within_ms, self.then_ms):
            by_shape.setdefault(one.read.fingerprint, []).append(one)
        for reads in by_shape.values():
            if len(reads) >= self.least_reads:
                yield self._finding(reads, traffic)

    def _finding(self, reads: list[OwnRead], traffic: Traffic) -> Finding:
        gaps = sorted(one.after_ms for one in reads)
        median = gaps[len(gaps) // 2]
        stale = sum(one.is_stale is True for one in reads)
        failed = sum(one.failed is not None for one in reads)
        caller = Counter(one.read.caller for one in reads).most_common()[0][0]
        row = _row(reads[0], traffic)
        times = counted(len(reads), "time")
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM if stale or failed else Severity.LOW,
            f"{times} {who(caller)} read {traffic.target} {number(median)} ms (median) after its own write of the same"
            f" trace{_came_of_it(stale, failed)}",
            confidence=Confidence.CERTAIN if stale else Confidence.LIKELY,
            because="results show the index as it was before the write"
            if stale
            else "a risk: what the index returned does not show it as it was, or is not told",
            subject=reads[0].read.fingerprint,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=reads[0].read.fingerprint,
            caller=caller,
            direction=Direction.READ,
            evidence={
                "reads_after_write": len(reads),
                "gap_least_ms": gaps[0],
                "gap_median_ms": median,
                "gap_most_ms": gaps[-1],
                "results_known": sum(one.is_stale is not None for one in reads),
                "stale_results": stale,
                "failed_conditions": failed,
            },
            advice=tuple(_advice(traffic, failed)),
        )


def _row(one: OwnRead, traffic: Traffic) -> PatternTraffic | None:
    return next((row for row in traffic.rows if row.shape.fingerprint == one.read.fingerprint), None)


def _came_of_it(stale: int, failed: int) -> str:
    words = [counted(stale, "result was stale", "results were stale")] if stale else []
    words += [f"{counted(failed, 'conditional write')} that followed lost"] if failed else []
    return f": {', '.join(words)}" if words else ": the index may not have had it yet"


def _advice(traffic: Traffic, failed: int) -> Iterator[Advice]:
    table, index = traffic.target.table, traffic.target.index
    yield advise(
        "fix-caller",
        f"Ask the owner of the caller what it does when {index} does not show its write yet: whether it waits, retries"
        " or goes on",
        effect="tells what a stale read does harm to",
        takes="minutes",
    )
    yield advise(
        "return-written-value",
        f"Pass the written item on instead of looking for it in {index}: the write returns it",
        effect="the caller sees its own write, and saves a read",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='table.update_item(Key=key, UpdateExpression=update, ReturnValues="ALL_NEW")["Attributes"]',
    )
    yield advise(
        "read-base-table",
        f"Where the item must be read again, read it from {table} with ConsistentRead",
        effect="the read sees every write before it",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet="table.get_item(Key=key, ConsistentRead=True)",
    )
    if failed:
        yield advise(
            "use-conditional-write",
            "Keep the condition: it stops changes made on an old state; where it fails, read the item and try again",
            effect="a stale read costs a retry, and nothing else",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
