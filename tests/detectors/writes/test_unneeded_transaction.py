from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.unneeded_transaction import UnneededTransaction
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.traffic import Declared, Place
from tests.support.calls import book, call, item
from tests.support.evidence import DECLARED, GSI2, UNDECLARED, row, shape, traffic

WRITE = shape("TransactWriteItems", "tw", writes=True, key=())
READ = shape("TransactGetItems", "tr", key=())


def found(*calls: Any, rows: tuple[Any, ...] = (), **fields: Any) -> list[Finding]:
    given = rows or (row(WRITE, UNDECLARED, requests=len(calls), write_units=2 * len(calls)),)
    evidence = traffic(rows=given, calls=book(*calls), **fields)
    return [one for one in UnneededTransaction().detect(evidence) if isinstance(one, Finding)]


def part(number: int, operation: str = "Update") -> CallPart:
    return CallPart(position=number, operation=operation, table="cases", key=item(f"J{number}", "M"))


def sent(times: int = 20, members: int = 1, operation: str = "Update", of: Any = WRITE, **fields: Any) -> list[Any]:
    parts = tuple(part(n, operation) for n in range(members))
    return [
        call(at=n, of=of, key=None, members=members, parts=parts, **{"token_sent": False} | fields)
        for n in range(times)
    ]


def test_transactions_of_one_item_are_low_and_cost_twice() -> None:
    (one,) = found(*sent())
    assert (one.severity, one.confidence, one.direction) == (Severity.LOW, Confidence.CERTAIN, Direction.WRITE)
    assert (one.evidence["items_each"], one.evidence["saving_units"]) == (1.0, 20.0)
    assert one.cost_per_month_usd == 0.11
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("fix-caller", None),
        ("drop-transaction", True),
    ]
    assert (one.advice[1].snippet or "").startswith("table.update_item(")


def test_the_share_of_writes_in_transactions_is_told() -> None:
    put = shape("PutItem", "p")
    rows = (
        row(WRITE, UNDECLARED, requests=20, write_units=40),
        row(put, requests=60),
        row(put, requests=60, secondary=True),
        row(requests=900),
    )
    (one,) = found(*sent(), rows=rows)
    assert one.evidence["share_of_writes"] == 0.25


def test_ten_are_enough_and_few_of_one_caller_hide_no_other() -> None:
    (one,) = found(*sent(9, caller="rare"), *sent(10), rows=(row(WRITE, UNDECLARED), row(WRITE, caller="rare")))
    assert one.caller == "api"


def test_half_of_what_those_of_one_item_cost_is_saved() -> None:
    rows = (
        row(shape("TransactWriteItems", "unit-less", writes=True, key=()), requests=5, units_known=0.0),
        row(WRITE, UNDECLARED, requests=20, write_units=40),
    )
    (one,) = found(*sent(18), *sent(2, members=3), rows=rows)
    assert (one.evidence["saving_units"], one.evidence["one_item_share"], one.fingerprint) == (18, 0.9, "tw")


def test_the_plain_call_is_that_of_the_first() -> None:
    (one,) = found(*sent(1, operation="Put"), *sent(19))
    assert (one.advice[1].snippet or "").startswith("table.put_item(")


def test_where_tokens_are_not_told_it_is_likely() -> None:
    (one,) = found(*sent(token_sent=None))
    assert one.confidence is Confidence.LIKELY


def test_nine_in_ten_are_enough_and_eight_are_not() -> None:
    assert len(found(*sent(18), *sent(2, members=3))) == 1
    assert found(*sent(16), *sent(4, members=3)) == []


@pytest.mark.parametrize(
    "calls",
    [
        sent(9),
        sent(20, members=2),
        sent(token_sent=True),
        sent(operation="ConditionCheck"),
        sent(members=0),
        sent(shape_whole=False),
        sent(of=shape("UpdateItem", "u")),
    ],
    ids=["few", "two items", "own token", "a check", "members not known", "not all seen", "no transaction"],
)
def test_what_has_a_reason_or_cannot_be_told_is_silent(calls: list[Any]) -> None:
    assert found(*calls) == []


@pytest.mark.parametrize(
    "declared",
    [Declared(id="load-case", transaction_because="state and audit"), Declared(id="load-case", idempotency="token")],
)
def test_a_declared_reason_is_one(declared: Declared) -> None:
    rows = (row(WRITE, DECLARED, requests=20, write_units=40),)
    assert found(*sent(), rows=rows, place=Place(patterns={"load-case": declared})) == []
    other = row(shape("TransactWriteItems", "other", writes=True, key=()), UNDECLARED)
    assert len(found(*sent(), rows=(*rows, other), place=Place(patterns={"load-case": declared}))) == 1
    plain = Place(patterns={"load-case": Declared(id="load-case")})
    assert len(found(*sent(), rows=rows, place=plain)) == 1


def test_reads_of_one_item_are_told_too() -> None:
    (one,) = found(*sent(operation="Get", of=READ), rows=(row(READ, UNDECLARED, requests=20, read_units=40),))
    assert (one.direction, one.cost_per_month_usd, one.evidence["share_of_writes"]) == (Direction.READ, None, None)
    assert one.advice[1].snippet == "table.get_item(Key=key, ConsistentRead=True)"


def test_unknown_units_leave_the_saving_open() -> None:
    (one,) = found(*sent(), rows=(row(WRITE, UNDECLARED, requests=20, units_known=0.0),))
    assert (one.evidence["saving_units"], one.cost_per_month_usd) == (None, None)


def test_a_caller_without_a_row_an_index_and_no_calls_are_silent() -> None:
    assert found(*sent(), rows=(row(WRITE, caller="other"),)) == []
    assert found(*sent(), target=GSI2) == []
    assert list(UnneededTransaction().detect(traffic())) == []
