from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.knowledge.capacity import (
    Consistency,
    index_write_units,
    item_bytes,
    number_bytes,
    project,
    read_units,
    value_bytes,
    write_units,
)

KEY = ("PK", "GSI1PK")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("10", 2),
        ("12", 2),
        ("123", 3),
        ("1.5", 3),
        ("0.01", 2),
        ("1E+3", 2),
        ("12345678901234567890123456789012345678", 20),
    ],
)
def test_a_number_takes_a_byte_for_two_digits_and_one_more(text: str, size: int) -> None:
    assert number_bytes(text) == size


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "abc"}, 3),
        ({"S": "Zürich"}, 7),
        ({"N": "42"}, 2),
        ({"B": "AAEC"}, 3),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["ab", "c"]}, 3),
        ({"NS": ["1", "2"]}, 4),
        ({"BS": ["AAEC", "AA=="]}, 4),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"N": "1"}]}, 3 + 2 + 2 + 2),
        ({"M": {}}, 3),
        ({"M": {"name": {"S": "x"}}}, 3 + 1 + 4 + 1),
        ({"?": "a type of the future"}, 0),
    ],
)
def test_a_value_has_the_size_that_the_guide_says(value: dict[str, object], size: int) -> None:
    assert value_bytes(value) == size


def test_an_item_counts_the_names_of_its_attributes() -> None:
    assert item_bytes({"PK": {"S": "CASE#1"}, "größe": {"N": "1"}}) == 2 + 6 + 7 + 2


@pytest.mark.parametrize(
    ("size", "consistency", "units"),
    [
        (0, Consistency.EVENTUAL, 0.5),
        (4096, Consistency.EVENTUAL, 0.5),
        (4097, Consistency.EVENTUAL, 1.0),
        (4097, Consistency.STRONG, 2.0),
        (350 * 1024, Consistency.STRONG, 88.0),
        (1, Consistency.TRANSACTIONAL, 2.0),
    ],
)
def test_reads_are_counted_in_blocks_of_4_kb(size: int, consistency: Consistency, units: float) -> None:
    assert read_units(size, consistency) == units


@pytest.mark.parametrize(
    ("before", "after", "transactional", "units"),
    [
        (0, 0, False, 1.0),
        (0, 1024, False, 1.0),
        (0, 1025, False, 2.0),
        (5000, 10, False, 5.0),
        (0, 1025, True, 4.0),
    ],
)
def test_writes_are_counted_by_the_larger_item_in_blocks_of_1_kb(
    before: int, after: int, *, transactional: bool, units: float
) -> None:
    assert write_units(before, after, transactional=transactional) == units


def entry(key: str, note: str = "") -> dict[str, dict[str, str]]:
    return {"PK": {"S": "CASE#1"}, "GSI1PK": {"S": key}, "note": {"S": note}}


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [
        (None, None, (0.0, 0.0)),
        (None, entry("A"), (0.0, 1.0)),
        (entry("A"), None, (1.0, 0.0)),
        (entry("A"), entry("A"), (0.0, 0.0)),
        (entry("A"), entry("A", "changed"), (0.0, 1.0)),
        (entry("A", "x" * 3000), entry("A"), (0.0, 3.0)),
        (entry("A"), entry("B"), (1.0, 1.0)),
        (entry("A"), entry("B", "x" * 3000), (1.0, 3.0)),
    ],
)
def test_an_index_pays_once_for_a_change_and_twice_for_a_move(
    before: dict[str, dict[str, str]] | None, after: dict[str, dict[str, str]] | None, units: tuple[float, float]
) -> None:
    assert index_write_units(before, after, KEY) == units


def test_an_index_pays_double_in_a_transaction() -> None:
    assert index_write_units(entry("A"), entry("B"), KEY, transactional=True) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (None, {"PK": {"S": "p"}, "GSI1PK": {"S": "g"}, "note": {"S": "n"}}),
        (("PK", "GSI1PK", "absent"), {"PK": {"S": "p"}, "GSI1PK": {"S": "g"}}),
    ],
)
def test_an_index_holds_the_attributes_that_it_projects(
    attributes: tuple[str, ...] | None, expected: dict[str, dict[str, str]]
) -> None:
    item = {"PK": {"S": "p"}, "GSI1PK": {"S": "g"}, "note": {"S": "n"}}
    assert project(item, KEY, attributes) == expected


def test_an_item_without_the_key_of_an_index_is_not_in_it() -> None:
    assert project({"PK": {"S": "p"}}, KEY, None) is None


@given(st.integers(0, 2**22), st.integers(0, 2**22))
def test_reading_together_never_costs_more_than_apart(first: int, second: int) -> None:
    assert read_units(first + second) <= read_units(first) + read_units(second)
