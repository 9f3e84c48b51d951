"""Code asks for an index that its table has not: every such call is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, quoted
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, who
from analyzer.errors import closest
from analyzer.model.finding import Confidence, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.building import building_of
from analyzer.traffic.index_refusals import misses_index, says_missing
from analyzer.traffic.measure import add, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import Refused, Traffic

__all__ = ["MissingIndex"]


class MissingIndex(Struct, frozen=True):
    """Reads DynamoDB's own refusal, which names the index; where the log has no message, the table's description."""

    least_calls: Whole = 1

    name: ClassVar[str] = "missing-index"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding for the index that requests named; silent while it is being built."""
        if traffic.target.index is None or building_of(traffic) is not None:
            return
        refused = [one for one in traffic.refusals if misses_index(one, traffic)]
        calls = add(one.calls for one in refused)
        if calls.value >= self.least_calls:
            yield self._finding(refused, calls, traffic)

    def _finding(self, refused: list[Refused], calls: Estimate, traffic: Traffic) -> Finding:
        target = traffic.target
        row = traffic.rows[max(refused, key=lambda one: one.calls.value).row]
        callers = dict.fromkeys(traffic.rows[one.row].caller for one in refused)
        of = f" of {who(row.caller)}" if len(callers) == 1 else f", above all of {who(row.caller)},"
        proof = max(refused, key=says_missing)
        is_told = says_missing(proof)
        near = _nearest(traffic)
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL,
            f"{counted(calls, 'call')}{of} asked {target.table} for index {target.index}, which it has not: every one"
            " was refused",
            confidence=Confidence.CERTAIN if is_told else Confidence.LIKELY,
            **({} if is_told else {"because": "the log has no message; the table's description has no such index"}),
            sources=(SourceName.REQUEST_LOG.value, *(() if is_told else (SourceName.TABLE_CATALOG.value,))),
            subject="",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            victims=tuple(Victim(caller, None) for caller in callers if caller != row.caller),
            evidence={
                **evidence_of(refused_calls=calls),
                "error": proof.code,
                "message": proof.message or None,
                "nearest_index": near,
            },
            advice=(
                advise(
                    "check-client",
                    "Look which index is meant:"
                    + (f" {near} is there" if near else f" the command lists those of {target.table}"),
                    effect="tells a wrong name from an index that is yet to be built",
                    command=aws(target, f"dynamodb describe-table --table-name {quoted(target.table)}"),
                    takes="minutes",
                ),
                advise(
                    "fix-caller",
                    f"Roll {who(row.caller)} back, or correct the index name",
                    effect="calls succeed again",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                    snippet=f'table.query(IndexName="{near or "the-index"}", KeyConditionExpression=condition)',
                ),
                advise(
                    "create-index",
                    f"Create {target.index} where it is wanted; calls fail until its build ends",
                    effect="the calls find their index",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="minutes to hours, by table size",
                ),
            ),
        )


def _nearest(traffic: Traffic) -> str | None:
    """Return the index of the table that was probably meant."""
    table = traffic.place.table
    name = traffic.target.index
    return None if table is None or name is None else closest(name, (index.name for index in table.indexes))
