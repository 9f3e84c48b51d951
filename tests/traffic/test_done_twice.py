from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import CallTry
from analyzer.traffic.done_twice import done_twice, is_additive
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, shape

ADD = shape("UpdateItem", "add", update="ADD hits :0")
LOST = "ReadTimeoutError"


@pytest.mark.parametrize(
    ("update", "is_one"),
    [
        ("ADD hits :0", True),
        ("SET n = n + :0", True),
        ("SET n = n - :0", True),
        ("SET l = list_append(l, :0)", True),
        ("SET n = :0", False),
        (None, False),
    ],
)
def test_what_adds_changes_the_item_anew_each_time(update: str | None, is_one: bool) -> None:  # noqa: FBT001
    assert is_additive(shape("UpdateItem", "u", update=update)) is is_one


def test_a_condition_may_stop_the_second_time() -> None:
    assert not is_additive(shape("UpdateItem", "u", update="ADD hits :0", condition="last <> :0"))


def add(at: float, error: str | None = None, tries: tuple[str, ...] = (), of: Any = ADD, **fields: Any) -> Any:
    told = tuple(CallTry(at_ms=float(n), code=code) for n, code in enumerate(tries))
    return call("UpdateItem", at, of, error=error, tries=told, **fields)


def twice(*calls: Any) -> int:
    return sum(map(len, done_twice(book(*calls), CASES).values()))


def test_a_try_that_the_sdk_sent_again_may_have_been_done() -> None:
    assert twice(add(0, tries=(LOST,))) == 1
    assert twice(add(0, LOST, tries=(LOST, LOST))) == 1


def test_a_call_that_ended_at_its_first_try_was_not_sent_again() -> None:
    assert twice(add(0, LOST, tries=(LOST,))) == 0
    assert twice(add(0, "ThrottlingException", tries=("ThrottlingException",))) == 0


def test_its_caller_sends_it_again_in_the_same_trace() -> None:
    assert twice(add(0, LOST, trace="t"), add(1, trace="t")) == 1
    assert twice(add(0, LOST, trace="t"), add(1, trace="u")) == 0


def test_without_a_trace_a_lone_call_of_that_key_is_a_repetition_and_a_busy_counter_is_none() -> None:
    assert twice(add(0, LOST), add(2)) == 1
    assert twice(add(0, LOST), add(2), add(4)) == 0
    assert twice(add(0), add(2, LOST)) == 0
    assert twice(add(0, LOST), add(90)) == 0


def test_what_is_not_whole_is_not_followed() -> None:
    assert twice(add(0, LOST, key_whole=False), add(2, key_whole=False)) == 0


def test_what_adds_nothing_and_what_is_another_item_does_not_count() -> None:
    put = shape("PutItem", "put")
    assert twice(add(0, LOST, of=put), add(1, of=put)) == 0
    assert twice(add(0, LOST), add(1, key=item("CASE#8"))) == 0
