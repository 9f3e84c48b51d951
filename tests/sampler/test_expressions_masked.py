"""Expressions under `token` and `template`: nothing that a value could hide in is left."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from dynascope_sampler.expressions_masked import mask_expressions

from tests.sampler.stub_dynamodb import StubDynamoDB, failure

if TYPE_CHECKING:
    from tests.sampler.conftest import Log

C = "canaryzebra"
KEY = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}


def masked(text: str, *, refused: bool = False) -> str | None:
    return mask_expressions(((text,),), refused=refused, hide=lambda _: "hidden").texts[0]


@pytest.mark.parametrize(
    "text",
    [
        f"PK = 'CASE#{C}'",
        f'PK = "{C}"',
        f"PK = \u2018{C}\u2019",
        f"PK = 'o'{C}'",
        "PK = 5",
        f"PK = {C}@x",
        f"PK = `{C}`",
        "PK = ключ",
    ],
)
def test_what_is_no_expression_is_left_out(text: str) -> None:
    assert masked(text) is None


@pytest.mark.parametrize(
    "text",
    [
        f"PK = {C}",
        f"PK = ({C})",
        f"PK BETWEEN :a AND {C}",
        f"PK BETWEEN {C} AND :a",
        f"PK IN (:a, {C})",
        f"PK IN ({C})",
        f"contains(PK, {C})",
        f"SET a = b + {C}",
        f"ADD a {C}",
    ],
)
def test_a_bare_word_where_a_value_is_due_costs_a_refused_call_its_expression(text: str) -> None:
    assert masked(text, refused=True) is None
    assert masked(text) is not None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("#pk = :pk AND begins_with(SK, :sk)", "#0 = :0 AND begins_with(SK, :1)"),
        (
            "a BETWEEN :a AND :b AND (c > :a OR NOT d IN (:x, :y))",
            "a BETWEEN :0 AND :1 AND (c > :0 OR NOT d IN (:2, :3))",
        ),
        (
            "SET a = if_not_exists(a, :v), b.c[3].#d = :w REMOVE e",
            "SET a = if_not_exists(a, :0), b.#0[3].#0 = :1 REMOVE e",
        ),
        ("SET l[123456] = :v", "SET l[0] = :0"),
        ("GSI1PK, u20261130, #m", "GSI1PK, #0, #1"),
    ],
)
def test_names_stay_placeholders_are_renumbered_and_entries_of_maps_go(text: str, left: str) -> None:
    assert masked(text, refused=True) == left


@pytest.mark.parametrize("policy", ["token", "template"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"UpdateExpression": f"SET members.{C}4711 = :v", "ExpressionAttributeValues": {":v": {"S": C}}},
        {
            "UpdateExpression": "SET members.#m = :v",
            "ExpressionAttributeNames": {"#m": C},
            "ExpressionAttributeValues": {":v": {"S": C}},
        },
        {
            "UpdateExpression": f"SET members.#{C} = :{C}",
            "ConditionExpression": f"#{C} = :{C}",
            "ExpressionAttributeNames": {f"#{C}": "m"},
            "ExpressionAttributeValues": {f":{C}": {"S": C}},
        },
    ],
)
def test_entries_of_maps_and_placeholders_lose_their_values(log: Log, policy: str, parameters: dict[str, Any]) -> None:
    client = log.start(keys=policy)
    client.update_item(TableName="cases", Key=KEY, **parameters)
    client.transact_write_items(TransactItems=[{"Update": {"TableName": "cases", "Key": KEY, **parameters}}])
    alone, together = log.records()
    assert alone["update"] == together["parts"][0]["update"] == "SET members.#0 = :0"[: len(alone["update"])]
    assert alone["names"]["#0"] == together["names"][next(iter(together["names"]))] == "*"
    assert C not in log.lines.decode()


@pytest.mark.parametrize("text", [f"PK = 'CASE#{C}'", f"PK = {C}4711", f"PK = {C}", f"{C}4711 = :{C}"])
def test_a_refused_query_tells_no_value(log: Log, dynamodb: StubDynamoDB, text: str) -> None:
    client = log.start()
    dynamodb.script = [failure("ValidationException", f"Syntax error; token: {C}")]
    with contextlib.suppress(ClientError):
        client.query(
            TableName="cases", KeyConditionExpression=text, ExpressionAttributeValues={f":{C}": {"S": f"CASE#{C}"}}
        )
    assert log.record()["error"]["code"] == "ValidationException"
    assert C not in log.lines.decode()


def test_values_follow_the_numbers_of_their_placeholders(log: Log) -> None:
    log.start().query(
        TableName="cases",
        KeyConditionExpression="#x = :canary",
        ExpressionAttributeNames={"#x": "PK"},
        ExpressionAttributeValues={":canary": {"S": "CASE"}},
    )
    record = log.record()
    assert (record["key_condition"], record["names"], record["values"]) == (
        "#0 = :0",
        {"#0": "PK"},
        {":0": {"S": "CASE"}},
    )


def test_revealed_expressions_stay_as_they_were_sent(log: Log) -> None:
    log.start(keys="reveal").update_item(
        TableName="cases",
        Key=KEY,
        UpdateExpression="SET a.#m = :v",
        ExpressionAttributeNames={"#m": C},
        ExpressionAttributeValues={":v": {"S": C}},
    )
    record = log.record()
    assert (record["update"], record["names"]) == ("SET a.#m = :v", {"#m": C})
