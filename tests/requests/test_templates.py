from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests.templates import Template, Variable
from analyzer.requests.tokens import Salt

SALT = Salt(b"salt")
WORD, NUMBER = SALT.token("word"), SALT.token("7")


def parse(text: str) -> Any:
    return Template.parse(text)


@pytest.mark.parametrize(
    ("text", "operator", "variables", "literal_characters"),
    [
        ("CASE#<caseId>", "=", ("caseId",), 5),
        ("OPEN", "=", (), 4),
        ("= OPEN", "=", (), 4),
        ("begins_with DUE#", "begins_with", (), 4),
        ("BEGINS_WITH DUE#<date>", "begins_with", ("date",), 4),
        ("between DUE#<from> and DUE#<to>", "between", ("from", "to"), 8),
        ('between "A and B" and C', "between", (), 8),
        ("< A", "<", (), 1),
        ("<= A", "<=", (), 1),
        ("> A", ">", (), 1),
        (">= <at>", ">=", ("at",), 0),
        ('"begins_with x"', "=", (), 13),
        ("begins_without", "=", (), 14),
        ("INV#<id>#<0..9>", "=", ("id", "0..9"), 5),
        ("INV#<shard=0..9>", "=", ("shard",), 4),
        ("STATUS#<status=OPEN|CLOSED>", "=", ("status",), 7),
    ],
)
def test_a_template_is_an_operator_and_what_it_compares_with(
    text: str, operator: str, variables: Any, literal_characters: Any
) -> None:
    template = parse(text)
    assert (template.operator, template.variables, template.literal_characters) == (
        operator,
        variables,
        literal_characters,
    )
    assert template.text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  ", "empty"),
        ('""', "empty"),
        ("begins_with", "stands alone"),
        (">=", "stands alone"),
        ("begins_with(DUE#)", "without brackets"),
        ("between A", "needs two values"),
        ("CASE#<caseId", "close it"),
        ("CASE#>", "close it"),
        ("<a><b>", "touch"),
        ("CASE#<>", "names no variable"),
        ("CASE#<1a>", "names no variable"),
        ("<9..0>", "runs backwards"),
        ("<0..99999>", "too wide"),
        ("<status=OPEN|>", "empty value"),
    ],
)
def test_a_template_that_cannot_be_read_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_templates_are_equal_by_text() -> None:
    assert len({parse("CASE#<id>"), parse(" CASE#<id>"), parse("CASE#<caseId>")}) == 2
    assert parse("A") != "A"
    assert repr(parse("A")) == "Template('A')"


def test_slots_tell_the_values_of_a_variable() -> None:
    assert parse("<s=A|B>#<08..10>#<id>").slots == (
        Variable("s", ("A", "B")),
        Variable("08..10", ("08", "09", "10"), is_shard=True),
        Variable("id"),
    )


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("CASE#<id>", "CASE#1", True),
        ("CASE#<id>", "CASE#", False),
        ("CASE#<id>", "CASE#1#META", True),
        ("CASE#<id>", "USER#1", False),
        ("CASE#<id>", "CASE#1\n2", True),
        ("CASE#<id>#META", "CASE#1#META", True),
        ("CASE#<id>#META", "CASE#1#2#META", False),
        ("CASE#<id>", f"CASE#{WORD}", True),
        ("CASE#<id>", f"{WORD}#{WORD}", False),
        ("CASE#<id>", "CASE#<n>", True),
        ("S#<s=OPEN|CLOSED>", "S#OPEN", True),
        ("S#<s=OPEN|CLOSED>", "S#BROKEN", False),
        ("S#<s=OPEN|CLOSED>", f"S#{WORD}", True),
        ("S#<s=OPEN|CLOSED>", "S#<id>", True),
        ("INV#<0..9>", "INV#7", True),
        ("INV#<0..9>", "INV#17", False),
        ("INV#<00..11>", "INV#07", True),
        ("INV#<0..9>", f"INV#{NUMBER}", True),
        ("INV#<0..9>", f"INV#{WORD}", False),
        ("USER-<id>", "USER-1", True),
        ("USER-<id>", "ORG-1", False),
        ("USER-<id>", WORD, True),
        ("<day>-<0..9>#X", "mon-3#X", True),
        ("<day>-<0..9>#X", "mon-x#X", False),
        ("begins_with DUE#", "DUE#2024", True),
        ("begins_with DUE#", "DUE#", True),
        ("begins_with DUE#", "DUE", False),
        ("begins_with DUE#20", f"DUE#{WORD}", True),
        ("begins_with DUE#20", "DUE#21", False),
        ("between A and B", "B", True),
        ("between A and B", "C", False),
    ],
)
def test_a_value_fits_a_template(text: str, value: Any, *, fits: bool) -> None:
    assert parse(text).matches(value) is fits


@pytest.mark.parametrize(
    ("text", "operator", "values", "takes"),
    [
        ("CASE#<id>", "=", ("CASE#1",), True),
        ("CASE#<id>", "IN", ("CASE#1", "CASE#2"), True),
        ("CASE#<id>", "IN", ("CASE#1", "USER#2"), False),
        ("CASE#<id>", "begins_with", ("CASE#1",), False),
        ("begins_with DUE#", "begins_with", ("DUE#2024",), True),
        ("begins_with DUE#2024", "begins_with", ("DUE#",), False),
        ("begins_with DUE#", "between", ("DUE#1", "DUE#2"), True),
        ("begins_with DUE#", "between", ("DUE#1", "E"), False),
        ("begins_with DUE#", "=", ("DUE#1",), False),
        ("between D#<a> and D#<b>", "between", ("D#1", "D#2"), True),
        ("between D#<a> and D#<b>", "between", ("D#1", "E#2"), False),
        ("between D#<a> and D#<b>", "between", ("D#1",), False),
        (">= D#<a>", ">", ("D#1",), True),
        (">= D#<a>", ">=", ("D#1",), True),
        (">= D#<a>", "<", ("D#1",), False),
        ("< D#<a>", "<=", ("D#1",), True),
        ("CASE#<id>", "=", (), False),
    ],
)
def test_a_request_falls_under_a_declared_condition_that_is_no_narrower(
    text: str, operator: str, values: Any, *, takes: bool
) -> None:
    assert parse(text).takes(operator, values) is takes


def test_a_token_may_hide_a_literal() -> None:
    template = parse("CASE#<id>")
    assert template.may_take("=", (f"{WORD}#{WORD}",))
    assert not template.may_take("=", (f"USER#{WORD}",))


@pytest.mark.parametrize(
    ("one", "two", "overlaps"),
    [
        ("CASE#<id>", "CASE#<caseId>", True),
        ("CASE#<id>", "CASE#<id>#META", True),
        ("CASE#<id>", "USER#<id>", False),
        ("CASE#<id>#A", "CASE#<id>#B", False),
        ("<a>#<b>", "CASE#<id>", True),
        ("OPEN", "<s=OPEN|CLOSED>", True),
        ("BROKEN", "<s=OPEN|CLOSED>", False),
        ("S#<0..9>", "S#<10..19>", False),
        ("S#<0..9>", "S#<5..19>", True),
        ("<a>-x", "<b>#x", False),
        ("<a>-x", "<b>#<c>", True),
        ("<a>", "<b>", True),
        ("CASE#<id>", "begins_with CASE#", False),
        ("begins_with CASE#", "begins_with CASE#1", True),
        ("begins_with CASE#", "begins_with USER#", False),
        ("begins_with D#", "between D#<a> and D#<b>", True),
        ("between D#<a> and D#<b>", "begins_with D#", True),
        ("begins_with E#", "between D#<a> and D#<b>", False),
        ("between A and B", "between A and C", False),
        ("> A", ">= A", True),
        ("> A", "< A", False),
    ],
)
def test_two_templates_overlap_where_one_request_falls_under_both(one: str, two: str, *, overlaps: bool) -> None:
    assert parse(one).overlaps(parse(two)) is overlaps
    assert parse(two).overlaps(parse(one)) is overlaps


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("CASE#<id>#META", {"CASE", "META"}),
        ("<s=OPEN|CLOSED/NOW>#x", {"OPEN", "CLOSED", "NOW", "x"}),
        ("INV#<0..9>", {"INV"}),
        ("USER-<id>#A", {"A"}),
        ("begins_with DUE#2024", {"DUE", "2024"}),
        ("between A|<x> and B/", {"A", "B"}),
        ("<id>", set()),
    ],
)
def test_whole_literal_segments_may_stand_in_clear(text: str, segments: Any) -> None:
    assert parse(text).segments_literal() == segments


ELEMENTS = st.lists(st.sampled_from(["CASE", "x", "-", "<0..3>", "<s=A|B>", "<id>"]), min_size=1, max_size=3)


@st.composite
def templates(draw: Any) -> Any:
    return "#".join("".join(_apart(draw(ELEMENTS))) for _ in range(draw(st.integers(1, 3))))


def _apart(elements: Any) -> Any:
    return [e for at, e in enumerate(elements) if not (at and e[0] == "<" and elements[at - 1][0] == "<")]


@st.composite
def templates_with_values(draw: Any) -> Any:
    text = draw(templates())
    value = text.replace("<0..3>", draw(st.sampled_from("0123"))).replace("<s=A|B>", draw(st.sampled_from("AB")))
    return text, value.replace("<id>", draw(st.text(alphabet="yz7", min_size=1, max_size=3)))


@given(templates_with_values())
def test_a_value_made_from_a_template_fits_it_clear_and_as_token(made: Any) -> None:
    text, value = made
    template = parse(text)
    assert template.matches(value)
    assert template.matches(SALT.tokenize(value, template.segments_literal()))
    assert template.may_take("=", (SALT.tokenize(value),))
    assert template.overlaps(template)


@given(templates_with_values(), templates())
def test_a_value_that_fits_two_templates_proves_their_overlap(made: Any, other: Any) -> None:
    text, value = made
    if parse(other).matches(value):
        assert parse(text).overlaps(parse(other))
