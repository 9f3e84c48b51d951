from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.mixes import divergence_bits, stability_index, stability_terms

COUNTS = st.lists(st.integers(0, 10_000), min_size=2, max_size=8)


def test_the_same_mix_is_at_no_distance() -> None:
    mix = np.array([300.0, 600.0, 100.0])
    assert stability_index(mix, mix * 2) == pytest.approx(0, abs=1e-3)
    assert divergence_bits(mix, mix * 2) == 0.0


def test_mixes_that_share_nothing_are_a_bit_apart() -> None:
    assert divergence_bits(np.array([5.0, 0.0]), np.array([0.0, 7.0])) == pytest.approx(1.0)


def test_terms_add_up_and_the_largest_is_what_moved() -> None:
    before, now = np.array([500.0, 400.0, 100.0]), np.array([480.0, 120.0, 400.0])
    terms = stability_terms(before, now)
    assert terms.sum() == pytest.approx(stability_index(before, now))
    assert int(terms.argmax()) == 2


def test_one_member_and_nothing_at_all_are_no_mix() -> None:
    assert stability_index(np.array([5.0]), np.array([9.0])) == 0.0
    assert divergence_bits(np.zeros(2), np.array([1.0, 1.0])) == 0.0


def test_under_no_change_the_index_is_as_large_as_its_law_says() -> None:
    rng = np.random.default_rng(5)
    shares, n = np.array([0.5, 0.3, 0.15, 0.05]), 20_000
    found = [stability_index(rng.multinomial(n, shares), rng.multinomial(n, shares)) for _ in range(400)]
    assert np.mean(found) == pytest.approx(2 / n * (len(shares) - 1), rel=0.15)


@given(COUNTS, st.data())
def test_both_distances_are_symmetric_and_bounded(before: list[int], data: st.DataObject) -> None:
    now = data.draw(st.lists(st.integers(0, 10_000), min_size=len(before), max_size=len(before)))
    one, other = np.array(before, dtype=float), np.array(now, dtype=float)
    assert stability_index(one, other) >= 0
    assert math.isclose(stability_index(one, other), stability_index(other, one), abs_tol=1e-9)
    assert -1e-12 <= divergence_bits(one, other) <= 1 + 1e-9


def test_the_index_of_a_mix_is_what_the_formula_says() -> None:
    """With half a count each: 3.5 and 1.5 of 5 became 0.5 and 9.5 of 10."""
    expected = (0.05 - 0.7) * math.log(0.05 / 0.7), (0.95 - 0.3) * math.log(0.95 / 0.3)
    assert stability_terms(np.array([3.0, 1.0]), np.array([0.0, 9.0])) == pytest.approx(expected)


def test_the_divergence_is_the_entropy_of_both_together_less_their_own() -> None:
    """Halves became quarters: H(5/8, 3/8) - (H(1/2, 1/2) + H(3/4, 1/4)) / 2."""
    assert divergence_bits(np.array([8.0, 8.0]), np.array([3.0, 1.0])) == pytest.approx(0.048795, abs=1e-6)


@pytest.mark.parametrize(("before", "now"), [((0.0, 0.0), (1.0, 3.0)), ((1.0, 3.0), (0.0, 0.0))])
def test_nothing_is_at_no_distance_from_anything(before: tuple[float, float], now: tuple[float, float]) -> None:
    assert divergence_bits(np.array(before), np.array(now)) == 0.0


def test_two_members_are_a_mix() -> None:
    assert stability_index(np.array([5.0, 5.0]), np.array([9.0, 1.0])) > 0.1
