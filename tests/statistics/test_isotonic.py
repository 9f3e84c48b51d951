from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.isotonic import isotonic, reached

SHARES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), max_size=30)


@pytest.mark.parametrize(
    ("shares", "weights", "curve"),
    [
        ([], [], []),
        ([0.1, 0.5, 0.9], [1, 1, 1], [0.1, 0.5, 0.9]),
        ([0.5, 0.1], [1, 1], [0.3, 0.3]),
        ([0.5, 0.1], [3, 1], [0.4, 0.4]),
        ([0.0, 1.0, 0.0, 1.0], [1, 1, 1, 1], [0.0, 0.5, 0.5, 1.0]),
        ([0.9, 0.0, 0.4], [0, 1, 1], [0.0, 0.0, 0.4]),
        ([0.2, 0.0, 0.4], [1, 0, 1], [0.2, 0.2, 0.4]),
    ],
)
def test_neighbors_that_fall_are_pooled(shares: list[float], weights: list[float], curve: list[float]) -> None:
    assert isotonic(shares, weights) == pytest.approx(curve)


@given(SHARES)
def test_the_curve_never_falls_and_keeps_the_weighted_sum(points: list[tuple[float, int]]) -> None:
    shares, weights = [share for share, _ in points], [float(weight) for _, weight in points]
    curve = isotonic(shares, weights)
    assert all(low <= high + 1e-9 for low, high in pairwise(curve))
    told = sum(share * weight for share, weight in points)
    assert sum(share * weight for share, weight in zip(curve, weights, strict=True)) == pytest.approx(told)


@given(SHARES)
def test_a_curve_that_never_falls_is_left_as_it_is(points: list[tuple[float, int]]) -> None:
    curve = isotonic([share for share, _ in points], [weight + 1.0 for _, weight in points])
    assert isotonic(curve, [weight + 1.0 for _, weight in points]) == pytest.approx(curve)


@pytest.mark.parametrize(
    ("curve", "weights", "share", "at"),
    [
        ([0.0, 0.5, 1.0], [1, 1, 1], 0.5, (1.0, 0.0, 2.0)),
        ([0.0, 0.5, 1.0], [1, 1, 1], 0.75, (2.0, 1.0, 3.0)),
        ([0.0, 0.0, 1.0], [1, 0, 1], 0.5, (2.0, 0.0, 3.0)),
        ([0.5, 0.5, 1.0], [1, 1, 1], 0.5, (0.0, 0.0, 1.0)),
        ([0.0, 0.0, 1.0], [0, 0, 1], 0.5, (2.0, 2.0, 3.0)),
        ([0.0, 0.0, 0.4], [1, 1, 1], 0.5, (math.inf, math.inf, math.inf)),
        ([], [], 0.5, (math.inf, math.inf, math.inf)),
    ],
)
def test_a_quantile_lies_between_the_cell_before_and_the_end_of_the_one_that_reaches_it(
    curve: list[float], weights: list[float], share: float, at: tuple[float, float, float]
) -> None:
    assert reached([0.0, 1.0, 2.0, 3.0], curve, weights, share) == at
