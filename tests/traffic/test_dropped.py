from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import CallPart
from analyzer.traffic.dropped import Left, left_behind
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, shape

END = 600_000


def parts(*names: str, back: tuple[str, ...] | None = ()) -> tuple[CallPart, ...]:
    return tuple(
        CallPart(
            position=at,
            operation="Put",
            table="cases",
            key=item(name),
            is_handed_back=None if back is None else name in back,
        )
        for at, name in enumerate(names)
    )


def batch(
    at: float, *names: str, back: tuple[str, ...] | None = (), operation: str = "BatchWriteItem", **fields: Any
) -> Any:
    of = shape(operation, operation, writes=operation == "BatchWriteItem")
    unprocessed = fields.pop("unprocessed", len(back or ()))
    fields = {"trace": "t", "key": None} | fields
    return call(operation, at, of, parts=parts(*names, back=back), unprocessed=unprocessed, **fields)


def left(*calls: Any, **fields: Any) -> list[Left]:
    return left_behind(book(*calls, **fields), CASES, END)


def test_what_came_back_and_was_not_sent_again_is_left() -> None:
    (one,) = left(batch(0, "a", "b", "c", back=("b", "c")), batch(1, "b"), batch(2, "d"))
    assert (one.caller, one.operation, one.batches, one.handed_back, len(one.left), one.items) == (
        "api",
        "BatchWriteItem",
        3,
        1,
        1,
        1,
    )


def test_what_was_sent_again_is_not() -> None:
    (one,) = left(batch(0, "a", "b", back=("b",)), batch(1, "b"))
    assert (one.left, one.items) == ((), 0)


def test_a_queue_that_delivers_again_later_loses_nothing() -> None:
    put = call("PutItem", 300, shape("PutItem", "p"), key=item("b"), trace="other")
    (one,) = left(batch(0, "a", "b", back=("b",)), put)
    assert one.left == ()


def test_what_somebody_else_writes_later_does_not_help() -> None:
    put = call("PutItem", 300, shape("PutItem", "p"), key=item("b"), trace="other", caller="worker")
    (one,) = left(batch(0, "a", "b", back=("b",)), put)
    assert one.items == 1


def test_where_positions_are_not_told_a_later_write_of_any_of_its_keys_is_taken_for_all() -> None:
    put = call("PutItem", 300, shape("PutItem", "p"), key=item("b"), trace="other")
    (one,) = left(batch(0, "a", "b", back=None, unprocessed=1), put)
    assert one.left == ()
    (one,) = left(batch(0, "a", "b", back=None, unprocessed=1))
    assert one.items == 1


@pytest.mark.parametrize(("back", "unprocessed"), [(("b", "c"), 2), (None, 3)])
def test_a_later_read_by_the_same_caller_is_somebody_elses(back: tuple[str, ...] | None, unprocessed: int) -> None:
    lost = batch(0, "a", "b", "c", back=back, unprocessed=unprocessed, operation="BatchGetItem")
    (one,) = left(lost, call("GetItem", 300, key=item("b"), trace="other"))
    assert (one.operation, one.items) == ("BatchGetItem", unprocessed)


def test_what_is_younger_than_a_minute_may_still_come() -> None:
    assert left(batch(END / 1000 - 30, "a", back=("a",))) == []


def test_what_cannot_be_followed_and_what_is_no_batch_is_left_out() -> None:
    assert left(batch(0, "a", back=("a",), trace=None, shape_whole=True), share=0.5) == []
    assert left(batch(0, "a", back=("a",), operation="BatchExecuteStatement")) == []


def test_a_part_without_a_key_was_never_written_again() -> None:
    nameless = (CallPart(position=0, operation="Put", table="cases", is_handed_back=True),)
    of = shape("BatchWriteItem", "w", writes=True)
    (one,) = left(call("BatchWriteItem", 0, of, key=None, trace="t", parts=nameless, unprocessed=1))
    assert one.items == 1
