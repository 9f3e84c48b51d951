"""CloudWatch: what is published when, statistics, and the limits of GetMetricData and ListMetrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.demo.asking import MINUTE, NOW, get_series, metric, query, report

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

DAY = 24 * 60 * MINUTE
ORDERS = {"TableName": "orders"}
KEY = {"PK": {"S": "A"}}


@pytest.fixture
def orders(emulator: LocalAws) -> LocalAws:
    emulator.stand(NOW)
    emulator.create_table("orders")
    return emulator


def test_idle_tables_and_indexes_consume_zero_since_they_are_there(emulator: LocalAws) -> None:
    emulator.stand(NOW - 2 * MINUTE)
    emulator.create_table("orders", indexes={"by-day": ("day", None)})
    emulator.stand(NOW)
    zeros = {-2 * MINUTE: 0, -MINUTE: 0, 0: 0}
    assert metric(emulator, "ConsumedReadCapacityUnits", TableName="orders") == zeros
    of_index = {"TableName": "orders", "GlobalSecondaryIndexName": "by-day"}
    assert metric(emulator, "ConsumedWriteCapacityUnits", "SampleCount", **of_index) == dict.fromkeys(zeros, 1)
    assert metric(emulator, "ConsumedWriteCapacityUnits", TableName="carts") == {}


def test_a_clock_that_goes_back_finds_what_was_there(emulator: LocalAws) -> None:
    emulator.stand(NOW + 10 * MINUTE)
    emulator.create_table("orders", provisioned=(5, 5))
    rules = emulator.watch("orders")
    emulator.stand(NOW)
    assert metric(emulator, "ConsumedReadCapacityUnits", **ORDERS) == {0: 0}
    assert metric(emulator, "ProvisionedReadCapacityUnits", "Maximum", **ORDERS) == {0: 5}
    told = emulator.client("dynamodb").describe_contributor_insights(TableName="orders")
    assert told["ContributorInsightsStatus"] == "ENABLED"
    emulator.client("dynamodb").put_item(TableName="orders", Item=KEY)
    assert report(emulator, rules["PKC"]) == {"A": {0: 3}}


def test_a_table_that_is_gone_consumes_nothing_more(orders: LocalAws) -> None:
    orders.stand(NOW - 2 * MINUTE)
    orders.create_table("carts")
    orders.stand(NOW - MINUTE)
    orders.client("dynamodb").delete_table(TableName="carts")
    orders.stand(NOW)
    assert metric(orders, "ConsumedReadCapacityUnits", TableName="carts") == {-2 * MINUTE: 0}


def test_a_table_alone_leaves_its_indexes_out(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", indexes={"by-day": ("day", None)})
    emulator.plant("orders", at=NOW, index="by-day", writes=5)
    assert metric(emulator, "ConsumedWriteCapacityUnits", **ORDERS)[0] == 0
    assert metric(emulator, "ConsumedWriteCapacityUnits", **ORDERS, GlobalSecondaryIndexName="by-day")[0] == 5
    assert metric(emulator, "ConsumedWriteCapacityUnits") == {}


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("ProvisionedThroughput", "ProvisionedThroughputExceededException"),
        ("KeyRangeThroughput", "ProvisionedThroughputExceededException"),
        ("MaxOnDemandThroughput", "ThrottlingException"),
        ("AccountLimit", "RequestLimitExceeded"),
    ],
)
@pytest.mark.parametrize(("direction", "operation"), [("Read", "GetItem"), ("Write", "DeleteItem")])
def test_each_reason_is_the_same_in_error_and_metric(
    orders: LocalAws, limit: str, code: str, direction: str, operation: str
) -> None:
    orders.throttle("orders", f"Table{direction}{limit}Exceeded", times=2)
    dynamodb = orders.client("dynamodb")
    call = dynamodb.get_item if direction == "Read" else dynamodb.delete_item
    for _ in range(2):
        with pytest.raises(ClientError) as refused:
            call(TableName="orders", Key=KEY)
        assert refused.value.response["Error"]["Code"] == code
    call(TableName="orders", Key=KEY)
    for name in (f"{direction}{limit}ThrottleEvents", f"{direction}ThrottleEvents"):
        assert metric(orders, name, **ORDERS) == {0: 2}
    assert metric(orders, "ThrottledRequests", **ORDERS, Operation=operation) == {0: 2}
    assert metric(orders, "SuccessfulRequestLatency", "SampleCount", **ORDERS, Operation=operation) == {0: 1}


def test_throttles_have_no_point_where_nothing_was_refused(orders: LocalAws) -> None:
    orders.client("dynamodb").get_item(TableName="orders", Key=KEY)
    assert metric(orders, "ReadThrottleEvents", **ORDERS) == {}


def test_an_index_that_refuses_a_write_has_the_throttle_and_the_table_the_request(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    emulator.create_table("orders", indexes={"by-day": ("day", None)})
    emulator.throttle("orders", "IndexWriteProvisionedThroughputExceeded", index="by-day")
    with pytest.raises(ClientError):
        emulator.client("dynamodb").put_item(TableName="orders", Item={**KEY, "day": {"S": "monday"}})
    of_index = {**ORDERS, "GlobalSecondaryIndexName": "by-day"}
    assert metric(emulator, "WriteProvisionedThroughputThrottleEvents", **of_index) == {0: 1}
    assert metric(emulator, "WriteThrottleEvents", **ORDERS) == {}
    assert metric(emulator, "ThrottledRequests", **ORDERS, Operation="PutItem") == {0: 1}


def test_a_batch_counts_its_refused_items_and_is_throttled_only_as_a_whole(orders: LocalAws) -> None:
    orders.throttle("orders", "TableReadKeyRangeThroughputExceeded")
    keys = {"RequestItems": {"orders": {"Keys": [KEY, {"PK": {"S": "B"}}]}}}
    told = orders.client("dynamodb").batch_get_item(**keys)
    assert len(told["UnprocessedKeys"]["orders"]["Keys"]) == 1
    assert metric(orders, "ReadThrottleEvents", **ORDERS) == {0: 1}
    assert metric(orders, "ThrottledRequests", **ORDERS, Operation="BatchGetItem") == {}
    orders.throttle("orders", "TableReadKeyRangeThroughputExceeded", times=2)
    with pytest.raises(ClientError):
        orders.client("dynamodb").batch_get_item(**keys)
    assert metric(orders, "ReadThrottleEvents", **ORDERS) == {0: 3}
    assert metric(orders, "ThrottledRequests", **ORDERS, Operation="BatchGetItem") == {0: 1}


def test_returned_items_are_what_came_back_not_what_was_scanned(orders: LocalAws) -> None:
    orders.seed("orders", [{"PK": {"S": str(number)}, "n": {"N": str(number)}} for number in range(4)])
    asked = {"FilterExpression": "n < :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    orders.client("dynamodb").scan(TableName="orders", **asked)
    assert metric(orders, "ReturnedItemCount", **ORDERS, Operation="Scan") == {0: 1}
    assert metric(orders, "SuccessfulRequestLatency", "SampleCount", **ORDERS, Operation="Scan") == {0: 1}


def test_failures_are_counted_by_their_kind(orders: LocalAws) -> None:
    dynamodb = orders.client("dynamodb")
    dynamodb.put_item(TableName="orders", Item=KEY)
    orders.fault("html", service="dynamodb", operation="GetItem", times=1)
    wrong: list[dict[str, Any]] = [
        {"TableName": "orders", "Item": KEY, "ConditionExpression": "attribute_not_exists(PK)"},
        {"TableName": "orders", "Item": {"other": {"S": "1"}}},
    ]
    for asked in wrong:
        with pytest.raises(ClientError):
            dynamodb.put_item(**asked)
    with pytest.raises(ClientError):
        dynamodb.get_item(TableName="orders", Key=KEY)
    assert metric(orders, "ConditionalCheckFailedRequests", **ORDERS) == {0: 1}
    assert metric(orders, "UserErrors") == {0: 1}
    assert metric(orders, "SystemErrors", **ORDERS, Operation="GetItem") == {0: 1}


def test_gauges_come_every_five_minutes_with_the_limits_of_their_time(emulator: LocalAws) -> None:
    emulator.stand(NOW - 10 * MINUTE)
    emulator.create_table("orders", provisioned=(100, 50))
    emulator.stand(NOW - 4 * MINUTE)
    units = {"ReadCapacityUnits": 200, "WriteCapacityUnits": 50}
    emulator.client("dynamodb").update_table(TableName="orders", ProvisionedThroughput=units)
    emulator.stand(NOW)
    told = metric(emulator, "ProvisionedReadCapacityUnits", "Maximum", **ORDERS)
    assert told == {-10 * MINUTE: 100, -5 * MINUTE: 100, 0: 200}
    assert metric(emulator, "AccountProvisionedReadCapacityUtilization", "Maximum")[0] == 100 * 200 / 80_000
    assert metric(emulator, "AccountMaxTableLevelWrites", "Maximum")[0] == 40_000
    assert metric(emulator, "OnDemandMaxReadRequestUnits", "Maximum", **ORDERS) == {}


def test_an_on_demand_maximum_is_described_published_and_enforced(emulator: LocalAws) -> None:
    emulator.stand(NOW)
    most = {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 1}
    emulator.create_table("orders", OnDemandThroughput=most)
    assert emulator.client("dynamodb").describe_table(TableName="orders")["Table"]["OnDemandThroughput"] == most
    assert metric(emulator, "OnDemandMaxReadRequestUnits", "Maximum", **ORDERS)[0] == 7
    requests = [{"PutRequest": {"Item": {"PK": {"S": str(number)}}}} for number in range(25)]
    told = emulator.client("dynamodb").batch_write_item(RequestItems={"orders": requests})
    refused = len(told["UnprocessedItems"]["orders"])
    assert metric(emulator, "WriteMaxOnDemandThroughputThrottleEvents", **ORDERS) == {0: refused}


def test_latency_has_percentiles_and_counts_its_requests(orders: LocalAws) -> None:
    for milliseconds, requests in ((2.0, 98), (80.0, 2)):
        orders.plant("orders", at=NOW, reads=1, requests=requests, operation="Query", milliseconds=milliseconds)
    told = {
        stat: metric(orders, "SuccessfulRequestLatency", stat, **ORDERS, Operation="Query")[0]
        for stat in ("SampleCount", "Average", "p50", "p99", "Maximum")
    }
    assert told == {"SampleCount": 100, "Average": pytest.approx(3.56), "p50": 2, "p99": 80, "Maximum": 80}


def test_any_metric_can_be_planted(orders: LocalAws) -> None:
    dimensions = {"TableName": "orders", "ReceivingRegion": "eu-west-1"}
    orders.plant_metric("ReplicationLatency", 900, at=NOW - MINUTE, dimensions=dimensions, minutes=2, times=3)
    assert metric(orders, "ReplicationLatency", "Average", **dimensions) == {-MINUTE: 900, 0: 900}
    assert metric(orders, "ReplicationLatency", "SampleCount", **dimensions) == {-MINUTE: 3, 0: 3}


def test_longer_periods_add_minutes_up_from_the_start_on(orders: LocalAws) -> None:
    orders.plant("orders", at=NOW - 10 * MINUTE, minutes=10, writes=1, requests=2)
    told = get_series(orders, query("ConsumedWriteCapacityUnits", ORDERS, period=300), ScanBy="TimestampAscending")
    assert told["MetricDataResults"][0]["Values"] == [5, 5, 0]


@pytest.mark.parametrize(("age_days", "period", "expected"), [(14, 60, [1]), (16, 60, []), (16, 300, [1])])
def test_old_minutes_are_kept_at_coarser_periods_only(
    orders: LocalAws, age_days: int, period: int, expected: list[float]
) -> None:
    at = NOW - age_days * DAY
    orders.plant("orders", at=at, writes=1)
    told = orders.client("cloudwatch").get_metric_data(
        MetricDataQueries=[query("ConsumedWriteCapacityUnits", ORDERS, period=period)],
        StartTime=at / 1000,
        EndTime=at / 1000 + period,
    )
    assert told["MetricDataResults"][0]["Values"] == expected


def test_late_minutes_come_when_the_delay_has_passed(orders: LocalAws) -> None:
    orders.plant("orders", at=NOW - 5 * MINUTE, minutes=5, writes=1)
    orders.settings(metrics_delay_seconds=180)
    assert metric(orders, "ConsumedWriteCapacityUnits", **ORDERS) == {-5 * MINUTE: 1, -4 * MINUTE: 1}


def test_planted_minutes_of_a_key_that_nobody_watches_are_metrics_all_the_same(orders: LocalAws) -> None:
    orders.plant("orders", at=NOW, key="A", writes=4)
    assert metric(orders, "ConsumedWriteCapacityUnits", **ORDERS) == {0: 4}
    assert report(orders, orders.watch("orders")["PKC"]) == {"A": {0: 12}}


def test_writes_of_a_global_table_are_told_by_their_source(orders: LocalAws) -> None:
    for source, writes in (("Customer", 3), ("GlobalTable", 4)):
        orders.plant("orders", at=NOW, writes=writes, source=source)
    assert metric(orders, "ConsumedWriteCapacityUnits", **ORDERS) == {0: 7}
    assert metric(orders, "ConsumedWriteCapacityUnits", **ORDERS, Source="Customer") == {0: 3}


# the calls


def queries(count: int) -> list[dict[str, Any]]:
    return [query("AccountMaxReads", {}, identifier=f"q{number}") for number in range(count)]


def test_five_hundred_queries_are_served_and_one_more_is_an_error(orders: LocalAws) -> None:
    assert len(get_series(orders, *queries(500))["MetricDataResults"]) == 500
    assert orders.metrics_asked() == 500
    with pytest.raises(ClientError, match="500"):
        get_series(orders, *queries(501))


@pytest.mark.parametrize(
    "asked",
    [
        [query("AccountMaxReads", {}), query("AccountMaxWrites", {})],
        [query("AccountMaxReads", {}, identifier="Upper")],
        [query("AccountMaxReads", {}, "TM(1%:2%)")],
        [query("AccountMaxReads", {}, period=45)],
        [{"Id": "m", "Expression": "a / 60"}],
    ],
    ids=["same-id", "upper-case", "statistic", "period", "expression"],
)
def test_what_cannot_be_served_is_an_error_and_never_empty(orders: LocalAws, asked: list[dict[str, Any]]) -> None:
    with pytest.raises(ClientError):
        get_series(orders, *asked)


def test_pages_say_that_they_are_partial_and_together_have_all(orders: LocalAws) -> None:
    orders.plant("orders", at=NOW - 9 * MINUTE, minutes=9, writes=1, reads=2)
    asked = [query(f"Consumed{name}CapacityUnits", ORDERS, identifier=name.lower()) for name in ("Read", "Write")]
    first = get_series(orders, *asked, MaxDatapoints=13)
    second = get_series(orders, *asked, MaxDatapoints=13, NextToken=first["NextToken"])
    assert [(each["Id"], each["StatusCode"], len(each["Values"])) for each in first["MetricDataResults"]] == [
        ("read", "Complete", 10),
        ("write", "PartialData", 3),
    ]
    assert [(each["Id"], each["StatusCode"], len(each["Values"])) for each in second["MetricDataResults"]] == [
        ("write", "Complete", 7)
    ]
    assert "NextToken" not in second


def test_list_metrics_names_what_has_points(orders: LocalAws) -> None:
    orders.client("dynamodb").get_item(TableName="orders", Key=KEY)
    told = orders.client("cloudwatch").list_metrics(
        Namespace="AWS/DynamoDB", Dimensions=[{"Name": "TableName", "Value": "orders"}]
    )["Metrics"]
    assert {(each["MetricName"], *(pair["Name"] for pair in each["Dimensions"])) for each in told} == {
        ("ConsumedReadCapacityUnits", "TableName"),
        ("ConsumedWriteCapacityUnits", "TableName"),
        ("SuccessfulRequestLatency", "Operation", "TableName"),
    }


def test_other_namespaces_are_motos(orders: LocalAws) -> None:
    cloudwatch = orders.client("cloudwatch")
    cloudwatch.put_metric_data(Namespace="Own", MetricData=[{"MetricName": "x", "Value": 1}])
    assert [each["MetricName"] for each in cloudwatch.list_metrics(Namespace="Own")["Metrics"]] == ["x"]
