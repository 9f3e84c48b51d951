from __future__ import annotations

import pytest

from analyzer.detectors.advice import ACTIONS, advise, aws
from analyzer.detectors.words import between, counted, number, percent, who
from analyzer.model.estimate import Estimate
from analyzer.model.target import Target
from tests.support.evidence import CASES


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "1,234"),
        (-1234.5, "-1,234"),
        (1_000_000, "1,000,000"),
        (100.4, "100"),
        (99.94, "99.9"),
        (99.0, "99"),
        (12.0, "12"),
        (12.34, "12.3"),
        (1.04, "1.04"),
        (0.1234, "0.123"),
        (0.1, "0.1"),
        (0.0994, "0.099"),
        (0.0123, "0.012"),
        (-0.0123, "-0.012"),
        (0, "0"),
    ],
)
def test_a_number_is_written_for_eyes(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (3.0, "300%"),
        (1.0, "100%"),
        (0.999, "99.9%"),
        (0.995, "99.5%"),
        (0.99, "99%"),
        (0.414, "41%"),
        (0.014, "1%"),
        (0.01, "1%"),
        (0.00994, "0.994%"),
        (0.004, "0.4%"),
        (0.001, "0.1%"),
        (0.00099, "<0.1%"),
        (0.0, "0%"),
    ],
)
def test_a_share_is_written_as_a_percentage(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate.exact(5), "5"),
        (Estimate(5, 4, 7), "5 [4–7]"),
        (Estimate(5, 5, 7), "5 [5–7]"),
        (Estimate(5, 4, 5), "5 [4–5]"),
        (Estimate(5000.1, 4999.9, 5000.2), "5,000"),
    ],
    ids=["counted", "estimated", "at least", "at most", "written alike"],
)
def test_a_counted_number_has_no_bounds_and_an_estimated_one_has(estimate: Estimate, text: str) -> None:
    assert between(estimate) == text


def test_where_there_may_be_more_than_one_there_are_several() -> None:
    assert counted(Estimate(1, 1, 1.4), "call") == "1 [1–1.4] calls"
    assert counted(Estimate(0.9, 0.8, 1), "call") == "0.9 [0.8–1] calls"


def test_things_are_counted_in_singular_and_plural() -> None:
    assert [counted(Estimate.exact(n), "call") for n in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


def test_a_number_without_bounds_takes_the_noun_and_the_verb_that_fit() -> None:
    told = [counted(n, "try was", "tries were") for n in (0, 1, 1.2, 2, 1_000)]
    assert told == ["0 tries were", "1 try was", "1.2 tries were", "2 tries were", "1,000 tries were"]


def test_a_caller_nobody_knows_is_named_so() -> None:
    assert (who("api"), who(None)) == ("api", "a caller not recorded")


def test_an_action_off_the_list_is_refused() -> None:
    with pytest.raises(KeyError):
        advise("reboot", "turn it off and on")


def test_the_fixed_list_has_its_56_actions() -> None:
    assert len(ACTIONS) == 56


def test_a_command_says_its_region_and_what_it_does_to_production() -> None:
    assert aws(CASES, "dynamodb describe-table --table-name cases") == (
        "aws dynamodb describe-table --table-name cases --region us-east-1  # read-only"
    )
    assert aws(Target(None, None, "t"), "x", changes=True) == "aws x  # changes production"
