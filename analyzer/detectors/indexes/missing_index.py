"""Code asks for an index that its table has not: every such call is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, who
from analyzer.model.finding import Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import Refused, Traffic

__all__ = ["MissingIndex"]

_MESSAGES = ("does not have the specified index", "index not found", "requested resource not found: index")
_BUILDING = ("CREATING", "UPDATING")


class MissingIndex(Struct, frozen=True):
    """Reads DynamoDB's own refusal: it names the index it has not."""

    least_calls: Whole = 1

    name: ClassVar[str] = "missing-index"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding for the index that requests named; silent while it is being built."""
        if traffic.target.index is None or traffic.place.index_status in _BUILDING:
            return
        refused = [one for one in traffic.refusals if any(text in one.message.lower() for text in _MESSAGES)]
        calls = add(one.calls for one in refused)
        if refused and calls.value >= self.least_calls:
            yield self._finding(refused, calls, traffic)

    def _finding(self, refused: list[Refused], calls: Estimate, traffic: Traffic) -> Finding:
        target = traffic.target
        row = traffic.rows[max(refused, key=lambda one: one.calls.value).row]
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL,
            f"{counted(calls, 'call')} of {who(row.caller)} asked {target.table} for index {target.index}, which it has"
            " not: every one was refused",
            subject="",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            evidence={**evidence_of(refused_calls=calls), "error": refused[0].code, "message": refused[0].message},
            advice=(
                advise(
                    "check-client",
                    f"Roll the caller back, or correct the index name: the command lists those of {target.table}",
                    effect="calls succeed again",
                    command=aws(target, f"dynamodb describe-table --table-name {target.table}"),
                    takes="minutes",
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
