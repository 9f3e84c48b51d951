from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.false_discovery import discoveries, q_values

P_VALUES = st.lists(st.floats(0, 1), max_size=30)


def test_the_textbook_example_has_four_discoveries() -> None:
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    assert discoveries(p, 0.05) == [True, True, *[False] * 8]
    assert discoveries(p, 0.1) == [True, True, True, True, True, True, *[False] * 4]


def test_one_test_alone_is_what_it_is() -> None:
    assert q_values([0.04]) == [0.04]


def test_no_tests_find_nothing() -> None:
    assert discoveries([], 0.05) == []


@given(P_VALUES)
def test_a_q_value_is_never_less_than_its_p_value_and_keeps_their_order(p: list[float]) -> None:
    q = q_values(p)
    assert all(one >= given and one <= 1 for one, given in zip(q, p, strict=True))
    assert [q[at] for at in sorted(range(len(p)), key=p.__getitem__)] == sorted(q)


def test_of_a_thousand_tests_of_nothing_hardly_any_speaks_up() -> None:
    source = random.Random(7)
    assert sum(discoveries([source.random() for _ in range(1000)], 0.05)) <= 2


def test_what_is_there_is_found_among_many() -> None:
    source = random.Random(7)
    p = [source.random() for _ in range(190)] + [1e-4] * 10
    assert discoveries(p, 0.05)[190:] == pytest.approx([True] * 10)
