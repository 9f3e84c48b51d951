"""Legacy parameters, PartiQL, messages and sizes: small pure functions, as tables."""

from __future__ import annotations

from typing import Any

import pytest
from dynascope_sampler.expressions import assigned, bound, used_values
from dynascope_sampler.legacy import is_legacy, modernize
from dynascope_sampler.messages import mask_message, strings_of
from dynascope_sampler.partiql import read_statement
from dynascope_sampler.sizes import item_bytes, largest_item_bytes


def condition(operator: str, *values: str) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "AttributeValueList": [{"S": value} for value in values]}


@pytest.mark.parametrize(
    ("operator", "values", "expression"),
    [
        ("EQ", ("a",), "#f0 = :f0"),
        ("NE", ("a",), "#f0 <> :f0"),
        ("LE", ("a",), "#f0 <= :f0"),
        ("GT", ("a",), "#f0 > :f0"),
        ("NULL", (), "attribute_not_exists(#f0)"),
        ("NOT_NULL", (), "attribute_exists(#f0)"),
        ("CONTAINS", ("a",), "contains(#f0, :f0)"),
        ("NOT_CONTAINS", ("a",), "NOT contains(#f0, :f0)"),
        ("BEGINS_WITH", ("a",), "begins_with(#f0, :f0)"),
        ("IN", ("a", "b"), "#f0 IN (:f0_0, :f0_1)"),
        ("BETWEEN", ("a", "b"), "#f0 BETWEEN :f0_0 AND :f0_1"),
    ],
)
def test_every_legacy_comparison_has_an_expression(operator: str, values: tuple[str, ...], expression: str) -> None:
    modern = modernize({"TableName": "t", "ScanFilter": {"x": condition(operator, *values)}})
    assert modern["FilterExpression"] == expression
    assert modern["ExpressionAttributeNames"] == {"#f0": "x"}
    assert [value["S"] for value in modern["ExpressionAttributeValues"].values()] == list(values)


def test_legacy_terms_come_in_alphabetical_order() -> None:
    params = {
        "KeyConditions": {"SK": condition("BEGINS_WITH", "A"), "PK": condition("EQ", "x")},
        "QueryFilter": {"b": condition("EQ", "1"), "a": condition("EQ", "2")},
        "ConditionalOperator": "OR",
        "AttributesToGet": ["z", "y"],
    }
    assert is_legacy(params)
    modern = modernize(params)
    assert modern["KeyConditionExpression"] == "#k0 = :k0 AND begins_with(#k1, :k1)"
    assert modern["FilterExpression"] == "#f0 = :f0 OR #f1 = :f1"
    assert modern["ProjectionExpression"] == "#p0, #p1"
    assert modern["ExpressionAttributeNames"]["#p0"] == "y"


def test_expected_and_attribute_updates() -> None:
    modern = modernize(
        {
            "Expected": {"a": {"Exists": False}, "b": {"Value": {"N": "1"}}},
            "AttributeUpdates": {
                "w": {"Value": {"S": "x"}},
                "x": {"Action": "ADD", "Value": {"N": "1"}},
                "y": {"Action": "DELETE"},
            },
        }
    )
    assert modern["ConditionExpression"] == "attribute_not_exists(#c0) AND #c1 = :c1"
    assert modern["UpdateExpression"] == "SET #u0 = :u0 ADD #u1 :u1 REMOVE #u2"


def test_only_equalities_bind() -> None:
    text = "#a=:a AND b BETWEEN :b AND :c"
    values = {":a": {"S": "1"}, ":b": {"S": "2"}, ":c": {"N": "3"}, ":d": {"S": "4"}}
    assert bound(text, {"#a": "PK"}, values) == (("PK", "S", "1"),)
    assert used_values(text, values) == ((":a", "S", "1"), (":b", "S", "2"), (":c", "N", "3"))
    assert bound("a <= :a AND b >= :b", {}, values) == ()


def test_only_plain_assignments_count() -> None:
    values = {":a": {"S": "1"}, ":n": {"N": "2"}}
    text = "SET a = :a, b.c = :a, d = d + :n, e=:n REMOVE f ADD g :n"
    assert assigned(text, {}, values) == (("a", "S", "1"), ("e", "N", "2"))


@pytest.mark.parametrize(
    ("statement", "parameters", "masked", "values"),
    [
        ("SELECT * FROM t WHERE PK='it''s' AND n > -1.5e3", [], "SELECT * FROM t WHERE PK=? AND n > ?", {"?1": "it's"}),
        ("SELECT * FROM t WHERE PK IN [?, 'b']", ["a"], "SELECT * FROM t WHERE PK IN [?, ?]", {"?1": "a", "?2": "b"}),
        (
            "SELECT * FROM t WHERE x=? AND SK BETWEEN ? AND ?",
            ["x", "a", "b"],
            "SELECT * FROM t WHERE x=? AND SK BETWEEN ? AND ?",
            {"?2": "a", "?3": "b"},
        ),
        ("UPDATE t SET PK2='a' WHERE PK=?", ["k"], "UPDATE t SET PK2=? WHERE PK=?", {"?2": "k"}),
        ('DELETE FROM t WHERE "PK" = \'a', [], 'DELETE FROM t WHERE "PK" = ?', {"?1": "a"}),
        (
            "INSERT INTO t VALUE {'PK': ?, 'tags': <<'x'>>, 'm': {'k': 1}}",
            ["a"],
            "INSERT INTO t VALUE {'PK': ?, 'tags': <<?>>, 'm': {?: ?}}",
            {"?1": "a"},
        ),
    ],
)
def test_statements_lose_their_literals_and_keep_positions(
    statement: str, parameters: list[str], masked: str, values: dict[str, str]
) -> None:
    read = read_statement(statement, [{"S": value} for value in parameters], lambda *_: ("PK", "SK"))
    assert read.text == masked
    assert read.table == "t"
    assert {place: text for place, _, text in read.values} == values


def test_without_a_schema_a_statement_tells_no_key() -> None:
    read = read_statement('SELECT * FROM "t"."i" WHERE PK=\'a\'', None, lambda *_: ())
    assert (read.table, read.secondary, read.key, read.values) == ("t", "i", (), ())


@pytest.mark.parametrize("statement", ["", "?", "EXISTS(SELECT * FROM t WHERE PK=?)", "SELECT ? ? ?", "}}}{{{"])
def test_no_statement_is_too_odd(statement: str) -> None:
    read_statement(statement, [], lambda *_: ("PK",))


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("Rate exceeded, see https://x.y/z", "Rate exceeded, see ?"),
        ("Value 'secret' at \"key\" failed", "Value ? at ? failed"),
        ("no item for alpha-beta here", "no item for ? here"),
        ("item alpha is gone", "item ? is gone"),
        ("it is a b c", "it is ? b c"),
        ("limit 42 of 17 reached", "limit ? of ? reached"),
    ],
)
def test_messages_lose_values(message: str, masked: str) -> None:
    params = {"TableName": "item", "Key": {"PK": {"S": "alpha-beta#alpha"}, "SK": {"S": "a"}}}
    assert mask_message(message, strings_of(params)) == masked


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"ab": {"S": "xyz"}}, 5),
        ({"é": {"S": "é"}}, 4),
        ({"n": {"N": "-12.50"}}, 1 + 4),
        ({"n": {"N": "1000"}}, 1 + 2),
        ({"n": {"N": "0"}}, 1 + 1),
        ({"b": {"B": b"12345"}}, 6),
        ({"t": {"BOOL": True}, "u": {"NULL": True}}, 4),
        ({"l": {"L": [{"S": "ab"}, {"N": "1"}]}}, 1 + 3 + 2 + 1 + 2 + 1),
        ({"m": {"M": {"k": {"S": "v"}}}}, 1 + 3 + 1 + 1 + 1),
        ({"s": {"SS": ["ab", "c"]}, "x": {"NS": ["1", "22"]}, "y": {"BS": [b"1"]}}, 4 + 5 + 2),
    ],
)
def test_sizes_are_dynamodbs(item: dict[str, Any], size: int) -> None:
    assert item_bytes(item) == size


def test_the_largest_of_a_few_items_is_known_that_of_many_not() -> None:
    assert largest_item_bytes([]) is None
    assert largest_item_bytes([{"a": {"S": "x"}}, {"a": {"S": "xyz"}}]) == 4
    assert largest_item_bytes([{"a": {"S": "x"}}] * 3_000) is None
