from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.kendall import rising_share, tau


def plain(ranks: list[int]) -> float:
    pairs = list(combinations(ranks, 2))
    score = sum((b > a) - (b < a) for a, b in pairs)
    untied = sum(a != b for a, b in pairs)
    return score / (len(pairs) * untied) ** 0.5 if untied else 0.0


@given(st.lists(st.integers(0, 20), max_size=30))
def test_it_is_what_counting_pairs_gives(ranks: list[int]) -> None:
    assert tau(ranks) == pytest.approx(plain(ranks))


def test_what_rises_is_one_what_falls_minus_one() -> None:
    assert tau(range(50)) == 1
    assert tau(range(50, 0, -1)) == -1
    assert tau([7] * 50) == tau([1]) == tau([]) == 0


def test_random_order_is_near_nothing() -> None:
    ranks = list(range(200))
    random.Random(7).shuffle(ranks)
    assert abs(tau(ranks)) < 0.16


def test_the_rising_share_counts_who_comes_near_the_top() -> None:
    assert rising_share(range(50), 0.05) == 1
    assert rising_share(range(50, 0, -1), 0.05) == 0
    assert rising_share([1], 0.05) == 0


@given(st.lists(st.integers(0, 8), min_size=2, max_size=20), st.sampled_from([0.0, 0.05, 0.25, 0.5]))
def test_the_rising_share_is_what_counting_gives(ranks: list[int], edge: float) -> None:
    near = [sum(other > rank for other in ranks[:place]) <= edge * place for place, rank in enumerate(ranks)][1:]
    assert rising_share(ranks, edge) == pytest.approx(sum(near) / len(near))
