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


def kept(capacity: int, floor: int, *keys: tuple[str, int, int], total: int = 100) -> SpaceSaving[str]:
    return SpaceSaving.from_plain(capacity, floor, total, keys)


def test_twice_as_many_keys_as_its_capacity_are_held_and_one_more_prunes_it() -> None:
    sketch = sketch_of([("a", 9), ("b", 8), ("c", 1), ("d", 1)], capacity=2)
    assert (len(sketch), sketch.floor) == (4, 0)
    sketch.add("e", 1)
    assert (list(sketch), sketch.floor) == (["a", "b"], 1)


def test_no_more_keys_than_its_capacity_are_left_as_they_are() -> None:
    sketch = sketch_of([("a", 9), ("b", 8)], capacity=2)
    sketch.prune()
    assert (list(sketch), sketch.floor) == (["a", "b"], 0)


def test_pruning_keeps_what_is_not_known_of_those_that_stay() -> None:
    sketch = kept(1, 2, ("a", 5, 3), ("b", 1, 2))
    sketch.prune()
    assert (sketch.bounds("a"), sketch.floor) == ((5, 8), 3)


def test_of_two_that_may_weigh_the_same_the_surer_comes_first() -> None:
    assert kept(2, 2, ("e", 1, 2), ("a", 3, 0)).heaviest(2) == [("a", 3, 3), ("e", 1, 3)]


def test_what_is_not_known_of_two_sketches_adds_up() -> None:
    merged = kept(3, 1, ("a", 5, 0), ("b", 4, 1), total=10)
    merged.merge(kept(3, 2, ("a", 2, 0), ("c", 3, 2), total=9))
    assert merged.plain() == (3, 3, 19, [("a", 7, 0), ("b", 4, 3), ("c", 3, 3)])


@pytest.mark.parametrize(("others", "left"), [("cd", 4), ("cde", 2)])
def test_merging_prunes_from_twice_the_capacity_on(others: str, left: int) -> None:
    merged = sketch_of([("a", 9), ("b", 8)], capacity=2)
    merged.merge(sketch_of([(key, 1) for key in others], capacity=9))
    assert len(merged) == left


@pytest.mark.parametrize(
    ("sketch", "highs"),
    [
        (kept(3, 2, ("a", 5, 0), ("b", 4, 1)), {"a": 13, "b": 3, "z": 7}),
        (kept(3, 2, ("a", 5, 0), ("b", 4, 0)), {"a": 13, "b": 2, "z": 7}),
        (kept(3, 0, ("a", 5, 0), ("b", 4, 0)), {"a": 15, "b": 4, "z": 7}),
    ],
    ids=["slack", "a floor", "exact"],
)
def test_upper_bounds_less_the_floor_are_added(sketch: SpaceSaving[str], highs: dict[str, int]) -> None:
    sums = {"a": 10, "z": 7}
    assert sketch.add_to(sums) == sketch.floor
    assert sums == highs
