"""State changed without a condition: the contract asks for one, or what was read is put back over others' writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.detectors.writing import row_of
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.lost_updates import PutBack, put_backs
from analyzer.traffic.measure import add, busiest_caller, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["UnconditionalWrite"]

_ASKED = frozenset({"required", "create-only", "version"})
_SNIPPETS: dict[str | None, str] = {
    "create-only": 'table.put_item(Item=item, ConditionExpression=Attr("PK").not_exists())',
    "version": 'table.put_item(Item=item | {"version": read + 1}, ConditionExpression=Attr("version").eq(read))',
}


class UnconditionalWrite(Struct, frozen=True):
    """Judges writes of patterns that require a condition, and items that are read and put back in one trace."""

    least_calls: Whole = 1
    least_put_backs: Whole = 3

    name: ClassVar[str] = "unconditional-write"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUEST_SEQUENCES}),
        frozenset({Sight.REQUESTS, Sight.CONTRACT}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a pattern that lacks its condition, and one a shape that is put back."""
        told: set[str] = set()
        for pattern, rows in _without_condition(traffic).items():
            if add(row.requests for row in rows).value >= self.least_calls:
                told |= {row.shape.fingerprint for row in rows}
                yield self._undeclared(pattern, rows, traffic)
        if traffic.calls is None or traffic.place.library is not None:
            return
        for (caller, fingerprint), backs in put_backs(traffic.calls, traffic.target).items():
            row = row_of(backs[0].put.shape, caller, traffic.rows)
            lost = [one for one in backs if one.between]
            if fingerprint not in told and not _is_meant(row, traffic) and (lost or len(backs) >= self.least_put_backs):
                yield self._put_back(backs, lost, row, traffic)

    def _undeclared(self, pattern: str, rows: list[PatternTraffic], traffic: Traffic) -> Finding:
        declared = traffic.place.patterns[pattern]
        caller, shape = busiest_caller(rows), rows[0].shape
        calls = add(row.requests for row in rows)
        all_calls = add(row.requests for row in traffic.rows if row.attribution.pattern == pattern and row.shape.writes)
        is_told = any(_has_condition(row.shape) for row in traffic.rows)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{counted(calls, 'write')} of {who(caller)} to {traffic.target} came without a condition; its pattern"
            f" {pattern} declares: {declared.condition}",
            confidence=Confidence.CERTAIN if is_told else Confidence.LIKELY,
            **({} if is_told else {"because": "no write in this log tells a condition: it may leave them out"}),
            sources=(SourceName.REQUEST_LOG.value, SourceName.CONTRACT.value),
            subject=f"condition\x1f{pattern}",
            pattern=pattern,
            fingerprint=shape.fingerprint,
            caller=caller,
            cause="condition-missing",
            direction=Direction.WRITE,
            evidence={
                **evidence_of(unconditional_writes=calls, writes=all_calls),
                "declared_condition": declared.condition,
                "operation": shape.operation,
            },
            advice=(
                ask_owner(
                    caller,
                    "what happens where two of them write one item at once",
                    "tells whether a write can be lost",
                ),
                *_advice(declared.condition, shape),
            ),
        )

    def _put_back(
        self, backs: list[PutBack], lost: list[PutBack], row: PatternTraffic | None, traffic: Traffic
    ) -> Finding:
        put = backs[0].put
        gaps = sorted(one.put.time - one.read.time for one in backs)
        times = "once" if len(lost) == 1 else f"{number(len(lost))} times"
        harm = f"; {times} somebody else wrote the item in between, and that is lost" if lost else ""
        return finding(
            self.name,
            traffic,
            Severity.HIGH if lost else Severity.MEDIUM,
            f"{number(len(backs))} times {who(put.caller)} read an item of {traffic.target} and put it back whole"
            f" {number(gaps[len(gaps) // 2])} ms (median) later, without a condition{harm}",
            confidence=Confidence.CERTAIN if lost else Confidence.LIKELY,
            because=None if lost else "a risk: no write of others was seen in between",
            subject=f"put-back\x1f{put.fingerprint}",
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=put.fingerprint,
            caller=put.caller,
            cause="read-then-put",
            direction=Direction.WRITE,
            evidence={
                "put_backs": len(backs),
                "writes_lost": sum(len(one.between) for one in lost),
                "gap_median_ms": gaps[len(gaps) // 2],
                "gap_most_ms": gaps[-1],
                "keys": len({one.put.key for one in backs}),
            },
            self_heals=SelfHeals("no", "the last put wins, and DynamoDB keeps nothing of what it replaced"),
            advice=(
                ask_owner(
                    put.caller,
                    "what happens where two of them write one item at once",
                    "tells whether a write can be lost",
                ),
                *_advice("version", put.shape),
            ),
        )


def _without_condition(traffic: Traffic) -> dict[str, list[PatternTraffic]]:
    """Return the rows of patterns that require a condition and were written without one, by pattern."""
    found: dict[str, list[PatternTraffic]] = {}
    for row in traffic.rows:
        declared = traffic.place.patterns.get(row.attribution.pattern or "")
        is_asked = declared is not None and declared.condition in _ASKED
        if is_asked and row.shape.writes and not row.secondary and _lacks_condition(row.shape):
            found.setdefault(row.attribution.pattern or "", []).append(row)
    return found


def _has_condition(shape: Shape) -> bool:
    return shape.condition is not None or any(
        part.condition is not None or part.operation == "ConditionCheck" for part in shape.parts
    )


def _lacks_condition(shape: Shape) -> bool:
    """Whether a shape shows that there was none: a source that tells neither key nor update hides conditions too.

    Statements carry theirs in WHERE, and an INSERT creates only.
    """
    is_visible = shape.parsed and shape.statement is None and bool(shape.key or shape.parts or shape.update)
    return is_visible and not _has_condition(shape)


def _is_meant(row: PatternTraffic | None, traffic: Traffic) -> bool:
    """Whether the pattern says that its writes need no condition."""
    declared = None if row is None else traffic.place.patterns.get(row.attribution.pattern or "")
    return declared is not None and declared.condition == "none"


def _advice(condition: str | None, shape: Shape) -> Iterator[Advice]:
    yield advise(
        "use-conditional-write",
        "Write under a condition on what was read, a version for instance; where it fails, read again and repeat",
        effect="a write that rests on an old state is refused instead of winning",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=_SNIPPETS.get(condition, _SNIPPETS["version"]),
    )
    if shape.operation == "PutItem":
        yield advise(
            "update-less",
            "Or update the attributes that change instead of putting the whole item",
            effect="writes of different attributes no longer undo each other",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet='table.update_item(Key=key, UpdateExpression="SET #a = :new", ...)',
        )
    yield advise(
        "update-declaration",
        "If it is meant so, declare it: condition: none",
        effect="it is then no longer told",
        snippet="condition: none",
    )
