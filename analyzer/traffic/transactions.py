"""Transactions as the call book holds them: how many items each has, and what else may ask for one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from analyzer.model.calls import Call, CallBook, Calls
    from analyzer.model.target import Target

__all__ = ["TRANSACTIONS", "Transactions", "transactions"]

TRANSACTIONS = frozenset({"TransactWriteItems", "TransactGetItems", "ExecuteTransaction"})


class Transactions(NamedTuple):
    """The transactions of one caller and operation at a table of which the members are known.

    `alone` have one item and no reason that shows; `reasoned` have one item, and a token of the application's own, or
    a part that checks a condition and writes nothing. `token_unknown` of `alone` do not tell whether they have a token.
    """

    caller: str | None
    operation: str
    calls: Calls
    alone: Calls
    reasoned: Calls
    token_unknown: int

    @property
    def items_each(self) -> float:
        """How many items a transaction has, in the mean."""
        return sum(call.members for call in self.calls) / len(self.calls)

    @property
    def alone_share(self) -> float:
        """The part that has one item and no reason that shows."""
        return len(self.alone) / len(self.calls)


def transactions(book: CallBook, target: Target) -> list[Transactions]:
    """Return the transactions of each caller at a table, as far as they are here with all of their kind."""
    by_caller: dict[tuple[str | None, str], list[Call]] = defaultdict(list)
    for call in book.of(target):
        if call.operation in TRANSACTIONS and call.members and call.is_whole:
            by_caller[call.caller, call.operation].append(call)
    return [_transactions(*name, tuple(calls)) for name, calls in by_caller.items()]


def _transactions(caller: str | None, operation: str, calls: Calls) -> Transactions:
    single = [call for call in calls if call.members == 1]
    alone = tuple(call for call in single if not _has_reason(call))
    return Transactions(
        caller=caller,
        operation=operation,
        calls=calls,
        alone=alone,
        reasoned=tuple(call for call in single if _has_reason(call)),
        token_unknown=sum(call.token_sent is None for call in alone),
    )


def _has_reason(call: Call) -> bool:
    return call.token_sent is True or any(part.operation == "ConditionCheck" for part in call.parts)
