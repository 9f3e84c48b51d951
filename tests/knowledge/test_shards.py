from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.knowledge.shards import fan_out_units, imbalance, shards_needed


def test_the_fullest_of_eight_parts_of_a_thousand_writes_takes_a_third_more_than_the_mean() -> None:
    assert imbalance(8, 1000) == pytest.approx(1.33, abs=0.01)
    assert imbalance(32, 1000) == pytest.approx(1.72, abs=0.01)


def test_one_part_and_no_writes_are_even() -> None:
    assert imbalance(1, 1000) == imbalance(8, 0) == 1.0


def test_what_one_partition_serves_needs_no_second() -> None:
    assert shards_needed(600, 600).count == 1


def test_the_imbalance_asks_for_more_parts_than_the_mean() -> None:
    shards = shards_needed(3400, 3400)
    assert (shards.count, shards.hottest_units <= 700) == (6, True)
    assert shards_needed(3400, 100_000).count == 5


def test_bursts_leave_more_room() -> None:
    assert shards_needed(3000, 3000, burst_factor=2.5).count > shards_needed(3000, 3000, burst_factor=2.0).count


def test_where_no_number_of_parts_is_even_the_least_is_told() -> None:
    shards = shards_needed(900_000, 10)
    assert (shards.count, shards.hottest_units > 700) == (1000, True)


@given(st.floats(1, 50_000), st.floats(1, 50_000), st.floats(1, 5))
def test_the_fullest_part_stays_below_its_ceiling(units: float, writes: float, burst: float) -> None:
    shards = shards_needed(units, writes, burst_factor=burst)
    assert shards.count >= 1
    assert shards.hottest_units <= 1000 or shards.count == -(-units // (500 if burst > 2 else 700))


def test_a_read_of_all_parts_costs_half_a_unit_each() -> None:
    assert fan_out_units(10, 5) == 20
    assert fan_out_units(10, 1) == 0
