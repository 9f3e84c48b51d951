from __future__ import annotations

import pytest

from analyzer.detectors.advice import ACTIONS, advise, aws
from analyzer.detectors.words import between, counted, number, percent, who
from analyzer.model.estimate import Estimate
from analyzer.model.target import Target
from tests.support.evidence import CASES


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1,234"), (12.0, "12"), (12.34, "12.3"), (1.04, "1.04"), (0.1, "0.1"), (0.0123, "0.012"), (0, "0")],
)
def test_a_number_is_written_for_eyes(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.41, "41%"), (1.0, "100%"), (0.0, "0%"), (0.004, "0.4%"), (0.0004, "<0.1%"), (0.995, "99.5%")]
)
def test_a_share_is_written_as_a_percentage(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_counted_number_has_no_bounds_and_an_estimated_one_has() -> None:
    assert between(Estimate.exact(5)) == "5"
    assert between(Estimate(5, 4, 7)) == "5 [4–7]"


def test_things_are_counted_in_singular_and_plural() -> None:
    assert [counted(Estimate.exact(n), "call") for n in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


def test_a_caller_nobody_knows_is_named_so() -> None:
    assert (who("api"), who(None)) == ("api", "an unknown caller")


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
