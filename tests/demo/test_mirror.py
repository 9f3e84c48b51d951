"""The mirror answers reads as moto would: filters, projections, pages, and after every kind of write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from deploy.demo.emulator.expressions import matches, parse, parse_paths, pick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEMS: list[dict[str, Any]] = [
    {
        "PK": {"S": f"CASE#{number % 4}"},
        "SK": {"S": f"AUDIT#{number:03d}"},
        "n": {"N": str(number - 5)},
        "status": {"S": ("OPEN", "CLOSED", "")[number % 3]},
        "tags": {"SS": ["all", f"tag{number % 5}"]},
        "numbers": {"NS": ["1", str(number)]},
        "photo": {"B": bytes([number])},
        "nested": {"M": {"deep": {"N": str(number % 2)}, "entries": {"L": [{"S": "first"}, {"N": str(number)}]}}},
        **({"rare": {"BOOL": True}} if number % 7 == 0 else {}),
        **({"nothing": {"NULL": True}} if number % 5 == 0 else {}),
    }
    for number in range(40)
]

FILTERS = [
    "n > :one",
    "n BETWEEN :low AND :high",
    "n IN (:one, :low, :high)",
    "#status = :open AND NOT attribute_exists(rare)",
    "#status <> :open OR attribute_not_exists(nothing)",
    "rare <> :yes",
    "(n < :one OR n > :high) AND #status = :open",
    "NOT (n < :one OR n > :high)",
    "begins_with(#status, :o)",
    "contains(tags, :tag)",
    "contains(#status, :o)",
    "contains(numbers, :high)",
    "size(#status) > :one",
    "size(tags) = :two",
    "nested.deep = :one",
    "nested.entries[1] >= :high",
    "attribute_type(nothing, :null)",
    "photo > :raw",
    "tags = :set",
    "absentee = :one",
]
VALUES: dict[str, Any] = {
    ":one": {"N": "1.0"},
    ":two": {"N": "2"},
    ":low": {"N": "-3"},
    ":high": {"N": "12"},
    ":open": {"S": "OPEN"},
    ":o": {"S": "O"},
    ":tag": {"S": "tag3"},
    ":yes": {"BOOL": True},
    ":null": {"S": "NULL"},
    ":raw": {"B": bytes([17])},
    ":set": {"SS": ["tag2", "all"]},
}


def with_values(expression: str) -> dict[str, Any]:
    used = {name: value for name, value in VALUES.items() if name in expression.replace("(", " ( ").replace(",", " ")}
    used = {name: value for name, value in used.items() if _names(expression, name)}
    names = {"#status": "status"} if "#status" in expression else {}
    return {"ExpressionAttributeValues": used} | ({"ExpressionAttributeNames": names} if names else {})


def _names(expression: str, name: str) -> bool:
    words = "".join(letter if letter.isalnum() or letter in ":_" else " " for letter in expression).split()
    return name in words


@pytest.fixture(scope="module")
def moto() -> Iterator[Any]:
    from tests.demo.conftest import cases_table  # noqa: PLC0415

    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="demo", aws_secret_access_key="demo"
        )
        client.create_table(TableName="mirrored", **cases_table())
        fill(client, "mirrored")
        yield client


@pytest.fixture(scope="module")
def ours(client: Any) -> Any:
    from tests.demo.conftest import cases_table  # noqa: PLC0415

    client.create_table(TableName="mirrored", **cases_table())
    fill(client, "mirrored")
    return client


def fill(client: Any, table: str) -> None:
    for start in range(0, len(ITEMS), 25):
        requests = [{"PutRequest": {"Item": item}} for item in ITEMS[start : start + 25]]
        client.batch_write_item(RequestItems={table: requests})


def keys(items: list[dict[str, Any]]) -> list[str]:
    return sorted(item["SK"]["S"] for item in items)


WIRE: dict[str, Any] = {**VALUES, ":raw": {"B": "EQ=="}}


def wire(item: dict[str, Any]) -> dict[str, Any]:
    from base64 import b64encode  # noqa: PLC0415

    return {**item, "photo": {"B": b64encode(item["photo"]["B"]).decode()}}


@pytest.mark.parametrize("expression", FILTERS)
def test_a_filter_keeps_what_moto_keeps(ours: Any, moto: Any, expression: str) -> None:
    asked = {"TableName": "mirrored", "FilterExpression": expression, **with_values(expression)}
    expected = moto.scan(**asked)
    assert keys(ours.scan(**asked)["Items"]) == keys(expected["Items"])


@pytest.mark.parametrize("projection", ["SK, n", "SK, #status", "SK, nested.deep", "SK, nested.entries[1], absentee"])
def test_a_projection_returns_what_moto_returns(ours: Any, moto: Any, projection: str) -> None:
    names = {"ExpressionAttributeNames": {"#status": "status"}} if "#" in projection else {}
    asked = {"TableName": "mirrored", "ProjectionExpression": projection, **names}
    found = [sorted(each.scan(**asked)["Items"], key=lambda item: item["SK"]["S"]) for each in (ours, moto)]
    assert found[0] == found[1]
    key = {"PK": {"S": "CASE#3"}, "SK": {"S": "AUDIT#007"}}
    one = {"TableName": "mirrored", "Key": key, "ProjectionExpression": projection, **names}
    assert ours.get_item(**one)["Item"] == moto.get_item(**one)["Item"]


@pytest.mark.parametrize("total", [1, 3, 4])
def test_the_segments_of_a_scan_hold_every_item_once(ours: Any, total: int) -> None:
    found: list[str] = []
    for segment in range(total):
        asked: dict[str, Any] = {"TableName": "mirrored", "Segment": segment, "TotalSegments": total, "Limit": 3}
        while True:
            answer = ours.scan(**asked)
            found += [item["SK"]["S"] for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    assert sorted(found) == keys(ITEMS)


def test_legacy_parameters_are_answered_by_moto_from_the_whole_table(ours: Any) -> None:
    condition = {"n": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "30"}]}}
    assert ours.scan(TableName="mirrored", ScanFilter=condition)["Count"] == sum(
        int(item["n"]["N"]) > 30 for item in ITEMS
    )


def test_after_many_writes_moto_and_the_mirror_hold_the_same(client: Any, new_table: Callable[..., str]) -> None:
    """moto keeps a hundred items at most: what it forgot it is told again before a write needs it."""
    table = new_table(client)
    for number in range(150):
        item = {"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}, "version": {"N": "1"}}
        client.put_item(TableName=table, Item=item)
    for number in (0, 149, 75):
        client.update_item(
            TableName=table,
            Key={"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}},
            UpdateExpression="ADD version :one",
            ConditionExpression="version = :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    client.delete_item(TableName=table, Key={"PK": {"S": "CASE#1"}, "SK": {"S": "META"}})
    always = {"version": {"ComparisonOperator": "NOT_NULL"}}
    from_moto = client.scan(TableName=table, ScanFilter=always)["Items"]
    from_mirror = client.scan(TableName=table)["Items"]
    assert sorted(map(str, from_moto)) == sorted(map(str, from_mirror))
    assert len(from_mirror) == 149


def test_an_expression_is_read_once_and_evaluated_on_wire_values() -> None:
    node = parse("photo > :raw", None)
    assert [matches(node, wire(item), WIRE) for item in ITEMS[17:19]] == [False, True]
    assert parse("photo > :raw", None) is node


def test_a_projection_of_a_list_element_keeps_the_list() -> None:
    item = {"a": {"L": [{"S": "x"}, {"M": {"b": {"S": "y"}, "c": {"S": "z"}}}]}}
    assert pick(item, parse_paths("a[1].b", None)) == {"a": {"L": [{"M": {"b": {"S": "y"}}}]}}
