from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.period import Period, period_of


def test_a_steady_clock_has_its_period() -> None:
    assert period_of([0, 10, 20, 30, 40, 50]) == Period(10, 1, 1.0)


def test_a_clock_with_a_little_jitter_keeps_its_period() -> None:
    found = period_of([0, 10.4, 19.8, 30.1, 40.0, 50.3])
    assert found is not None
    assert round(found.seconds) == 10


def test_a_tick_that_was_not_seen_is_no_break() -> None:
    found = period_of([0, 10, 20, 40, 50, 60, 70])
    assert found == Period(10, 1, 1.0)


def test_two_processes_with_one_period_are_two_clocks() -> None:
    assert period_of([0, 3, 10, 13, 20, 23, 30, 33, 40, 43]) == Period(10, 2, 1.0)
    assert period_of([0, 3, 10, 13, 20, 23, 30, 33, 40]) is None


def test_bursts_at_one_instant_have_no_period_between_them() -> None:
    assert period_of([0, 0, 0, 0, 0, 0]) is None


def test_three_instants_at_least_make_a_rhythm() -> None:
    assert period_of([0, 10]) is None
    assert period_of([]) is None


def test_arrivals_by_chance_keep_no_period() -> None:
    chance = random.Random(7)
    for many in (9, 12, 20, 30):
        found = 0
        for _ in range(400):
            times, at = [], 0.0
            for _ in range(many):
                at += chance.expovariate(0.1)
                times.append(at)
            found += period_of(times) is not None
        assert found <= 1


@given(st.floats(1, 600), st.integers(3, 40), st.floats(0, 1e6))
def test_every_steady_clock_is_found_whenever_it_starts(period: float, ticks: int, start: float) -> None:
    found = period_of([start + number * period for number in range(ticks)])
    assert found is not None
    assert abs(found.seconds - period) < 0.01 * period


def late(by: float) -> list[float]:
    """Ten ticks on a clock, then all later ones so much behind it."""
    return [number * 10 + (by if number >= 10 else 0) for number in range(20)]


def test_a_tick_is_on_time_within_a_tenth_of_the_period_and_no_further() -> None:
    assert period_of(late(1)) == Period(10, 1, 1.0)
    assert period_of(late(1.2)) == Period(10, 1, 18 / 19)


def test_two_ticks_in_a_row_may_go_unseen_and_not_three() -> None:
    assert period_of(late(20)) == Period(10, 1, 1.0)
    assert period_of(late(30)) == Period(10, 1, 18 / 19)


def test_four_clocks_may_tick_together_and_not_five() -> None:
    def ticking(*offsets: float) -> list[float]:
        return [beat * 100 + offset for beat in range(6) for offset in offsets]

    assert period_of(ticking(0, 7, 31, 64)) == Period(100, 4, 1.0)
    assert period_of(ticking(0, 7, 20, 45, 71), regular_share=1.0) is None


def test_a_share_that_is_just_reached_is_enough() -> None:
    assert period_of([0, 10, 20, 30, 40, 56], regular_share=0.8) == Period(10, 1, 0.8)


def test_clocks_that_tick_at_one_instant_are_told_apart_from_a_stop() -> None:
    assert period_of([number // 2 * 10 for number in range(10)]) == Period(10, 2, 1.0)


def test_three_instants_are_a_rhythm() -> None:
    assert period_of([0, 10, 20]) == Period(10, 1, 1.0)


def test_the_period_is_the_median_of_the_gaps() -> None:
    assert period_of([0, 4, 8, 12, 22, 32, 42, 52], regular_share=0.5) == Period(10, 1, 4 / 7)
