"""How an advice and its command are written."""

from __future__ import annotations

import pytest

from analyzer.detectors.advice import advise, ask_owner, aws, dimensions, scalable, time_to_live_on, warm
from analyzer.model.finding import Direction, Risk
from analyzer.model.target import Target
from tests.support.evidence import CASES, GSI2


def test_an_advice_promises_nothing_that_it_is_not_told() -> None:
    one = advise("back-off", "Wait")
    assert (one.action, one.text, one.risk) == ("back-off", "Wait", Risk.NONE)
    assert (one.effect, one.command, one.reversible, one.takes, one.snippet) == (None,) * 5


def test_an_advice_holds_all_that_it_is_told() -> None:
    one = advise("back-off", "Wait", effect="e", command="c", risk=Risk.HIGH, reversible=False, takes="t", snippet="s")
    assert (one.effect, one.command, one.risk, one.reversible) == ("e", "c", Risk.HIGH, False)
    assert (one.takes, one.snippet) == ("t", "s")


@pytest.mark.parametrize(("caller", "named"), [("api", "api"), (None, "a caller not recorded")])
def test_to_ask_the_owner_changes_nothing(caller: str | None, named: str) -> None:
    one = ask_owner(caller, "whether it is meant", "tells who waits for it")
    assert one == advise(
        "fix-caller",
        f"Ask the owner of {named} whether it is meant",
        effect="tells who waits for it",
        takes="minutes",
    )


def test_a_command_reads_unless_it_says_that_it_changes() -> None:
    assert aws(CASES, "x") == "aws x --region us-east-1  # read-only"
    assert aws(CASES, "x", changes=True) == "aws x --region us-east-1  # changes production"
    assert aws(Target(None, None, "cases"), "x") == "aws x  # read-only"


def test_a_place_is_named_as_each_service_names_it() -> None:
    assert (dimensions(CASES), scalable(CASES)) == (
        "--dimensions Name=TableName,Value=cases",
        "--resource-id table/cases",
    )
    assert (dimensions(GSI2), scalable(GSI2)) == (
        "--dimensions Name=TableName,Value=cases Name=GlobalSecondaryIndexName,Value=GSI2",
        "--resource-id table/cases/index/GSI2",
    )


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        ("expires_at", "Enabled=true,AttributeName=expires_at"),
        ("a.b-c", "Enabled=true,AttributeName=a.b-c"),
        ("a,b", """'{"Enabled": true, "AttributeName": "a,b"}'"""),
        ("über=1", """'{"Enabled": true, "AttributeName": "über=1"}'"""),
    ],
)
def test_time_to_live_is_enabled_by_shorthand_where_that_can_hold_the_name(attribute: str, told: str) -> None:
    assert time_to_live_on(CASES, attribute) == (
        f"dynamodb update-time-to-live --table-name cases --time-to-live-specification {told}"
    )


def test_an_index_is_warmed_by_its_own_setting() -> None:
    assert warm("cases", None, Direction.READ, 500).endswith("--warm-throughput ReadUnitsPerSecond=500")
    of_index = warm("cases", "GSI2", Direction.WRITE, 40)
    setting = "Update={IndexName=GSI2,WarmThroughput={WriteUnitsPerSecond=40}}"
    assert of_index.endswith(f"--global-secondary-index-updates '{setting}'")
