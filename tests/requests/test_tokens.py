from typing import Any

import pytest
from dynascope_sampler import keys
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests.tokens import Salt, is_token, key_text, placeholder, template_value

SALT = Salt(b"a shared secret")
LITERALS = frozenset({"CASE", "META"})


def test_a_salt_is_named_by_its_id_and_shows_nothing_else() -> None:
    assert repr(SALT) == f"Salt({SALT.id})"
    assert SALT.id == "f04fe63e"


def test_the_id_of_a_salt_for_one_process_says_that_it_joins_with_nothing() -> None:
    assert Salt(b"a shared secret", is_joinable=False).id == f"p-{SALT.id}"


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("CASE#4711", "CASE#" + SALT.token("4711")),
        ("CASE#4711#META", f"CASE#{SALT.token('4711')}#META"),
        ("CASE##", "CASE##"),
        ("a|b/c", f"{SALT.token('a')}|{SALT.token('b')}/{SALT.token('c')}"),
        ("", ""),
    ],
)
def test_every_segment_that_is_no_literal_becomes_a_token(text: str, token: Any) -> None:
    assert SALT.tokenize(text, LITERALS) == token


def test_tokens_are_the_same_in_every_process() -> None:
    assert [SALT.token("4711"), SALT.token("alice")] == ["~ddmpbn37t", "~kglhzfaal"]


def test_a_token_tells_digits_from_other_text() -> None:
    assert placeholder(SALT.token("4711")) == "<n>"
    assert placeholder(SALT.token("\uff14\uff17")) == "<id>"


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ({"S": "CASE#1"}, {"S": "CASE#" + SALT.token("1")}),
        ({"N": "1.50"}, {"S": SALT.token("1.50")}),
        ({"N": "17"}, {"S": SALT.token("17")}),
        ({"B": "YWI/YQ=="}, {"S": SALT.token("YWI/YQ==")}),
        ({"N": "META"}, {"S": "META"}),
    ],
)
def test_a_token_is_always_a_string_and_only_strings_have_segments(value: Any, token: Any) -> None:
    assert SALT.tokenize_value(value, LITERALS) == token


@given(st.text(min_size=1))
def test_no_segment_survives_in_a_token(text: str) -> None:
    assert all(segment in {"", "#", "|", "/"} or is_token(segment) for segment in _split(SALT.tokenize(text)))


def _split(text: str) -> Any:
    return text.replace("|", "#").replace("/", "#").split("#")


@given(st.text(alphabet="aB1#|/~<>", max_size=20))
def test_a_template_has_the_delimiters_of_its_value(text: str) -> None:
    assert [c for c in template_value(text) if c in "#|/"] == [c for c in text if c in "#|/"]


@pytest.mark.parametrize(
    ("text", "template"),
    [("CASE#4711#x", "CASE#<n>#<id>"), ("CASE#<n>", "CASE#<n>"), ("CASE#" + SALT.token("9"), "CASE#<n>")],
)
def test_a_template_keeps_literals_and_placeholders(text: str, template: str) -> None:
    assert template_value(text, LITERALS) == template


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"S": " as it is "}, " as it is "),
        ({"S": ""}, ""),
        ({"B": "YWI="}, "YWI="),
        ({"N": "17"}, "17"),
        ({"N": "-17"}, "-17"),
        ({"N": "+17"}, "17"),
        ({"N": "017"}, "17"),
        ({"N": "1.0"}, "1"),
        ({"N": "1e0"}, "1"),
        ({"N": "1E3"}, "1000"),
        ({"N": "100"}, "100"),
        ({"N": "-0.0"}, "0"),
        ({"N": "0"}, "0"),
        ({"N": ".5"}, "0.5"),
        ({"N": "-12.3400"}, "-12.34"),
        ({"N": "1.5e-3"}, "0.0015"),
        ({"N": "1e131"}, "1E131"),
        ({"N": "-1e-131"}, "-1E-131"),
        ({"N": "."}, "."),
        ({"N": "twelve"}, "twelve"),
        ({"S": 5}, None),
        ({"BOOL": True}, None),
        ({}, None),
    ],
)
def test_a_key_value_has_one_text_however_it_was_sent(value: Any, text: str) -> None:
    assert key_text(value) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=6))
def test_two_spellings_of_a_number_have_one_text(number: Any) -> None:
    assert key_text({"N": f"{number:f}"}) == key_text({"N": f"{number:e}"})


@given(st.text(min_size=1, max_size=20))
def test_the_sampler_writes_the_same_tokens(text: str) -> None:
    policy = keys.KeyPolicy("token", keys.Salt(b"a shared secret"))
    for kind in ("S", "N", "B"):
        assert policy.attribute_value(kind, text, LITERALS) == SALT.tokenize_value({kind: text}, LITERALS)
    assert keys.Salt(b"a shared secret").salt_id == SALT.id


@given(st.text(min_size=1, max_size=20))
def test_the_sampler_writes_the_same_templates(text: str) -> None:
    policy = keys.KeyPolicy("template", keys.Salt(b"a shared secret"))
    written = policy.attribute_value("S", text, LITERALS)["S"]
    assert "<" in text or "~" in text or written == template_value(text, LITERALS)
