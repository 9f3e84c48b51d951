from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.window import Window
from analyzer.traffic.begun import began
from tests.support.calls import book, call, item
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.instant import Instant

STRONG = shape("GetItem", "strong", consistent=True)
HOUR = Window(0, 3_600_000)
NOON = 1800


def first_of(*times: float, observed: int | None = None, caller: str = "api", **fields: Any) -> Instant | None:
    held = book(*(call(at=at, of=STRONG, key=item(f"CASE#{at}")) for at in times), **fields)
    rows = (row(STRONG, caller=caller, requests=len(times) if observed is None else observed),)
    return began(rows, traffic(rows=rows, calls=held, window=HOUR))


def each_second(start: int, end: int = 3600) -> range:
    return range(start, end)


def test_what_was_not_there_at_first_began_with_its_first_call() -> None:
    assert first_of(*each_second(NOON)) == NOON * 1000


@pytest.mark.parametrize(
    ("times", "why"),
    [
        (each_second(0), "it was there from the beginning"),
        (each_second(60), "a minute is no beginning"),
        ((900, 1800, 2700), "of rare calls the first one may come late by chance"),
        ((), "no call is there"),
    ],
)
def test_what_may_have_been_there_from_the_beginning_has_none(times: tuple[int, ...], why: str) -> None:
    assert first_of(*times) is None, why


def test_a_book_that_was_begun_later_or_lets_go_of_older_calls_does_not_tell() -> None:
    assert first_of(*each_second(NOON), since=1) is None
    assert first_of(*each_second(NOON), since=0) == NOON * 1000
    assert first_of(*each_second(NOON), observed=3601) is None
    assert first_of(*each_second(NOON), observed=3600) == NOON * 1000
    assert first_of(*each_second(NOON), observed=7200, share=0.5) == NOON * 1000
    assert began((row(STRONG),), traffic(window=HOUR)) is None


def test_only_calls_of_those_rows_that_are_here_with_all_their_names_count() -> None:
    assert first_of(*each_second(NOON), caller="job") is None
    early = call(at=5, of=STRONG, key_whole=False, notable=None)
    other = call("PutItem", at=7)
    held = book(early, other, *(call(at=at, of=STRONG) for at in each_second(NOON)))
    rows = (row(STRONG, requests=1800),)
    assert began(rows, traffic(rows=rows, calls=held, window=HOUR)) == NOON * 1000
