from __future__ import annotations

import msgspec
import pytest

from analyzer.model.finding import Advice, Confidence, Direction, Finding, Severity
from analyzer.planning.steps import Means, steps_of

RAISE = Advice(action="raise-capacity", text="raise it")
MAXIMUM = Advice(
    action="raise-on-demand-maximum", text="raise it", command="aws dynamodb update-table MaxWriteRequestUnits=7"
)
MEANS = Means(
    wanted_units=9000, wanted_at=("orders", "by-status", Direction.WRITE), read_units=1000.0, write_units=500.0
)


def finding(index: str | None = "by-status", direction: Direction = Direction.WRITE, *advice: Advice) -> Finding:
    return Finding(
        detector="throttling",
        severity=Severity.HIGH,
        confidence=Confidence.CERTAIN,
        table="orders",
        index=index,
        direction=direction,
        summary="refused",
        advice=advice or (RAISE,),
    )


def test_what_is_wanted_is_filled_in_where_it_is_wanted() -> None:
    (step,) = steps_of((), [finding()], MEANS)
    assert step.command is not None
    assert step.command == (
        "aws dynamodb update-table --table-name orders --global-secondary-index-updates "
        "'Update={IndexName=by-status,ProvisionedThroughput={ReadCapacityUnits=1000,WriteCapacityUnits=9000}}'"
        "  # changes production"
    )
    (step,) = steps_of((), [finding("by-status", Direction.WRITE, MAXIMUM)], MEANS)
    assert step.command == "aws dynamodb update-table MaxWriteRequestUnits=9000"


@pytest.mark.parametrize(
    "elsewhere",
    [finding(None), finding("by-date"), finding("by-status", Direction.READ)],
    ids=["table", "other index", "other direction"],
)
def test_what_one_place_wants_is_set_nowhere_else(elsewhere: Finding) -> None:
    (step,) = steps_of((), [elsewhere], MEANS)
    assert step.command is None
    (step,) = steps_of((), [msgspec.structs.replace(elsewhere, advice=(MAXIMUM,))], MEANS)
    assert step.command == MAXIMUM.command


ROLE = "arn:aws:iam::111122223333:role/look"
LIST = Advice(action="check-client", text="list", command="aws dynamodb list-tables  # read-only")
AGAIN = Advice(action="collect-longer", text="again", command="dynascope diagnose 'a  # b' --wait 5m  # read-only")
FORCE = Advice(action="release-lock", text="free", command="terraform force-unlock LOCK_ID  # changes production")


def test_commands_get_region_profile_and_role_each_in_its_own_way() -> None:
    means = Means(region="eu-west-1", profile="on call", role=ROLE)
    listed, again, forced = steps_of((), [finding(None, Direction.WRITE, LIST, AGAIN, FORCE)], means)
    assert listed.command == (
        f"aws dynamodb list-tables --region eu-west-1 --profile 'on call'  # read-only, as {ROLE}"
    )
    assert again.command == (
        f"dynascope diagnose 'a  # b' --wait 5m --region eu-west-1 --profile 'on call' --role {ROLE}  # read-only"
    )
    assert forced.command == FORCE.command
