from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import BudgetError
from collectors.aws.budget import Bucket, Budget
from collectors.aws.rates import rate_of

NOON = 1_796_040_000_000
DAY = 86_400_000
DATA: dict[str, Any] = {"MetricDataQueries": [{}] * 500}
FIVE_HUNDRED_METRICS = 0.005


def spend(budget: Budget, now: int = NOON) -> None:
    budget.spend("cloudwatch", "GetMetricData", DATA, now)


def test_a_bucket_lets_a_second_through_at_once_and_then_its_rate() -> None:
    bucket = Bucket(4.0, 0)
    assert [bucket.take(0) for _ in range(6)] == [0, 0, 0, 0, 250, 500]
    assert bucket.take(10_000) == 0


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(1.0, 5000)
    assert [bucket.take(5000), bucket.take(1000)] == [0, 1000]


@given(st.floats(0.01, 100), st.lists(st.integers(0, 2000), min_size=1, max_size=100))
def test_whoever_waits_as_told_stays_below_the_rate(rate: float, pauses: list[int]) -> None:
    bucket, now, used = Bucket(rate, 0), 0, []
    for pause in pauses:
        now += pause
        used.append(now + bucket.take(now))
    for place, first in enumerate(used):
        inside = [moment for moment in used[place:] if moment <= first + 10_000]
        assert len(inside) <= max(rate, 1) + rate * 10.01 + 1


def test_a_bucket_that_aws_throttled_goes_slower_and_recovers_bit_by_bit() -> None:
    bucket = Bucket(64.0, 0)
    bucket.slow_down()
    assert bucket.rate == 32
    for _ in range(10):
        bucket.slow_down()
    assert bucket.rate == 4
    for _ in range(59):
        bucket.recover()
    assert bucket.rate == 63
    for _ in range(5):
        bucket.recover()
    assert bucket.rate == 64


def test_each_api_region_and_account_has_a_bucket_of_its_own() -> None:
    budget = Budget(rate_share=0.5)
    one = budget.bucket("cloudwatch", "GetMetricData", "us-east-1", "", NOON)
    assert one is budget.bucket("cloudwatch", "GetMetricData", "us-east-1", "", NOON)
    assert one is not budget.bucket("cloudwatch", "GetMetricData", "eu-west-1", "", NOON)
    assert one is not budget.bucket("cloudwatch", "GetMetricData", "us-east-1", "111122223333", NOON)
    assert one.rate == 250


@pytest.mark.parametrize(
    ("service", "operation", "rate"),
    [
        ("cloudwatch", "GetInsightRuleReport", 20),
        ("cloudtrail", "LookupEvents", 2),
        ("dynamodb", "DescribeTable", 50),
        ("sns", "Publish", 10),
    ],
)
def test_rates_are_those_that_are_published_or_careful(service: str, operation: str, rate: float) -> None:
    assert rate_of(service, operation) == rate


def test_calls_metrics_and_dollars_are_counted_by_api() -> None:
    budget = Budget()
    spend(budget)
    spend(budget)
    budget.spend("dynamodb", "DescribeTable", {}, NOON)
    spent = budget.spent()
    assert spent.calls == {"GetMetricData": 2, "DescribeTable": 1}
    assert spent.billed_metrics == {"GetMetricData": 1000, "DescribeTable": 0}
    assert spent.usd == {"GetMetricData": pytest.approx(0.01), "DescribeTable": 0}


def test_the_days_money_is_a_hard_stop_until_midnight() -> None:
    budget = Budget(max_usd_per_day=2.5 * FIVE_HUNDRED_METRICS)
    spend(budget)
    spend(budget)
    with pytest.raises(BudgetError, match="dollars are spent today") as caught:
        spend(budget)
    assert "midnight UTC" in caught.value.hint
    budget.spend("dynamodb", "DescribeTable", {}, NOON)
    spend(budget, NOON // DAY * DAY + DAY)
    assert budget.spent_today(NOON + DAY) == pytest.approx(FIVE_HUNDRED_METRICS)


def test_small_money_is_told_with_the_digits_that_tell_it() -> None:
    budget = Budget(max_usd_per_day=0.001)
    with pytest.raises(BudgetError, match=r"0\.00 dollars are spent today, and 0\.001 are allowed: .* costs 0\.005$"):
        spend(budget)
    budget = Budget(max_usd_per_day=0.006)
    spend(budget)
    with pytest.raises(BudgetError, match=r"0\.005 dollars are spent today, and 0\.006 are allowed"):
        spend(budget)


def test_no_money_allows_what_is_free() -> None:
    budget = Budget(max_usd_per_day=0)
    budget.spend("dynamodb", "DescribeTable", {}, NOON)
    with pytest.raises(BudgetError):
        spend(budget)


def test_a_restart_does_not_double_the_days_money() -> None:
    before = Budget(max_usd_per_day=FIVE_HUNDRED_METRICS)
    spend(before)
    plain = msgspec.json.decode(msgspec.json.encode(before.plain()))
    after = Budget.from_plain(plain, max_usd_per_day=FIVE_HUNDRED_METRICS)
    assert after.spent() == before.spent()
    with pytest.raises(BudgetError):
        spend(after)


def test_what_is_given_back_can_be_spent_again() -> None:
    budget = Budget(max_usd_per_day=FIVE_HUNDRED_METRICS)
    charge = budget.spend("cloudwatch", "GetMetricData", DATA, NOON)
    budget.refund("GetMetricData", charge, NOON)
    spend(budget)
    assert budget.spent().calls == {"GetMetricData": 2}
    assert budget.spent().billed_metrics == {"GetMetricData": 500}


def test_a_refund_of_yesterday_gives_nothing_to_today() -> None:
    budget = Budget(max_usd_per_day=FIVE_HUNDRED_METRICS)
    charge = budget.spend("cloudwatch", "GetMetricData", DATA, NOON)
    budget.refund("GetMetricData", charge, NOON + DAY)
    assert budget.spent_today(NOON + DAY) == 0


def test_names_over_the_bound_are_counted_together() -> None:
    budget = Budget()
    for number in range(300):
        budget.spend("sns", f"Operation{number}", {}, NOON)
    calls = budget.spent().calls
    assert len(calls) == 257
    assert calls["other"] == 44


def test_a_clock_that_was_wrong_by_days_does_not_end_the_money_for_days() -> None:
    budget = Budget(max_usd_per_day=0.005)
    spend(budget, NOON + 400 * DAY)
    with pytest.raises(BudgetError):
        spend(budget, NOON + 400 * DAY)
    spend(budget, NOON)
    with pytest.raises(BudgetError):
        spend(budget, NOON)


def test_a_clock_that_goes_back_over_midnight_gives_no_money_twice() -> None:
    budget = Budget(max_usd_per_day=0.005)
    spend(budget, NOON)
    with pytest.raises(BudgetError):
        spend(budget, NOON - DAY)
