"""`capacity=True` asks for consumed capacity without the application noticing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.sampler.conftest import Log
    from tests.sampler.stub_dynamodb import StubDynamoDB

CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
UNITS = {"TableName": "cases", "CapacityUnits": 1.5, "Table": {"CapacityUnits": 1.5}}


@pytest.fixture(autouse=True)
def answers_with_capacity_where_asked(dynamodb: StubDynamoDB) -> None:
    def answer(_operation: str, body: dict[str, Any]) -> dict[str, Any]:
        asked = body.get("ReturnConsumedCapacity", "NONE")
        units = {"INDEXES": UNITS, "TOTAL": {"TableName": "cases", "CapacityUnits": 1.5}}
        return {"Item": CASE} if asked == "NONE" else {"Item": CASE, "ConsumedCapacity": units[asked]}

    dynamodb.answer = answer


@pytest.mark.parametrize(
    ("asked", "sent", "seen", "logged"),
    [
        ({}, "INDEXES", None, {"total": 1.5, "table": 1.5}),
        ({"ReturnConsumedCapacity": "NONE"}, "INDEXES", None, {"total": 1.5, "table": 1.5}),
        ({"ReturnConsumedCapacity": "TOTAL"}, "TOTAL", {"TableName": "cases", "CapacityUnits": 1.5}, {"total": 1.5}),
        ({"ReturnConsumedCapacity": "INDEXES"}, "INDEXES", UNITS, {"total": 1.5, "table": 1.5}),
    ],
)
def test_what_the_application_asked_for_decides_what_it_sees(
    log: Log, dynamodb: StubDynamoDB, asked: dict[str, str], sent: str, seen: Any, logged: Any
) -> None:
    answer = log.start(capacity=True).get_item(TableName="cases", Key=CASE, **asked)
    assert dynamodb.requests[0][1]["ReturnConsumedCapacity"] == sent
    assert answer.get("ConsumedCapacity") == seen
    assert log.record()["consumed"] == logged


def test_the_resource_api_sees_nothing_either(log: Log) -> None:
    log.start(capacity=True)
    answer = log.table().get_item(Key={"PK": "CASE#1", "SK": "META"})
    assert answer["Item"] == {"PK": "CASE#1", "SK": "META"}
    assert "ConsumedCapacity" not in answer
    assert log.record()["consumed"] == {"total": 1.5, "table": 1.5}


def test_the_applications_own_dictionaries_stay_as_they_were(log: Log) -> None:
    params: dict[str, Any] = {"TableName": "cases", "Key": CASE}
    client = log.start(capacity=True)
    client._make_api_call("GetItem", params)
    assert params == {"TableName": "cases", "Key": {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}}


def test_calls_that_no_sample_keeps_are_cleaned_as_well(log: Log) -> None:
    answer = log.start(capacity=True, request_rate=0.0).get_item(TableName="cases", Key=CASE)
    assert "ConsumedCapacity" not in answer


def test_a_presigned_url_asks_for_nothing(log: Log) -> None:
    client = log.start(capacity=True)
    url = client.generate_presigned_url("get_item", Params={"TableName": "cases", "Key": CASE})
    assert "ReturnConsumedCapacity" not in url
    assert log.records() == []


def test_without_it_nothing_is_asked(log: Log, dynamodb: StubDynamoDB) -> None:
    log.start().get_item(TableName="cases", Key=CASE)
    assert "ReturnConsumedCapacity" not in dynamodb.requests[0][1]
    assert "consumed" not in log.record()
