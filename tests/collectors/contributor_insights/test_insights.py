from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import DeniedError, MalformedError
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.asking import Spot
from collectors.contributor_insights.collector import ContributorInsights
from collectors.contributor_insights.config import ContributorInsightsConfig
from tests.support.faults import FAULTS
from tests.support.scripted_aws import ScriptedAws, absent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.batch import Batch

MINUTE = 60_000
START = 1_780_000_000_000 // MINUTE * MINUTE
WINDOW = Window(START, START + 5 * MINUTE)
NEXT = Window(WINDOW.end, WINDOW.end + 5 * MINUTE)
CASES = Target("111122223333", "us-east-1", "cases")
SPOT = Spot("us-east-1", "111122223333")
BOTH, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"
CANARY = "CASE#canary-4711"


def rule(code: str, place: str = "cases") -> str:
    return f"DynamoDBContributorInsights-{code}-{place}-1764496800000"


def description(status: str = "ENABLED", mode: str = BOTH, codes: Iterable[str] = ("PKC", "PKT"), **more: Any) -> Any:
    rules = [rule(code) for code in codes]
    told = {"ContributorInsightsStatus": status, "ContributorInsightsMode": mode, "ContributorInsightsRuleList": rules}
    return {**told, **more}


def report(**keys: dict[int, float]) -> dict[str, Any]:
    """A report of minutes after START, by key."""
    contributors = [
        {
            "Keys": [name],
            "Datapoints": [
                {"Timestamp": datetime.fromtimestamp(START / 1000 + 60 * at, tz=UTC), "ApproximateValue": value}
                for at, value in points.items()
            ],
        }
        for name, points in keys.items()
    ]
    return {"KeyLabels": ["PartitionKey"], "Contributors": contributors, "AggregationStatistic": "Sum"}


def summary(table: str = "cases", index: str | None = None, status: str = "ENABLED") -> dict[str, str]:
    place = {"TableName": table} | ({} if index is None else {"IndexName": index})
    return {**place, "ContributorInsightsStatus": status}


def healthy(**answers: Any) -> ScriptedAws:
    return ScriptedAws(
        {
            "ListContributorInsights": {"ContributorInsightsSummaries": [summary()]},
            "DescribeContributorInsights": description(),
            "GetInsightRuleReport": report(a={1: 90_000.0}),
            **answers,
        }
    )


def conceal(table: str, attribute: str, value: str) -> str:
    return f"~{table}.{attribute}.{len(value)}"


def insights(aws: ScriptedAws, now: int | None = None, **rest: Any) -> ContributorInsights:
    config = ContributorInsightsConfig(**{name: rest.pop(name) for name in list(rest) if name != "expected"})
    return ContributorInsights(
        aws, config, conceal, SPOT, clock=lambda: NEXT.end + 10 * MINUTE if now is None else now, **rest
    )


async def collect(aws: ScriptedAws, window: Window = WINDOW, **rest: Any) -> Batch:
    return await insights(aws, **rest).collect(window)


async def test_every_rule_of_every_enabled_place_is_read() -> None:
    places = [summary(), summary(index="GSI1"), summary("off", status="DISABLED"), summary("other-x")]
    aws = healthy(ListContributorInsights={"ContributorInsightsSummaries": places})
    batch = await collect(aws, exclude=("other-*",))
    assert [(one.target, one.rule, one.mode, one.values) for one in batch.insights] == [
        (CASES, "PKC", BOTH, (90_000.0,)),
        (CASES, "PKT", BOTH, (90_000.0,)),
        (CASES.at("GSI1"), "PKC", BOTH, (90_000.0,)),
        (CASES.at("GSI1"), "PKT", BOTH, (90_000.0,)),
    ]
    whole = Window(START - 10 * MINUTE, WINDOW.end)
    source = SourceName.CONTRIBUTOR_INSIGHTS
    assert batch.covers == (Covers(source, whole, "cases"), Covers(source, whole, "cases", "GSI1"))
    assert (batch.gaps, batch.account, batch.region) == ((), "111122223333", "us-east-1")
    assert aws.asked("DescribeContributorInsights") == [
        {"TableName": "cases"},
        {"TableName": "cases", "IndexName": "GSI1"},
    ]


async def test_a_rule_is_asked_as_dynamodb_allows_it() -> None:
    aws = healthy()
    await collect(aws)
    assert aws.asked("GetInsightRuleReport")[0] == {
        "RuleName": rule("PKC"),
        "StartTime": START / 1000 - 600,
        "EndTime": WINDOW.end / 1000,
        "Period": 60,
        "MaxContributorCount": 25,
        "Metrics": ["MaxContributorValue"],
        "OrderBy": "Sum",
    }


async def test_clear_keys_go_no_further() -> None:
    batch = await collect(healthy(GetInsightRuleReport=report(**{CANARY: {1: 1.0}})))
    assert batch.insights[0].keys == (f"~cases.PartitionKey.{len(CANARY)}",)
    assert batch.insights[0].labels == ("PartitionKey",)
    assert CANARY not in repr(batch)


async def test_what_is_enabled_is_asked_once_in_a_while() -> None:
    aws = healthy()
    source = insights(aws)
    for window in (WINDOW, NEXT, Window(NEXT.end, NEXT.end + 5 * MINUTE)):
        await source.collect(window)
    assert aws.operations().count("ListContributorInsights") == 2
    assert [one.target for one in source.enabled()] == [CASES]


async def test_what_has_not_settled_is_left_for_the_next_poll() -> None:
    aws = healthy()
    await collect(aws, now=WINDOW.end)
    assert aws.asked("GetInsightRuleReport")[0]["EndTime"] == WINDOW.end / 1000 - 120
    aws = healthy()
    batch = await collect(aws, now=START + 90_000)
    settled = START - MINUTE
    assert aws.asked("GetInsightRuleReport")[0]["EndTime"] == settled / 1000
    assert batch.covers[0].window == Window(START - 10 * MINUTE, settled)
    aws = healthy()
    batch = await collect(aws, now=START - 9 * MINUTE)
    assert "GetInsightRuleReport" not in aws.operations()
    assert [(gap.reason, gap.start) for gap in batch.gaps] == [(GapReason.LATE, START)]


async def test_what_comes_ten_minutes_late_is_read_again() -> None:
    late = report(a={1: 90_000.0, 6: 5.0})
    aws = healthy(GetInsightRuleReport=[report(), report(), late])
    source = insights(aws)
    assert [one.keys for one in (await source.collect(WINDOW)).insights] == [(), ()]
    found = (await source.collect(NEXT)).insights[0]
    assert found.timestamps == (START + MINUTE, START + 6 * MINUTE)


async def test_a_long_stretch_is_read_day_by_day_and_no_further_back_than_reports_reach() -> None:
    aws = healthy(DescribeContributorInsights=description(codes=["PKC"]))
    now = START + 30 * 1440 * MINUTE
    await collect(aws, Window(START, now - 120_000), now=now)
    asked = [(one["StartTime"], one["EndTime"]) for one in aws.asked("GetInsightRuleReport")]
    assert len(asked) == 15
    assert asked[0][0] == now / 1000 - 15 * 86_400
    assert all(end - start <= 86_400 for start, end in asked)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(asked))


async def test_a_minute_whose_hottest_key_is_not_listed_is_asked_for_alone() -> None:
    tops = [{"Timestamp": START / 1000 + 60 * at, "MaxContributorValue": 170_000.0 + at} for at in range(5)]
    first = {**report(a={1: 90_000.0}), "MetricDatapoints": tops}
    aws = healthy(
        DescribeContributorInsights=description(codes=["PKC"]),
        GetInsightRuleReport=[first, report(hot={4: 170_004.0}), report(a={3: 1.0})],
    )
    batch = await collect(aws, most_questions=2)
    asked = [(one["StartTime"], one["EndTime"]) for one in aws.asked("GetInsightRuleReport")[1:]]
    assert asked == [(START / 1000 + 60 * at, START / 1000 + 60 * (at + 1)) for at in (4, 3)]
    assert [one.values for one in batch.insights] == [(90_000.0, 1.0), (170_004.0,)]


# what cannot be seen


async def test_places_without_it_are_told_where_they_are_known() -> None:
    expected = [CASES, CASES.at("GSI1"), Target("111122223333", "us-east-1", "left-out")]
    source = insights(healthy(), expected=lambda: expected, exclude=("left-*",))
    for window in (WINDOW, NEXT):
        (gap,) = (await source.collect(window)).gaps
        assert gap == Gap(
            SourceName.CONTRIBUTOR_INSIGHTS,
            GapReason.NOT_ENABLED,
            "Contributor Insights is not enabled",
            "switch it on for a while: dynascope insights watch cases --index GSI1 --for 30m",
            "cases",
            "GSI1",
        )


@pytest.mark.parametrize(
    ("told", "reason", "detail"),
    [
        (description("ENABLING"), GapReason.LATE, "ENABLING, its rules are being made"),
        (
            description("FAILED", codes=(), FailureException={"ExceptionName": "LimitExceededException"}),
            GapReason.NOT_ENABLED,
            "FAILED, LimitExceededException",
        ),
        (
            description(
                "FAILED",
                codes=(),
                FailureException={"ExceptionName": "AccessDeniedException", "ExceptionDescription": "role"},
            ),
            GapReason.DENIED,
            "FAILED, AccessDeniedException: role",
        ),
        (description("FAILED", codes=()), GapReason.NOT_ENABLED, "FAILED, FAILED"),
        (
            description(codes=["PKC", "NEW"]),
            GapReason.UNSUPPORTED,
            f"what the rule {rule('NEW')} ranks is not known",
        ),
        (
            description(mode=THROTTLED, codes=["PKT"]),
            GapReason.NOT_ENABLED,
            "in mode THROTTLED_KEYS the most accessed keys are not ranked",
        ),
    ],
)
async def test_rules_that_tell_nothing_are_told(told: dict[str, Any], reason: GapReason, detail: str) -> None:
    (gap,) = (await collect(healthy(DescribeContributorInsights=told))).gaps
    assert (gap.reason, gap.detail, gap.table) == (reason, f"DescribeContributorInsights: {detail}", "cases")
    assert gap.hint


async def test_where_nothing_is_enabled_everything_was_looked_at() -> None:
    batch = await collect(healthy(ListContributorInsights={"ContributorInsightsSummaries": []}))
    assert batch.covers == (Covers(SourceName.CONTRIBUTOR_INSIGHTS, Window(START - 10 * MINUTE, WINDOW.end)),)
    assert batch.gaps == ()


async def test_what_was_switched_off_meanwhile_is_no_gap() -> None:
    batch = await collect(healthy(DescribeContributorInsights=description("DISABLED", codes=())))
    assert (batch.insights, batch.gaps) == ((), ())
    batch = await collect(healthy(DescribeContributorInsights=absent))
    assert (batch.insights, batch.gaps) == ((), ())


# what fails


@pytest.mark.parametrize(
    "operation", ["ListContributorInsights", "DescribeContributorInsights", "GetInsightRuleReport"]
)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_is_a_gap_and_the_next_poll_recovers(operation: str, fault: str) -> None:
    answer, reason = FAULTS[fault]
    aws = healthy()
    good, aws.answers[operation] = aws.answers[operation], answer
    source = insights(aws)
    batch = await source.collect(WINDOW)
    assert {gap.reason for gap in batch.gaps} == {reason}
    assert all(gap.source is SourceName.CONTRIBUTOR_INSIGHTS and gap.hint for gap in batch.gaps)
    assert (batch.insights, batch.covers) == ((), ())
    aws.answers[operation] = good
    batch = await source.collect(NEXT)
    assert (batch.gaps, len(batch.insights)) == ((), 2)
    assert batch.insights[0].timestamps == (START + MINUTE,)


async def test_one_rule_that_fails_keeps_the_others_but_its_place_is_not_covered() -> None:
    def answer(asked: dict[str, Any]) -> Any:
        return absent(asked) if "PKT" in asked["RuleName"] else report(a={1: 1.0})

    source = insights(healthy(GetInsightRuleReport=answer))
    batch = await source.collect(WINDOW)
    assert [one.rule for one in batch.insights] == ["PKC"]
    assert batch.covers == ()
    assert [(gap.reason, gap.table, gap.start) for gap in batch.gaps] == [
        (GapReason.NOT_ENABLED, "cases", START - 10 * MINUTE)
    ]
    await source.collect(NEXT)
    assert source._aws.operations().count("ListContributorInsights") == 2  # type: ignore[attr-defined]


async def test_days_read_before_a_failure_are_kept() -> None:
    denied = DeniedError("denied", hint="grant cloudwatch:GetInsightRuleReport")
    aws = healthy(
        DescribeContributorInsights=description(codes=["PKC"]), GetInsightRuleReport=[report(a={1: 1.0}), denied]
    )
    batch = await collect(aws, Window(START, START + 2 * 1440 * MINUTE), now=START + 3 * 1440 * MINUTE)
    assert [one.values for one in batch.insights] == [(1.0,)]
    assert [gap.reason for gap in batch.gaps] == [GapReason.DENIED]


async def test_of_a_listing_that_breaks_off_the_known_places_are_read_too() -> None:
    aws = healthy()
    source = insights(aws, discover_every_ms=0)
    await source.collect(WINDOW)
    broken = MalformedError("broken", hint="it is asked again")
    aws.answers["ListContributorInsights"] = [
        {"ContributorInsightsSummaries": [summary("orders")], "NextToken": "a"},
        broken,
    ]
    batch = await source.collect(NEXT)
    assert {one.target.table for one in batch.insights} == {"cases", "orders"}
    assert [gap.detail for gap in batch.gaps] == ["broken"]


async def test_a_page_that_comes_twice_is_read_once() -> None:
    page = {"ContributorInsightsSummaries": [summary()], "NextToken": "a"}
    aws = healthy(ListContributorInsights=[page, {"ContributorInsightsSummaries": [summary()]}])
    assert len((await collect(aws)).insights) == 2


async def test_an_answer_that_is_not_as_documented_is_malformed() -> None:
    (gap,) = (await collect(healthy(GetInsightRuleReport={"Contributors": [{}]}))).gaps
    assert (gap.reason, gap.detail) == (
        GapReason.MALFORMED,
        "GetInsightRuleReport: the answer is not as AWS documents it",
    )


# for doctor


async def test_doctor_says_what_is_enabled_and_tries_a_rule() -> None:
    checks = await insights(healthy()).check()
    assert [(check.state, check.message) for check in checks] == [
        ("ok", "1 tables and indexes, such as cases"),
        ("ok", "is allowed and answers"),
    ]


async def test_doctor_says_that_nothing_is_enabled_and_how_to_switch_it_on() -> None:
    (check,) = await insights(healthy(ListContributorInsights={"ContributorInsightsSummaries": []})).check()
    assert (check.state, check.message) == ("unchecked", "no table or index has it switched on")
    assert "insights watch" in (check.hint or "")


async def test_doctor_says_what_fails_and_what_is_half_there() -> None:
    denied = healthy(ListContributorInsights=DeniedError("denied", hint="grant it"))
    assert [(check.state, check.hint) for check in await insights(denied).check()] == [("error", "grant it")]
    checks = await insights(healthy(DescribeContributorInsights=description("ENABLING", codes=()))).check()
    assert [check.state for check in checks] == ["ok", "warning"]


# many tables


async def test_of_five_hundred_tables_only_the_enabled_are_described() -> None:
    places = [
        summary(f"t{number}", index, "ENABLED" if number < 5 and index is None else "DISABLED")
        for number in range(500)
        for index in (None, "a", "b", "c")
    ]
    pages: list[dict[str, Any]] = [
        {"ContributorInsightsSummaries": places[start : start + 100], "NextToken": str(start)}
        for start in range(0, 2000, 100)
    ]
    del pages[-1]["NextToken"]
    aws = healthy(ListContributorInsights=pages)
    await collect(aws)
    asked = [aws.operations().count(name) for name in ("ListContributorInsights", "DescribeContributorInsights")]
    assert asked == [20, 5]
    assert len(aws.asked("GetInsightRuleReport")) == 10
