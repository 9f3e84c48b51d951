"""Transactions of one item: twice the units of a plain call, and conflicts where a plain call would wait its turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.money import cost_of
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.transactions import TRANSACTIONS, Transactions, transactions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Advice
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["UnneededTransaction"]

_PLAIN = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item", "Get": "get_item"}


class UnneededTransaction(Struct, frozen=True):
    """Judges the transactions of each caller by how many items they have."""

    share: Share = 0.9
    least_transactions: Whole = 10

    name: ClassVar[str] = "unneeded-transaction"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.REQUEST_SEQUENCES, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and operation; a pattern that declares why is left alone."""
        if traffic.calls is None or traffic.target.index is not None:
            return
        for told in transactions(traffic.calls, traffic.target):
            rows = [row for row in traffic.rows if _is_of(row, told)]
            if len(told.calls) < self.least_transactions or told.alone_share < self.share or not rows:
                continue
            if not all(_is_declared(row, traffic) for row in rows):
                yield self._finding(told, rows, traffic)

    def _finding(self, told: Transactions, rows: list[PatternTraffic], traffic: Traffic) -> Finding:
        row = max(rows, key=lambda one: one.requests.value)
        writes = row.shape.writes
        units = sum(one.write_units.value if writes else one.read_units.value for one in rows) * told.alone_share
        is_priced = writes and any(one.units_known for one in rows)
        saved = units / 2
        cost = cost_of(saved, traffic, Direction.WRITE)
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"{percent(told.alone_share)} of the {number(len(told.calls))} transactions of {who(told.caller)} on"
            f" {traffic.target} have one item: a plain call is as atomic, costs half, and meets no conflict of its own",
            confidence=Confidence.LIKELY if told.token_unknown else Confidence.CERTAIN,
            because="whether they carry a token of the application's own, which makes a repeat safe, is not told"
            if told.token_unknown
            else None,
            subject=f"{row.shape.fingerprint}:{told.operation}",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=told.caller,
            direction=Direction.WRITE if writes else Direction.READ,
            evidence={
                "transactions_seen": len(told.calls),
                "one_item_share": round(told.alone_share, 4),
                "items_each": round(told.items_each, 2),
                "with_a_reason": len(told.reasoned),
                "share_of_writes": _share_of_writes(traffic) if writes else None,
                "saving_units": round(saved, 1) if is_priced else None,
                "price": cost.basis if is_priced else None,
            },
            cost_per_month_usd=round(cost.dollars, 2) or None if is_priced else None,
            advice=_advice(told),
        )


def _is_of(row: PatternTraffic, told: Transactions) -> bool:
    return row.caller == told.caller and row.shape.operation == told.operation and not row.secondary


def _is_declared(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether the contract says why it is a transaction, or that it sends a token."""
    declared = traffic.place.patterns.get(row.attribution.pattern or "")
    return declared is not None and (declared.transaction_because is not None or declared.idempotency == "token")


def _share_of_writes(traffic: Traffic) -> float:
    """Return the part of the calls that write which are transactions."""
    writes = [row for row in traffic.rows if row.shape.writes and not row.secondary]
    of = sum(row.requests.value for row in writes)
    return round(sum(row.requests.value for row in writes if row.shape.operation in TRANSACTIONS) / of, 4)


def _advice(told: Transactions) -> tuple[Advice, ...]:
    part = next((part.operation for part in told.alone[0].parts), "")
    call = _PLAIN.get(part, "update_item")
    again = ", ConsistentRead=True" if call == "get_item" else ", ConditionExpression=condition"
    return (
        advise(
            "fix-caller",
            f"Ask the owner of {who(told.caller)} what the transaction is for: a token against repeats, or a condition"
            " that another item must meet, are reasons",
            effect="tells whether a plain call would do",
            takes="minutes",
        ),
        advise(
            "drop-transaction",
            "Send the one item by a plain call; it takes the same condition. A counter that must not count twice can"
            " keep the ids that it counted in a set",
            effect="half the units, and writes of one item queue instead of conflicting",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f"table.{call}(Key=key{again})",
        ),
    )
