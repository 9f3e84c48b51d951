import pytest

from analyzer.contract.nothing import is_nothing, names_no_index


@pytest.mark.parametrize(
    "word",
    [
        None,
        False,
        "",
        " ",
        "-",
        "--",
        "\u2014",
        "\u2013",
        "?",
        "N/A",
        "n/a",
        "na",
        "no",
        "No.",
        "none",
        "(none)",
        "TBD",
    ],
)
def test_a_word_for_nothing_names_nothing(word: object) -> None:
    assert is_nothing(word)
    assert names_no_index(word)


@pytest.mark.parametrize("word", ["None (base table)", "n/a (pk)", "Base  Table", "`main table`", "primary key"])
def test_the_base_table_is_no_index(word: str) -> None:
    assert names_no_index(word)


@pytest.mark.parametrize("word", ["META", "GSI1", "NO#<x>", "none-index", "GSI1 (sparse)", "<id>", 0, 1, True, "#"])
def test_anything_else_is_a_name(word: object) -> None:
    assert not is_nothing(word)
    assert not names_no_index(word)
