"""Who asks more of a key than its partition can serve is refused, with the reason and the resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from deploy.demo.emulator.buckets import Buckets
from deploy.demo.emulator.charges import Charge
from deploy.demo.emulator.store import Table

if TYPE_CHECKING:
    from collections.abc import Callable

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/cases"
TRIES = 400


def make_table(**changes: Any) -> Table:
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}]
    index = {"IndexName": "GSI2", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    described = {
        "TableName": "cases",
        "TableArn": ARN,
        "KeySchema": keys,
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "GlobalSecondaryIndexes": [{**index, **changes.pop("index", {})}],
        **changes,
    }
    return Table(described)


def reasons(buckets: Buckets, charges: list[Charge], now: float = 0.0) -> list[tuple[str, str]]:
    told = [(reason.reason, reason.resource) for reason in buckets.refusals(charges, now)]
    if not told:
        buckets.take(charges, now)
    return told


@pytest.mark.parametrize(
    ("index", "direction", "ceiling", "reason", "resource"),
    [
        (None, "read", 3000, "TableReadKeyRangeThroughputExceeded", ARN),
        (None, "write", 1000, "TableWriteKeyRangeThroughputExceeded", ARN),
        ("GSI2", "read", 3000, "IndexReadKeyRangeThroughputExceeded", f"{ARN}/index/GSI2"),
        ("GSI2", "write", 1000, "IndexWriteKeyRangeThroughputExceeded", f"{ARN}/index/GSI2"),
    ],
)
def test_a_key_serves_its_ceiling_each_second_and_not_more(
    index: str | None, direction: Any, ceiling: int, reason: str, resource: str
) -> None:
    buckets, table = Buckets(), make_table()
    one = [Charge(table, index, direction, (b"hot",), 100.0)]
    for second in range(3):
        admitted = 0
        while not (told := reasons(buckets, one, float(second))):
            admitted += 1
        assert admitted == ceiling / 100
        assert told == [(reason, resource)]


def test_another_key_is_not_touched_by_a_hot_one() -> None:
    buckets, table = Buckets(), make_table()
    buckets.take([Charge(table, None, "write", (b"hot",), 1000.0)], 0.0)
    assert reasons(buckets, [Charge(table, None, "write", (b"hot",), 1.0)])
    assert not reasons(buckets, [Charge(table, None, "write", (b"cold",), 1.0)])


def test_a_write_is_refused_whole_when_one_index_key_has_nothing_left() -> None:
    buckets, table = Buckets(), make_table()
    buckets.take([Charge(table, "GSI2", "write", (b"hot",), 1000.0)], 0.0)
    write = [Charge(table, None, "write", (b"a",), 1.0), Charge(table, "GSI2", "write", (b"hot",), 1.0)]
    assert reasons(buckets, write) == [("IndexWriteKeyRangeThroughputExceeded", f"{ARN}/index/GSI2")]
    assert not reasons(buckets, [Charge(table, None, "write", (b"a",), 1000.0)])


def test_more_than_a_second_holds_passes_when_nothing_was_taken_and_is_paid_off() -> None:
    buckets, table = Buckets(), make_table()
    huge = [Charge(table, None, "write", (b"hot",), 2500.0)]
    assert not reasons(buckets, huge, 0.0)
    assert reasons(buckets, huge, 2.0)
    assert not reasons(buckets, huge, 2.5)


@pytest.mark.parametrize(
    ("changes", "index", "reason"),
    [
        (
            {"BillingModeSummary": None, "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
            None,
            "TableWriteProvisionedThroughputExceeded",
        ),
        (
            {
                "BillingModeSummary": None,
                "index": {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
            },
            "GSI2",
            "IndexWriteProvisionedThroughputExceeded",
        ),
        ({"OnDemandThroughput": {"MaxWriteRequestUnits": 5}}, None, "TableWriteMaxOnDemandThroughputExceeded"),
    ],
)
def test_a_stated_limit_has_a_reason_of_its_own(changes: dict[str, Any], index: str | None, reason: str) -> None:
    buckets, table = Buckets(), make_table(**changes)
    assert not reasons(buckets, [Charge(table, index, "write", (b"a",), 5.0)])
    assert [told for told, _ in reasons(buckets, [Charge(table, index, "write", (b"b",), 1.0)])] == [reason]


def until_refused(call: Callable[[], object]) -> dict[str, Any]:
    """Call until it is refused; the bucket holds a second's worth, so that speed decides how often, never whether."""
    for _ in range(TRIES):
        try:
            call()
        except ClientError as error:
            response: dict[str, Any] = error.response
            return response
    pytest.fail(f"never refused in {TRIES} calls")


@pytest.fixture
def table(client: Any, new_table: Callable[..., str]) -> str:
    return new_table(client)


def arn(table: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


def large(case: str, region: str, note: str = "") -> dict[str, Any]:
    return {
        "PK": {"S": f"CASE#{case}"},
        "SK": {"S": "META"},
        "GSI2PK": {"S": f"REGION#{region}"},
        "GSI2SK": {"S": case},
        "note": {"S": note},
        "document": {"S": "d" * 380_000},
    }


def test_strong_reads_of_one_large_item_are_refused_for_the_tables_key_range(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=large("hot", "A"))
    key = {"PK": {"S": "CASE#hot"}, "SK": {"S": "META"}}
    refused = until_refused(lambda: client.get_item(TableName=table, Key=key, ConsistentRead=True))
    assert refused["Error"]["Code"] == "ProvisionedThroughputExceededException"
    assert refused["ThrottlingReasons"] == [
        {"reason": "TableReadKeyRangeThroughputExceeded", "resource": arn(table)},
    ]


def test_one_index_key_refuses_writes_to_many_keys_of_the_table(client: Any, table: str) -> None:
    numbers = iter(range(TRIES))
    refused = until_refused(lambda: client.put_item(TableName=table, Item=large(f"{next(numbers)}", "hot")))
    assert refused["ThrottlingReasons"] == [
        {"reason": "IndexWriteKeyRangeThroughputExceeded", "resource": f"{arn(table)}/index/GSI2"},
    ]
    last = {"PK": {"S": f"CASE#{next(numbers) - 1}"}, "SK": {"S": "META"}}
    assert "Item" not in client.get_item(TableName=table, Key=last)


def test_an_update_that_an_index_refuses_changes_nothing(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=large("one", "hot", "0"))
    numbers = iter(range(1, TRIES))
    key = {"PK": {"S": "CASE#one"}, "SK": {"S": "META"}}
    done: list[str] = ["0"]

    def update() -> None:
        note = str(next(numbers))
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET note = :note",
            ExpressionAttributeValues={":note": {"S": note}},
        )
        done.append(note)

    refused = until_refused(update)
    assert {each["reason"] for each in refused["ThrottlingReasons"]} == {
        "TableWriteKeyRangeThroughputExceeded",
        "IndexWriteKeyRangeThroughputExceeded",
    }
    assert client.get_item(TableName=table, Key=key)["Item"]["note"] == {"S": done[-1]}
    assert client.scan(
        TableName=table, FilterExpression="note = :n", ExpressionAttributeValues={":n": {"S": done[-1]}}
    )["Count"]


def test_a_batch_hands_back_what_was_refused_and_fails_only_when_all_was(client: Any, table: str) -> None:
    items = [large(str(number), "hot") for number in range(3)]
    requests = {table: [{"PutRequest": {"Item": item}} for item in items]}
    answer = client.batch_write_item(RequestItems=requests)
    assert answer["UnprocessedItems"] == {table: [{"PutRequest": {"Item": items[2]}}]}
    refused = until_refused(lambda: client.batch_write_item(RequestItems=answer["UnprocessedItems"]))
    assert refused["Error"]["Code"] == "ProvisionedThroughputExceededException"


def test_a_transaction_is_cancelled_with_a_reason_a_member(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=large("one", "hot"))
    small = {"PK": {"S": "CASE#small"}, "SK": {"S": "META"}}
    with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table, "Item": small}},
                {"Put": {"TableName": table, "Item": large("two", "hot")}},
            ]
        )
    codes = [reason["Code"] for reason in cancelled.value.response["CancellationReasons"]]
    assert codes == ["None", "ThrottlingError"]
    assert "Item" not in client.get_item(TableName=table, Key=small)


def test_a_provisioned_table_refuses_what_it_was_not_given(client: Any, new_table: Callable[..., str]) -> None:
    few = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    table = new_table(
        client,
        BillingMode="PROVISIONED",
        ProvisionedThroughput=few,
        GlobalSecondaryIndexes=None,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
    )
    numbers = iter(range(TRIES))
    refused = until_refused(
        lambda: client.put_item(TableName=table, Item={"PK": {"S": f"{next(numbers)}"}, "SK": {"S": "META"}})
    )
    assert refused["ThrottlingReasons"] == [
        {"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn(table)},
    ]
