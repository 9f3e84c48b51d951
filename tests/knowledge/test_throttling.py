from __future__ import annotations

import pytest

from analyzer.knowledge.prices import read_cost
from analyzer.knowledge.throttling import Limit, arn_of, cause_of, is_throttle, limit_of, target_of_arn
from analyzer.model.finding import Direction
from analyzer.model.target import Target

LIMITS = {
    "ProvisionedThroughput": "provisioned",
    "KeyRangeThroughput": "key-range",
    "MaxOnDemandThroughput": "max-on-demand",
    "AccountLimit": "account-limit",
}


@pytest.mark.parametrize("place", ["Table", "Index"])
@pytest.mark.parametrize("direction", ["Read", "Write"])
@pytest.mark.parametrize(("limit", "cause"), LIMITS.items())
def test_each_of_the_sixteen_reasons_names_a_limit(place: str, direction: str, limit: str, cause: str) -> None:
    expected = Limit(cause, Direction(direction.lower()), place == "Index")
    assert limit_of(f"{place}{direction}{limit}Exceeded") == expected


@pytest.mark.parametrize("reason", ["", "TableReadSomethingExceeded", "TableReadAccountLimitExceeded!"])
def test_another_word_is_no_reason(reason: str) -> None:
    assert limit_of(reason) is None


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("TableReadKeyRangeThroughputExceeded", "key-range"),
        ("RequestLimitExceeded", "account-limit"),
        ("ThrottlingException", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_reason_or_the_one_code_that_stands_in_for_it_names_the_cause(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ProvisionedThroughputExceededException", True),
        ("ThrottlingException", True),
        ("RequestLimitExceeded", True),
        ("ThrottlingError", True),
        ("ConditionalCheckFailedException", False),
        (None, False),
    ],
)
def test_a_throttle_is_told_by_its_code(code: str | None, *, expected: bool) -> None:
    assert is_throttle(code) is expected


@pytest.mark.parametrize(
    ("arn", "target"),
    [
        ("arn:aws:dynamodb:us-east-1:111122223333:table/cases", Target("111122223333", "us-east-1", "cases")),
        ("arn:aws-cn:dynamodb:::table/t/index/i", Target(None, None, "t", "i")),
        ("arn:aws:s3:::bucket", None),
    ],
)
def test_an_arn_names_a_target(arn: str, target: Target | None) -> None:
    assert target_of_arn(arn) == target


@pytest.mark.parametrize(
    ("mode", "dollars", "basis"),
    [
        ("PAY_PER_REQUEST", 0.3285, "on demand, list price of us-east-1, 2026-08-15"),
        (None, 0.3285, "on demand assumed, list price of us-east-1, 2026-08-15"),
        ("PROVISIONED", 0.0949, "provisioned, list price of us-east-1, 2026-08-15"),
    ],
)
def test_a_steady_unit_a_second_costs_its_list_price_a_month(mode: str | None, dollars: float, basis: str) -> None:
    cost = read_cost(1, mode)
    assert cost.dollars == pytest.approx(dollars)
    assert cost.basis == basis


def test_the_arn_of_a_place_names_its_partition() -> None:
    assert arn_of(Target("1", "eu-west-1", "cases")) == "arn:aws:dynamodb:eu-west-1:1:table/cases"
    assert (
        arn_of(Target("1", "cn-north-1", "cases", "GSI2")) == "arn:aws-cn:dynamodb:cn-north-1:1:table/cases/index/GSI2"
    )
    assert arn_of(Target(None, "eu-west-1", "cases")) is None
