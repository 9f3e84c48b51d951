"""What a call costs each resource, and how the emulator tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}


def case(**attributes: str) -> dict[str, Any]:
    return {**KEY, **{name: {"S": value} for name, value in attributes.items()}}


ACTIVE = {"GSI1PK": "INVESTIGATOR#1", "GSI1SK": "DUE#1", "GSI2PK": "REGION#A", "GSI2SK": "DUE#1"}


def units(answer: dict[str, Any]) -> tuple[float, float, float]:
    consumed = answer["ConsumedCapacity"]
    indexes = consumed.get("GlobalSecondaryIndexes", {})
    told = (
        consumed["Table"]["CapacityUnits"],
        *(indexes.get(name, {"CapacityUnits": 0.0})["CapacityUnits"] for name in ("GSI1", "GSI2")),
    )
    assert consumed["CapacityUnits"] == sum(told)
    return told


@pytest.fixture
def table(client: Any, new_table: Callable[..., str]) -> str:
    return new_table(client)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, case(), (1, 0, 0)),
        (None, case(**ACTIVE), (1, 1, 1)),
        (None, case(**ACTIVE, note="x" * 2000), (3, 1, 3)),
        (case(**ACTIVE), case(**ACTIVE), (1, 0, 0)),
        (case(**ACTIVE), case(**ACTIVE, note="x"), (1, 0, 1)),
        (case(**ACTIVE), case(**{**ACTIVE, "GSI2PK": "REGION#B"}), (1, 0, 2)),
        (case(**ACTIVE), case(**{**ACTIVE, "GSI1SK": "DUE#2"}), (1, 2, 1)),
        (case(**ACTIVE), case(), (1, 1, 1)),
        (case(**ACTIVE, note="x" * 5000), case(**{**ACTIVE, "GSI2PK": "REGION#B"}), (5, 0, 6)),
    ],
    ids=["plain", "both", "large", "same", "projected", "moved", "resorted", "left", "moved-and-shrunk"],
)
def test_a_put_pays_the_table_and_each_index_that_it_changes(
    client: Any, table: str, before: dict[str, Any] | None, after: dict[str, Any], expected: tuple[float, float, float]
) -> None:
    if before is not None:
        client.put_item(TableName=table, Item=before)
    answer = client.put_item(TableName=table, Item=after, ReturnConsumedCapacity="INDEXES")
    assert units(answer) == expected


def test_an_update_that_moves_an_index_key_pays_twice_there(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(**ACTIVE))
    answer = client.update_item(
        TableName=table,
        Key=KEY,
        UpdateExpression="SET GSI2PK = :region REMOVE GSI1PK",
        ExpressionAttributeValues={":region": {"S": "REGION#B"}},
        ReturnConsumedCapacity="INDEXES",
    )
    assert units(answer) == (1, 1, 2)
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {
        name: value for name, value in case(**{**ACTIVE, "GSI2PK": "REGION#B"}).items() if name != "GSI1PK"
    }


def test_a_delete_pays_by_the_item_that_was_there(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(**ACTIVE, note="x" * 3000))
    assert units(client.delete_item(TableName=table, Key=KEY, ReturnConsumedCapacity="INDEXES")) == (4, 1, 4)
    assert units(client.delete_item(TableName=table, Key=KEY, ReturnConsumedCapacity="INDEXES")) == (1, 0, 0)


@pytest.mark.parametrize(
    ("wanted", "returned", "expected"),
    [
        ("ALL_NEW", "new", None),
        ("ALL_OLD", "old", None),
        ("UPDATED_NEW", "note", "new"),
        ("UPDATED_OLD", "note", "old"),
        ("NONE", None, None),
    ],
)
def test_an_update_returns_what_was_asked_for(
    client: Any, table: str, wanted: str, returned: str | None, expected: str | None
) -> None:
    client.put_item(TableName=table, Item=case(note="old"))
    answer = client.update_item(
        TableName=table,
        Key=KEY,
        UpdateExpression="SET note = :new",
        ExpressionAttributeValues={":new": {"S": "new"}},
        ReturnValues=wanted,
    )
    if returned == "note":
        assert answer["Attributes"] == {"note": {"S": expected}}
    else:
        assert answer.get("Attributes") == (None if returned is None else case(note=returned))
    assert client.get_item(TableName=table, Key=KEY)["Item"] == case(note="new")


def test_a_transaction_pays_double_everywhere(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(**ACTIVE))
    answer = client.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    "TableName": table,
                    "Key": KEY,
                    "UpdateExpression": "SET GSI2PK = :region",
                    "ExpressionAttributeValues": {":region": {"S": "REGION#B"}},
                }
            },
            {"Put": {"TableName": table, "Item": {"PK": {"S": "CASE#1"}, "SK": {"S": "AUDIT#1"}}}},
        ],
        ReturnConsumedCapacity="INDEXES",
    )
    assert units({"ConsumedCapacity": answer["ConsumedCapacity"][0]}) == (4, 0, 4)
    read = client.transact_get_items(
        TransactItems=[{"Get": {"TableName": table, "Key": KEY}}], ReturnConsumedCapacity="TOTAL"
    )
    assert read["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]
    assert read["Responses"][0]["Item"]["GSI2PK"] == {"S": "REGION#B"}


def test_a_transaction_sent_again_with_its_token_does_nothing_again(client: Any, table: str) -> None:
    request = {
        "TransactItems": [
            {
                "Update": {
                    "TableName": table,
                    "Key": KEY,
                    "UpdateExpression": "ADD visits :one",
                    "ExpressionAttributeValues": {":one": {"N": "1"}},
                }
            }
        ],
        "ClientRequestToken": "once",
    }
    client.transact_write_items(**request)
    client.transact_write_items(**request)
    assert client.get_item(TableName=table, Key=KEY)["Item"]["visits"] == {"N": "1"}


def test_a_query_of_an_index_tells_its_units_under_global_secondary_indexes(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(**ACTIVE, note="x" * 9000))
    asked = {
        "TableName": table,
        "IndexName": "GSI2",
        "KeyConditionExpression": "GSI2PK = :region",
        "ExpressionAttributeValues": {":region": {"S": "REGION#A"}},
    }
    assert units(client.query(**asked, ReturnConsumedCapacity="INDEXES")) == (0, 0, 1.5)
    total = client.query(**asked, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert total == {"TableName": table, "CapacityUnits": 1.5}
    assert "ConsumedCapacity" not in client.query(**asked)


def test_a_condition_that_fails_leaves_the_item_as_it_was(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(note="first"))
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        client.put_item(TableName=table, Item=case(note="second"), ConditionExpression="attribute_not_exists(PK)")
    assert client.get_item(TableName=table, Key=KEY)["Item"] == case(note="first")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"IndexName": "GSI9"}, "The table does not have the specified index: GSI9"),
        ({"IndexName": "GSI1", "ConsistentRead": True}, "Consistent reads are not supported on global secondary"),
        ({"IndexName": "GSI1", "Select": "ALL_ATTRIBUTES"}, "projection type is not ALL"),
        ({"KeyConditionExpression": "SK = :p"}, "Query condition missed key schema element"),
    ],
)
def test_what_no_table_or_index_serves_is_refused_in_dynamodbs_words(
    client: Any, table: str, request_: dict[str, Any], message: str
) -> None:
    asked = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}, **request_}
    with pytest.raises(ClientError, match=message) as refused:
        client.query(TableName=table, **asked)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_describe_table_counts_what_the_mirror_holds(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=case(**ACTIVE))
    described = client.describe_table(TableName=table)["Table"]
    assert described["ItemCount"] == 1
    assert {index["IndexName"]: index["ItemCount"] for index in described["GlobalSecondaryIndexes"]} == {
        "GSI1": 1,
        "GSI2": 1,
    }
