from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.estimate import Estimate
from analyzer.statistics.false_discovery import discoveries
from analyzer.statistics.rates import (
    Standing,
    count_bounds,
    rate_ratio,
    share_bounds,
    shared_growth,
    standing,
)
from analyzer.statistics.student import t_quantile, t_tail

WEEK = (100.0, 110.0, 90.0, 105.0, 95.0, 60.0, 40.0)
COUNTS = st.lists(st.floats(0, 1e6), min_size=2, max_size=10)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.8, 1.2, Standing.IN),
        (1.6, 3.0, Standing.OUT),
        (0.1, 0.4, Standing.OUT),
        (1.2, 1.8, Standing.UNKNOWN),
        (0.4, 0.8, Standing.UNKNOWN),
    ],
)
def test_an_interval_is_in_out_or_undecided(low: float, high: float, said: Standing) -> None:
    assert standing(Estimate(1.0, low, high), 0.5, 1.5) is said


def test_without_a_lower_bound_little_is_in() -> None:
    assert standing(Estimate(0.0, 0.0, 0.1), most=1.0) is Standing.IN


def test_a_share_of_few_is_wide_and_of_many_narrow() -> None:
    few, many = share_bounds(5, 10), share_bounds(5000, 10_000)
    assert (few.low, few.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert (many.low, many.high) == pytest.approx((0.4902, 0.5098), abs=1e-4)


def test_nothing_is_known_of_a_share_of_nothing() -> None:
    assert share_bounds(0, 0) == Estimate(0.0, 0.0, 1.0)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_a_share_lies_within_its_bounds(part: int, whole: int) -> None:
    share = share_bounds(part, whole)
    assert 0 <= share.low <= share.value <= share.high <= 1


def test_a_count_that_scatters_more_is_less_sure() -> None:
    plain, crowded = count_bounds(100), count_bounds(100, 10)
    assert (plain.low, plain.high) == pytest.approx((82.2, 121.7), abs=0.1)
    assert crowded.low < plain.low < plain.high < crowded.high
    assert count_bounds(0, 2) == Estimate(0.0, 0.0, 6.0)


def test_twice_as_many_on_every_day_is_a_change() -> None:
    found = rate_ratio(WEEK, [2 * count for count in WEEK])
    assert found is not None
    assert found.value == pytest.approx(2.0, rel=0.01)
    assert found.low > 1.5
    assert found.p < 0.01
    assert found.dispersion == 1.0


def test_a_fifth_more_is_within_the_margin_however_sure() -> None:
    found = rate_ratio([count * 1000 for count in WEEK], [count * 1200 for count in WEEK])
    assert found is not None
    assert found.p > 0.95


def test_growth_that_all_share_is_no_change() -> None:
    found = rate_ratio(WEEK, [2 * count for count in WEEK], growth=2.0)
    assert found is not None
    assert found.value == pytest.approx(1.0, rel=0.01)


def test_days_that_scatter_widen_the_interval() -> None:
    found = rate_ratio(WEEK, (900.0, 10.0, 90.0, 5.0, 95.0, 60.0, 40.0))
    assert found is not None
    assert found.dispersion > 10
    assert found.low < 1 < found.high


def test_a_wobble_that_was_learned_widens_it_too() -> None:
    calm, wobbly = (rate_ratio(WEEK, [2 * count for count in WEEK], wobble=wobble) for wobble in (0.0, 0.05))
    assert calm is not None
    assert wobbly is not None
    assert wobbly.p > calm.p


def test_one_stretch_is_compared_with_several() -> None:
    found = rate_ratio((100, 104, 96, 101, 99), (300,))
    assert found is not None
    assert found.value == pytest.approx(3.0, rel=0.01)
    assert found.p < 0.01
    assert found.estimate == Estimate(found.value, found.low, found.high)


@pytest.mark.parametrize(("before", "now"), [((5,), (9,)), ((), (9,)), ((5, 6), ()), ((0, 0), (0, 0))])
def test_where_scatter_cannot_be_measured_there_is_no_ratio(before: tuple[float, ...], now: tuple[float, ...]) -> None:
    assert rate_ratio(before, now) is None


@given(COUNTS, COUNTS)
def test_a_ratio_lies_within_its_bounds(before: list[float], now: list[float]) -> None:
    found = rate_ratio(before, now)
    if found is not None:
        assert found.low <= found.value <= found.high
        assert 0 <= found.p <= 1


def test_growth_is_the_median_of_the_patterns_with_calls_enough() -> None:
    rates = [((300.0,), (330.0,)), ((300.0, 300.0), (900.0,)), ((300.0,), (360.0,)), ((10.0,), (900.0,)), ((), (1.0,))]
    assert shared_growth([*rates, ((300.0,), (310.0,)), ((300.0,), (390.0,))]) == pytest.approx(1.2)


def test_of_few_patterns_none_is_the_growth_of_all() -> None:
    assert shared_growth([((300.0,), (900.0,))] * 4) == 1.0
    assert shared_growth([]) == 1.0


def test_two_hundred_patterns_that_wobble_and_grow_together_flag_those_that_changed_and_hardly_another() -> None:
    source = np.random.default_rng(11)
    weekday = np.array([1.0, 1.1, 1.0, 1.05, 0.95, 0.6, 0.5])

    def counts(mean: float) -> tuple[float, ...]:
        means = mean * weekday * source.lognormal(0, 0.05)
        return tuple(source.negative_binomial(100, 100 / (100 + means)).astype(float).tolist())

    means = source.lognormal(math.log(2000), 1.0, 200)
    changed = dict(enumerate([2.0, 0.4] * 4))
    pairs = [(counts(mean), counts(mean * 1.08 * changed.get(number, 1.0))) for number, mean in enumerate(means)]
    growth = shared_growth(pairs)
    ratios = [rate_ratio(before, now, growth=growth) for before, now in pairs]
    told = discoveries([1.0 if ratio is None else ratio.p for ratio in ratios], 0.05)
    assert growth == pytest.approx(1.08, abs=0.05)
    assert sum(told[8:]) <= 1
    assert sum(told[:8]) >= 4


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.5, 1.5, Standing.IN),
        (1.5, 2.0, Standing.UNKNOWN),
        (0.1, 0.5, Standing.UNKNOWN),
        (0.49, 1.5, Standing.UNKNOWN),
        (0.5, 1.51, Standing.UNKNOWN),
    ],
)
def test_a_bound_that_is_just_reached_is_inside(low: float, high: float, said: Standing) -> None:
    assert standing(Estimate(1.0, low, high), 0.5, 1.5) is said


def test_more_than_all_are_all() -> None:
    assert share_bounds(12, 10).value == 1.0


@pytest.mark.parametrize(("part", "low", "high"), [(0, 0.0, 0.2775), (10, 0.7225, 1.0), (2, 0.0567, 0.5098)])
def test_the_interval_of_a_share_is_that_of_wilsons_tables(part: int, low: float, high: float) -> None:
    share = share_bounds(part, 10)
    assert (share.value, share.low, share.high) == pytest.approx((part / 10, low, high), abs=1e-4)


def test_the_interval_of_a_count_is_log_normal() -> None:
    assert count_bounds(1).high == pytest.approx(math.exp(1.959964), rel=1e-6)
    assert count_bounds(100, 4).low == pytest.approx(100 * math.exp(-0.2 * 1.959964), rel=1e-6)


def test_a_ratio_of_pairs_is_what_the_formulas_say() -> None:
    """Of both days together the first has 70 of 300: what each side would have of it without scatter."""
    found = rate_ratio((40.0, 60.0), (30.0, 170.0), growth=1.25, margin=1.2, wobble=0.01)
    assert found is not None
    shares = [70 / 300, 230 / 300]
    chi2 = sum(
        (seen - whole * share) ** 2 / (whole * share)
        for whole, side in ((100, (40, 60)), (200, (30, 170)))
        for seen, share in zip(side, shares, strict=True)
    )
    error = math.sqrt(chi2 * (1 / 100 + 1 / 200) + 0.02)
    log = math.log(200.5 / 100.5 / 1.25)
    assert found.dispersion == pytest.approx(chi2)
    assert found.value == pytest.approx(math.exp(log))
    assert found.low == pytest.approx(math.exp(log - t_quantile(0.025, 1) * error))
    assert found.high == pytest.approx(math.exp(log + t_quantile(0.025, 1) * error))
    assert found.p == pytest.approx(t_tail((log - math.log(1.2)) / error, 1))


def test_a_ratio_of_unequal_stretches_scatters_about_each_sides_own_mean() -> None:
    found = rate_ratio((40.0, 60.0, 80.0), (30.0, 170.0))
    assert found is not None
    assert found.dispersion == pytest.approx(((400 + 0 + 400) / 60 + (4900 + 4900) / 100) / 3)
    assert found.value == pytest.approx(200.5 / 180.5 * 3 / 2)


def test_without_another_word_the_margin_is_half_as_much_again() -> None:
    before, now = (400.0, 410.0, 390.0), (610.0, 600.0, 590.0)
    assert rate_ratio(before, now) == rate_ratio(before, now, growth=1.0, margin=1.5, wobble=0.0)
    assert rate_ratio(before, now) != rate_ratio(before, now, margin=1.6)


def test_a_pattern_that_is_gone_or_new_has_a_ratio_with_bounds() -> None:
    gone, new = rate_ratio((100.0, 100.0), (0.0, 0.0)), rate_ratio((0.0, 0.0), (100.0, 100.0))
    assert gone is not None
    assert new is not None
    error = math.sqrt(1 / 200 + 2)
    assert gone.value == pytest.approx(0.5 / 200.5)
    assert new.value == pytest.approx(200.5 / 0.5)
    assert new.p == gone.p == pytest.approx(t_tail((math.log(401) - math.log(1.5)) / error, 1))


def test_two_days_of_one_are_enough_and_a_single_pair_is_not() -> None:
    assert rate_ratio((1.0, 0.0), (0.0, 0.0)) is not None
    assert rate_ratio((1.0,), (1.0,)) is None
    assert rate_ratio((1.0, 2.0), (1.0,)) is not None


def test_what_lies_beyond_all_reckoning_is_cut_there() -> None:
    found = rate_ratio((1.0, 900.0), (900.0, 1.0), wobble=1e6)
    assert found is not None
    assert found.low == pytest.approx(math.exp(-300))
    assert found.high == pytest.approx(math.exp(300))


def test_growth_needs_five_patterns_of_more_than_two_hundred_calls() -> None:
    more, enough = ((201.0,), (402.0,)), ((200.0,), (800.0,))
    assert shared_growth([more] * 5) == 2.0
    assert shared_growth([*[more] * 4, enough]) == 1.0
    assert shared_growth([*[more] * 4, ((201.0,), (0.0,))]) == 1.0
    assert shared_growth([*[more] * 4, ((201.0,), (1.0,))]) == 2.0
    assert shared_growth([*[more] * 4, ((300.0,), ())]) == 1.0
    assert shared_growth([*[((300.0, 100.0), (300.0,))] * 5]) == 1.5


def test_one_of_one_is_a_share_of_which_little_is_known() -> None:
    assert share_bounds(1, 1) == pytest.approx((1.0, 0.2065, 1.0), abs=1e-4)


def test_a_day_of_which_less_than_one_call_was_to_be_expected_scatters_too() -> None:
    found = rate_ratio((1.0, 9.0), (0.0, 20.0))
    assert found is not None
    assert found.dispersion == pytest.approx(4 / 3 + 2 / 3 + (4 / 9) * (3 / 29 + 3 / 58), rel=1e-9)
