"""Requests that are not what their repetition needs: a token used for another request, or a sum that adds up twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.done_twice import done_twice
from analyzer.traffic.measure import add, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.traffic import PatternTraffic, Refused, Traffic

__all__ = ["IdempotencyMismatch"]

_MISMATCH = "IdempotentParameterMismatchException"
_HAS_RECORD = frozenset({"record", "token"})


class IdempotencyMismatch(Struct, frozen=True):
    """Judges refusals of a reused token, and additive updates that were sent again after a lost answer."""

    many_calls: Whole = 10
    rare_share: Share = 0.001

    name: ClassVar[str] = "idempotency-mismatch"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_SEQUENCES, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller whose tokens were refused, and one a shape that may have added twice."""
        refused: dict[str | None, list[Refused]] = {}
        for one in traffic.refusals:
            if one.code == _MISMATCH:
                refused.setdefault(traffic.rows[one.row].caller, []).append(one)
        for caller, refusals in refused.items():
            yield self._refused(caller, refusals, traffic)
        if traffic.calls is None:
            return
        for (caller, fingerprint), calls in done_twice(traffic.calls, traffic.target).items():
            rows = [row for row in traffic.rows if row.shape.fingerprint == fingerprint and row.caller == caller]
            if not any(_is_guarded(row, traffic) for row in rows):
                yield self._added(calls, rows, traffic)

    def _refused(self, caller: str | None, refusals: list[Refused], traffic: Traffic) -> Finding:
        calls = add(one.calls for one in refusals)
        row = traffic.rows[max(refusals, key=lambda one: one.calls.value).row]
        return finding(
            self.name,
            traffic,
            Severity.HIGH if calls.value >= self.many_calls else Severity.MEDIUM,
            f"{counted(calls, 'transaction')} of {who(caller)} on {traffic.target} reused the token of another request"
            " within ten minutes, and DynamoDB refused them",
            subject=f"token\x1f{caller or ''}",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=caller,
            cause="token-reused",
            direction=Direction.WRITE,
            evidence={**evidence_of(refused_calls=calls), "error": _MISMATCH, "operation": row.shape.operation},
            advice=(
                ask_owner(
                    caller,
                    "where its tokens come from, and which of the refused transactions were never done",
                    "tells what has to be sent again",
                ),
                advise(
                    "check-client",
                    f"Let {who(caller)} make a ClientRequestToken for each request, and reuse it for that one alone",
                    effect="a repeated transaction is done once, another one is done too",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                    snippet="token = str(uuid.uuid4())  # once a request, kept over its retries\n"
                    "client.transact_write_items(TransactItems=items, ClientRequestToken=token)",
                ),
            ),
        )

    def _added(self, calls: list[Call], rows: list[PatternTraffic], traffic: Traffic) -> Finding:
        first = calls[0]
        requests = add(row.requests for row in rows).value or len(calls)
        share = len(calls) / requests
        is_rare = share < self.rare_share
        pattern = rows[0].attribution.pattern if rows else None
        times = counted(len(calls), "update")
        return finding(
            self.name,
            traffic,
            Severity.LOW if is_rare else Severity.MEDIUM,
            f"{times} of {who(first.caller)} on {traffic.target} add to what is there, and were sent again as no answer"
            f" came: they may count twice ({percent(share)} of {number(requests)})",
            confidence=Confidence.LIKELY,
            because="whether the first try was done is not known to anybody but DynamoDB",
            subject=f"added\x1f{first.fingerprint}",
            pattern=pattern,
            fingerprint=first.fingerprint,
            caller=first.caller,
            cause="added-twice",
            direction=Direction.WRITE,
            evidence={
                "repeated_updates": len(calls),
                "requests": round(requests, 1),
                "share": round(share, 5),
                "update": first.shape.update,
                "error": first.error or next((one.code for one in first.tries), None),
            },
            self_heals=SelfHeals("no", "what was added twice stays so"),
            advice=(
                ask_owner(
                    first.caller,
                    "whether the sum can be checked against what it was made of",
                    "tells whether something was added twice",
                ),
                advise(
                    "use-conditional-write",
                    "Give each change a name, and add it under the condition that the item has not seen it;"
                    " or write the sum that was reckoned instead of adding",
                    effect="however often it is sent, it counts once",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                    snippet='table.update_item(Key=key, UpdateExpression="ADD #n :one SET last_change = :id",\n'
                    '                  ConditionExpression="last_change <> :id", ...)',
                ),
                advise(
                    "update-declaration",
                    "If a record elsewhere tells what was done already, declare it: idempotency: record",
                    effect="it is then no longer told",
                    snippet="idempotency: record",
                ),
            ),
        )


def _is_guarded(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether its pattern says how a repetition is recognized; naturally idempotent no addition is."""
    declared = traffic.place.patterns.get(row.attribution.pattern or "")
    return declared is not None and declared.idempotency in _HAS_RECORD
