from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.planning.whatif import Asked, replay


def put(at: float = 0, sort: str | None = "A", units: float = 1.0, **fields: Any) -> Asked:
    return Asked(time=round(at * 1000), units=units, is_write=True, sort=sort, **fields)


def get(at: float = 0, sort: str | None = "A", units: float = 1.0, **fields: Any) -> Asked:
    return Asked(time=round(at * 1000), units=units, is_write=False, sort=sort, **fields)


def test_a_random_suffix_spreads_the_writes_of_one_item_and_one_by_the_item_does_not() -> None:
    outcome = replay([put(units=1) for _ in range(2000)], 4)
    assert outcome.before.hottest_write_units == outcome.by_item.hottest_write_units == 2000
    assert 500 <= outcome.random.hottest_write_units < 620
    assert outcome.useful_parts == 1


def test_many_items_are_spread_by_their_sort_keys_too() -> None:
    outcome = replay([put(sort=str(number)) for number in range(2000)], 4)
    assert outcome.by_item.hottest_write_units < 620
    assert outcome.useful_parts == 2000


def test_the_fullest_second_counts_and_refused_tries_are_demand() -> None:
    outcome = replay([put(0), put(1, tries=2), put(2)], 2)
    assert (outcome.before.hottest_write_units, outcome.seconds, outcome.requests) == (3, 3, 3)


def test_a_read_of_an_item_asks_all_random_parts_and_one_of_the_others() -> None:
    outcome = replay([get(units=2)], 4)
    assert outcome.before.read_units_a_second == 2
    assert outcome.random.read_units_a_second == 2 + 3 * 0.5
    assert outcome.by_item.read_units_a_second == 2
    assert outcome.co_read_share == 0


def test_a_range_asks_all_parts_either_way() -> None:
    outcome = replay([get(sort=None, units=1, is_range=True), get(sort=None, units=40, is_range=True)], 4)
    assert outcome.random.read_units_a_second == outcome.by_item.read_units_a_second == 2 + 40
    assert outcome.by_item.hottest_read_units == 0.5 + 10
    assert outcome.co_read_share == 1


def test_a_sample_is_reckoned_with_the_imbalance_of_all_that_it_stands_for() -> None:
    outcome = replay([put(units=1, weight=100.0) for _ in range(20)], 4)
    assert (outcome.is_sampled, outcome.requests) == (True, 2000)
    assert 500 < outcome.random.hottest_write_units < 620


@pytest.mark.parametrize(
    ("asked", "advice", "because"),
    [
        ([put(units=400)], "group", "40%"),
        ([put(units=900), get()], "split", "few reads"),
        ([put(units=900), get(sort=None, is_range=True)], "split", "100% of its reads"),
        ([get(units=2000)], "group", "no suffix cools"),
        ([get(units=20, sort=str(number)) for number in range(100)], "split", "few reads"),
        ([put(units=900)], "split", "no read of it was seen"),
    ],
)
def test_items_belong_together_until_they_are_too_hot_for_it(asked: list[Asked], advice: str, because: str) -> None:
    outcome = replay(asked, 4)
    assert outcome.advice == advice
    assert because in outcome.because


def test_reads_alone_have_no_useful_parts_and_nothing_is_no_outcome() -> None:
    assert replay([get()], 2).useful_parts is None
    assert replay([put(sort=None)], 2).useful_parts is None
    assert replay([put()], 2).co_read_share is None
    with pytest.raises(ValueError, match="no request"):
        replay([], 2)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ABCDE"), st.booleans(), st.floats(0.5, 50)), min_size=1),
    st.integers(2, 20),
)
def test_no_part_is_hotter_than_the_whole_and_reads_never_become_cheaper(
    drawn: list[tuple[int, str, bool, float]], parts: int
) -> None:
    asked = [put(at, sort, units) if is_write else get(at, sort, units) for at, sort, is_write, units in drawn]
    outcome = replay(asked, parts)
    for side in (outcome.random, outcome.by_item):
        assert side.hottest_write_units <= outcome.before.hottest_write_units + 1e-9
        assert side.read_units_a_second >= outcome.before.read_units_a_second - 1e-9
