"""One account and region, at an AWS that answers by script."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.config import Settings
from analyzer.doctor import places
from analyzer.doctor.places import Amount, PlaceExamined, examine_place
from analyzer.errors import DeniedError
from analyzer.setup import build_setup
from analyzer.sources import open_sources
from collectors.aws.session import Place
from tests.test_sources import EMPTY, EVERY_SOURCE, HERE, NOW, Aws

if TYPE_CHECKING:
    from analyzer.model.batch import Check

IDENTITY = {"Account": "111122223333", "Arn": "arn:aws:sts::111122223333:assumed-role/watch/x"}
ANSWERS = {**EMPTY, "GetCallerIdentity": IDENTITY, "DescribeInsightRules": {"InsightRules": [{}] * 7}}
ENABLED: dict[str, Any] = {
    "ListContributorInsights": {
        "ContributorInsightsSummaries": [{"TableName": "cases", "ContributorInsightsStatus": "ENABLED"}]
    },
    "DescribeContributorInsights": {
        "TableName": "cases",
        "ContributorInsightsStatus": "ENABLED",
        "ContributorInsightsMode": "THROTTLED_KEYS",
        "ContributorInsightsRuleList": ["DynamoDBContributorInsights-PKT-cases-1"],
    },
    "LookupEvents": {"Events": []},
    "GetInsightRuleReport": {"KeyLabels": ["PK"], "Contributors": [], "AggregationStatistic": "Sum"},
}
DENIED = DeniedError("AssumeRole: AccessDenied", hint="grant sts:AssumeRole")


async def examined(
    *collect: str, expected: str | None = None, skew_ms: int | None = 0, **answers: Any
) -> tuple[dict[str, Check], PlaceExamined]:
    aws: Any = Aws(HERE, **{**ANSWERS, **answers})
    aws.skew_ms = skew_ms
    config = build_setup(Settings.model_validate({"aws": {"collect": collect}})).collected
    assert config is not None
    sources = [poll.source for poll in open_sources(config, aws, lambda *_: "", lambda: NOW)]
    found = await examine_place(aws, Place(None, "us-east-1"), sources, lambda: NOW, expected)
    return {check.name: check for check in found.group.checks}, found


async def test_a_place_says_who_we_are_and_how_much_there_is_to_read() -> None:
    told, found = await examined(*EVERY_SOURCE, **ENABLED)
    assert found.group.title == "us-east-1"
    assert told["identity"].message == IDENTITY["Arn"]
    assert told["clock"].state == "ok"
    assert told["table-catalog: tables"].message == "1 table, 2 GSIs"
    assert told["contributor-insights: rule quota"].message.startswith("7 of 100 rules")
    assert found.amount.series > found.amount.compared > 0
    assert found.amount == Amount(
        tables=1, indexes=2, series=found.amount.series, compared=found.amount.compared, insights=1, rules=1
    )


async def test_where_nobody_lets_us_in_no_source_is_tried() -> None:
    told, found = await examined("table-catalog", "changes", GetCallerIdentity=DENIED)
    assert {name: check.state for name, check in told.items()} == {
        "identity": "error",
        "table-catalog": "unchecked",
        "changes": "unchecked",
    }
    assert told["identity"].hint == "grant sts:AssumeRole"
    assert found.amount == Amount()


async def test_another_account_than_was_meant_is_an_error() -> None:
    told, _ = await examined("changes", expected="999988887777")
    assert told["identity"].message == "this is account 111122223333, not 999988887777"
    assert (await examined("changes", expected="111122223333"))[0]["identity"].state == "ok"


@pytest.mark.parametrize(
    ("skew_ms", "state", "message"),
    [
        (29_999, "ok", "that of AWS, to within 30 s"),
        (30_000, "warning", "30 s ahead of AWS's"),
        (-31_000, "warning", "31 s behind AWS's"),
        (-240_000, "error", "240 s behind AWS's"),
    ],
)
async def test_a_clock_that_is_off_is_told(skew_ms: int, state: str, message: str) -> None:
    told, _ = await examined("changes", skew_ms=skew_ms)
    assert (told["clock"].state, told["clock"].message) == (state, message)


async def test_without_a_time_in_the_answers_nothing_is_told_of_the_clock() -> None:
    assert "clock" not in (await examined("changes", skew_ms=None))[0]


async def test_a_table_that_cannot_be_described_is_a_warning_with_its_name() -> None:
    denied = DeniedError("DescribeTable: AccessDenied", hint="grant dynamodb:DescribeTable")
    _, found = await examined("table-catalog", DescribeTable=denied)
    told = [(one.state, one.message) for one in found.group.checks if one.name == "table-catalog: tables"]
    assert told == [
        ("warning", "cases: DescribeTable: AccessDenied"),
        ("warning", "there is none that is meant"),
    ]


async def test_a_quota_that_is_used_up_or_not_known_is_told() -> None:
    full, _ = await examined("contributor-insights", DescribeInsightRules={"InsightRules": [{}] * 100})
    assert full["contributor-insights: rule quota"].state == "warning"
    unknown, _ = await examined("contributor-insights", DescribeInsightRules=DENIED)
    assert unknown["contributor-insights: rule quota"].state == "unchecked"
    assert "contributor-insights: rule quota" not in (await examined("changes"))[0]


async def test_a_source_that_never_answers_is_an_error_and_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_PATIENCE_SECONDS", 0.05)

    async def never(_: object) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    told, _ = await examined("table-catalog", "changes", LookupEvents=never)
    assert told["changes"].state == "error"
    assert told["changes"].message.startswith("no answer within")
    assert told["table-catalog: DescribeTable"].state == "ok"
