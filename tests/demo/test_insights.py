"""Contributor Insights: modes, states and rules of DynamoDB, and reports with CloudWatch's limits and blind spots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.demo.asking import MINUTE, NOW, get_series, report

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

ACCESSED = "ACCESSED_AND_THROTTLED_KEYS"


@pytest.fixture
def orders(emulator: LocalAws) -> LocalAws:
    emulator.stand(NOW)
    emulator.create_table("orders", sort="SK", indexes={"by-day": ("day", None)})
    return emulator


def described(emulator: LocalAws, table: str = "orders", **index: str) -> dict[str, Any]:
    told: dict[str, Any] = emulator.client("dynamodb").describe_contributor_insights(TableName=table, **index)
    return told


def update(emulator: LocalAws, action: str = "ENABLE", **more: str) -> dict[str, Any]:
    told: dict[str, Any] = emulator.client("dynamodb").update_contributor_insights(
        TableName="orders", ContributorInsightsAction=action, **more
    )
    return told


def codes(told: dict[str, Any]) -> list[str]:
    return [name.split("-")[1] for name in told["ContributorInsightsRuleList"]]


def test_what_was_never_enabled_is_disabled(orders: LocalAws) -> None:
    told = described(orders)
    assert told["ContributorInsightsStatus"] == "DISABLED"
    assert "ContributorInsightsRuleList" not in told


def test_enabling_takes_a_moment_of_the_emulators_clock(orders: LocalAws) -> None:
    assert update(orders)["ContributorInsightsStatus"] == "ENABLING"
    assert described(orders)["ContributorInsightsStatus"] == "ENABLING"
    orders.advance(1_000)
    assert described(orders)["ContributorInsightsStatus"] == "ENABLED"
    assert described(orders)["LastUpdateDateTime"].timestamp() * 1000 == NOW


@pytest.mark.parametrize(
    ("index", "mode", "expected"),
    [
        ({}, ACCESSED, ["PKC", "PKT", "SKC", "SKT"]),
        ({}, "THROTTLED_KEYS", ["PKT", "SKT"]),
        ({"IndexName": "by-day"}, ACCESSED, ["PKC", "PKT"]),
        ({"IndexName": "by-day"}, "THROTTLED_KEYS", ["PKT"]),
    ],
)
def test_rules_follow_the_mode_and_the_sort_key(
    orders: LocalAws, index: dict[str, str], mode: str, expected: list[str]
) -> None:
    update(orders, ContributorInsightsMode=mode, **index)
    assert codes(described(orders, **index)) == expected


def test_an_update_without_a_mode_watches_accessed_keys_again(orders: LocalAws) -> None:
    update(orders, ContributorInsightsMode="THROTTLED_KEYS")
    (throttled, _) = described(orders)["ContributorInsightsRuleList"]
    orders.advance(MINUTE)
    assert update(orders)["ContributorInsightsMode"] == ACCESSED
    told = described(orders)["ContributorInsightsRuleList"]
    assert throttled in told
    assert len(told) == 4


def test_disabling_deletes_the_rules(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    assert update(orders, "DISABLE")["ContributorInsightsStatus"] == "DISABLING"
    orders.advance(1_000)
    assert described(orders)["ContributorInsightsStatus"] == "DISABLED"
    with pytest.raises(ClientError, match="no such insight rule"):
        report(orders, rules["PKC"])


@pytest.mark.parametrize("table", ["a.b-c_d", "PKC-orders-1618028180292", "t" * 255])
def test_rule_names_are_what_aws_makes_of_any_table(emulator: LocalAws, table: str) -> None:
    emulator.create_table(table)
    for name in emulator.watch(table).values():
        assert re.fullmatch(r"DynamoDBContributorInsights-(PKC|PKT)-[\w.-]+-\d{13}", name)
        assert len(name) <= 128


def test_a_failure_is_told_with_its_exception(orders: LocalAws) -> None:
    orders.watch("orders", failure="AccessDeniedException")
    told = described(orders)
    assert told["ContributorInsightsStatus"] == "FAILED"
    assert told["FailureException"]["ExceptionName"] == "AccessDeniedException"


def test_more_rules_than_the_quota_fail(orders: LocalAws) -> None:
    orders.settings(rule_quota=5)
    assert len(orders.watch("orders")) == 4
    assert orders.watch("orders", "by-day") == {}
    assert described(orders, IndexName="by-day")["FailureException"]["ExceptionName"] == "LimitExceededException"


def test_the_list_has_tables_and_indexes_page_by_page(orders: LocalAws) -> None:
    orders.create_table("carts")
    for table, index in (("orders", None), ("orders", "by-day"), ("carts", None)):
        orders.watch(table, index)
    dynamodb = orders.client("dynamodb")
    first = dynamodb.list_contributor_insights(MaxResults=2)
    second = dynamodb.list_contributor_insights(MaxResults=2, NextToken=first["NextToken"])
    told = first["ContributorInsightsSummaries"] + second["ContributorInsightsSummaries"]
    assert [(each["TableName"], each.get("IndexName")) for each in told] == [
        ("carts", None),
        ("orders", None),
        ("orders", "by-day"),
    ]
    assert "NextToken" not in second
    assert len(dynamodb.list_contributor_insights(TableName="orders")["ContributorInsightsSummaries"]) == 2


def test_rules_of_all_resources_are_listed_in_pages(emulator: LocalAws) -> None:
    emulator.create_table("orders", indexes={"by-day": ("day", "PK")})
    made = {name for place in (None, "by-day") for name in emulator.watch("orders", place).values()}
    cloudwatch = emulator.client("cloudwatch")
    first = cloudwatch.describe_insight_rules(MaxResults=4)
    rest = cloudwatch.describe_insight_rules(NextToken=first["NextToken"])
    assert {rule["Name"] for rule in (*first["InsightRules"], *rest["InsightRules"])} == made
    assert "NextToken" not in rest


@pytest.mark.parametrize(("table", "index"), [("nothing", {}), ("orders", {"IndexName": "no-index"})])
def test_what_is_not_there_cannot_be_described(orders: LocalAws, table: str, index: dict[str, str]) -> None:
    with pytest.raises(orders.client("dynamodb").exceptions.ResourceNotFoundException):
        described(orders, table, **index)


# reports


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"MaxContributorCount": 26}, "InvalidParameterValue"),
        ({"OrderBy": "Average"}, "InvalidParameterValue"),
        ({"Period": 45}, "InvalidParameterValue"),
        ({"Metrics": ["Median"]}, "InvalidParameterValue"),
        ({"minutes": 24 * 60}, "InvalidParameterValue"),
        ({"rule": "DynamoDBContributorInsights-PKC-orders-1"}, "ResourceNotFoundException"),
    ],
)
def test_what_a_report_cannot_give_is_an_error(orders: LocalAws, changes: dict[str, Any], code: str) -> None:
    rule = changes.pop("rule", orders.watch("orders")["PKC"])
    with pytest.raises(ClientError) as refused:
        report(orders, rule, **changes)
    assert refused.value.response["Error"]["Code"] == code


def test_the_order_is_by_sum_or_by_the_highest_minute(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW - 5 * MINUTE, minutes=3, key="steady", writes=10)
    orders.plant("orders", at=NOW - 5 * MINUTE, key="peak", writes=20)
    assert list(report(orders, rules["PKC"], OrderBy="Sum")) == ["steady", "peak"]
    assert list(report(orders, rules["PKC"], OrderBy="Maximum")) == ["peak", "steady"]
    assert list(report(orders, rules["PKC"], MaxContributorCount=1)) == ["steady"]


def test_a_key_has_no_point_where_it_was_not_in_the_top_set(orders: LocalAws) -> None:
    orders.settings(top_set=1)
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW - 2 * MINUTE, minutes=2, key="A", writes=10)
    orders.plant("orders", at=NOW - 2 * MINUTE, key="B", writes=5)
    orders.plant("orders", at=NOW - MINUTE, key="B", writes=50)
    assert report(orders, rules["PKC"]) == {"B": {-MINUTE: 150}, "A": {-2 * MINUTE: 30}}


def test_only_the_maximum_of_a_reports_metrics_means_anything(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW - MINUTE, key="A", writes=10)
    orders.plant("orders", at=NOW - MINUTE, key="B", reads=10)
    (told,) = orders.client("cloudwatch").get_insight_rule_report(
        RuleName=rules["PKC"],
        StartTime=(NOW - MINUTE) / 1000,
        EndTime=NOW / 1000,
        Period=60,
        Metrics=["MaxContributorValue", "Maximum", "Sum"],
    )["MetricDatapoints"]
    assert (told["MaxContributorValue"], told["Maximum"]) == (30, 30)
    assert told["Sum"] != 40


def test_a_rule_counts_from_when_it_was_enabled(orders: LocalAws) -> None:
    orders.plant("orders", at=NOW - 5 * MINUTE, minutes=5, key="A", writes=1)
    rules = orders.watch("orders", since=NOW - 2 * MINUTE)
    assert report(orders, rules["PKC"]) == {"A": {-2 * MINUTE: 3, -MINUTE: 3}}


def test_late_keys_come_when_the_delay_has_passed(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW - MINUTE, key="A", writes=1)
    orders.settings(insights_delay_seconds=600)
    assert report(orders, rules["PKC"]) == {}
    orders.advance(10 * MINUTE)
    assert report(orders, rules["PKC"]) == {"A": {-MINUTE: 3}}


def test_insights_do_not_see_partiql_and_metrics_do(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW, key="planted", writes=1, is_partiql=True)
    statement = "INSERT INTO \"orders\" VALUE {'PK': 'served', 'SK': '1'}"
    orders.client("dynamodb").execute_statement(Statement=statement)
    asked = {"Namespace": "AWS/DynamoDB", "MetricName": "ConsumedWriteCapacityUnits"}
    named = {**asked, "Dimensions": [{"Name": "TableName", "Value": "orders"}]}
    told = get_series(orders, {"Id": "m", "MetricStat": {"Metric": named, "Period": 60, "Stat": "Sum"}}, minutes=0)
    assert told["MetricDataResults"][0]["Values"] == [2]
    assert report(orders, rules["PKC"]) == {}


def test_insights_do_not_see_writes_that_an_index_refused(orders: LocalAws) -> None:
    rules = {**orders.watch("orders"), "index": orders.watch("orders", "by-day")["PKT"]}
    orders.throttle("orders", "IndexWriteKeyRangeThroughputExceeded", index="by-day")
    item = {name: {"S": "1"} for name in ("PK", "SK", "day")}
    with pytest.raises(ClientError):
        orders.client("dynamodb").put_item(TableName="orders", Item=item)
    assert report(orders, rules["PKT"]) == report(orders, rules["SKT"]) == report(orders, rules["index"]) == {}


def test_the_metric_of_a_rule_can_be_asked_for_as_an_expression(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW - MINUTE, key="A", writes=10)
    expression = f"INSIGHT_RULE_METRIC('{rules['PKC']}', 'MaxContributorValue')"
    (told,) = get_series(orders, {"Id": "hot", "Expression": expression, "Period": 60})["MetricDataResults"]
    assert told["Values"] == [30]


def test_a_query_of_several_items_is_one_access_of_their_partition_key(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    items = [{"PK": {"S": "A"}, "SK": {"S": sort}, "text": {"S": "x" * 5000}} for sort in "12"]
    orders.seed("orders", items)
    asked = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "A"}}}
    orders.client("dynamodb").query(TableName="orders", **asked)
    assert report(orders, rules["PKC"]) == {"A": {0: 1.5}}
    assert report(orders, rules["SKC"], Metrics=["Maximum"]) == {}


def test_a_scan_accesses_each_item_that_it_reads(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.seed("orders", [{"PK": {"S": key}, "SK": {"S": "1"}, "text": {"S": "x" * 4080}} for key in "AB"])
    orders.client("dynamodb").scan(TableName="orders")
    told = report(orders, rules["SKC"])
    assert set(told) == {"A|1", "B|1"}
    assert sum(points[0] for points in told.values()) == 1.0


def test_numbers_and_bytes_are_keys_as_text(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    kinds = [{"AttributeName": "PK", "AttributeType": "N"}, {"AttributeName": "SK", "AttributeType": "B"}]
    emulator.create_table("orders", sort="SK", AttributeDefinitions=kinds)
    rules = emulator.watch("orders")
    emulator.client("dynamodb").put_item(TableName="orders", Item={"PK": {"N": "42"}, "SK": {"B": b"raw"}})
    assert report(emulator, rules["SKC"]) == {"42|raw": {0: 3}}
