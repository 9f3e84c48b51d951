from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.model.batch import InsightSeries
from analyzer.model.target import Target
from collectors.contributor_insights.parse import (
    InsightReport,
    InsightRules,
    parse_insights,
    parse_report,
    read_report,
    read_rules,
    series_of,
    unlisted_minutes,
)

CASES = Target("111122223333", "us-east-1", "cases")
OF = series_of(CASES, "SKC", "ACCESSED_AND_THROTTLED_KEYS", 60)
NAME = "DynamoDBContributorInsights-PKC-cases-1764496800000"


def contributor(*keys: str, **values: float) -> dict[str, Any]:
    points = [
        {"Timestamp": datetime.fromtimestamp(int(at[1:]), tz=UTC), "ApproximateValue": value}
        for at, value in values.items()
    ]
    return {"Keys": list(keys), "ApproximateAggregateValue": sum(values.values()), "Datapoints": points}


def report(*contributors: dict[str, Any], **rest: Any) -> InsightReport:
    return read_report({"KeyLabels": ["PartitionKey", "SortKey"], "Contributors": list(contributors), **rest})


def test_each_key_is_a_series_in_the_order_of_time() -> None:
    (one, two) = parse_report([report(contributor("a", "x", s120=2, s60=1), contributor("b", "x", s60=9))], OF)
    labels = ("PartitionKey", "SortKey")
    assert one == InsightSeries(CASES, "SKC", OF.mode, 60, ("a", "x"), (60_000, 120_000), (1.0, 2.0), labels)
    assert (two.keys, two.values) == (("b", "x"), (9.0,))


def test_an_empty_report_is_one_series_without_keys() -> None:
    assert parse_report([report()], series_of(CASES, "PKT", "", 60))[0].keys == ()
    assert parse_report([], OF) == (OF,)


def test_times_come_as_text_seconds_or_datetimes_with_or_without_zone() -> None:
    points = [
        {"Timestamp": "1970-01-01T00:01:00Z", "ApproximateValue": 1},
        {"Timestamp": 120.0, "ApproximateValue": 2},
        {"Timestamp": datetime(1970, 1, 1, 0, 3), "ApproximateValue": 3},  # noqa: DTZ001 -- as some SDKs have it
    ]
    (series,) = parse_report([report({"Keys": ["a"], "Datapoints": points})], OF)
    assert series.timestamps == (60_000, 120_000, 180_000)


def test_a_key_of_several_reports_is_one_series_and_the_later_value_counts() -> None:
    reports = [
        report(contributor("a", s60=1, s120=2)),
        report(contributor("a", s120=5)),
        report(contributor("b", s60=3)),
    ]
    assert [(one.keys, one.values) for one in parse_report(reports, OF)] == [(("a",), (1.0, 5.0)), (("b",), (3.0,))]


def test_keys_are_concealed_with_their_labels() -> None:
    (series,) = parse_report([report(contributor("a", "x", "more"))], OF, lambda label, value: f"{label}:{len(value)}")
    assert series.keys == ("PartitionKey:1", "SortKey:1", ":4")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_value_that_is_no_number_is_left_out(value: float) -> None:
    (series,) = parse_report([report(contributor("a", s60=value, s120=4))], OF)
    assert series.values == (4.0,)


@pytest.mark.parametrize("answer", [{"Contributors": [{}]}, {"KeyLabels": 3}, {"Contributors": [{"Keys": [1]}]}])
def test_what_is_no_report_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Expected|missing"):
        read_report(answer)


# which rules there are


def test_rules_are_told_apart_by_what_they_rank() -> None:
    names = [NAME.replace("PKC", code) for code in ("PKC", "SKC", "PKT", "SKT")]
    rules, unknown = read_rules([*names, "DynamoDBContributorInsights-XYZ-cases-1", "other"])
    assert rules == dict(zip(("PKC", "SKC", "PKT", "SKT"), names, strict=True))
    assert unknown == ("DynamoDBContributorInsights-XYZ-cases-1", "other")


def test_a_description_tells_status_mode_rules_and_why_it_failed() -> None:
    told = {
        "TableName": "cases",
        "ContributorInsightsStatus": "ENABLED",
        "ContributorInsightsMode": "THROTTLED_KEYS",
        "ContributorInsightsRuleList": [NAME],
        "LastUpdateDateTime": datetime(2026, 6, 1, tzinfo=UTC),
    }
    assert parse_insights(told) == InsightRules("ENABLED", "THROTTLED_KEYS", {"PKC": NAME})
    failure = {"ExceptionName": "LimitExceededException", "ExceptionDescription": "too many rules"}
    failed = {"ContributorInsightsStatus": "FAILED", "FailureException": failure}
    assert parse_insights(failed) == InsightRules(
        "FAILED", "ACCESSED_AND_THROTTLED_KEYS", {}, (), ("LimitExceededException", "too many rules")
    )
    with pytest.raises(ValueError, match="missing"):
        parse_insights({})


# minutes whose hottest key is not listed


def top(second: int, value: float | None) -> dict[str, Any]:
    return {"Timestamp": second} | ({} if value is None else {"MaxContributorValue": value})


def test_a_minute_whose_hottest_key_is_not_listed_is_found() -> None:
    listed = contributor("a", s60=100_000, s120=100_000)
    tops = [top(60, 100_500), top(120, 160_000), top(180, 180_000), top(240, 89_000), top(300, None)]
    assert unlisted_minutes(report(listed, MetricDatapoints=tops), 60) == (180_000, 120_000)


def test_a_key_far_below_the_ceiling_is_worth_no_question() -> None:
    assert unlisted_minutes(report(MetricDatapoints=[top(60, 500.0)]), 60) == ()
