from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.contract.templates import learn
from analyzer.requests.templates import Template
from tests.bench.accuracy.templates import score
from tests.support.eight_designs import KEPT_BACK

NAMES = [
    f"{first}{last}" for first in ("anna", "bo", "chidi", "dora", "emre") for last in ("abe", "berg", "cos", "diaz")
]


def texts(*values: str, times: int = 5, sure: bool = False) -> list[str]:
    return [each.text for each in learn(dict.fromkeys(values, times), values if sure else ())]


def test_no_values_have_no_templates() -> None:
    assert texts() == []


@pytest.mark.parametrize(
    ("values", "template"),
    [
        ([f"CASE#{n}" for n in range(20)], "CASE#<n>"),
        ([f"CASE#{n}x" for n in range(20)], "CASE#<id>"),
        ([f"USER#{name}" for name in NAMES], "USER#<id>"),
        ([f"LOG#2026-06-{n:02}" for n in range(1, 20)], "LOG#<date>"),
        ([f"LOG#2026-06-01T10:{n}:00.123Z" for n in range(10, 30)], "LOG#<timestamp>"),
        ([f"STAT#2026-{n:02}" for n in range(1, 13)], "STAT#<month>"),
        ([f"IP#10.0.0.{n}" for n in range(20)], "IP#<ip>"),
        ([f"MAIL#a.{n}@example.com" for n in range(20)], "MAIL#<email>"),
        ([f"AT#17000000{n}" for n in range(10, 30)], "AT#<epoch>"),
        (["N#1700000010", "N#7", "N#8", "N#9"], "N#<n>"),
        ([f"T#01J{n}HZXABCDEFGHJKMNPQRSTV" for n in range(10, 30)], "T#<ulid>"),
        ([f"T#2{n}abcdefghijklmnopqrstuvwX" for n in range(10, 30)], "T#<ksuid>"),
        ([f"H#deadbeefdeadbeef{n}" for n in range(10, 30)], "H#<id>"),
        ([f"A#0f8fad5b-d9cb-469f-a165-7086772895{n}" for n in range(10, 30)], "A#<uuid>"),
        ([f"user:{n}:orders" for n in range(20)], "user:<n>:orders"),
        ([f"player{n}" for n in range(20)], "player<n>"),
        ([f"DOC#v{n}" for n in range(20)], "DOC#v<n>"),
        ([f"cus_{n}Qx{n}" for n in range(20)], "cus_<id>"),
        ([f"#META#{n}" for n in range(20)], "#META#<n>"),
        ([f"Y#2026#{n}" for n in range(20)], "Y#2026#<n>"),
        ([f"A#{n}#STATUS#OPEN" for n in range(20)], "A#<n>#STATUS#OPEN"),
        ([f"A#{n}#STATUS#{s}" for n in range(9) for s in ("OPEN", "DONE")], "A#<n>#STATUS#<status>"),
        ([f"A#{n}#TENANT#acme" for n in range(20)], "A#<n>#TENANT#<tenant>"),
        ([f"2#{name}" for name in NAMES], "2#<id>"),
        ([f"{n % 5}#{name}" for n, name in enumerate(NAMES)], "<n>#<id>"),
        ([f"1#{n}" for n in range(20)], "1#<n>"),
        ([f"Y#20261#{n}" for n in range(20)], "Y#<n>#<n>"),
        ([f"REL#V1#{n}" for n in range(20)], "REL#V1#<n>"),
        ([f"x{n}=" for n in range(3)], "<id>"),
    ],
)
def test_one_kind_of_values_is_one_template(values: list[str], template: str) -> None:
    assert texts(*values) == [template]


def test_words_with_different_things_behind_them_are_kinds() -> None:
    values = [f"C#1#{word}" for word in [f"NOTE#{n}" for n in range(20)] + [f"TASK#2026-06-{n}" for n in range(10, 20)]]
    assert texts(*values) == ["C#1#NOTE#<n>", "C#1#TASK#<date>"]
    after = [f"ORDER#{what}" for what in [f"BY#{n}" for n in range(9)] + [f"DUE#x#{n}" for n in range(9)]]
    assert texts(*after) == ["ORDER#BY#<n>", "ORDER#DUE#<due>#<n>"]
    same_form = [f"ORDER#{what}" for what in [f"BY#A{n}" for n in "xyz"] + [f"DUE#B{n}" for n in "xyz"]]
    assert texts(*same_form) == ["ORDER#BY#<by>", "ORDER#DUE#<due>"]


def test_names_that_follow_do_not_tell_the_values_of_a_word_apart() -> None:
    votes = [f"VOTE#{kind}#{name}" for kind, names in (("like", NAMES[::2]), ("sad", NAMES[1::2])) for name in names]
    assert texts(*votes, times=2) == ["VOTE#<vote>#<id>"]
    some = [f"VOTE#{kind}#{name}{n}" for n, name in enumerate(NAMES) for kind in ("like", "sad")]
    assert texts(*some, *(f"VOTE#like#{name}" for name in NAMES[:3])) == ["VOTE#<vote>#<id>"]


def test_a_stray_word_does_not_blur_what_tells_kinds_apart() -> None:
    keys = [f"RUN#NIGHTLY#AT#{n}" for n in range(40)] + [f"RUN#MANUAL#BY#{n}" for n in range(40)]
    assert texts(*keys, "RUN#MANUAL#OF#1", times=1) == [
        "RUN#MANUAL#<manual>#<n>",
        "RUN#NIGHTLY#AT#<n>",
    ]


def test_a_value_beside_a_word_makes_both_values_of_the_word_before() -> None:
    assert texts(*(f"USER#{n}x" for n in range(20)), "USER#LATEST") == ["USER#<id>"]


def test_names_after_a_variable_are_none_of_its_kinds() -> None:
    assert texts(*(f"DM#{n}#{name}" for n, name in enumerate(NAMES)), times=3) == ["DM#<n>#<id>"]


def test_words_and_numbers_at_the_start_are_kinds_of_their_own() -> None:
    assert texts(*(f"d{n}" for n in range(20)), "META") == ["d<n>", "META"]
    assert texts(*(f"{name}{n}" for n, name in enumerate(NAMES * 3))) == ["<id>"]
    assert texts(*(f"k-{n}x" for n in range(20)), *(f"{name}-7x" for name in NAMES)) == ["<id>"]


def test_what_comes_too_rarely_is_no_kind() -> None:
    assert texts("A#1", "B#2", "C#3", times=1) == ["<id>#<n>"]


def test_what_a_sampler_left_in_clear_is_a_kind_however_rare() -> None:
    assert texts("CASE#~kabcdefgh", sure=True, times=1) == ["CASE#<id>"]
    assert texts("CASE#<id>#<n>", sure=True, times=1) == ["CASE#<id>#<n>"]


def test_a_log_that_says_token_and_bears_keys_is_not_believed() -> None:
    assert texts(*(f"USER#{name}" for name in NAMES), sure=True) == ["USER#<id>"]
    assert texts("USER#anna7", "USER#bo8", sure=True, times=1) == ["USER#<id>"]


def test_a_delimiter_inside_of_values_parts_nothing() -> None:
    letters = string.ascii_letters
    values = [f"CONN#{letters[n]}9{'/' * (n % 3)}{letters[n + 1]}8" for n in range(40)]
    assert texts(*values) == ["CONN#<id>"]


def test_forms_beyond_the_bound_end_in_a_variable_that_takes_the_rest() -> None:
    paths = ["P#" + "#".join(["a1b", *map(str, range(depth))]) for depth in range(20)]
    learnt = learn(dict.fromkeys([*paths, "1#2#3#4#5#6#7#8#9#10#11#12#13#14"], 5))
    assert {"P#<id>", "<id>"} <= {each.text for each in learnt}
    assert "values of many forms begin like this" in {each.unsure for each in learnt}


def test_what_may_be_wrong_is_said() -> None:
    (constant,) = learn(dict.fromkeys([f"Y#2026#{n}" for n in range(20)], 1))
    (lone,) = learn({"CASE#7x": 12})
    assert (constant.unsure, lone.unsure) == (
        "2026 never changes, and may be a variable",
        "it was seen with one value alone, and may be a constant",
    )


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text("AB#|/:x1~<-_@. ", max_size=9), st.integers(1, 9), max_size=12))
def test_every_value_stands_under_one_template_and_fits_it(values: dict[str, int]) -> None:
    learnt = learn(values)
    assert sorted(value for each in learnt for value in each.values) == sorted(values)
    assert sum(each.weight for each in learnt) == sum(values.values())
    for each in learnt:
        try:
            template = Template.parse(f'"{each.text}"')
        except ValueError:
            continue  # a bracket in a literal cannot be written
        assert all(template.matches(value) for value in each.values if value)


def test_templates_of_designs_that_they_were_not_tuned_by_are_right() -> None:
    scores = [score(design, 1_000) for design in KEPT_BACK]
    assert sum(one.fga for one in scores) / 3 >= 0.95
    assert sum(one.fta for one in scores) / 3 >= 0.9
