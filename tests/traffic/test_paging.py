from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.traffic.paging import Paging, pagings
from tests.support.calls import book, call
from tests.support.evidence import CASES, shape

if TYPE_CHECKING:
    from analyzer.model.calls import Call

UNTIL = 600_000
QUERY = shape("Query", "query", limit_bucket=16)


def page(at: float = 0.0, **fields: Any) -> Call:
    return call("Query", at, of=fields.pop("of", QUERY), **fields)


def only(*calls: Call) -> Paging:
    (one,) = pagings(book(*calls), CASES, UNTIL)
    return one


def test_a_page_that_nobody_took_up_is_left() -> None:
    paging = only(page(more=True, trace="a"))
    assert (len(paging.begun), len(paging.left), paging.followed, paging.left_share) == (1, 1, 0, 1.0)


def test_a_page_taken_up_in_its_trace_is_followed() -> None:
    paging = only(page(more=True, trace="a"), page(1, resumed=True, trace="a"))
    assert (len(paging.begun), len(paging.left), paging.followed) == (1, 0, 1)


def test_a_page_that_somebody_asks_for_in_another_trace_is_followed_too() -> None:
    paging = only(page(more=True, trace="a"), page(200, resumed=True, trace="b"))
    assert (len(paging.left), paging.followed, paging.left_share) == (0, 1, 0.0)


def test_one_who_reads_on_takes_up_one_page_alone() -> None:
    paging = only(page(more=True, trace="a"), page(1, more=True, trace="b"), page(200, resumed=True, trace="c"))
    assert (len(paging.left), paging.followed) == (1, 1)


def test_to_read_on_with_another_limit_is_to_read_on() -> None:
    other = shape("Query", "other", limit_bucket=128)
    paging = only(page(more=True, trace="a"), page(200, resumed=True, trace="c", of=other))
    assert (len(paging.left), paging.followed) == (0, 1)


def test_a_page_of_the_last_minute_may_still_be_taken_up() -> None:
    paging = only(page(599, more=True, trace="a"))
    assert (len(paging.begun), len(paging.left), paging.followed, paging.left_share) == (1, 0, 0, 0.0)


def test_calls_whose_sequence_is_not_whole_and_failed_ones_say_nothing() -> None:
    calls = (page(more=True, key_whole=False), page(1, error="ValidationException"))
    assert pagings(book(*calls), CASES, UNTIL) == []


def test_a_read_that_goes_on_before_the_log_began_is_no_beginning() -> None:
    assert pagings(book(page(resumed=True)), CASES, UNTIL) == []
