from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import MalformedError
from collectors.cloudwatch_metrics.config import MetricTarget
from collectors.cloudwatch_metrics.facts import METRICS
from collectors.cloudwatch_metrics.parse import Found, Page, Points, misuse, parse_listing, parse_page, unite
from collectors.cloudwatch_metrics.series import Discovery, series_of_account, series_of_table

TEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
TEN_MS = 1_796_032_800_000


def result(**members: Any) -> dict[str, Any]:
    return {"Id": "m0", "Timestamps": [TEN], "Values": [1.5], "StatusCode": "Complete"} | members


def test_a_page_is_points_by_id_and_the_token_of_the_next() -> None:
    page = parse_page({"MetricDataResults": [result()], "NextToken": "more"})
    assert page == Page({"m0": Points((TEN_MS,), (1.5,), "Complete")}, "more")


def test_the_last_page_has_no_token_or_an_empty_one() -> None:
    assert parse_page({"MetricDataResults": []}) == parse_page({"MetricDataResults": [], "NextToken": ""})


@pytest.mark.parametrize("moment", [TEN.replace(tzinfo=None), TEN, TEN.astimezone()], ids=["none", "UTC", "local"])
def test_a_time_without_an_offset_is_utc(moment: datetime) -> None:
    assert parse_page({"MetricDataResults": [result(Timestamps=[moment])]}).results["m0"].timestamps == (TEN_MS,)


def test_what_is_no_number_is_left_out() -> None:
    points = parse_page({"MetricDataResults": [result(Timestamps=[TEN] * 3, Values=[float("nan"), 2, float("inf")])]})
    assert points.results["m0"].values == (2.0,)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"MetricDataResults": None},
        {"MetricDataResults": [{}]},
        {"MetricDataResults": [result(Values=[1.0, 2.0])]},
        {"MetricDataResults": [result(Values=["many"])]},
        {"MetricDataResults": [result(Timestamps=["noon"])]},
        {"MetricDataResults": "html"},
    ],
    ids=["empty", "null", "no id", "one value too many", "a word", "no time", "text"],
)
def test_what_is_no_page_is_told_as_such(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="GetMetricData") as caught:
        parse_page(answer)
    assert caught.value.hint


def test_a_listing_is_metrics_with_their_dimensions() -> None:
    one = {"Namespace": "AWS/DynamoDB", "MetricName": "UserErrors", "Dimensions": []}
    other = {"MetricName": "SystemErrors", "Dimensions": [{"Name": "TableName", "Value": "t"}]}
    found, token = parse_listing({"Metrics": [one, other, other], "NextToken": "more"})
    assert found == {Found("UserErrors", frozenset()), Found("SystemErrors", frozenset({("TableName", "t")}))}
    assert token == "more"


@pytest.mark.parametrize("answer", [{}, {"Metrics": [{"Dimensions": []}]}, {"Metrics": 3}])
def test_what_is_no_listing_is_told_as_such(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="ListMetrics"):
        parse_listing(answer)


def test_pages_are_put_together_by_time_and_the_later_one_wins() -> None:
    first = Page({"m0": Points((3, 1), (30.0, 10.0), "PartialData"), "m1": Points((), (), "Complete")}, "more")
    second = Page({"m0": Points((2, 3), (20.0, 33.0), "Complete")}, None)
    assert unite([first, second]) == {
        "m0": Points((1, 2, 3), (10.0, 20.0, 33.0), "Complete"),
        "m1": Points((), (), "Complete"),
    }


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(0, 9)), max_size=30), st.integers(1, 7))
def test_however_points_are_cut_into_pages_they_are_the_same(pairs: list[tuple[int, float]], size: int) -> None:
    def page(some: list[tuple[int, float]]) -> Page:
        times = [TEN + timedelta(minutes=minute) for minute, _ in some]
        return parse_page({"MetricDataResults": [result(Timestamps=times, Values=[value for _, value in some])]})

    cuts = [page(pairs[start : start + size]) for start in range(0, max(len(pairs), 1), size)]
    assert unite(cuts) == unite([page(pairs)])


TABLE = {"TableName": "orders"}
INDEX = TABLE | {"GlobalSecondaryIndexName": "by-state"}
OPERATION = TABLE | {"Operation": "Query"}


@pytest.mark.parametrize(
    ("metric", "stat", "dimensions", "says"),
    [
        ("ConsumedReadCapacityUnits", "Average", TABLE, "is per request and no rate; the rate is Sum ÷ period"),
        ("ConsumedWriteCapacityUnits", "Maximum", INDEX, "no rate"),
        ("ConsumedReadCapacityUnits", "p99", TABLE, "no rate"),
        ("ReadThrottleEvents", "Average", TABLE, "every sample is one event; ask for Sum"),
        ("WriteKeyRangeThroughputThrottleEvents", "Maximum", INDEX, "every sample is one event"),
        ("ThrottledRequests", "Average", OPERATION, "every sample is one event"),
        ("ProvisionedReadCapacityUnits", "Sum", TABLE, "ask for Average or Maximum"),
        ("SuccessfulRequestLatency", "Sum", OPERATION, "adds up times"),
        ("SuccessfulRequestLatency", "p99", TABLE, "it has TableName with Operation"),
        ("ConsumedReadCapacityUnits", "Sum", {"GlobalSecondaryIndexName": "by-state"}, "these dimensions"),
        ("UserErrors", "Sum", TABLE, "it has none"),
        ("ReplicationLatency", "Average", {}, "these dimensions: none"),
    ],
)
def test_a_statistic_that_means_something_else_is_told(
    metric: str, stat: str, dimensions: dict[str, str], says: str
) -> None:
    told = misuse(metric, stat, dimensions)
    assert told is not None
    assert metric in told
    assert says in told


@pytest.mark.parametrize(
    ("metric", "stat", "dimensions"),
    [
        ("ConsumedReadCapacityUnits", "Sum", INDEX),
        ("ConsumedWriteCapacityUnits", "Sum", TABLE | {"Source": "Customer"}),
        ("ReadThrottleEvents", "SampleCount", TABLE),
        ("SuccessfulRequestLatency", "SampleCount", OPERATION),
        ("SuccessfulRequestLatency", "p99.9", OPERATION),
        ("ReturnedItemCount", "Average", OPERATION),
        ("TransactionConflict", "Average", TABLE),
        ("MetricOfTomorrow", "Average", {"Galaxy": "far"}),
    ],
)
def test_a_statistic_that_means_what_it_says_is_not(metric: str, stat: str, dimensions: dict[str, str]) -> None:
    assert misuse(metric, stat, dimensions) is None


def test_nothing_that_is_asked_for_is_misused() -> None:
    everything = Discovery(
        operations=frozenset({"Query", "GetItem"}),
        streams=frozenset({"2026"}),
        receiving=frozenset({"eu-west-1"}),
        delegated=frozenset({"PutRecord"}),
        metrics=frozenset(METRICS),
    )
    target = MetricTarget("orders", ("by-state",), frozenset({"by-state"}))
    for known in (None, everything):
        for one in (*series_of_table(target, known), *series_of_account()):
            assert misuse(one.metric, one.stat, dict(one.dimensions)) is None
