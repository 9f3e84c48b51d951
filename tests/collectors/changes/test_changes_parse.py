from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.model.finding import Change
from analyzer.model.instant import parse_instant
from collectors.changes.parse import Event, newest_first, read_event

TIME = "2026-06-01T10:00:00Z"
AT = parse_instant(TIME)
USER = {"type": "IAMUser", "arn": "arn:aws:iam::111122223333:user/ada", "userName": "ada"}


def row(name: str, identity: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    return raw({"eventName": name, "userIdentity": identity or USER, "requestParameters": parameters})


def raw(record: dict[str, Any]) -> dict[str, Any]:
    whole = {"eventTime": TIME, "eventID": "e1", "eventSource": "dynamodb.amazonaws.com", "readOnly": False, **record}
    return {"EventId": "e1", "EventName": whole["eventName"], "CloudTrailEvent": json.dumps(whole)}


def told(of: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    return [(change.what, change.index, change.detail) for change in read_event(of).changes]


def test_a_change_says_when_what_where_who_and_how() -> None:
    event = read_event(row("UpdateTable", tableName="cases", billingMode="PAY_PER_REQUEST"))
    assert event == Event(
        "e1",
        AT,
        (
            Change(
                time=AT,
                what="billing-mode",
                table="cases",
                who="ada",
                detail="UpdateTable: PAY_PER_REQUEST",
                source="cloudtrail",
            ),
        ),
    )


def test_one_update_may_change_several_things() -> None:
    updates = [
        {"create": {"indexName": "A"}},
        {"update": {"indexName": "B", "provisionedThroughput": {"readCapacityUnits": 5, "writeCapacityUnits": 6}}},
        {"delete": {"indexName": "C"}},
        {"create": {}},
        "?",
    ]
    update = row(
        "UpdateTable",
        tableName="cases",
        provisionedThroughput={"readCapacityUnits": 100, "writeCapacityUnits": 50},
        onDemandThroughput={"maxReadRequestUnits": 9},
        warmThroughput={"readUnitsPerSecond": 12000},
        globalSecondaryIndexUpdates=updates,
        streamSpecification={"streamEnabled": True, "streamViewType": "NEW_IMAGE"},
        replicaUpdates=[{"create": {"regionName": "eu-west-1"}, "x": 1}, {"delete": {}}],
    )
    assert told(update) == [
        (
            "capacity",
            None,
            "UpdateTable: read units 100, write units 50, maximum of read units 9, warm read units 12000",
        ),
        ("index-created", "A", "UpdateTable: create A"),
        ("capacity", "B", "UpdateTable: update B read units 5, write units 6"),
        ("index-deleted", "C", "UpdateTable: delete C"),
        ("stream", None, "UpdateTable: stream NEW_IMAGE"),
        ("replica", None, "UpdateTable: create eu-west-1"),
        ("replica", None, "UpdateTable: delete a replica"),
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "change"),
    [
        ("CreateTable", {}, ("table-created", None, "CreateTable")),
        ("DeleteTable", {}, ("table-deleted", None, "DeleteTable")),
        ("UpdateTable", {"streamSpecification": {"streamEnabled": False}}, ("stream", None, "UpdateTable: stream off")),
        (
            "UpdateTimeToLive",
            {"timeToLiveSpecification": {"enabled": True, "attributeName": "expiresAt"}},
            ("ttl", None, "UpdateTimeToLive: on expiresAt"),
        ),
        ("UpdateTimeToLive", {}, ("ttl", None, "UpdateTimeToLive: off")),
        (
            "UpdateContributorInsights",
            {"indexName": "GSI1", "contributorInsightsAction": "ENABLE"},
            ("insights", "GSI1", "UpdateContributorInsights: ENABLE"),
        ),
        ("RestoreTableFromBackup", {"targetTableName": "cases"}, ("restore", None, "RestoreTableFromBackup")),
        ("EnableKinesisStreamingDestination", {}, ("stream", None, "EnableKinesisStreamingDestination")),
    ],
)
def test_each_call_has_its_word(
    name: str, parameters: dict[str, Any], change: tuple[str, str | None, str | None]
) -> None:
    assert told(row(name, **{"tableName": "cases", **parameters})) == [change]


def test_a_table_may_be_named_by_arn_or_where_it_is_made() -> None:
    arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
    assert read_event(row("DeleteTable", tableName=arn)).changes[0].table == "cases"
    made = read_event(row("ImportTable", tableCreationParameters={"tableName": "new"})).changes[0]
    assert (made.table, made.what) == ("new", "restore")
    assert read_event(row("UpdateGlobalTable", globalTableName="all")).changes[0].table == "all"


def test_names_may_begin_with_a_capital() -> None:
    assert told(row("UpdateTable", TableName="cases", BillingMode="PROVISIONED"))[0][0] == "billing-mode"


@pytest.mark.parametrize(
    "record",
    [
        {"eventName": "DescribeTable", "readOnly": True, "requestParameters": {"tableName": "cases"}},
        {"eventName": "DeleteTable", "errorCode": "AccessDenied", "requestParameters": {"tableName": "cases"}},
        {"eventName": "TagResource", "requestParameters": {"resourceArn": "x"}},
        {"eventName": "DeleteTable", "requestParameters": None},
        {"eventName": "CreateBackup", "requestParameters": {"tableName": "cases"}},
        {"eventName": "PutScalingPolicy", "requestParameters": {"autoScalingGroupName": "web"}},
        {"eventName": "PutScalingPolicy", "requestParameters": {"resourceId": "table/a/index"}},
    ],
)
def test_what_changes_no_traffic_is_no_change(record: dict[str, Any]) -> None:
    assert told(raw(record)) == []


def test_autoscaling_is_told_of_its_table_or_index() -> None:
    bounds = row(
        "RegisterScalableTarget",
        resourceId="table/cases",
        scalableDimension="dynamodb:table:ReadCapacityUnits",
        minCapacity=5,
        maxCapacity=900,
    )
    assert told(bounds) == [("scaling", None, "RegisterScalableTarget: read capacity, minimum 5, maximum 900")]
    policy = row(
        "PutScalingPolicy",
        resourceId="table/cases/index/GSI1",
        scalableDimension="dynamodb:index:WriteCapacityUnits",
        targetTrackingScalingPolicyConfiguration={"targetValue": 70.0},
    )
    assert told(policy) == [("scaling", "GSI1", "PutScalingPolicy: write capacity, target 70.0%")]


@pytest.mark.parametrize(
    ("identity", "who"),
    [
        (USER, "ada"),
        ({"type": "AssumedRole", "arn": "arn:aws:sts::1:assumed-role/deploy/ci-42"}, "deploy/ci-42"),
        ({"type": "AssumedRole", "arn": ""}, "AssumedRole"),
        ({"type": "Root", "arn": "arn:aws:iam::1:root"}, "root"),
        ({"type": "AWSService", "invokedBy": "backup.amazonaws.com"}, "backup.amazonaws.com"),
        ({"type": "FederatedUser", "arn": "arn:aws:sts::1:federated-user/eve"}, "eve"),
        ({"type": "AWSAccount", "accountId": "111122223333"}, "111122223333"),
        ({"Type": "Root"}, "root"),
    ],
)
def test_who_did_it_is_told_as_people_call_it(identity: dict[str, Any], who: str) -> None:
    assert read_event(row("DeleteTable", identity, tableName="cases")).changes[0].who == who


def test_somebody_unknown_stays_unknown() -> None:
    event = read_event(raw({"eventName": "DeleteTable", "requestParameters": {"tableName": "cases"}}))
    assert event.changes[0].who is None


@pytest.mark.parametrize(
    "identity",
    [
        {"type": "AssumedRole", "invokedBy": "dynamodb.application-autoscaling.amazonaws.com"},
        {"arn": "arn:aws:sts::1:assumed-role/AWSServiceRoleForApplicationAutoScaling_DynamoDBTable/x"},
    ],
)
def test_capacity_that_autoscaling_set_is_its_doing(identity: dict[str, Any]) -> None:
    update = row("UpdateTable", identity, tableName="cases", provisionedThroughput={"readCapacityUnits": 9})
    (change,) = read_event(update).changes
    assert (change.what, change.who) == ("scaling", "application-autoscaling")


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"EventId": "e", "EventName": "x", "CloudTrailEvent": "no"},
        {"EventId": "e", "EventName": "x", "CloudTrailEvent": "{}"},
        {"EventId": "e", "EventName": "x", "CloudTrailEvent": '{"eventName": "x", "eventTime": "soon"}'},
    ],
)
def test_what_is_no_event_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_event(bad)


def test_only_the_newest_events_are_kept() -> None:
    events = {name: Event(name, time, ()) for name, time in (("a", 1), ("b", 3), ("c", 2), ("d", 9))}
    assert list(newest_first(events, 2, 0)) == ["d", "b"]
    assert list(newest_first(events, 9, 3)) == ["d", "b"]
