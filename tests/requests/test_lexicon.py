from typing import Any

import pytest

from analyzer.model.shape import KeyPredicate
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.templates import Template
from analyzer.requests.tokens import Salt

SALT = Salt(b"salt")
CASES = TableKeys(
    name="cases",
    partition_key=("PK",),
    sort_key=("SK",),
    indexes={"GSI1": (("GSI1PK",), ("GSI1SK",))},
    templates={
        "PK": (Template.parse("CASE#<id>"), Template.parse("CASE#<id>#<0..9>"), Template.parse("USER-<id>")),
        "SK": (Template.parse("META"), Template.parse("begins_with DUE#"), Template.parse("<any>")),
    },
    literals=frozenset({"ORG"}),
)
STAGES = TableKeys(name="*-orders", partition_key=("id",))
LEXICON = Lexicon([CASES, STAGES])
SALTED = Lexicon([CASES], SALT)


@pytest.mark.parametrize(
    ("table", "index", "schema"),
    [
        ("cases", None, (("PK",), ("SK",))),
        ("cases", "GSI1", (("GSI1PK",), ("GSI1SK",))),
        ("cases", "GSI2", None),
        ("dev-orders", None, (("id",), ())),
        ("unknown", None, None),
    ],
)
def test_the_schema_is_that_of_the_exact_name_or_of_the_first_glob(table: str, index: Any, schema: Any) -> None:
    assert LEXICON.schema(table, index) == schema


def test_tables_without_end_are_looked_up_and_not_remembered() -> None:
    lexicon = Lexicon([STAGES])
    assert all(lexicon.schema(f"{n}-orders") for n in range(5000))
    assert len(lexicon._found) == 4096


@pytest.mark.parametrize(
    ("keys", "vocabulary"),
    [
        (CASES, (True, 1)),
        (STAGES, (False, 0)),
        (TableKeys(name="t", literals=frozenset({"A", "2026"})), (True, 4)),
        (TableKeys(name="t", templates={"PK": (Template.parse("V2<id>"),)}), (True, None)),
    ],
)
def test_the_vocabulary_tells_the_longest_run_of_digits_unless_one_touches_a_variable(
    keys: TableKeys, vocabulary: tuple[bool, int | None]
) -> None:
    assert Lexicon([keys]).vocabulary(keys.name) == vocabulary


def test_literals_are_those_of_templates_and_of_the_list() -> None:
    assert LEXICON.literals("cases") == {"CASE", "META", "DUE", "ORG"}
    assert LEXICON.literals("unknown") == frozenset()


@pytest.mark.parametrize(
    ("value", "clear", "template"),
    [
        ("CASE#4711", True, "CASE#<n>"),
        ("CASE#alice", True, "CASE#<id>"),
        ("alice#4711", True, "<id>#<n>"),
        ("ORG##x", True, "ORG##<id>"),
        ("CASE#<n>", True, "CASE#<n>"),
        (f"OTHER#{SALT.token('1')}", False, "OTHER#<n>"),
        (f"OTHER#{SALT.token('1')}", True, "<id>#<n>"),
        ("OTHER#<id>", False, "OTHER#<id>"),
        ("OTHER#4711#~k0189#a1#alice@example.org", False, "OTHER#<n>#<id>#<id>#<id>"),
        ("a/b/c/d", True, "<id>/<id>/<id>/<id>"),
        ("a/b/c/d/e", True, "<id>"),
        ("CASE/b/c/d/e", True, "CASE/<id>/<id>/<id>/<id>"),
        ("#".join(["CASE"] * 13), True, "<id>"),
        ("", True, ""),
    ],
)
def test_a_template_shows_declared_literals_and_no_value(value: Any, *, clear: bool, template: str) -> None:
    assert LEXICON.template("cases", value, clear=clear) == template


@pytest.mark.parametrize(
    ("attribute", "operator", "values", "template", "declared"),
    [
        ("PK", "=", ("CASE#4711",), "CASE#<id>", ("CASE#<id>",)),
        ("PK", "=", ("CASE#4711#3",), "CASE#<id>#<id>", ("CASE#<id>#<0..9>", "CASE#<id>")),
        ("PK", "=", ("USER-1",), "<id>", ("USER-<id>",)),
        ("PK", "=", ("OTHER#1",), "<id>#<n>", ()),
        ("PK", "IN", ("CASE#1", "CASE#2", "CASE#x"), "CASE#<id>", ("CASE#<id>",)),
        ("SK", "=", ("META",), "META", ("META", "<any>")),
        ("SK", "begins_with", ("DUE#2024",), "DUE#<id>", ("begins_with DUE#",)),
        ("SK", "between", ("DUE#1", "DUE#x"), "DUE#<id> and DUE#<id>", ("begins_with DUE#",)),
        ("SK", "between", ("A", "1"), "<id> and <n>", ()),
        ("other", "=", ("secret",), "<id>", ()),
        ("other", "IN", ("secret", "1"), "<id> or <n>", ()),
        ("other", "IN", ("a", "1", "a#", "1#", "#a"), "<id>", ()),
        ("PK", "=", (), "", ()),
        ("PK", "=", None, "", ()),
    ],
)
def test_a_condition_is_classified_by_what_is_declared(
    attribute: str, operator: str, values: Any, template: str, declared: tuple[str, ...]
) -> None:
    predicate = LEXICON.classify("cases", attribute, operator, values)
    assert predicate == KeyPredicate(attribute, operator, template, declared)


def test_a_token_of_a_literal_is_shown_as_that_literal() -> None:
    assert SALTED.template("cases", SALT.tokenize("CASE#x#META")) == "CASE#<id>#META"


def test_growing_lists_of_values_are_one_class() -> None:
    classes = {LEXICON.classify("cases", "PK", "IN", tuple(f"CASE#{n}" for n in range(size))) for size in range(1, 50)}
    assert len(classes) == 1


def test_with_the_salt_tokens_of_literals_are_those_literals() -> None:
    value = SALT.tokenize("CASE#4711")
    assert SALTED.classify("cases", "PK", "=", (value,), clear=False) == KeyPredicate(
        "PK", "=", "CASE#<id>", ("CASE#<id>",)
    )


def test_with_the_salt_a_token_of_something_else_is_undeclared() -> None:
    value = SALT.tokenize("ORDER#4711")
    assert SALTED.classify("cases", "PK", "=", (value,), clear=False) == KeyPredicate("PK", "=", "<id>#<n>")


def test_without_the_salt_tokens_that_may_hide_a_declared_template_are_not_known() -> None:
    value = SALT.tokenize("CASE#4711")
    assert LEXICON.classify("cases", "PK", "=", (value,), clear=False) == KeyPredicate("PK", "=")


def test_without_the_salt_tokens_that_fit_no_template_are_undeclared() -> None:
    value = SALT.tokenize("OTHER#4711", frozenset({"OTHER"}))
    assert LEXICON.classify("cases", "PK", "=", (value,), clear=False) == KeyPredicate("PK", "=", "OTHER#<n>")


def test_a_template_without_literals_may_hide_a_declared_one_whatever_the_salt() -> None:
    assert SALTED.classify("cases", "PK", "=", ("<id>#<n>",), clear=False) == KeyPredicate("PK", "=")
