from __future__ import annotations

import pytest

from analyzer.contract.conditions import equality, parse_key_condition


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("PK=USER#<id>, SK begins_with ORDER#", [("PK", "USER#<id>"), ("SK", "begins_with ORDER#")]),
        ("`PK = USER#<id>` AND begins_with(SK, 'ORDER#')", [("PK", "USER#<id>"), ("SK", "begins_with ORDER#")]),
        ("PK=a, SK BETWEEN <from> and <to>", [("PK", "a"), ("SK", "between <from> and <to>")]),
        ("PK=a and SK >= 2026", [("PK", "a"), ("SK", ">= 2026")]),
        ("PK, SK", [("PK", "<PK>"), ("SK", "<SK>")]),
        ('PK="a"', [("PK", "a")]),
        ("PK=A,B", [("PK", "A,B")]),
        ("—", []),
        ("", []),
    ],
)
def test_a_key_condition_is_read_as_people_write_it(text: str, pairs: list[tuple[str, str]]) -> None:
    assert parse_key_condition(text) == (pairs, False)


def test_a_leading_sparse_is_told_apart() -> None:
    assert parse_key_condition("sparse GSI2PK=OPEN") == ([("GSI2PK", "OPEN")], True)


def test_what_is_no_condition_is_refused() -> None:
    with pytest.raises(ValueError, match="is no condition on a key attribute"):
        parse_key_condition("by user id")


def test_an_equality_is_told_from_what_is_none() -> None:
    assert equality("PK = A#<id>") == ("PK", "A#<id>")
    assert (equality("PK > 5"), equality("A B")) == (None, None)
