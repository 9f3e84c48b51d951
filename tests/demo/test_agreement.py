"""Insights, metrics and the answers themselves tell the same of the same requests, served or planted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import dynascope_sampler
import pytest
from botocore.exceptions import ClientError

from deploy.demo.clients import connect_plain as connect
from tests.demo.asking import MINUTE, NOW, metric, report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws


def test_a_planted_key_is_the_same_in_insights_and_metrics(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK")
    rules = emulator.watch("orders")
    emulator.plant("orders", at=NOW - 3 * MINUTE, minutes=2, key="A", sort="1", reads=600, writes=100, requests=50)
    emulator.plant("orders", at=NOW - 3 * MINUTE, key="B", writes=7)
    assert report(emulator, rules["PKC"]) == {
        "A": {-3 * MINUTE: 900, -2 * MINUTE: 900},
        "B": {-3 * MINUTE: 21},
    }
    assert report(emulator, rules["SKC"]) == {"A|1": {-3 * MINUTE: 900, -2 * MINUTE: 900}}
    written = metric(emulator, "ConsumedWriteCapacityUnits", TableName="orders")
    assert written == {-3 * MINUTE: 107, -2 * MINUTE: 100, -MINUTE: 0, 0: 0}
    assert metric(emulator, "ConsumedReadCapacityUnits", "SampleCount", TableName="orders")[-2 * MINUTE] == 50


def test_served_requests_are_the_same_in_answers_insights_and_metrics(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK", indexes={"by-day": ("day", "SK")})
    rules, of_index = emulator.watch("orders"), emulator.watch("orders", "by-day")
    dynamodb = emulator.client("dynamodb")
    told: list[dict[str, Any]] = []
    for number in range(6):
        item = {
            "PK": {"S": f"T#{number % 2}"},
            "SK": {"S": str(number)},
            "day": {"S": "monday"},
            "x": {"S": "x" * 2500},
        }
        answer = dynamodb.put_item(TableName="orders", Item=item, ReturnConsumedCapacity="INDEXES")
        told.append(answer["ConsumedCapacity"])
    key = {"PK": {"S": "T#0"}, "SK": {"S": "0"}}
    read = dynamodb.get_item(TableName="orders", Key=key, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    table_units = sum(each["Table"]["CapacityUnits"] for each in told)
    index_units = sum(each["GlobalSecondaryIndexes"]["by-day"]["CapacityUnits"] for each in told)
    assert metric(emulator, "ConsumedWriteCapacityUnits", TableName="orders")[0] == table_units
    of_index_written = metric(
        emulator, "ConsumedWriteCapacityUnits", TableName="orders", GlobalSecondaryIndexName="by-day"
    )
    assert of_index_written[0] == index_units
    read_units = read["ConsumedCapacity"]["CapacityUnits"]
    assert metric(emulator, "ConsumedReadCapacityUnits", TableName="orders")[0] == read_units
    assert report(emulator, rules["PKC"]) == {
        "T#0": {0: 3 * table_units / 2 + read_units},
        "T#1": {0: 3 * table_units / 2},
    }
    assert report(emulator, of_index["PKC"]) == {"monday": {0: 3 * index_units}}
    assert report(emulator, rules["SKC"])["T#0|0"] == {0: 3 * table_units / 6 + read_units}


def refusals(dynamodb: Any, table: str, wanted: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    item = {"PK": {"S": "hot"}, "SK": {"S": "1"}, "x": {"S": "x" * 390_000}}
    for _ in range(100):
        try:
            dynamodb.put_item(TableName=table, Item=item)
        except ClientError as error:
            found.append(error.response)
        if len(found) == wanted:
            return found
    pytest.fail("never refused so often")


def test_throttles_are_the_same_in_errors_insights_and_metrics(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK")
    rules = emulator.watch("orders", mode="THROTTLED_KEYS")
    assert set(rules) == {"PKT", "SKT"}
    refused = refusals(emulator.client("dynamodb"), "orders", 3)
    assert {reason["reason"] for each in refused for reason in each["ThrottlingReasons"]} == {
        "TableWriteKeyRangeThroughputExceeded"
    }
    assert report(emulator, rules["PKT"]) == {"hot": {0: 3}}
    assert report(emulator, rules["SKT"]) == {"hot|1": {0: 3}}
    for name in ("WriteKeyRangeThroughputThrottleEvents", "WriteThrottleEvents"):
        assert metric(emulator, name, TableName="orders") == {0: 3}
    assert metric(emulator, "ThrottledRequests", TableName="orders", Operation="PutItem") == {0: 3}
    assert metric(emulator, "ReadThrottleEvents", TableName="orders") == {}


SCHEMA = {"tables": [{"name": "orders", "partition_key": "PK", "sort_key": "SK"}]}


class Log:
    """What a sampler inside the application wrote."""

    def __init__(self, emulator: LocalAws, path: Path) -> None:
        self._path = path
        self.client = connect(emulator.url)
        self._sampler = dynascope_sampler.instrument(
            self.client, sink=str(path), keys="reveal", capacity=True, schema=SCHEMA
        )

    def records(self) -> list[dict[str, Any]]:
        self._sampler.close()
        self.client.close()
        return [json.loads(line) for line in self._path.read_text().splitlines()]


def call_everything(dynamodb: Any, table: str) -> None:
    """Reads and writes of few and many items, alone, in batches and in transactions, on the table and its index."""
    items = [
        {
            "PK": {"S": f"T#{number % 3}"},
            "SK": {"S": f"{number}"},
            "day": {"S": "monday" if number % 2 else "tuesday"},
            "text": {"S": "x" * 300 * number},
        }
        for number in range(20)
    ]
    dynamodb.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": item}} for item in items]})
    key = {name: items[4][name] for name in ("PK", "SK")}
    other = {name: items[17][name] for name in ("PK", "SK")}
    dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)
    dynamodb.batch_get_item(RequestItems={table: {"Keys": [key, other]}})
    moved = {"UpdateExpression": "SET #day = :day", "ExpressionAttributeNames": {"#day": "day"}}
    dynamodb.update_item(TableName=table, Key=key, ExpressionAttributeValues={":day": {"S": "sunday"}}, **moved)
    dynamodb.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": table, "Item": {**items[1], "text": {"S": "y" * 5000}}}},
            {"Delete": {"TableName": table, "Key": other}},
        ]
    )
    dynamodb.transact_get_items(TransactItems=[{"Get": {"TableName": table, "Key": key}}])
    of_key = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "T#1"}}}
    dynamodb.query(TableName=table, **of_key)
    of_day = {"KeyConditionExpression": "#day = :d", "ExpressionAttributeNames": {"#day": "day"}}
    dynamodb.query(TableName=table, IndexName="by-day", ExpressionAttributeValues={":d": {"S": "monday"}}, **of_day)
    dynamodb.scan(TableName=table)
    dynamodb.delete_item(TableName=table, Key=key)


WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


def units_of(records: list[dict[str, Any]], index: str | None) -> dict[str, float]:
    """Add up what the log has of a table or index."""
    found = {"Read": 0.0, "Write": 0.0}
    for record in records:
        direction = "Write" if record["op"] in WRITES else "Read"
        consumed = record["consumed"]
        told = consumed.get("table", 0) if index is None else consumed.get("indexes", {}).get(index, 0)
        found[direction] += sum(told.values()) if isinstance(told, dict) else told
    return found


@pytest.mark.parametrize("index", [None, "by-day"])
def test_insights_metrics_and_the_samplers_log_tell_the_same_units(
    emulator: LocalAws, tmp_path: Path, index: str | None
) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK", indexes={"by-day": ("day", "SK")})
    rules = emulator.watch("orders", index)
    log = Log(emulator, tmp_path / "log.jsonl")
    call_everything(log.client, "orders")
    logged = units_of(log.records(), index)
    of_index = {} if index is None else {"GlobalSecondaryIndexName": index}
    told = {
        direction: metric(emulator, f"Consumed{direction}CapacityUnits", TableName="orders", **of_index)[0]
        for direction in ("Read", "Write")
    }
    assert told == pytest.approx(logged)
    assert min(told.values()) > 0
    heat = sum(points[0] for points in report(emulator, rules["PKC"]).values())
    assert heat == pytest.approx(3 * logged["Write"] + logged["Read"])


def test_the_heat_of_a_key_is_the_same_in_insights_and_in_the_samplers_log(emulator: LocalAws, tmp_path: Path) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK")
    rules = emulator.watch("orders")
    log = Log(emulator, tmp_path / "log.jsonl")
    for number in range(12):
        key = {"PK": {"S": f"T#{number % 3}"}, "SK": {"S": str(number % 4)}}
        log.client.put_item(TableName="orders", Item={**key, "text": {"S": "x" * 700 * number}})
        log.client.get_item(TableName="orders", Key=key)
    heat: Counter[str] = Counter()
    for record in log.records():
        weight = 3 if record["op"] in WRITES else 1
        partition, sort = (record["key"][name]["S"] for name in ("PK", "SK"))
        for ranked in (partition, f"{partition}|{sort}"):
            heat[ranked] += weight * record["consumed"]["total"]
    told = {**report(emulator, rules["PKC"]), **report(emulator, rules["SKC"])}
    assert {key: points[0] for key, points in told.items()} == heat
