"""A canary in every place where an application can put a key appears nowhere in what is written."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.sampler.stub_dynamodb import StubDynamoDB, failure

if TYPE_CHECKING:
    from tests.sampler.conftest import Log

CANARY = "canarybird"
KEY = {"PK": {"S": f"CASE#{CANARY}"}, "SK": {"S": CANARY}}
ITEM = {**KEY, "GSI1PK": {"S": CANARY}, "GSI1SK": {"S": CANARY}, "m": {"M": {CANARY: {"S": CANARY}}}}
UPDATE = {
    "UpdateExpression": "SET GSI1PK = :v, GSI1SK = :v, #m.#k = :v",
    "ExpressionAttributeNames": {"#m": "users", "#k": f"USER#{CANARY}"},
    "ExpressionAttributeValues": {":v": {"S": CANARY}},
}

CALLS: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "cases", "Key": KEY},
    "PutItem": {
        "TableName": "cases",
        "Item": {**ITEM, "expiresAt": {"S": CANARY}},
        "Expected": {"owner": {"Value": {"S": CANARY}}},
    },
    "UpdateItem": {"TableName": "cases", "Key": KEY, **UPDATE},
    "DeleteItem": {
        "TableName": "cases",
        "Key": KEY,
        "ConditionExpression": "owner = :v",
        "ExpressionAttributeValues": {":v": {"S": CANARY}},
    },
    "Query": {
        "TableName": "cases",
        "IndexName": "GSI1",
        "KeyConditionExpression": "GSI1PK = :v AND begins_with(GSI1SK, :v)",
        "FilterExpression": "owner = :v",
        "ExpressionAttributeValues": {":v": {"S": CANARY}},
        "ExclusiveStartKey": ITEM,
    },
    "Scan": {
        "TableName": "cases",
        "ScanFilter": {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["PK"]]}},
    },
    "BatchGetItem": {"RequestItems": {"cases": {"Keys": [KEY]}}},
    "BatchWriteItem": {"RequestItems": {"cases": [{"PutRequest": {"Item": ITEM}}]}},
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "cases", "Key": KEY}}]},
    "TransactWriteItems": {"TransactItems": [{"Update": {"TableName": "cases", "Key": KEY, **UPDATE}}]},
    "ExecuteStatement": {
        "Statement": f"UPDATE cases SET \"owner\"='{CANARY}' -- {CANARY}\n WHERE PK='CASE#{CANARY}' AND SK=?",
        "Parameters": [{"S": CANARY}],
    },
    "BatchExecuteStatement": {"Statements": [{"Statement": f"SELECT * FROM cases WHERE PK='{CANARY}"}]},
    "ExecuteTransaction": {
        "TransactStatements": [
            {"Statement": f"INSERT INTO cases VALUE {{'PK':'{CANARY}','m':{{'{CANARY}':`{CANARY}`}}}}"}
        ]
    },
}

MESSAGES = (
    f"The conditional request failed for CASE#{CANARY}",
    f"Value '{CANARY}' at 'key' is wrong: {CANARY}, {CANARY}x",
    f'Duplicate item {{"PK":{{"S":"CASE#{CANARY}"}}}}',
)


@pytest.mark.parametrize("policy", ["token", "template"])
def test_the_canary_is_nowhere(log: Log, dynamodb: StubDynamoDB, caplog: pytest.LogCaptureFixture, policy: str) -> None:
    caplog.set_level(logging.DEBUG, "dynascope_sampler")
    client = log.start(keys=policy)
    answers: list[Any] = [
        {"Items": [ITEM], "Item": ITEM, "Count": 1, "ScannedCount": 1, "LastEvaluatedKey": KEY, "Attributes": ITEM}
    ]
    answers += [failure("ValidationException", message) for message in MESSAGES]
    answers += [
        failure(
            "TransactionCanceledException",
            f"cancelled {CANARY}",
            CancellationReasons=[{"Code": "ValidationError", "Message": CANARY, "Item": ITEM}],
        )
    ]
    batch = {"Responses": {"cases": [ITEM]}, "UnprocessedKeys": {"cases": {"Keys": [KEY]}}}
    for operation, params in CALLS.items():
        for answer in answers:
            dynamodb.script = [batch if operation == "BatchGetItem" and isinstance(answer, dict) else answer]
            if operation.startswith(("Transact", "BatchEx", "ExecuteTr")) and isinstance(answer, dict):
                dynamodb.script = [{"Responses": [{"Item": ITEM}]}]
            with contextlib.suppress(ClientError):
                client._make_api_call(operation, params)
    assert len(log.records()) == len(CALLS) * len(answers)
    assert CANARY not in log.lines.decode()
    assert CANARY not in caplog.text


def test_revealed_keys_are_the_users_own_choice(log: Log) -> None:
    log.start(keys="reveal").get_item(TableName="cases", Key=KEY)
    assert log.record()["key"] == KEY


def test_a_message_keeps_what_explains(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.script = [failure("ValidationException", "Type mismatch for key PK expected: S actual: N")]
    with pytest.raises(ClientError):
        client.get_item(TableName="cases", Key=KEY)
    assert log.record()["error"]["message"] == "Type mismatch for key PK expected: S actual: N"


def test_attribute_names_that_look_like_values_are_hidden(log: Log) -> None:
    log.start().update_item(TableName="cases", Key=KEY, **UPDATE)
    assert log.record()["names"] == {"#0": "users", "#1": "*"}
