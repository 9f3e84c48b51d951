from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.render.distinct import cut_distinct, cut_text

SHARED = "undeclared: Query application-orders where tenant = <id> filter status = ? AND "


def test_what_fits_stays_and_what_differs_early_is_cut_at_its_end() -> None:
    assert cut_distinct(["short", "a longer one", "b longer one"], 8) == ["short", "a longe…", "b longe…"]


def test_what_differs_late_is_shown_there() -> None:
    texts = [f"{SHARED}field_{n} = ?" for n in range(3)]
    assert cut_distinct(texts, 34) == [f"undeclared: Query …field_{n} = ?" for n in range(3)]
    assert cut_distinct(texts, 16) == [f"…field_{n} = ?" for n in range(3)]


def test_long_words_are_told_by_their_ends() -> None:
    assert cut_distinct([f"{'a' * 40}{n}" for n in range(2)], 8) == ["…aaaaaa0", "…aaaaaa1"]
    assert cut_distinct([f"{SHARED}{'a' * 40}{n}" for n in range(2)], 8) == ["…aaaaa0", "…aaaaa1"]


def test_equal_texts_stay_equal() -> None:
    assert cut_distinct([SHARED, SHARED], 12) == [cut_text(SHARED, 12)] * 2
    assert cut_distinct([], 12) == []


@given(st.lists(st.text("ab ", max_size=40), max_size=8), st.integers(4, 20))
def test_nothing_is_wider_than_it_may_be(texts: list[str], width: int) -> None:
    told = cut_distinct(texts, width)
    assert len(told) == len(texts)
    assert all(len(text) <= width for text in told)


@given(st.sets(st.integers(0, 10**6), max_size=12), st.integers(12, 60))
def test_numbered_names_are_told_apart(numbers: set[int], width: int) -> None:
    told = cut_distinct([f"{SHARED}field_{n} = ?" for n in sorted(numbers)], width)
    assert len(set(told)) == len(numbers)
