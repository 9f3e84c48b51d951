from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests.expressions import ExpressionError
from analyzer.requests.masking import mask_statement
from analyzer.requests.partiql import is_pinned, parse_statement, statement_text


def read(text: str) -> Any:
    return parse_statement(mask_statement(text))


@pytest.mark.parametrize(
    ("text", "verb", "table", "index"),
    [
        ("select * from orders", "SELECT", "orders", None),
        ('SELECT * FROM "or-ders"."by-date";', "SELECT", "or-ders", "by-date"),
        ('SELECT * FROM orders."x""y"', "SELECT", "orders", 'x"y'),
        ("INSERT INTO orders VALUE {'pk': 'a', 'm': {'x': [1, {}]}, 'e': <<>>, 'n': NULL}", "INSERT", "orders", None),
        ("INSERT INTO orders VALUE {}", "INSERT", "orders", None),
        (
            "UPDATE orders SET a = 1 SET b = list_append(b, [1]), c = c + 1 REMOVE d.e[0] WHERE pk = 1",
            "UPDATE",
            "orders",
            None,
        ),
        ("UPDATE orders SET a = 1 WHERE pk = 1 RETURNING MODIFIED NEW *", "UPDATE", "orders", None),
        ("DELETE FROM orders WHERE pk = 1 RETURNING ALL OLD *", "DELETE", "orders", None),
        ("EXISTS(SELECT * FROM orders WHERE pk = 1)", "SELECT", "orders", None),
    ],
)
def test_a_statement_names_its_table_and_index(text: str, verb: str, table: str, index: Any) -> None:
    statement = read(text)
    assert (statement.verb, statement.table, statement.index) == (verb, table, index)


@pytest.mark.parametrize(
    ("where", "canonical"),
    [
        ("a = 1", "a = ?"),
        ("1 < a", "a > ?"),
        ("a != 1", "a <> ?"),
        ("b = 2 and a = 1", "a = ? AND b = ?"),
        ("a IN (1, 2) OR a in [1]", "a IN (?)"),
        ("a BETWEEN 1 AND 2", "a BETWEEN ? AND ?"),
        ("begins_with(a, 'x') AND NOT contains(b, 'y')", "NOT contains(b, ?) AND begins_with(a, ?)"),
        ("attribute_type(a, 'S')", "attribute_type(a, ?)"),
        ("size(a) > 3", "size(a) > ?"),
        ("a IS MISSING AND b IS NOT NULL", "NOT is_null(b) AND is_missing(a)"),
        ("a IS BOOL OR a IS NOT STRING", "NOT is_string(a) OR is_bool(a)"),
        ('"a b".c[0] = 1', '"a b".*[*] = ?'),
        ("(a = 1 OR b = 2) AND (c) = (3)", "(a = ? OR b = ?) AND c = ?"),
        ("a = b - 1 + c", "* - ? + * = a"),
        ("a = {'x': 1} AND b = [1, 2]", "a = ? AND b = ?"),
    ],
)
def test_a_where_clause_has_one_canonical_form(where: str, canonical: Any) -> None:
    assert statement_text(read(f"SELECT * FROM t WHERE {where}")) == f'SELECT * FROM "t" WHERE {canonical}'


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("SELECT b, a.c FROM t.i ORDER BY sk DESC LIMIT 3", 'SELECT a.*, b FROM "t"."i" ORDER BY DESC'),
        ("SELECT b FROM t ORDER BY sk ASC, a", 'SELECT b FROM "t" ORDER BY ASC'),
        ("INSERT INTO t VALUE {'a': 1}", 'INSERT INTO "t" VALUE {?}'),
        ("UPDATE t SET b = 1 REMOVE a WHERE pk = 1", 'UPDATE "t" SET b = ? REMOVE a WHERE pk = ?'),
        ("DELETE FROM t WHERE pk = 1", 'DELETE FROM "t" WHERE pk = ?'),
        ("SELECT a FROM t WHERE a = b - 1 + c", 'SELECT a FROM "t" WHERE * - ? + * = a'),
    ],
)
def test_a_statement_has_one_canonical_form(text: str, canonical: Any) -> None:
    assert statement_text(read(text)) == canonical


@pytest.mark.parametrize(
    ("where", "pinned"),
    [
        ("pk = 1", True),
        ("1 = pk", True),
        ("pk IN (1, 2)", True),
        ("pk = 1 AND a > 2", True),
        ("pk = 1 OR pk = 2", True),
        ("pk = 1 OR a = 2", False),
        ("pk > 1", False),
        ("pk = a", False),
        ("a = 1", False),
        ("NOT pk = 1", False),
        ("begins_with(pk, 'x')", False),
        ("size(pk) = 1", False),
    ],
)
def test_an_equality_or_a_list_pins_an_attribute(where: str, *, pinned: bool) -> None:
    assert is_pinned(read(f"SELECT * FROM t WHERE {where}").where, "pk") is pinned


def test_without_a_where_clause_nothing_is_pinned() -> None:
    assert not is_pinned(read("SELECT * FROM t").where, "pk")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT",
        "SELEC * FROM t",
        "SELECT * FROM t WHERE",
        "SELECT * FROM t WHERE 'secret'",
        "SELECT * FROM t WHERE a = 'secret' b",
        "INSERT INTO t VALUE {'a': 'secret'",
        "DROP TABLE secret",
        "SELECT * FROM t WHERE a = " + "(" * 100 + "1" + ")" * 100,
    ],
)
def test_what_is_no_statement_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(ExpressionError, match="at character") as caught:
        read(text)
    assert "secret" not in str(caught.value)


@given(st.text(alphabet="SELECT FROM t WHERE a='?{}[]<>(),.;\"1", max_size=60))
def test_any_text_is_parsed_or_refused_in_our_own_words(text: str) -> None:
    with suppress(ExpressionError):
        assert statement_text(read(text))
