from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from analyzer.model.calls import CallPart
from analyzer.traffic.rolling import SortOrder, sort_order
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, shape, traffic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.target import Target

PUT = shape("PutItem")


def puts(sorts: Iterable[str], partition: str = "LOG") -> list[Call]:
    return [call("PutItem", at, key=item(partition, sort), of=PUT) for at, sort in enumerate(sorts)]


def order(calls: list[Call], target: Target = CASES) -> SortOrder | None:
    return sort_order(traffic(target, calls=book(*calls)), "LOG")


def test_sort_keys_made_of_the_time_roll() -> None:
    one = order(puts(f"2026-{n:05}" for n in range(60)))
    assert one is not None
    assert (one.items, one.tau, one.at_edge, one.is_rolling) == (60, 1.0, 1.0, True)


def test_falling_ones_roll_too() -> None:
    one = order(puts(f"{99_999 - n}" for n in range(60)))
    assert one is not None
    assert (one.tau, one.is_rolling) == (-1.0, True)


def test_numbers_are_compared_as_numbers() -> None:
    one = order(puts(str(n) for n in range(5, 105)))
    assert one is not None
    assert one.tau == 1.0


@pytest.mark.parametrize("streams", [1000, 20])
def test_random_ones_and_many_streams_do_not(streams: int) -> None:
    drawn = random.Random(3)
    one = order(puts(f"{drawn.randrange(streams):03}#{n:05}" for n in range(200)))
    assert one is not None
    assert not one.is_rolling


def test_an_item_that_is_written_again_counts_once() -> None:
    assert order(puts(["a", "b"] * 60)) is None


def test_fewer_than_fifty_items_tokens_and_other_keys_say_nothing() -> None:
    assert order(puts(f"{n:03}" for n in range(49))) is None
    assert order(puts(f"~k{'abcdefgh'[n % 8]}aaaaaa{n % 6 + 2}" for n in range(60))) is None
    assert order(puts((f"{n:03}" for n in range(60)), "OTHER")) is None
    assert order([call(at=n, key=item("LOG", f"{n:03}")) for n in range(60)]) is None
    assert order([*puts([]), call("PutItem", of=PUT, key=None), *(call(of=PUT, key=item("LOG")),)]) is None
    assert sort_order(traffic(), "LOG") is None


def test_the_parts_of_a_batch_are_writes_too() -> None:
    parts = tuple(
        CallPart(position=n, operation="Put" if n else "Delete", table="cases", key=item("LOG", f"{n:03}"))
        for n in range(60)
    )
    one = order([call("BatchWriteItem", key=None, parts=parts, of=PUT)])
    assert one is not None
    assert one.items == 59


def test_entries_of_an_index_are_told_by_the_items_written() -> None:
    entries = [
        call("PutItem", n, of=PUT, index_keys=(("GSI2", item("LOG", f"{n:03}")), ("GSI1", item("X", "1"))))
        for n in range(60)
    ]
    one = order(entries, GSI2)
    assert one is not None
    assert one.is_rolling
