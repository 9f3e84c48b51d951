"""A Query followed by one read for each of its results."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.money import cost_of
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.sequences import FanOut, fan_outs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.calls import Call
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import Traffic

__all__ = ["NPlusOne"]


class NPlusOne(Struct, frozen=True):
    """Judges the reads of one shape that follow a Query or Scan in its trace."""

    least_reads: Whole = 10
    slow_seconds: Positive = 0.3
    dear_dollars: Positive = 5.0
    near: Share = 0.2

    name: ClassVar[str] = "n-plus-one"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a pair of shapes, at the table or index that is queried first."""
        book, target = traffic.calls, traffic.target
        if book is None:
            return
        if not book.by_trace():
            if any(call.operation in {"Query", "Scan"} for call in book.of(target)):
                needs = ("whole traces",)
                yield Skipped(self.name, target.table, target.index, SkipReason.NOT_COVERED, needs)
            return
        pairs: dict[tuple[str, str], list[FanOut]] = defaultdict(list)
        for fan in fan_outs(book, target, self.least_reads):
            pairs[fan.first.fingerprint, _read_of(fan).fingerprint].append(fan)
        for fans in pairs.values():
            yield self._finding(fans, traffic)

    def _finding(self, fans: list[FanOut], traffic: Traffic) -> Finding:
        first, read = fans[0].first, _read_of(fans[0])
        most = max(len(fan.reads) for fan in fans)
        seconds = max((fan.reads[-1].time - fan.reads[0].time) / 1000 for fan in fans)
        units = [call.read_units for fan in fans for call in fan.reads if call.read_units is not None]
        counted = [(len(fan.reads), fan.first.count) for fan in fans if fan.first.count is not None]
        one_each = [reads for reads, results in counted if abs(reads - results) <= self.near * reads]
        is_counted = bool(counted) and len(one_each) * 2 >= len(counted)
        has_keys = all(call.key is not None for fan in fans for call in fan.reads)
        confidence, because = _sureness(is_counted=is_counted, has_keys=has_keys)
        dollars = cost_of(sum(units), traffic, Direction.READ).dollars
        is_slow = seconds >= self.slow_seconds or dollars >= self.dear_dollars
        caller, read_at = read.caller, read.target
        where = "" if read_at == traffic.target else f" of {read_at}"
        times = "once" if len(fans) == 1 else f"{number(len(fans))} times"
        declared = next((row for row in traffic.rows if row.shape.fingerprint == first.fingerprint), None)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM if is_slow else Severity.LOW,
            f"a {first.operation} of {who(caller)} on {traffic.target} was followed by {number(most)}"
            f" {read.operation} calls{where}{', one key each,' if has_keys else ''} in its trace ({times}): up to"
            f" {number(round(seconds, 2))} seconds of round trips",
            confidence=confidence,
            because=because,
            subject=f"{first.fingerprint} {read.fingerprint}",
            fingerprint=read.fingerprint,
            caller=caller,
            pattern=None if declared is None else declared.attribution.pattern,
            direction=Direction.READ,
            evidence={
                "reads": most,
                "results": first.count,
                "traces": len(fans),
                "seconds": round(seconds, 3),
                "read_units": round(sum(units), 1) if units else None,
                "parent": first.shape.text(),
                "child": read.shape.text(),
            },
            advice=(
                ask_owner(
                    caller,
                    "which of these reads it needs for one answer",
                    "tells what to read together",
                ),
                *_advice(first.shape, read.shape, most),
            ),
        )


def _sureness(*, is_counted: bool, has_keys: bool) -> tuple[Confidence, str | None]:
    """Return how sure it is that each read is of a result of its own, and why it is not certain."""
    if not has_keys:
        because = "the request log shows no keys: some of the reads may ask for one item again"
        return (Confidence.LIKELY if is_counted else Confidence.POSSIBLE), because
    if is_counted:
        return Confidence.CERTAIN, None
    return Confidence.LIKELY, "the number of reads is not known to be that of the results"


def _read_of(fan: FanOut) -> Call:
    """Return the first of the reads of a fan: all are of one shape."""
    return fan.reads[0]


def _advice(first: Shape, read: Shape, reads: int) -> Iterator[Advice]:
    if read.operation == "GetItem":
        yield advise(
            "batch-reads",
            f"Read them with BatchGetItem, 100 keys a call: {-(-reads // 100)} instead of {reads}",
            effect="the same units, a hundredth of the round trips",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=(
                "for keys in batched(wanted, 100):\n"
                f'    page = dynamodb.batch_get_item(RequestItems={{"{read.table}": {{"Keys": keys}}}})\n'
                '    # send page["UnprocessedKeys"] again, with a pause'
            ),
        )
    yield advise(
        "change-key",
        "Keep what is read together under one partition key, so that one Query returns it all"
        if first.index is None
        else f"Project what is needed into {first.index}, or keep what is read together under one partition key",
        effect="one round trip",
        risk=Risk.HIGH,
        reversible=True,
        takes="a migration",
        snippet="PK=PARENT#<id>  SK=META | CHILD#<id>",
    )
