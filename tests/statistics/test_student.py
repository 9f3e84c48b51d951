from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.student import t_quantile, t_tail


@pytest.mark.parametrize(
    ("t", "freedom", "tail"),
    [
        (0.0, 6, 0.5),
        (1.0, 1, 0.25),
        (math.sqrt(2), 2, 0.14644660940672624),
        (2.446911851, 6, 0.025),
        (12.7062047364, 1, 0.025),
        (3.707428021, 6, 0.005),
        (1.983971519, 100, 0.025),
        (-1.0, 1, 0.75),
    ],
)
def test_the_tail_is_that_of_the_printed_tables(t: float, freedom: float, tail: float) -> None:
    assert t_tail(t, freedom) == pytest.approx(tail, rel=1e-6)


def test_nothing_is_beyond_everything() -> None:
    assert t_tail(1e200, 6) == 0.0


@given(st.floats(0.001, 0.49), st.integers(1, 500))
def test_the_quantile_is_the_inverse_of_the_tail(tail: float, freedom: int) -> None:
    assert t_tail(t_quantile(tail, freedom), freedom) == pytest.approx(tail, rel=1e-6)


@given(st.floats(0, 50), st.floats(0.01, 5), st.integers(1, 200))
def test_the_tail_falls(t: float, more: float, freedom: int) -> None:
    assert t_tail(t + more, freedom) <= t_tail(t, freedom) <= 0.5


def tail_by_hand(t: float, freedom: int) -> float:
    """Return the tail by the finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    first, term = (1, 1.0) if freedom % 2 == 0 else (2, math.cos(angle))
    total = 0.0
    for step in range(first, freedom, 2):
        total += term
        term *= math.cos(angle) ** 2 * step / (step + 1)
    inside = math.sin(angle) * total if first == 1 else 2 / math.pi * (angle + math.sin(angle) * total)
    return (1 - inside) / 2


@given(st.floats(0.01, 6), st.integers(1, 60))
def test_the_tail_is_what_the_finite_sums_say(t: float, freedom: int) -> None:
    assert t_tail(t, freedom) == pytest.approx(tail_by_hand(t, freedom), rel=1e-8, abs=1e-12)
