from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.statistics.space_saving import SpaceSaving

STREAM = st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(0, 1000)), max_size=120)


def sketch_of(stream: list[tuple[str, int]], capacity: int = 3) -> SpaceSaving[str]:
    sketch: SpaceSaving[str] = SpaceSaving(capacity)
    sketch.update(stream)
    return sketch


def truth_of(stream: list[tuple[str, int]]) -> Counter[str]:
    truth: Counter[str] = Counter()
    for key, weight in stream:
        truth[key] += weight
    return truth


def assert_bounds(sketch: SpaceSaving[str], truth: Counter[str]) -> None:
    assert sketch.total == sum(truth.values())
    for key in "abcdefghijklmnop":
        low, high = sketch.bounds(key)
        assert low <= truth[key] <= high


def test_few_keys_are_exact() -> None:
    sketch = sketch_of([("a", 5), ("b", 2), ("a", 1)])
    assert sketch.bounds("a") == (6, 6)
    assert sketch.bounds("z") == (0, 0)
    assert sketch.heaviest(1) == [("a", 6, 6)]
    assert list(sketch) == ["a", "b"]
    assert len(sketch) == 2
    assert "b" in sketch
    assert "z" not in sketch


def test_refuses_to_hold_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        SpaceSaving(0)


def test_pruning_keeps_the_heaviest_and_raises_the_floor() -> None:
    sketch = sketch_of([("a", 9), ("b", 8), ("c", 1), ("d", 1), ("e", 1), ("f", 1)], capacity=2)
    sketch.prune()
    assert {"a", "b"} == set(sketch)
    assert sketch.floor == 2, "d, e and f may each have weighed what c did, for all that is known"


def test_a_stretch_that_is_known_exactly_becomes_a_sketch() -> None:
    sketch = SpaceSaving.of(2, {"a": 5, "b": 4, "c": 3}, floor=1, total=20)
    assert sketch.bounds("a") == (5, 5)
    assert sketch.bounds("c") == (0, 3)


@given(STREAM)
def test_the_truth_lies_within_the_bounds(stream: list[tuple[str, int]]) -> None:
    sketch = sketch_of(stream)
    assert_bounds(sketch, truth_of(stream))
    assert sketch.floor <= sketch.total / sketch.capacity
    assert len(sketch) <= 2 * sketch.capacity


@given(st.lists(STREAM, max_size=5), st.randoms())
def test_merging_in_any_order_and_split_keeps_the_bounds(parts: list[list[tuple[str, int]]], order: object) -> None:
    sketches = [sketch_of(part, capacity=2 + number % 2) for number, part in enumerate(parts)]
    order.shuffle(sketches)  # type: ignore[attr-defined]
    merged: SpaceSaving[str] = SpaceSaving(3)
    for sketch in sketches:
        merged.merge(sketch)
    assert_bounds(merged, truth_of([item for part in parts for item in part]))


@given(STREAM)
def test_survives_being_written_down(stream: list[tuple[str, int]]) -> None:
    sketch = sketch_of(stream)
    again: SpaceSaving[str] = SpaceSaving.from_plain(*sketch.plain())
    assert again.plain() == sketch.plain()


def test_slack_survives_being_written_down() -> None:
    sketch = sketch_of([("a", 3), ("b", 2), ("c", 1), ("d", 1)], capacity=1)
    sketch.add("e", 9)
    low, high = sketch.bounds("e")
    assert low < high
    assert SpaceSaving.from_plain(*sketch.plain()).bounds("e") == (low, high)


@given(st.lists(STREAM, min_size=1, max_size=4))
def test_sums_over_sketches_bound_the_sum_of_the_streams(parts: list[list[tuple[str, int]]]) -> None:
    highs: dict[str, int] = {}
    floors = sum(sketch_of(part).add_to(highs) for part in parts)
    truth = truth_of([item for part in parts for item in part])
    for key in "abcdefghijklmnop":
        assert truth[key] <= highs.get(key, 0) + floors
