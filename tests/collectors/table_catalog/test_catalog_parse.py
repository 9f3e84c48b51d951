from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.model.finding import Direction
from analyzer.model.table import (
    IndexDescription,
    Provisioning,
    Replica,
    ScalingActivity,
    ScheduledScaling,
    TableDescription,
    TimeToLive,
)
from collectors.table_catalog.parse import (
    direction_of,
    parse_activity,
    parse_schedule,
    parse_table,
    parse_time_to_live,
)

MOMENT = datetime(2026, 6, 1, 10, tzinfo=UTC)
INSTANT = round(MOMENT.timestamp() * 1000)


def keys(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": n, "KeyType": t} for n, t in zip(names, ("HASH", "RANGE"), strict=False)]


def test_a_table_is_read_with_its_indexes_and_capacity() -> None:
    throughput = {
        "ReadCapacityUnits": 100,
        "WriteCapacityUnits": 50,
        "NumberOfDecreasesToday": 2,
        "LastIncreaseDateTime": MOMENT,
        "LastDecreaseDateTime": MOMENT.timestamp(),
    }
    gsi = {
        "IndexName": "GSI1",
        "KeySchema": keys("a", "b"),
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "c"]},
        "IndexStatus": "CREATING",
        "Backfilling": True,
        "IndexSizeBytes": 10,
        "ItemCount": 1,
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"},
    }
    lsi = {"IndexName": "L", "KeySchema": keys("PK", "at"), "Projection": {"ProjectionType": "ALL"}}
    table = parse_table(
        {
            "TableName": "cases",
            "TableStatus": "ACTIVE",
            "CreationDateTime": "2026-06-01T10:00:00Z",
            "KeySchema": keys("PK", "SK"),
            "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
            "ProvisionedThroughput": throughput,
            "TableClassSummary": {"TableClass": "STANDARD"},
            "GlobalSecondaryIndexes": [gsi],
            "LocalSecondaryIndexes": [lsi],
            "VectorIndexes": [{"IndexName": "V"}],
            "Replicas": [{"RegionName": "eu-west-1", "ReplicaStatus": "ACTIVE"}],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
            "RestoreSummary": {"RestoreDateTime": MOMENT, "RestoreInProgress": False},
            "TableSizeBytes": 7,
            "ItemCount": 3,
        }
    )
    assert table == TableDescription(
        name="cases",
        status="ACTIVE",
        created=INSTANT,
        restored=INSTANT,
        billing_mode="PROVISIONED",
        table_class="STANDARD",
        partition_key=("PK",),
        sort_key=("SK",),
        attribute_types={"PK": "S"},
        provisioning=Provisioning(
            read_units=100, write_units=50, decreases_today=2, increased_at=INSTANT, decreased_at=INSTANT
        ),
        indexes=(
            IndexDescription(
                name="GSI1",
                kind="gsi",
                partition_key=("a",),
                sort_key=("b",),
                projection=("c", "z"),
                status="CREATING",
                is_backfilling=True,
                size_bytes=10,
                items=1,
                provisioning=Provisioning(read_units=5, write_units=6, warm_read_units=12000, warm_write_units=4000),
            ),
            IndexDescription(name="L", kind="lsi", partition_key=("PK",), sort_key=("at",), projection="all"),
            IndexDescription(name="V", kind="vector"),
        ),
        replicas=(Replica("eu-west-1", "ACTIVE"),),
        stream="NEW_IMAGE",
        size_bytes=7,
        items=3,
    )
    assert table.has_lsi


def test_on_demand_tables_have_no_provisioned_units_and_perhaps_a_maximum() -> None:
    table = parse_table(
        {
            "TableName": "cases",
            "KeySchema": keys("PK"),
            "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
            "OnDemandThroughput": {"MaxReadRequestUnits": 500, "MaxWriteRequestUnits": -1},
        }
    )
    assert (table.billing_mode, table.sort_key) == ("PAY_PER_REQUEST", ())
    assert table.provisioning == Provisioning(most_read_units=500)


def test_what_is_not_told_stays_unknown() -> None:
    bare = parse_table({"TableName": "cases", "BillingModeSummary": {}, "StreamSpecification": {}})
    assert bare == TableDescription(name="cases")
    assert parse_table({"TableName": "a", "RestoreSummary": {}, "TableClassSummary": {}}) == TableDescription(name="a")
    index: dict[str, Any] = {"IndexName": "G", "Projection": {}}
    assert parse_table({"TableName": "a", "GlobalSecondaryIndexes": [index]}).indexes[0].projection is None


@pytest.mark.parametrize("answer", [{}, {"TableName": 3}, {"TableName": "a", "KeySchema": [{}]}])
def test_what_is_no_table_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Expected|missing"):
        parse_table(answer)


def test_time_to_live_is_read() -> None:
    told = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expiresAt"}
    assert parse_time_to_live(told) == TimeToLive("ENABLED", "expiresAt")
    assert parse_time_to_live({"TimeToLiveStatus": "DISABLED"}) == TimeToLive("DISABLED")


def test_an_activity_says_what_it_set_in_its_description() -> None:
    told = {
        "StartTime": MOMENT.replace(tzinfo=None),
        "EndTime": MOMENT.timestamp(),
        "StatusCode": "Successful",
        "Description": "Setting write capacity units to 75.",
        "Cause": "monitor alarm",
    }
    assert parse_activity(told) == ScalingActivity(INSTANT, INSTANT, "Successful", 75.0, "monitor alarm")
    running = {"StartTime": MOMENT, "StatusCode": "Pending"}
    assert parse_activity(running) == ScalingActivity(INSTANT, None, "Pending", None)


def test_a_schedule_is_read_with_the_bounds_that_it_sets() -> None:
    bounds = {"MinCapacity": 5, "MaxCapacity": 500}
    told = {"Schedule": "cron(0 8 * * ? *)", "ScalableTargetAction": bounds}
    assert parse_schedule(told) == ScheduledScaling("cron(0 8 * * ? *)", 5, 500)
    assert parse_schedule({"Schedule": "rate(1 day)"}) == ScheduledScaling("rate(1 day)")


def test_a_dimension_names_the_direction() -> None:
    assert direction_of("dynamodb:table:ReadCapacityUnits") is Direction.READ
    assert direction_of("write") is Direction.WRITE
    with pytest.raises(ValueError, match="names read or write"):
        direction_of("ecs:service:DesiredCount")
