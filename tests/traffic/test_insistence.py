from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.traffic.insistence import asked_again
from tests.support.calls import book, call, item
from tests.support.evidence import traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

THROTTLED = "ProvisionedThroughputExceededException"
NAME = ("api", "putitem")


def tries(*times: float, error: str | None = THROTTLED, key: str = "1") -> list[Call]:
    return [call("PutItem", at, key=item(key), error=error) for at in times]


def count(*calls: Call, share: float = 1.0) -> int:
    return asked_again(traffic(calls=book(*calls, share=share)), 3)[NAME]


def test_what_comes_again_after_failing_is_counted() -> None:
    assert count(*tries(1, 2, 3, 4)) == 3


def test_two_calls_are_no_run() -> None:
    assert count(*tries(1, 2)) == 0


def test_each_key_is_a_run_of_its_own() -> None:
    assert count(*tries(1, 2, 3), *tries(1, 2, 3, key="2"), *tries(1, key="3")) == 4


def test_a_failed_condition_a_wrong_request_and_a_success_are_no_reason_to_ask_again() -> None:
    assert count(*tries(1, 2, 3, error="ConditionalCheckFailedException")) == 0
    assert count(*tries(1, 2, 3, error="ValidationException")) == 0
    assert count(*tries(1, 2, 3, error=None)) == 0


def test_a_poller_that_fails_keeps_its_clock() -> None:
    assert count(*tries(0, 5, 10, error=None), *tries(15, 20, 25, 30)) == 0


def test_one_that_comes_sooner_when_it_fails_insists() -> None:
    assert count(*tries(0, 5, 10, error=None), *tries(15, 16, 17, 18)) == 3


def test_what_came_before_the_window_is_not_counted_but_known() -> None:
    assert count(*tries(-50, -49, -48)) == 0


def test_without_a_book_nothing_is_known() -> None:
    assert asked_again(traffic(), 3) == {}


def test_of_a_batch_whose_parts_were_not_seen_nobody_knows_whether_it_asked_the_same() -> None:
    blind = [call("BatchWriteItem", at, key=None, error=THROTTLED) for at in (1, 2, 3, 4)]
    assert not asked_again(traffic(calls=book(*blind)), 3)
    scans = [call("Scan", at, key=None, error=THROTTLED) for at in (1, 2, 3, 4)]
    assert asked_again(traffic(calls=book(*scans)), 3).total() == 3
