from __future__ import annotations

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics import change_points as ways
from analyzer.statistics.change_points import change_points
from analyzer.statistics.student import t_tail


def series(*levels: tuple[int, float], seed: int = 1) -> np.ndarray:
    """Noise of a twentieth about levels, each for so many points."""
    rng = np.random.default_rng(seed)
    return np.concatenate([level + rng.normal(0, 0.05, many) for many, level in levels])


@pytest.mark.parametrize("at", [4, 20, 50])
def test_a_level_that_changes_is_found_on_its_day(at: int) -> None:
    assert change_points(series((at, 0.0), (56 - at, 0.7))) == [at]


def test_a_level_of_the_first_three_points_is_one() -> None:
    assert change_points(series((3, 0.0), (20, 2.0)), near=0) == [3]


def test_two_changes_are_both_found_in_order() -> None:
    assert change_points(series((20, 0.0), (20, 0.8), (20, 0.2))) == [20, 40]


def test_noise_has_none() -> None:
    assert sum(len(change_points(series((56, 0.0), seed=seed))) for seed in range(50)) <= 1


def test_a_short_series_says_nothing() -> None:
    assert change_points(series((5, 0.0), (6, 2.0))) == []


def test_a_constant_series_has_none() -> None:
    assert change_points(np.zeros(30)) == []


def test_what_only_one_of_two_ways_sees_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    values = series((20, 0.0), (36, 0.7))
    monkeypatch.setattr("analyzer.statistics.change_points._split", lambda *_: [9])
    assert change_points(values) == []


def test_twelve_points_are_enough_to_speak() -> None:
    assert change_points(series((6, 0.0), (6, 2.0))) == [6]
    assert change_points(series((6, 0.0), (5, 2.0))) == []


def test_the_two_ways_may_differ_by_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    values = series((20, 0.0), (36, 0.7))
    monkeypatch.setattr(ways, "_split", lambda *_: [21])
    assert change_points(values) == [20]
    monkeypatch.setattr(ways, "_split", lambda *_: [22])
    assert change_points(values) == []
    assert change_points(values, near=2) == [20]


def test_three_points_make_a_level() -> None:
    assert ways._split(series((3, 0.0), (3, 2.0)), 0, 6) == [3]
    assert ways._split(series((2, 0.0), (3, 2.0)), 0, 5) == []


def split_by_hand(values: list[float], first: int, end: int) -> list[int]:
    """Split as the textbook writes Student's t of two samples with one variance."""
    many = end - first
    if many < 6:
        return []

    def t_at(place: int) -> float:
        left, right = values[first:place], values[place:end]
        scatter = sum((x - statistics.fmean(side)) ** 2 for side in (left, right) for x in side)
        pooled = max(scatter, 1e-12) / (many - 2)
        return abs(statistics.fmean(left) - statistics.fmean(right)) / math.sqrt(
            pooled / len(left) + pooled / len(right)
        )

    places = range(first + 3, end - 2)
    best = max(places, key=t_at)
    if t_tail(t_at(best), many - 2) * 2 * len(places) > 0.01:
        return []
    return [*split_by_hand(values, first, best), best, *split_by_hand(values, best, end)]


def cut_by_hand(values: list[float]) -> tuple[float, list[int]]:
    """Try every way to cut into stretches of three points or more; return the least cost and its cuts."""
    steps = [later - earlier for earlier, later in pairwise(values)]
    middle = statistics.median(steps)
    sigma = 1.4826 * statistics.median(abs(step - middle) for step in steps) / math.sqrt(2)
    price = 3 * math.log(len(values)) * max(sigma, 1e-9) ** 2

    def cost(part: list[float]) -> float:
        return sum((x - statistics.fmean(part)) ** 2 for x in part)

    def cheapest(first: int) -> tuple[float, list[int]]:
        whole: tuple[float, list[int]] = (cost(values[first:]), [])
        ways_on = [
            (cost(values[first:at]) + price + rest, [at, *more])
            for at in range(first + 3, len(values) - 2)
            for rest, more in [cheapest(at)]
        ]
        return min([whole, *ways_on], key=lambda way: way[0])

    return cheapest(0)


def test_a_split_begins_where_it_is_told() -> None:
    values = series((3, 0.0), (9, 2.0))
    assert ways._split(values, 0, 12) == [3]
    assert ways._split(values, 1, 12) == []


LEVELS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=2, max_size=3)


@given(LEVELS, st.integers(0, 10_000))
def test_both_ways_do_what_the_formulas_say(levels: list[tuple[int, int]], seed: int) -> None:
    values = series(*((many, level * 0.1) for many, level in levels), seed=seed)
    assert sorted(ways._split(values, 0, len(values))) == split_by_hand(list(values), 0, len(values))
    if len(values) >= 6:
        assert ways._cuts(values) == cut_by_hand(list(values))[1]


@pytest.mark.parametrize(("step", "found"), [(3.77, [3]), (3.75, [])], ids=["t just over", "t just under"])
def test_a_split_has_a_chance_of_a_hundredth_on_both_sides(step: float, found: list[int]) -> None:
    """Of four degrees of freedom t is 4.604 there, and here the step times the root of 3/2."""
    assert ways._split(np.array([0, 1, 2, step, step + 1, step + 2]), 0, 6) == found
