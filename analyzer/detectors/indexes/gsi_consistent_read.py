"""A strong read asked of a global secondary index: DynamoDB refuses every such call.

A GSI is written after its table, so that it can promise nothing; tables and local indexes can (Developer Guide, "Using
Global Secondary Indexes in DynamoDB", read 2026-11-30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.index_refusals import is_strong_read, says_strong
from analyzer.traffic.measure import add, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import Refused, Traffic

__all__ = ["GsiConsistentRead"]


class GsiConsistentRead(Struct, frozen=True):
    """Reads DynamoDB's refusal; where the log has no message, a strong read that was always refused speaks."""

    critical_caller_share: Share = 0.05
    least_calls: Whole = 1

    name: ClassVar[str] = "gsi-consistent-read"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.TABLE, Sight.CHANGES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding an index; a local index may be read strongly."""
        if traffic.target.index is None or _is_local(traffic):
            return
        refused = [one for one in traffic.refusals if is_strong_read(one, traffic)]
        calls = add(one.calls for one in refused)
        if calls.value >= self.least_calls:
            yield self._finding(refused, calls, traffic)

    def _finding(self, refused: list[Refused], calls: Estimate, traffic: Traffic) -> Finding:
        target = traffic.target
        by_caller = _by_caller(refused, traffic)
        worst = max(by_caller, key=lambda caller: by_caller[caller])
        shares = {caller: lost / _calls_of(caller, traffic) for caller, lost in by_caller.items()}
        share = max(shares.values())
        of_worst = [one for one in refused if traffic.rows[one.row].caller == worst]
        row = traffic.rows[max(of_worst, key=lambda one: one.calls.value).row]
        proof = max(refused, key=says_strong)
        is_told = says_strong(proof)
        by = f" by {who(worst)}" if len(by_caller) == 1 else f", above all by {who(worst)},"
        what = f"of {target}{by}"
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL if share >= self.critical_caller_share else Severity.HIGH,
            f"{counted(calls, f'strong read {what} was', f'strong reads {what} were')} refused: a global"
            " secondary index serves eventually consistent reads alone",
            confidence=Confidence.CERTAIN if is_told else Confidence.LIKELY,
            **({} if is_told else {"because": _UNTOLD}),
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=worst,
            victims=tuple(Victim(caller, None) for caller in by_caller if caller != worst),
            direction=Direction.READ,
            evidence={
                **evidence_of(refused_calls=calls, index_reads=add(row.requests for row in traffic.rows)),
                "share_of_callers_calls": round(share, 5),
                "error": proof.code,
                "message": proof.message or None,
            },
            advice=tuple(_advice(traffic, worst, percent(shares[worst]))),
        )


_UNTOLD = "the log has no message; the strong reads of this index were all refused"


def _is_local(traffic: Traffic) -> bool:
    """Whether the index is known to be a local one."""
    index = None if traffic.place.table is None else traffic.place.table.index(traffic.target.index)
    return index is not None and index.kind == "lsi"


def _by_caller(refused: list[Refused], traffic: Traffic) -> dict[str | None, float]:
    found: dict[str | None, float] = {}
    for one in refused:
        caller = traffic.rows[one.row].caller
        found[caller] = found.get(caller, 0.0) + one.calls.value
    return found


def _calls_of(caller: str | None, traffic: Traffic) -> float:
    """Return all calls of a caller to the index and its table."""
    rows = (*traffic.rows, *(traffic.base.rows if traffic.base is not None else ()))
    return sum(row.requests.value for row in rows if row.caller == caller)


def _advice(traffic: Traffic, caller: str | None, share: str) -> Iterator[Advice]:
    table, index = traffic.target.table, traffic.target.index
    yield ask_owner(
        caller,
        f"since which version it reads {index} strongly: {share} of its calls fail, and no retry mends them",
        "tells whether rolling that back is enough",
    )
    yield advise(
        "read-eventually",
        f"Leave ConsistentRead out of reads of {index}, or roll {who(caller)} back to what it asked before",
        effect="the reads are served again, some of them stale",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=f'table.query(IndexName="{index}", KeyConditionExpression=condition)  # no ConsistentRead',
    )
    yield advise(
        "read-base-table",
        f"Where a read must see the last write, take the keys from {index} and read the items of {table} strongly",
        effect="the items are never stale; which items there are may still be",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=(
            f'found = table.query(IndexName="{index}", KeyConditionExpression=condition)["Items"]\n'
            "keys = [{name: item[name] for name in table_key} for item in found]\n"
            f'client.batch_get_item(RequestItems={{"{table}": {{"Keys": keys, "ConsistentRead": True}}}})'
        ),
    )
    yield advise(
        "return-written-value",
        "A caller that reads back its own write has it already: pass it on (ReturnValues=ALL_NEW)",
        effect="no read at all",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='table.update_item(Key=key, UpdateExpression=update, ReturnValues="ALL_NEW")["Attributes"]',
    )
