from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.config import Settings
from analyzer.doctor.bill import bill, overdraft
from analyzer.doctor.places import Amount
from analyzer.knowledge.bill import affordable_every, lists_month, metrics_month
from analyzer.setup import build_setup

if TYPE_CHECKING:
    from analyzer.model.batch import Check

BIG = Amount(tables=200, indexes=400, series=13_009, compared=8_000)
"""Two hundred tables with two indexes each."""
SMALL = Amount(tables=2, indexes=1, series=80, compared=40)


def checks(*amounts: Amount, **settings: Any) -> dict[str, Check]:
    setup = build_setup(Settings.model_validate({"aws": {}, **settings}))
    found = bill(setup, amounts).checks
    assert len({check.name for check in found}) == len(found)
    return {check.name: check for check in found}


def test_what_a_day_costs_is_within_what_it_may_cost() -> None:
    told = checks(SMALL)["aws.max_usd_per_day"]
    assert told.state == "ok"
    assert told.message.endswith("dollars a day; reading stops at 10")


def test_two_hundred_tables_cost_more_than_a_day_may_and_a_longer_pause_is_proposed() -> None:
    told = checks(BIG)
    every = f"{metrics_month(13_009, 300, 8_000).dollars:,.0f}"
    message = f"13,009 metrics every 5m, and their past: about {every} dollars a month"
    assert told["cloudwatch-metrics"].message == message
    limit = told["aws.max_usd_per_day"]
    assert limit.state == "warning"
    assert "10 are allowed: reading stops at about 05:" in limit.message
    assert limit.hint is not None
    assert limit.hint.endswith("even cloudwatch_metrics.every: 15m with baselines: false costs about 12.49")


@pytest.mark.parametrize(
    ("amount", "usd", "is_over"),
    [(BIG, 10, True), (BIG, 60, False), (BIG, None, False), (SMALL, 10, False)],
    ids=["too much", "allowed", "nothing stops it", "little"],
)
def test_a_day_that_costs_more_than_it_may_is_an_overdraft(amount: Amount, usd: float | None, *, is_over: bool) -> None:
    settings = {"aws": {"max_usd_per_day": usd}}
    told = overdraft(build_setup(Settings.model_validate(settings)), [amount])
    assert (told is not None) is is_over
    if told is not None:
        assert told == checks(amount, **settings)["aws.max_usd_per_day"]
        assert told.message.startswith("all of it is about 43")
        assert "look at fewer tables" in (told.hint or "")


def test_where_nothing_is_read_from_aws_nothing_is_overdrawn() -> None:
    setup = build_setup(Settings.model_validate({"request_log": {"files": ["log"]}}))
    assert overdraft(setup, []) is None


@pytest.mark.parametrize(
    ("usd", "hint"),
    [
        (60, None),
        (20, "cloudwatch_metrics.every: 15m, or cloudwatch_metrics.every: 10m with baselines: false; or look at fewer"),
        (15, "cloudwatch_metrics.every: 15m with baselines: false; or look at fewer tables (aws.tables), or raise it"),
        (0.5, "look at fewer tables (aws.tables), or raise it: even"),
    ],
)
def test_what_is_proposed_fits_the_money(usd: float, hint: str | None) -> None:
    told = checks(BIG, aws={"max_usd_per_day": usd})["aws.max_usd_per_day"]
    assert (told.hint or "").startswith(hint or "")
    assert (told.hint is None) == (hint is None)


def test_money_without_an_end_is_a_warning() -> None:
    assert checks(SMALL, aws={"max_usd_per_day": None})["aws.max_usd_per_day"].state == "warning"


def test_all_places_are_paid_for_together() -> None:
    assert "160 metrics" in checks(SMALL, SMALL)["cloudwatch-metrics"].message


def test_insights_alone_over_the_money_proposes_fewer_tables() -> None:
    amount = Amount(tables=10, insights=600, rules=2400)
    told = checks(amount, aws={"collect": ["contributor-insights"]})
    assert "2,400 rules that are switched on, read every 1m" in told["contributor-insights"].message
    assert told["aws.max_usd_per_day"].hint == "look at fewer tables (aws.tables), or raise it"


def test_calls_that_do_not_fit_between_two_polls_are_a_warning() -> None:
    amount = Amount(insights=600, rules=2400)
    told = checks(amount, aws={"collect": ["contributor-insights"]})
    quota = told["contributor-insights: API quota"]
    assert (quota.state, quota.message) == (
        "warning",
        "2,400 GetInsightRuleReport a poll take 240 s at 50% of AWS's rate",
    )
    assert quota.hint is not None
    assert quota.hint.startswith("a longer contributor_insights.every")
    assert "the slowest of a poll are 2,400 GetInsightRuleReport" in told["API quotas"].message


def test_a_cold_start_on_five_hundred_tables_stays_under_the_rates() -> None:
    amount = Amount(tables=500, indexes=1500, series=60_000, compared=40_000)
    assert not [name for name in checks(amount) if name.endswith("API quota")]


def test_routes_that_are_not_taken_are_told_with_their_price() -> None:
    told = checks(SMALL)
    assert "3 tables and indexes without it" in told["contributor-insights, not switched on"].message
    assert "about 864 dollars a day" in told["CloudTrail data events, not read"].message
    both = checks(
        Amount(tables=2, insights=2),
        aws={"collect": ["changes"]},
        request_log={"s3": [{"bucket": "trail", "layout": "cloudtrail"}]},
    )
    assert not {name for name in both if "not " in name}
    assert "about 864 dollars a day for 10,000 requests a second" in both["s3://trail/"].message


def test_each_log_says_what_reading_it_costs() -> None:
    logs = {"s3": [{"bucket": "b"}], "cloudwatch_logs": [{"group": "g"}], "xray": [{}, {"filter": "x", "region": "r"}]}
    setup = build_setup(Settings.model_validate({"request_log": logs}))
    told = {check.name: check for check in bill(setup, ()).checks}
    assert told["s3://b/"].message == "three lists every 30s: about 1.31 dollars a month"
    assert told["logs:///g"].message.endswith(": nothing")
    assert told["xray:///"].hint == "a `filter` fetches fewer traces"
    assert told["xray://r/"].hint is None
    assert "aws.max_usd_per_day" not in told


def test_lists_follow_the_pause() -> None:
    assert lists_month(30).dollars == pytest.approx(2 * lists_month(60).dollars)
    assert lists_month(30, lists=1700).dollars == pytest.approx(745, rel=0.01)


@pytest.mark.parametrize(("usd", "every"), [(1000, 60), (40, 300), (25, 600), (17, 900), (10, None), (0, None)])
def test_the_shortest_pause_that_is_paid_for(usd: float, every: int | None) -> None:
    assert affordable_every(10_000, usd, 10_000) == every


def test_what_costs_nothing_may_be_read_every_minute() -> None:
    assert affordable_every(0, 0) == 60
