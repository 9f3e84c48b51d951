"""Faults by script: each strikes the service and the operation that it names, as often as it says, and is forgiven."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import aioboto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from tests.demo.asking import MINUTE, NOW, get_series, metric, query, report

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.emulator import LocalAws

ORDERS = {"TableName": "orders"}
CONSUMED = query("ConsumedWriteCapacityUnits", ORDERS)


@pytest.fixture
def orders(emulator: LocalAws) -> LocalAws:
    emulator.stand(NOW)
    emulator.create_table("orders")
    emulator.plant("orders", at=NOW - 4 * MINUTE, minutes=4, key="A", writes=1)
    return emulator


def ask_metrics(emulator: LocalAws) -> object:
    return get_series(emulator, CONSUMED)


def ask_table(emulator: LocalAws) -> object:
    return emulator.client("dynamodb").describe_table(TableName="orders")


def ask_scaling(emulator: LocalAws) -> object:
    return emulator.client("application-autoscaling").describe_scaling_activities(ServiceNamespace="dynamodb")


def ask_trail(emulator: LocalAws) -> object:
    return emulator.client("cloudtrail").lookup_events()


def ask_logs(emulator: LocalAws) -> object:
    return emulator.client("logs").describe_log_groups()


def ask_bucket(emulator: LocalAws) -> object:
    return emulator.client("s3").list_objects_v2(Bucket="logs")


CALLS: dict[str, tuple[str, Callable[[LocalAws], object]]] = {
    "GetMetricData": ("monitoring", ask_metrics),
    "DescribeTable": ("dynamodb", ask_table),
    "DescribeScalingActivities": ("application-autoscaling", ask_scaling),
    "LookupEvents": ("cloudtrail", ask_trail),
    "DescribeLogGroups": ("logs", ask_logs),
    "ListObjectsV2": ("s3", ask_bucket),
}
ERRORS = {
    "denied": {"AccessDenied", "AccessDeniedException"},
    "throttled": {"Throttling", "ThrottlingException", "SlowDown"},
    "expired": {"ExpiredToken", "ExpiredTokenException"},
    "skewed": {"InvalidSignatureException", "SignatureDoesNotMatch", "RequestTimeTooSkewed"},
    "html": {"500"},
}


@pytest.mark.parametrize(
    ("operation", "kind"), [(o, k) for o in CALLS for k in ERRORS if (o, k) != ("GetMetricData", "html")]
)
def test_an_error_has_the_code_of_its_protocol_and_strikes_as_often_as_it_says(
    orders: LocalAws, operation: str, kind: str
) -> None:
    service, call = CALLS[operation]
    orders.client("s3").create_bucket(Bucket="logs")
    orders.fault(kind, service=service, operation=operation, times=1)
    with pytest.raises(ClientError) as refused:
        call(orders)
    assert refused.value.response["Error"]["Code"] in ERRORS[kind]
    call(orders)


def test_html_in_place_of_xml_cannot_be_read(orders: LocalAws) -> None:
    orders.fault("html", service="monitoring")
    with pytest.raises(ResponseParserError):
        ask_metrics(orders)


@pytest.mark.parametrize("operation", CALLS)
@pytest.mark.parametrize("kind", ["reset", "truncated"])
def test_a_broken_answer_is_an_error_of_the_client(orders: LocalAws, operation: str, kind: str) -> None:
    service, call = CALLS[operation]
    orders.client("s3").create_bucket(Bucket="logs")
    orders.fault(kind, service=service)
    with pytest.raises(BotoCoreError):
        call(orders)
    orders.forgive()
    call(orders)


def test_a_held_answer_runs_into_the_clients_timeout(orders: LocalAws) -> None:
    import boto3  # noqa: PLC0415

    config = Config(read_timeout=0.2, retries={"max_attempts": 0})
    client = boto3.client("dynamodb", config=config, **orders.aio_arguments())
    orders.fault("timeout", operation="DescribeTable", seconds=2, times=1)
    with pytest.raises(ReadTimeoutError):
        client.describe_table(TableName="orders")
    assert client.describe_table(TableName="orders")
    client.close()


@pytest.mark.parametrize("kind", ["wrong", "garbage"])
def test_a_wrong_answer_has_nothing_that_was_asked_for(orders: LocalAws, kind: str) -> None:
    orders.fault(kind)
    assert "Table" not in orders.client("dynamodb").describe_table(TableName="orders")
    with pytest.raises((ResponseParserError, KeyError)):  # what the SDK makes of XML that it does not know
        ask_metrics(orders)


def test_half_an_answer_of_metrics_says_so(orders: LocalAws) -> None:
    orders.fault("partial", operation="GetMetricData", times=1)
    (told,) = get_series(orders, CONSUMED)["MetricDataResults"]
    assert (told["StatusCode"], len(told["Values"])) == ("PartialData", 2)
    assert len(metric(orders, "ConsumedWriteCapacityUnits", **ORDERS)) == 5


def test_half_a_report_does_not_say_so(orders: LocalAws) -> None:
    rules = orders.watch("orders")
    orders.plant("orders", at=NOW, key="B", writes=1)
    orders.fault("partial", service="monitoring", operation="GetInsightRuleReport", times=1)
    assert set(report(orders, rules["PKC"])) == {"A"}
    assert set(report(orders, rules["PKC"])) == {"A", "B"}


def test_a_page_that_comes_twice_has_everything_twice(orders: LocalAws) -> None:
    orders.fault("duplicate", times=1)
    told = get_series(orders, CONSUMED)["MetricDataResults"]
    assert [each["Id"] for each in told] == ["m", "m"]
    logs = orders.client("logs")
    logs.create_log_group(logGroupName="g")
    orders.fault("duplicate", service="logs", times=1)
    assert len(logs.describe_log_groups()["logGroups"]) == 2


def test_listings_of_buckets_can_be_halved_and_doubled(orders: LocalAws) -> None:
    s3 = orders.client("s3")
    s3.create_bucket(Bucket="logs")
    for name in "abcd":
        s3.put_object(Bucket="logs", Key=name, Body=b"1")
    told = []
    for kind in ("partial", "duplicate"):
        orders.fault(kind, operation="ListObjectsV2", times=1)
        told.append([each["Key"] for each in s3.list_objects_v2(Bucket="logs")["Contents"]])
    assert told == [["a", "b"], ["a", "b", "c", "d", "a", "b", "c", "d"]]


def test_a_fault_may_mean_one_table_one_region_and_the_calls_after_the_first(orders: LocalAws) -> None:
    orders.create_table("carts")
    orders.fault("denied", service="dynamodb", contains='"orders"', region="us-east-1", skip=1)
    dynamodb = orders.client("dynamodb")
    dynamodb.describe_table(TableName="orders")
    dynamodb.describe_table(TableName="carts")
    with pytest.raises(ClientError):
        dynamodb.describe_table(TableName="orders")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        orders.client("dynamodb", "eu-west-1").describe_table(TableName="orders")


def test_who_calls_more_often_than_a_stated_rate_is_throttled(orders: LocalAws) -> None:
    orders.limit("dynamodb", "DescribeTable", 0.001)
    ask_table(orders)
    with pytest.raises(ClientError, match="ThrottlingException"):
        ask_table(orders)
    orders.limit("dynamodb", "DescribeTable", None)
    ask_table(orders)


def test_calls_are_counted_those_that_failed_too(orders: LocalAws) -> None:
    before = orders.calls()
    orders.fault("denied", operation="GetMetricData", times=1)
    with pytest.raises(ClientError):
        ask_metrics(orders)
    ask_metrics(orders)
    assert (orders.calls() - before) == {("monitoring", "GetMetricData"): 2}


async def test_the_asynchronous_client_meets_the_same(orders: LocalAws) -> None:
    config = Config(retries={"max_attempts": 0})
    async with aioboto3.Session().client("cloudwatch", config=config, **orders.aio_arguments()) as client:
        window = {"StartTime": (NOW - 5 * MINUTE) / 1000, "EndTime": NOW / 1000}
        orders.fault("denied", service="monitoring", times=1)
        with pytest.raises(ClientError, match="AccessDenied"):
            await client.get_metric_data(MetricDataQueries=[CONSUMED], **window)
        told = await client.get_metric_data(MetricDataQueries=[CONSUMED], **window)
    assert told["MetricDataResults"][0]["Values"] == [1, 1, 1, 1]


def test_newer_clients_speak_json_with_cloudwatch(orders: LocalAws) -> None:
    def ask(operation: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], str | None]:
        headers = {
            "X-Amz-Target": f"GraniteServiceVersion20100801.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": "AWS4-HMAC-SHA256 Credential=demo/20270115/us-east-1/monitoring/aws4_request, …",
        }
        headers["Authorization"] = headers["Authorization"].removesuffix(", …")
        request = urllib.request.Request(orders.url, json.dumps(body).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer), None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error), error.headers["x-amzn-query-error"]

    window = {"StartTime": NOW / 1000 - 120, "EndTime": NOW / 1000}
    status, told, _ = ask("GetMetricData", {"MetricDataQueries": [CONSUMED], **window})
    assert status == 200
    assert told["MetricDataResults"][0]["Timestamps"] == [NOW / 1000 - 60, NOW / 1000 - 120]
    asked = {"RuleName": "x", "Period": 60, "MaxContributorCount": 26, **window}
    status, told, code = ask("GetInsightRuleReport", asked)
    assert (status, told["__type"], code) == (400, "InvalidParameterValueException", "InvalidParameterValue;Sender")


def test_what_the_control_does_not_understand_is_refused(orders: LocalAws) -> None:
    refused: list[Callable[[], object]] = [
        lambda: orders.fault("tired"),
        lambda: orders.fault("denied", servise="s3"),
        lambda: orders.watch("nothing"),
        lambda: orders.watch("orders", mode="ALL"),
        lambda: orders.plant("orders", at=NOW, throttles=1, reasons=["Unknown"]),
        lambda: orders.throttle("orders", "Unknown"),
        lambda: orders.plant_scaling("Targets", []),
        lambda: orders.seed("nothing", []),
    ]
    for call in refused:
        with pytest.raises(ValueError, match="/_demo/"):
            call()
