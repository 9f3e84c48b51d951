from __future__ import annotations

from typing import Any

import pytest

from analyzer.knowledge.bill import (
    charge_of,
    insights_month,
    logs_month,
    metrics_month,
    series_of_tables,
    traces_month,
    trail_month,
)

DAYS_A_MONTH = 730 / 24


@pytest.mark.parametrize(
    ("service", "operation", "params", "metrics", "usd"),
    [
        ("cloudwatch", "GetMetricData", {"MetricDataQueries": [{}] * 500}, 500, 0.005),
        ("cloudwatch", "GetMetricData", {}, 1, 0.00001),
        ("cloudwatch", "GetInsightRuleReport", {"Metrics": ["MaxContributorValue", "Maximum"]}, 2, 0.00002),
        ("cloudwatch", "GetInsightRuleReport", {}, 1, 0.00001),
        ("cloudwatch", "ListMetrics", {}, 0, 0.00001),
        ("xray", "BatchGetTraces", {"TraceIds": ["1", "2"]}, 0, 0.000001),
        ("xray", "GetTraceSummaries", {}, 0, 0),
        ("s3", "GetObject", {}, 0, 4e-7),
        ("s3", "ListObjectsV2", {}, 0, 5e-6),
        ("dynamodb", "DescribeTable", {}, 0, 0),
        ("cloudtrail", "LookupEvents", {}, 0, 0),
    ],
)
def test_a_call_is_billed_as_its_metrics_traces_or_itself(
    service: str, operation: str, params: dict[str, Any], metrics: int, usd: float
) -> None:
    charge = charge_of(service, operation, params)
    assert charge.metrics == metrics
    assert charge.usd == pytest.approx(usd)


def test_forty_metrics_every_minute_are_seventeen_and_a_half_dollars_a_month() -> None:
    assert metrics_month(40, 60, compared=0).dollars == pytest.approx(17.52)


def test_reading_less_often_costs_less_and_the_past_costs_its_own() -> None:
    assert metrics_month(40, 300, compared=0).dollars == pytest.approx(17.52 / 5)
    assert metrics_month(40, 300).dollars == pytest.approx(17.52 / 5 + 40 * 3 * 730 / 1000 * 0.01)


def test_tables_indexes_and_operations_make_the_series() -> None:
    assert series_of_tables(1, 0, 0) < series_of_tables(1, 2, 0) < series_of_tables(1, 2, 4)
    assert series_of_tables(200, 2) == 200 * series_of_tables(1, 2)


def test_ten_thousand_requests_a_second_in_cloudtrail_are_864_dollars_a_day() -> None:
    assert trail_month(10_000).dollars / DAYS_A_MONTH == pytest.approx(864)


def test_contributor_insights_is_rules_events_and_reports() -> None:
    assert insights_month(0, 0).dollars == 0
    assert insights_month(4, 0, every_seconds=3600 * 730).dollars == pytest.approx(4 * 0.5 + 4 * 0.00001)
    events = 1000 * 730 * 3600 / 1e6 * 0.03
    assert insights_month(0, 1000, has_sort_key=False).dollars == pytest.approx(events)
    assert insights_month(0, 1000).dollars == pytest.approx(2 * events)


def test_logs_and_traces_follow_the_requests() -> None:
    assert logs_month(1000, 500).dollars == pytest.approx(1000 * 730 * 3600 * 500 / 1e9 * 0.5)
    assert traces_month(10).dollars == pytest.approx(10 * 730 * 3600 / 1e6 * 6)


def test_every_bill_says_where_and_when_its_prices_held() -> None:
    for cost in (metrics_month(1, 60), insights_month(1, 1), trail_month(1), logs_month(1, 1), traces_month(1)):
        assert cost.basis.endswith("list price of us-east-1, 2026-11-30")
