"""Units, counts and pages of the emulator against dynalite, which counts reads as DynamoDB does."""

from __future__ import annotations

import random
from typing import Any

import pytest

ITEMS = 900


def items() -> list[dict[str, Any]]:
    chance = random.Random(7)
    return [
        {
            "PK": {"S": f"CASE#{number % 3}"},
            "SK": {"S": f"AUDIT#{number:05d}"},
            "GSI2PK": {"S": f"REGION#{number % 2}"},
            "GSI2SK": {"S": f"DUE#{number:05d}"},
            "n": {"N": str(number * 37 - 1500)},
            "text": {"S": "x" * chance.randrange(200, 4000)},
            "tags": {"SS": ["a", f"tag-{number % 5}"]},
            "nested": {"M": {"list": {"L": [{"N": "1.50"}, {"BOOL": True}, {"NULL": True}]}, "b": {"B": b"\x00\x01"}}},
        }
        for number in range(ITEMS)
    ]


@pytest.fixture(scope="module")
def both(client: Any, dynalite: Any) -> tuple[Any, Any, str]:
    from tests.demo.conftest import cases_table  # noqa: PLC0415

    name = "compared"
    table = cases_table()
    del table["GlobalSecondaryIndexes"][0]
    table["AttributeDefinitions"] = [
        d for d in table["AttributeDefinitions"] if not d["AttributeName"].startswith("GSI1")
    ]
    stored = items()
    for each in (client, dynalite):
        each.create_table(TableName=name, **table)
        each.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0.05})
        for start in range(0, ITEMS, 25):
            requests = [{"PutRequest": {"Item": item}} for item in stored[start : start + 25]]
            each.batch_write_item(RequestItems={name: requests})
    return client, dynalite, name


def told(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        name: answer[name]
        for name in ("Count", "ScannedCount", "ConsumedCapacity", "LastEvaluatedKey")
        if name in answer
    }


def pages(client: Any, operation: str, **request: Any) -> list[dict[str, Any]]:
    found = []
    while True:
        answer = getattr(client, operation)(ReturnConsumedCapacity="INDEXES", **request)
        found.append(told(answer))
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


@pytest.mark.parametrize(
    "request_",
    [
        {"k": "PK = :p"},
        {"k": "PK = :p", "ConsistentRead": True},
        {"k": "PK = :p", "FilterExpression": "n > :n", "v": {":n": {"N": "25000"}}},
        {
            "k": "PK = :p",
            "FilterExpression": "contains(tags, :t) AND size(#text) < :n",
            "v": {":t": {"S": "tag-2"}, ":n": {"N": "999"}},
            "names": {"#text": "text"},
        },
        {"k": "PK = :p AND SK BETWEEN :a AND :b", "v": {":a": {"S": "AUDIT#00100"}, ":b": {"S": "AUDIT#00200"}}},
        {"k": "PK = :p AND begins_with(SK, :a)", "v": {":a": {"S": "AUDIT#002"}}, "ScanIndexForward": False},
        {"k": "PK = :p AND SK > :a", "v": {":a": {"S": "AUDIT#00800"}}, "Select": "COUNT"},
        {"k": "PK = :p", "Limit": 70},
        {"k": "PK = :p", "Limit": 7, "FilterExpression": "n > :n", "v": {":n": {"N": "9000000"}}},
        {"k": "GSI2PK = :p", "pk": "REGION#1", "IndexName": "GSI2"},
        {"k": "GSI2PK = :p AND GSI2SK < :a", "pk": "REGION#1", "IndexName": "GSI2", "v": {":a": {"S": "DUE#00300"}}},
    ],
    ids=str,
)  # fmt: skip
def test_every_page_of_a_query_is_dynalites(both: tuple[Any, Any, str], request_: dict[str, Any]) -> None:
    ours, theirs, table = both
    asked = dict(request_)
    condition, partition, values = asked.pop("k"), asked.pop("pk", "CASE#1"), asked.pop("v", {})
    names = asked.pop("names", None)
    asked |= {"ExpressionAttributeNames": names} if names else {}
    asked |= {"KeyConditionExpression": condition, "ExpressionAttributeValues": {":p": {"S": partition}, **values}}
    assert pages(ours, "query", TableName=table, **asked) == pages(theirs, "query", TableName=table, **asked)


def test_a_query_that_finds_nothing_costs_a_block_where_dynalite_charges_none(both: tuple[Any, Any, str]) -> None:
    ours, theirs, table = both
    asked = {"TableName": table, "KeyConditionExpression": "PK = :p", "ReturnConsumedCapacity": "TOTAL"}
    values = {"ExpressionAttributeValues": {":p": {"S": "CASE#none"}}}
    units = [each.query(**asked, **values)["ConsumedCapacity"]["CapacityUnits"] for each in (ours, theirs)]
    assert units == [0.5, 0]


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"ConsistentRead": True},
        {"FilterExpression": "n > :n", "ExpressionAttributeValues": {":n": {"N": "25000"}}},
        {"IndexName": "GSI2"},
    ],
    ids=str,
)
def test_a_whole_scan_evaluates_and_returns_what_dynalites_does(
    both: tuple[Any, Any, str], request_: dict[str, Any]
) -> None:
    ours, theirs, table = both
    sums = []
    for each in (ours, theirs):
        found = pages(each, "scan", TableName=table, **request_)
        sums.append([sum(page[name] for page in found) for name in ("Count", "ScannedCount")])
        sums[-1].append(len(found))
    assert sums[0] == sums[1]


@pytest.mark.parametrize("consistent", [False, True])
def test_single_and_batch_reads_cost_what_dynalites_do(both: tuple[Any, Any, str], *, consistent: bool) -> None:
    ours, theirs, table = both
    keys = [{"PK": {"S": f"CASE#{number % 3}"}, "SK": {"S": f"AUDIT#{number:05d}"}} for number in range(950, 850, -7)]
    for key in keys:
        asked = {"TableName": table, "Key": key, "ConsistentRead": consistent, "ReturnConsumedCapacity": "INDEXES"}
        assert ours.get_item(**asked)["ConsumedCapacity"] == theirs.get_item(**asked)["ConsumedCapacity"]
    batch = {"RequestItems": {table: {"Keys": keys, "ConsistentRead": consistent}}, "ReturnConsumedCapacity": "TOTAL"}
    assert ours.batch_get_item(**batch)["ConsumedCapacity"] == theirs.batch_get_item(**batch)["ConsumedCapacity"]


def test_the_base_tables_share_of_a_write_is_dynalites(both: tuple[Any, Any, str]) -> None:
    """dynalite does not charge indexes at all, so that only the table's part is compared."""
    ours, theirs, table = both
    item = {**items()[5], "text": {"S": "x" * 2900}}
    key = {name: item[name] for name in ("PK", "SK")}
    values = {"ExpressionAttributeValues": {":n": {"N": "1"}}}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("put_item", {"Item": item}),
        ("put_item", {"Item": {**item, "text": {"S": "short"}}}),
        ("update_item", {"Key": key, "UpdateExpression": "SET n = n + :n", **values}),
        ("delete_item", {"Key": key}),
        ("delete_item", {"Key": key}),
    ]  # fmt: skip
    for operation, request in steps:
        answers = [
            getattr(each, operation)(TableName=table, ReturnConsumedCapacity="INDEXES", **request)
            for each in (ours, theirs)
        ]
        assert answers[0]["ConsumedCapacity"]["Table"] == answers[1]["ConsumedCapacity"]["Table"], operation
