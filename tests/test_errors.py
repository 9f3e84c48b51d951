from __future__ import annotations

import pytest

from analyzer.errors import closest


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("sort_kye", ["partition_key", "sort_key"], "sort_key"),
        ("gsi1", ["GSI1", "GSI2"], "GSI1"),
        ("case", ["Case", "case-x", "CASE"], "Case"),
        ("weather", ["cases"], None),
        ("x", [], None),
    ],
)
def test_the_name_that_was_probably_meant_is_found(word: str, known: list[str], found: str | None) -> None:
    assert closest(word, known) == found
