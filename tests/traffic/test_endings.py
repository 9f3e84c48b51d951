from __future__ import annotations

from typing import Any

from analyzer.model.calls import CallPart
from analyzer.model.estimate import Estimate
from analyzer.traffic.endings import CONDITIONS, CONFLICTS, blamed, cancel_reasons, ended_by
from tests.support.calls import book, call, item
from tests.support.evidence import refused, row, shape, traffic

WRITE = shape("TransactWriteItems", "tw", writes=True, key=())
CANCELED = "TransactionCanceledException"


def canceled(at: float, *codes: str | None, parts: tuple[CallPart, ...] = ()) -> Any:
    return call(at=at, of=WRITE, key=None, error=CANCELED, cancellation=codes, parts=parts)


def test_of_a_sampled_log_the_seen_part_is_taken_of_all_canceled_calls() -> None:
    calls = [
        canceled(1, "TransactionConflict"),
        canceled(2, "ConditionalCheckFailed"),
        canceled(3, "None"),
        canceled(4),
    ]
    told = refused("", code=CANCELED)
    evidence = traffic(
        rows=(row(WRITE),),
        refusals=(type(told)(0, CANCELED, "", Estimate(100, 80, 120)),),
        calls=book(*calls),
    )
    (one,) = ended_by(evidence, CONFLICTS)
    assert one.calls == Estimate(25, 20, 30)
    assert [seen.time for seen in one.seen] == [1000]


def test_a_call_that_ended_otherwise_is_not_counted() -> None:
    calls = [canceled(1, "TransactionConflict"), call(at=2, of=WRITE, key=None, error="ThrottlingException")]
    refusals = (refused("", 1, code=CANCELED), refused("", 1, code="ThrottlingException"))
    (one,) = ended_by(traffic(rows=(row(WRITE),), refusals=refusals, calls=book(*calls)), CONFLICTS)
    assert (one.calls.value, len(one.seen)) == (1, 1)


def test_calls_of_other_callers_do_not_speak_for_a_row() -> None:
    other = call(at=1, of=WRITE, key=None, error=CANCELED, cancellation=("TransactionConflict",), caller="other")
    evidence = traffic(rows=(row(WRITE),), refusals=(refused("", 9, code=CANCELED),), calls=book(other))
    assert ended_by(evidence, CONFLICTS) == []


def test_a_key_is_blamed_once_a_call_and_the_most_blamed_comes_first() -> None:
    def part(key: str, code: str) -> CallPart:
        return CallPart(position=0, operation="Update", table="cases", key=item(key), canceled=code)

    twice = (part("A", "TransactionConflict"), part("A", "TransactionConflict"), part("C", "None"))
    calls = [canceled(1, parts=twice), canceled(2, parts=(part("B", "TransactionConflict"),))]
    calls += [
        canceled(3, parts=(part("B", "TransactionConflict"),)),
        call(at=4, key=None, error="TransactionConflictException"),
    ]
    assert [(one.name.partition, one.calls) for one in blamed(calls, CONFLICTS)] == [("B", 2), ("A", 1)]
    assert blamed(calls, CONDITIONS) == []


def test_reasons_are_counted_by_call_with_all_their_positions() -> None:
    calls = [canceled(1, "TransactionConflict", "TransactionConflict"), canceled(2, None, "None", "ValidationError")]
    assert cancel_reasons(traffic(calls=book(*calls))) == {
        "TransactionConflict": (1, (1, 2)),
        "ValidationError": (1, (3,)),
    }
    assert cancel_reasons(traffic()) == {}
