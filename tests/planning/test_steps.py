from __future__ import annotations

import msgspec
import pytest

from analyzer.model.finding import Advice, Confidence, Direction, Finding, Severity
from analyzer.planning.steps import Means, steps_of

RAISE = Advice(action="raise-capacity", text="raise it")
MAXIMUM = Advice(action="raise-on-demand-maximum", text="raise it", command="aws dynamodb update-table --units=N")
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
    assert (
        "{IndexName=by-status,ProvisionedThroughput={ReadCapacityUnits=1000,WriteCapacityUnits=9000}}" in step.command
    )
    (step,) = steps_of((), [finding("by-status", Direction.WRITE, MAXIMUM)], MEANS)
    assert step.command == "aws dynamodb update-table --units=9000"


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
