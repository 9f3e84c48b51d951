from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests import grammar
from analyzer.requests.expressions import (
    Bound,
    ExpressionError,
    Filter,
    filter_of,
    key_bounds,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
    projection_of,
    update_of,
)
from analyzer.requests.grammar import build_parsers
from analyzer.requests.masking import mask_expression
from analyzer.requests.rendering import render
from analyzer.requests.tree import (
    Action,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    In,
    Not,
    Or,
    Path,
    Value,
)

A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
V, W = Value(":v"), Value(":w")


def test_parsers_can_be_built_ahead() -> None:
    build_parsers()
    built = grammar._parser.cache_info().misses
    parse_condition("a = :v")
    parse_projection("a, b")
    parse_update("SET a = :v")
    assert grammar._parser.cache_info().misses == built


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_every_comparator_is_known(operator: str) -> None:
    assert parse_condition(f"a {operator} :v") == Comparison(A, operator, V)


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        ("attribute_exists", "a"),
        ("attribute_not_exists", "a"),
        ("attribute_type", "a, :v"),
        ("begins_with", "a, :v"),
        ("contains", "a, :v"),
    ],
)
def test_every_function_is_known(function: Any, operands: Any) -> None:
    assert parse_condition(f"{function}({operands})") == Call(function, (A, V)[: 1 + operands.count(",")])


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a BETWEEN :v AND :w", Between(A, V, W)),
        ("a IN (:v, :w)", In(A, (V, W))),
        ("size(a) > :v", Comparison(Call("size", (A,)), ">", V)),
        ("NOT a = :v", Not(Comparison(A, "=", V))),
        ("a = b", Comparison(A, "=", B)),
        (":v = a", Comparison(V, "=", A)),
        ("(a = :v)", Comparison(A, "=", V)),
        ("(a) = (:v)", Comparison(A, "=", V)),
        ("#x.b[0].#y = :v", Comparison(Path(("#x", "b", "[0]", "#y")), "=", V)),
        ("a[ 0 ][1] = :v", Comparison(Path(("a", "[0]", "[1]")), "=", V)),
        ("not a between :v and :w and contains (a, :v)", And((Not(Between(A, V, W)), Call("contains", (A, V))))),
        ("order_in = :v and android = :w", None),
    ],
)
def test_conditions_parse(text: str, tree: Any) -> None:
    assert tree is None or parse_condition(text) == tree
    assert parse_condition(text) == parse_condition(render(parse_condition(text)))


def test_not_binds_closer_than_and_and_and_closer_than_or() -> None:
    a, b, c = (Comparison(path, "=", V) for path in (A, B, C))
    assert parse_condition("NOT a = :v AND b = :v OR c = :v") == Or((And((Not(a), b)), c))
    assert parse_condition("a = :v OR b = :v AND NOT c = :v") == Or((a, And((b, Not(c)))))
    assert parse_condition("(a = :v OR b = :v) AND c = :v") == And((Or((a, b)), c))


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("SET a = :v", (Action("SET", A, V),)),
        ("set a = a + :v, b = :w - b", None),
        ("SET a = if_not_exists(b, :v)", (Action("SET", A, Call("if_not_exists", (B, V))),)),
        ("SET a = list_append(:v, a)", (Action("SET", A, Call("list_append", (V, A))),)),
        ("SET a = if_not_exists(a, :v) + :w", None),
        ("SET a = (b + :v)", (Action("SET", A, Arithmetic(B, "+", V)),)),
        ("REMOVE a, b[1]", (Action("REMOVE", A), Action("REMOVE", Path(("b", "[1]"))))),
        ("ADD a :v, b :w", (Action("ADD", A, V), Action("ADD", B, W))),
        ("DELETE a :v", (Action("DELETE", A, V),)),
        ("remove a set b = :v add c :w", (Action("REMOVE", A), Action("SET", B, V), Action("ADD", C, W))),
    ],
)
def test_updates_parse(text: str, actions: Any) -> None:
    assert actions is None or parse_update(text) == actions
    assert parse_update(render(parse_update(text))) == parse_update(text)


def test_projections_parse() -> None:
    assert parse_projection("a, #b , c.d[3]") == (A, Path(("#b",)), Path(("c", "d", "[3]")))


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("a = :v", (Bound("a", "=", (":v",)),)),
        (':v = a AND "b" > :w', (Bound("a", "=", (":v",)), Bound("b", ">", (":w",)))),
        (":w >= a", (Bound("a", "<=", (":w",)),)),
        ("(a = :v) AND (b BETWEEN :v AND :w)", (Bound("a", "=", (":v",)), Bound("b", "between", (":v", ":w")))),
        ("(a = :v AND b = :w) AND begins_with(c, :v)", None),
    ],
)
def test_a_key_condition_is_one_bound_an_attribute(text: str, bounds: Any) -> None:
    assert bounds is None or parse_key_condition(text) == bounds
    assert key_bounds(text) == parse_key_condition(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = :v OR b = :w",
        "a <> :v",
        "a IN (:v)",
        "NOT a = :v",
        "contains(a, :v)",
        "begins_with(a)",
        "a = b",
        "a.b = :v",
        "#a = :v",
        "size(a) = :v",
    ],
)
def test_what_may_not_stand_in_a_key_condition_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="joined by AND"):
        parse_key_condition(text)


@pytest.mark.parametrize(
    ("text", "position", "wanted"),
    [
        ("a = ", 4, "a value"),
        ("a == :v", 3, "an attribute name"),
        ("a = :v AND", 10, "NOT"),
        ("a = :v )", 7, "leave it out"),
        ("", 0, "an attribute name"),
        ("a @ :secret", 2, "a comparator"),
        ("secret(a)", 6, "a comparator"),
        ("a = 'secret'", 4, "a value"),
        ("a BETWEEN :v OR :w", 13, "AND"),
        ("(" * 61 + "a = :v" + ")" * 61, 60, "nests deeper"),
        ("NOT " * 61 + "a = :v", 0, "nests deeper"),
    ],
)
def test_an_error_tells_place_and_mend_and_quotes_nothing(text: str, position: int, wanted: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_condition(text)
    assert caught.value.position == position
    assert wanted in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_sum_that_would_exhaust_the_stack_is_refused() -> None:
    assert render(parse_update("SET a = " + "b + " * 200 + "b"))
    with pytest.raises(ExpressionError, match="more than 200"):
        parse_update("SET a = " + "b + " * 201 + "b")


@pytest.mark.parametrize("parse", [parse_update, parse_projection])
def test_updates_and_projections_have_errors_of_the_same_kind(parse: Any) -> None:
    with pytest.raises(ExpressionError, match="at character 1"):
        parse("= secret")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a = :x AND b = :y", Filter("a = ? AND b = ?", ("a", "b"))),
        ("b = :x AND a = :y", Filter("a = ? AND b = ?", ("a", "b"))),
        ("(b = :x) AND (a = :y AND a = :z)", Filter("a = ? AND b = ?", ("a", "b"))),
        (":y > a", Filter("a < ?", ("a",))),
        ("b = a OR a = b", Filter("a = b", ("a", "b"))),
        ("a < b", Filter("a < b", ("a", "b"))),
        ("a IN (:x, :y, :z)", Filter("a IN (?)", ("a",))),
        ("a = :x OR a = :y OR a = :z", Filter("a = ?", ("a",))),
        ("(a = :x OR b = :y) AND c = :z", Filter("(a = ? OR b = ?) AND c = ?", ("a", "b", "c"))),
        ("(a = :x OR a = :y) AND c = :z", Filter("a = ? AND c = ?", ("a", "c"))),
        ("(a = :x OR b = :y) AND (b = :y OR a = :x)", Filter("a = ? OR b = ?", ("a", "b"))),
        ("NOT (b = :x OR a = :y)", Filter("NOT (a = ? OR b = ?)", ("a", "b"))),
        ("NOT NOT a = :y", Filter("a = ?", ("a",))),
        ("NOT NOT (a = :x AND b = :y) AND c = :z", Filter("a = ? AND b = ? AND c = ?", ("a", "b", "c"))),
        ("m.u7[3] = :y", Filter("m.*[*] = ?", ("m",))),
        ("size(a) BETWEEN :x AND :y", Filter("size(a) BETWEEN ? AND ?", ("a",))),
        ("#gone = :y", Filter("# = ?", ())),
        ("#odd = :y", Filter('"an odd ""name""" = ?', ('an odd "name"',))),
    ],
)
def test_a_condition_has_one_canonical_form(text: str, canonical: Any) -> None:
    assert filter_of(mask_expression(text, {"#odd": 'an odd "name"'})) == canonical


def test_a_projection_is_sorted_and_each_path_stands_once() -> None:
    assert projection_of("b, a, b, c.d[*]") == ("a", "b", "c.*[*]")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("REMOVE b SET c = :x, a = a + :y", "SET a = a + ?, c = ? REMOVE b"),
        ("ADD n :x DELETE s :y", "ADD n ? DELETE s ?"),
        ("SET " + ", ".join(f"f{n} = :v" for n in range(8)), "SET " + ", ".join(f"f{n} = ?" for n in range(8))),
        ("SET " + ", ".join(f"f{n} = :v" for n in range(9)) + ", n = n + :v", "SET * = ?, n = n + ?"),
    ],
)
def test_an_update_is_sorted_and_many_plain_assignments_are_one(text: str, canonical: Any) -> None:
    assert update_of(text) == canonical


NAMES = st.sampled_from(["a", "b1", "_c", "#x", "#0", '"odd ""name"""', "inner", "order_by", "sizes"])
PATHS = st.builds(
    lambda first, rest: Path((first, *rest)),
    NAMES,
    st.lists(NAMES | st.integers(0, 99).map(lambda n: f"[{n}]"), max_size=3),
)
VALUES = st.sampled_from([":a", ":v1", ":0"]).map(Value)
OPERANDS = PATHS | VALUES | PATHS.map(lambda path: Call("size", (path,)))
COMPARISONS = (
    st.builds(Comparison, OPERANDS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), OPERANDS)
    | st.builds(Between, OPERANDS, OPERANDS, OPERANDS)
    | st.builds(In, OPERANDS, st.lists(OPERANDS, min_size=1, max_size=3).map(tuple))
    | st.builds(lambda p, v: Call("begins_with", (p, v)), PATHS, VALUES)
    | PATHS.map(lambda path: Call("attribute_not_exists", (path,)))
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=3).map(lambda members: And(tuple(members)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda members: Or(tuple(members)))
    ),
    max_leaves=8,
)
SUMS = st.recursive(
    PATHS | VALUES,
    lambda inner: (
        st.builds(Arithmetic, inner, st.sampled_from("+-"), inner)
        | st.builds(lambda p, o: Call("if_not_exists", (p, o)), PATHS, inner)
        | st.builds(lambda p, o: Call("list_append", (p, o)), inner, inner)
    ),
    max_leaves=4,
)
ACTIONS = (
    st.builds(lambda p, o: Action("SET", p, o), PATHS, SUMS)
    | PATHS.map(lambda path: Action("REMOVE", path))
    | st.builds(Action, st.sampled_from(["ADD", "DELETE"]), PATHS, VALUES)
)


@given(CONDITIONS)
def test_a_condition_survives_being_written_and_read(tree: Any) -> None:
    assert parse_condition(render(tree)) == tree


@given(st.lists(ACTIONS, min_size=1, max_size=5).map(tuple))
def test_an_update_survives_being_written_and_read(actions: Any) -> None:
    assert parse_update(render(actions)) == actions


@given(st.lists(PATHS, min_size=1, max_size=4).map(tuple))
def test_a_projection_survives_being_written_and_read(paths: Any) -> None:
    assert parse_projection(render(paths)) == paths


@given(CONDITIONS, st.randoms(use_true_random=False))
def test_the_canonical_form_does_not_depend_on_the_order_of_operands(tree: Any, random: Any) -> None:
    one, two = (filter_of(render(t)) for t in (tree, _shuffled(tree, random)))
    assert one == two


def _shuffled(tree: Any, random: Any) -> Any:
    match tree:
        case Not(condition):
            return Not(_shuffled(condition, random))
        case And(members) | Or(members):
            mixed = [_shuffled(member, random) for member in members]
            random.shuffle(mixed)
            return type(tree)(tuple(mixed))
        case In(operand, choices):
            mixed = list(choices)
            random.shuffle(mixed)
            return In(operand, tuple(mixed))
    return tree


@given(st.text(alphabet="aAND()=:v#<>, []1.'\"NOT ", max_size=40))
def test_any_text_is_parsed_or_refused_in_our_own_words(text: str) -> None:
    for parse in (parse_condition, parse_update, parse_projection, parse_key_condition):
        with suppress(ExpressionError):
            assert parse(text)
