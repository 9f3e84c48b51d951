"""What the control plane tells: descriptions, autoscaling, CloudTrail, several accounts, and all that is moto's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.demo.asking import MINUTE, NOW, metric

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

READS = {
    "ServiceNamespace": "dynamodb",
    "ResourceId": "table/orders",
    "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
}


@pytest.fixture
def orders(emulator: LocalAws) -> LocalAws:
    emulator.stand(NOW)
    emulator.create_table("orders", indexes={"by-day": ("day", None)}, provisioned=(5, 5))
    return emulator


# descriptions


def test_a_description_can_be_patched_with_its_indexes(orders: LocalAws) -> None:
    replicas = [{"RegionName": "eu-west-1", "ReplicaStatus": "ACTIVE"}]
    index = {"IndexName": "by-day", "IndexStatus": "CREATING", "Backfilling": True}
    orders.describe("orders", {"Replicas": replicas, "GlobalSecondaryIndexes": [index]})
    told = orders.client("dynamodb").describe_table(TableName="orders")["Table"]
    assert told["Replicas"] == replicas
    (described,) = told["GlobalSecondaryIndexes"]
    assert (described["IndexStatus"], described["KeySchema"][0]["AttributeName"]) == ("CREATING", "day")


def test_warm_throughput_limits_time_to_live_and_tags_are_told(orders: LocalAws) -> None:
    dynamodb = orders.client("dynamodb")
    ttl = {"Enabled": True, "AttributeName": "expires"}
    dynamodb.update_time_to_live(TableName="orders", TimeToLiveSpecification=ttl)
    table = dynamodb.describe_table(TableName="orders")["Table"]
    dynamodb.tag_resource(ResourceArn=table["TableArn"], Tags=[{"Key": "team", "Value": "a"}])
    assert table["WarmThroughput"]["ReadUnitsPerSecond"] > 0
    assert dynamodb.describe_limits()["TableMaxReadCapacityUnits"] > 0
    told = dynamodb.describe_time_to_live(TableName="orders")["TimeToLiveDescription"]
    assert told == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    assert dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "team", "Value": "a"}]


# autoscaling


def test_registered_and_planted_targets_are_told_together(orders: LocalAws) -> None:
    scaling = orders.client("application-autoscaling")
    scaling.register_scalable_target(**READS, MinCapacity=5, MaxCapacity=50)
    planted = {**READS, "ResourceId": "table/carts", "MinCapacity": 1, "MaxCapacity": 9, "CreationTime": NOW / 1000}
    orders.plant_scaling("ScalableTargets", [{**planted, "RoleARN": "arn:aws:iam::123456789012:role/x"}])
    told = scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]
    assert [each["ResourceId"] for each in told] == ["table/orders", "table/carts"]
    (only,) = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=["table/carts"])[
        "ScalableTargets"
    ]
    assert only["MaxCapacity"] == 9


def test_activities_are_told_newest_first_page_by_page(orders: LocalAws) -> None:
    activities = [
        {
            **READS,
            "ActivityId": str(number),
            "Description": "Setting read capacity units to 20.",
            "Cause": "monitor alarm",
            "StartTime": NOW / 1000 + number,
            "StatusCode": "Successful",
        }
        for number in range(3)
    ]
    stuck = {**activities[0], "ActivityId": "stuck", "NotScaledReasons": [{"Code": "AlreadyAtMaxCapacity"}]}
    orders.plant_scaling("ScalingActivities", [*activities, stuck])
    scaling = orders.client("application-autoscaling")
    pages = scaling.get_paginator("describe_scaling_activities").paginate(
        ServiceNamespace="dynamodb", PaginationConfig={"PageSize": 2}
    )
    assert [[each["ActivityId"] for each in page["ScalingActivities"]] for page in pages] == [["2", "1"], ["0"]]
    told = scaling.describe_scaling_activities(**READS, IncludeNotScaledActivities=True)["ScalingActivities"]
    assert {each["ActivityId"] for each in told} == {"0", "1", "2", "stuck"}


# CloudTrail


def events(emulator: LocalAws, **asked: Any) -> list[dict[str, Any]]:
    emulator.limit("cloudtrail", "LookupEvents", None)
    told: list[dict[str, Any]] = emulator.client("cloudtrail").lookup_events(**asked)["Events"]
    return told


def test_what_was_changed_is_an_event_and_what_was_refused_is_none(orders: LocalAws) -> None:
    dynamodb = orders.client("dynamodb")
    orders.advance(MINUTE)
    units = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 5}
    dynamodb.update_table(TableName="orders", ProvisionedThroughput=units)
    with pytest.raises(ClientError):
        dynamodb.update_table(TableName="nothing", ProvisionedThroughput=units)
    orders.client("application-autoscaling").register_scalable_target(**READS, MinCapacity=5, MaxCapacity=50)
    dynamodb.describe_table(TableName="orders")
    told = events(orders)
    assert [each["EventName"] for each in told] == ["UpdateTable", "RegisterScalableTarget", "CreateTable"]
    assert {each["Resources"][0]["ResourceName"] for each in told} == {"orders"}
    detail = json.loads(told[0]["CloudTrailEvent"])
    assert detail["requestParameters"]["provisionedThroughput"]["readCapacityUnits"] == 9
    assert detail["eventSource"] == told[0]["EventSource"] == "dynamodb.amazonaws.com"
    assert told[0]["EventTime"].timestamp() * 1000 == NOW + MINUTE


def test_events_are_looked_up_by_time_by_one_attribute_and_in_pages(orders: LocalAws) -> None:
    for number in range(3):
        at = NOW - (number + 1) * MINUTE
        orders.plant_event("UpdateTable", at=at, parameters={"TableName": f"t{number}"}, user="deploy")
    name = [{"AttributeKey": "ResourceName", "AttributeValue": "t1"}]
    assert [each["Username"] for each in events(orders, LookupAttributes=name)] == ["deploy"]
    assert len(events(orders, StartTime=(NOW - 2 * MINUTE) / 1000, EndTime=(NOW - MINUTE) / 1000)) == 2
    pages = orders.client("cloudtrail").get_paginator("lookup_events").paginate(PaginationConfig={"PageSize": 3})
    assert [len(page["Events"]) for page in pages] == [3, 1]
    with pytest.raises(ClientError, match="InvalidLookupAttributes"):
        events(orders, LookupAttributes=name * 2)
    with pytest.raises(ClientError, match="InvalidMaxResults"):
        events(orders, MaxResults=51)


def test_a_third_look_up_in_a_second_is_throttled(orders: LocalAws) -> None:
    codes = []
    for _ in range(8):  # two pass, and more only where the machine stood still meanwhile
        try:
            orders.client("cloudtrail").lookup_events()
            codes.append("")
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
    assert codes[:2] == ["", ""]
    assert "ThrottlingException" in codes


def test_late_events_come_when_the_delay_has_passed(orders: LocalAws) -> None:
    orders.settings(trail_delay_seconds=600)
    assert events(orders) == []
    orders.advance(10 * MINUTE)
    assert [each["EventName"] for each in events(orders)] == ["CreateTable"]


# accounts and what is moto's


def test_an_assumed_role_has_tables_metrics_and_changes_of_its_own(orders: LocalAws) -> None:
    role = "arn:aws:iam::222222222222:role/dynascope"
    assumed = orders.client("sts").assume_role(RoleArn=role, RoleSessionName="tests", ExternalId="secret")[
        "Credentials"
    ]
    session = boto3.Session(assumed["AccessKeyId"], assumed["SecretAccessKey"], assumed["SessionToken"], "us-east-1")
    other = session.client("dynamodb", endpoint_url=orders.url)
    keys = {"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}
    names = [{"AttributeName": "PK", "AttributeType": "S"}]
    other.create_table(TableName="orders", AttributeDefinitions=names, **keys)
    described = other.describe_table(TableName="orders")["Table"]
    assert described["TableArn"] == "arn:aws:dynamodb:us-east-1:222222222222:table/orders"
    other.put_item(TableName="orders", Item={"PK": {"S": "1"}})
    assert metric(orders, "ConsumedWriteCapacityUnits", TableName="orders")[0] == 0
    assert len(events(orders)) == 1
    other.close()


def test_buckets_log_groups_and_identities_are_motos(emulator: LocalAws) -> None:
    emulator.client("s3").create_bucket(Bucket="logs")
    emulator.client("s3").put_object(Bucket="logs", Key="a/b", Body=b"lines")
    assert emulator.client("s3").get_object(Bucket="logs", Key="a/b")["Body"].read() == b"lines"
    emulator.client("logs").create_log_group(logGroupName="g")
    assert emulator.client("logs").describe_log_groups()["logGroups"][0]["logGroupName"] == "g"
    assert emulator.client("sts").get_caller_identity()["Account"] == "123456789012"
    assert emulator.client("xray").get_trace_summaries(StartTime=0, EndTime=1)["TraceSummaries"] == []
    assert emulator.client("organizations").list_accounts()["Accounts"] == []


def test_nothing_is_left_of_the_test_before(emulator: LocalAws) -> None:
    assert emulator.client("dynamodb").list_tables()["TableNames"] == []
    assert "Buckets" not in emulator.client("s3").list_buckets() or not emulator.client("s3").list_buckets()["Buckets"]
    assert emulator.metrics_asked() == 0
    assert emulator.now() != NOW
