from __future__ import annotations

import numpy as np
import pytest

from analyzer.model.estimate import ZERO, Estimate
from analyzer.statistics.intervals import estimate_count, estimate_sum


def test_what_was_kept_whole_is_counted() -> None:
    assert estimate_count([(7, 1.0)]) == Estimate.exact(7)


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
