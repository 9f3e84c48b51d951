"""Insights, metrics and the answers themselves tell the same of the same requests, served or planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

NOW = 1_800_000_000_000
MINUTE = 60_000


def report(emulator: LocalAws, rule: str, minutes: int = 10, **more: Any) -> dict[str, dict[int, float]]:
    told = emulator.client("cloudwatch").get_insight_rule_report(
        RuleName=rule,
        StartTime=(NOW - minutes * MINUTE) / 1000,
        EndTime=(NOW + MINUTE) / 1000,
        Period=60,
        MaxContributorCount=25,
        OrderBy="Sum",
        **more,
    )
    return {
        "|".join(each["Keys"]): {
            int(point["Timestamp"].timestamp() * 1000) - NOW: point["ApproximateValue"] for point in each["Datapoints"]
        }
        for each in told["Contributors"]
    }


def metric(
    emulator: LocalAws, name: str, stat: str = "Sum", *, minutes: int = 10, **dimensions: str
) -> dict[int, float]:
    told = emulator.client("cloudwatch").get_metric_data(
        MetricDataQueries=[
            {
                "Id": "m",
                "MetricStat": {
                    "Metric": {
                        "Namespace": "AWS/DynamoDB",
                        "MetricName": name,
                        "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                    },
                    "Period": 60,
                    "Stat": stat,
                },
            }
        ],
        StartTime=(NOW - minutes * MINUTE) / 1000,
        EndTime=(NOW + MINUTE) / 1000,
    )["MetricDataResults"][0]
    assert told["StatusCode"] == "Complete"
    stamps = [int(stamp.timestamp() * 1000) - NOW for stamp in told["Timestamps"]]
    assert stamps == sorted(stamps, reverse=True)
    return dict(zip(stamps, told["Values"], strict=True))


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
