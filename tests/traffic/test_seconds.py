from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.finding import Direction
from analyzer.model.window import Window
from analyzer.traffic.seconds import fullest_second
from tests.support.calls import book, call, item
from tests.support.evidence import exactly, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import CallBook
    from analyzer.model.estimate import Estimate

READ, WRITE = Direction.READ, Direction.WRITE


def fullest(calls: CallBook | None, direction: Direction = READ, *within: Window) -> Estimate | None:
    return fullest_second(traffic(calls=calls), direction, within or None)


def test_the_second_with_most_units_is_counted_where_all_calls_are_there() -> None:
    calls = book(*(call(at=at, read_units=units) for at, units in ((1.0, 3), (1.9, 4), (2.0, 6), (400.0, 99))))
    assert fullest(calls) == exactly(7.0)


def test_only_the_stretches_asked_for_are_looked_at() -> None:
    calls = book(call(at=1, read_units=9), call(at=61, read_units=2))
    assert fullest(calls, READ, Window(60_000, 120_000)) == exactly(2.0)


def test_reads_and_writes_are_apart() -> None:
    calls = book(call(at=1, read_units=9), call("PutItem", at=1, write_units=2))
    assert fullest(calls, WRITE) == exactly(2.0)


def test_without_a_book_or_a_call_with_units_nothing_is_known() -> None:
    assert fullest(None) is None
    assert fullest(book(call(), call(read_units=5, key_whole=False))) is None


def test_a_sample_gives_bounds_and_never_less_than_was_seen() -> None:
    calls = book(*(call(at=1, read_units=1, key=item(str(n))) for n in range(400)), share=0.5)
    one = fullest(calls)
    assert one is not None
    assert one.value == 800
    assert 700 < one.low < 800 < one.high < 900
    single = fullest(book(*(call(at=1, read_units=1) for _ in range(400)), share=0.5))
    assert single is not None
    assert single.low == 400


@given(st.integers(0, 1000))
def test_even_seconds_do_not_look_like_a_burst_in_a_sample(seed: int) -> None:
    drawn = random.Random(seed)
    calls = [
        call(at=second + 0.5, read_units=1, key=item(f"{second}-{n}"))
        for second in range(60)
        for n in range(60)
        if drawn.random() < 0.25
    ]
    one = fullest(book(*calls, share=0.25))
    assert one is not None
    assert one.low < 80
