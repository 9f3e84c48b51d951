from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.render.words import LONGEST_NAME, LONGEST_TEXT, copied, plain, readable, short


def test_a_long_name_keeps_both_its_ends() -> None:
    name = "Production-" + "x" * 300 + "-OrdersTable"
    assert short(name).startswith("Production-")
    assert short(name).endswith("-OrdersTable")
    assert len(short(name)) == LONGEST_NAME
    assert short("orders") == "orders"
    assert short("n" * LONGEST_NAME) == "n" * LONGEST_NAME


def test_a_sentence_about_a_long_name_is_told_to_its_end() -> None:
    said = readable(f"{'c' * 300_000} asks orders 2.6 times as often")
    assert said.endswith("asks orders 2.6 times as often")
    assert len(said) < 2 * LONGEST_NAME


def test_what_is_there_to_be_copied_keeps_its_words() -> None:
    arn = f"arn:aws:sts::111122223333:assumed-role/{'r' * 64}/{'s' * 64}"
    assert copied(f"callers: [{arn}]") == f"callers: [{arn}]"
    assert len(copied("w" * 300_000)) == LONGEST_TEXT


@given(st.text(max_size=300))
def test_no_word_and_no_text_is_longer_than_its_bound_and_nothing_steers(text: str) -> None:
    said = readable(text)
    assert said.isprintable()
    assert plain(said) == said
    if text.isprintable() and len(text) <= LONGEST_NAME:
        assert said == text
