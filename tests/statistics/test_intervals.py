from __future__ import annotations

import math

import numpy as np
import pytest

from analyzer.model.estimate import ZERO, Estimate
from analyzer.statistics.intervals import estimate_count, estimate_sum


def test_what_was_kept_whole_is_counted() -> None:
    assert estimate_count([(7, 1.0)]) == Estimate.exact(7)
    assert estimate_count([(700, 1.0)]) == Estimate.exact(700)


def test_a_sample_stands_for_more_and_says_how_sure_it_is() -> None:
    value, low, high = estimate_count([(50, 0.1)])
    assert (value, low, high) == (500, 382, 645)


def test_nothing_seen_at_a_rate_still_has_an_upper_bound() -> None:
    value, low, high = estimate_count([(0, 0.1)])
    assert (value, low, high) == (0, 0, 24)


def test_many_seen_are_bounded_by_moments_as_tightly_as_by_the_exact_quantile() -> None:
    exact, moments = estimate_count([(200, 0.1)]), estimate_count([(201, 0.1)])
    assert moments.low - exact.low == pytest.approx(10, abs=5)
    assert moments.high - exact.high == pytest.approx(10, abs=5)


@pytest.mark.parametrize(("seen", "is_whole"), [(200, True), (201, False)])
def test_up_to_two_hundred_are_bounded_by_whole_numbers_and_more_by_moments(seen: int, *, is_whole: bool) -> None:
    _, low, high = estimate_count([(seen, 0.1)])
    assert (low.is_integer(), high.is_integer()) == (is_whole, is_whole)


def test_where_hardly_any_was_left_out_perhaps_none_was() -> None:
    assert estimate_count([(1, 0.99)]).low == pytest.approx(1)


def test_strata_are_added() -> None:
    assert estimate_count([(10, 1.0), (10, 0.5)]).value == 30


def test_no_stratum_is_nothing() -> None:
    assert estimate_count([]) == ZERO
    assert estimate_sum([]) == ZERO


def test_a_sum_that_was_kept_whole_is_counted() -> None:
    assert estimate_sum([(12.5, 40.0, 5, 1.0)]) == Estimate.exact(12.5)


def test_a_sampled_sum_is_never_less_than_what_was_seen() -> None:
    value, low, high = estimate_sum([(10.0, 100.0, 1, 0.9)])
    assert value == pytest.approx(11.11, abs=0.01)
    assert low == 10.0
    assert high > value


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_the_interval_of_a_count_covers_the_truth_as_often_as_it_says(rate: float) -> None:
    seeds, truth = 2000, 20_000
    covered = 0
    for seed in range(seeds):
        seen = int(np.random.default_rng(seed).binomial(truth, rate))
        _, low, high = estimate_count([(seen, rate)])
        covered += low <= truth <= high
    assert 0.93 <= covered / seeds <= 0.975


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_the_interval_of_a_sum_covers_the_truth_as_often_as_it_says(rate: float) -> None:
    seeds, requests = 2000, 20_000
    weights = np.random.default_rng(7).geometric(0.3, requests).astype(float)
    covered = 0
    for seed in range(seeds):
        kept = weights[np.random.default_rng(seed).random(requests) < rate]
        _, low, high = estimate_sum([(kept.sum(), (kept**2).sum(), len(kept), rate)])
        covered += low <= weights.sum() <= high
    assert 0.93 <= covered / seeds <= 0.975


@pytest.mark.parametrize("seen", [4, 400])
def test_the_extreme_one_of_many_counts_has_wider_bounds(seen: int) -> None:
    alone, picked = (estimate_count([(seen, 0.1)], of=of) for of in (1, 30))
    assert picked.value == alone.value
    assert picked.low < alone.low < alone.high < picked.high


def unseen_by_hand(seen: int, rate: float, probability: float) -> int:
    """Return the least number of unseen requests whose chance, summed one by one, reaches a probability."""
    shape = seen + 0.5
    chance = reached = rate**shape
    unseen = 0
    while reached < probability:
        unseen += 1
        chance *= (shape + unseen - 1) / unseen * (1 - rate)
        reached += chance
    return unseen


@pytest.mark.parametrize(("seen", "rate", "of"), [(0, 0.5, 1), (1, 0.9, 1), (7, 0.1, 1), (3, 0.3, 20), (200, 0.5, 1)])
def test_few_that_were_seen_are_bounded_by_the_exact_law(seen: int, rate: float, of: int) -> None:
    value, low, high = estimate_count([(seen, rate)], of=of)
    assert value == pytest.approx(seen / rate)
    assert low == pytest.approx(seen + unseen_by_hand(seen, rate, 0.025 / of))
    assert high == pytest.approx(seen + unseen_by_hand(seen, rate, 1 - 0.025 / of))


@pytest.mark.parametrize(("seen", "rate", "of"), [(201, 0.5, 1), (400, 0.2, 1), (300, 0.4, 20)])
def test_many_that_were_seen_are_bounded_by_it_within_one(seen: int, rate: float, of: int) -> None:
    _, low, high = estimate_count([(seen, rate)], of=of)
    assert low == pytest.approx(seen + unseen_by_hand(seen, rate, 0.025 / of), abs=1)
    assert high == pytest.approx(seen + unseen_by_hand(seen, rate, 1 - 0.025 / of), abs=1)


def test_the_sides_of_strata_are_added_each_by_itself() -> None:
    one, other = estimate_count([(7, 0.1)]), estimate_count([(30, 0.5)])
    both = estimate_count([(7, 0.1), (30, 0.5), (5, 1.0)])
    assert both.value == one.value + other.value + 5
    assert both.value - both.low == pytest.approx(math.hypot(one.value - one.low, other.value - other.low))
    assert both.high - both.value == pytest.approx(math.hypot(one.high - one.value, other.high - other.value))


def test_the_interval_of_a_sum_is_what_the_formulas_say() -> None:
    """Horvitz and Thompson: 30 of half, with squares of 200, and 8 that were kept whole."""
    value, low, high = estimate_sum([(30.0, 200.0, 9, 0.5), (8.0, 64.0, 1, 1.0)])
    spread = 1.959963984540054 * math.sqrt(math.log1p(200 * 0.5 / 0.25 / 68**2))
    assert (value, low, high) == pytest.approx((68.0, max(38.0, 68 * math.exp(-spread)), 68 * math.exp(spread)))
    _, floor, _ = estimate_sum([(30.0, 900.0, 1, 0.5), (8.0, 64.0, 1, 1.0)])
    assert floor == 38.0


def test_a_sum_of_nothing_is_nothing_and_one_of_less_than_one_is_something() -> None:
    assert estimate_sum([(0.0, 0.0, 4, 0.5)]) == ZERO
    assert estimate_sum([(0.5, 0.25, 1, 1.0)]) == Estimate.exact(0.5)
    assert estimate_sum([(0.25, 0.0625, 1, 0.5)]).high > 0.5
