from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.errors import MalformedError
from analyzer.model.finding import Change, Direction
from analyzer.model.table import ScalingActivity, ScalingLimits, ScheduledScaling
from analyzer.model.target import Target
from collectors.table_catalog.scaling import activity_changes, parse_scaling, target_of_resource

READ, WRITE = "dynamodb:table:ReadCapacityUnits", "dynamodb:index:WriteCapacityUnits"
CASES = Target("111122223333", "us-east-1", "cases")


def at(resource: str = "table/cases", dimension: str = READ, **rest: Any) -> dict[str, Any]:
    return {"ResourceId": resource, "ScalableDimension": dimension, **rest}


def activity(second: int, units: int, status: str = "Successful", **place: str) -> dict[str, Any]:
    return at(
        **place,
        StartTime=datetime.fromtimestamp(second, tz=UTC),
        StatusCode=status,
        Description=f"Setting read capacity units to {units}.",
    )


BOUNDS = at(MinCapacity=5, MaxCapacity=500)
TRACKING: dict[str, Any] = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0}}


def parsed(**answers: list[dict[str, Any]]) -> tuple[ScalingLimits, ...]:
    return parse_scaling(answers, "us-east-1", "111122223333")


def test_four_answers_become_one_value_a_target() -> None:
    index = at("table/cases/index/GSI1", WRITE, MinCapacity=1, MaxCapacity=10)
    table, gsi = parsed(
        ScalableTargets=[BOUNDS, index],
        ScalingPolicies=[at(StepScalingPolicyConfiguration={}), at(**TRACKING)],
        ScheduledActions=[at(Schedule="rate(1 day)")],
        ScalingActivities=[activity(20, 75), activity(10, 50)],
    )
    assert table == ScalingLimits(
        target=CASES,
        direction=Direction.READ,
        minimum=5,
        maximum=500,
        target_share=0.7,
        scheduled=(ScheduledScaling("rate(1 day)"),),
        activities=(
            ScalingActivity(10_000, None, "Successful", 50.0),
            ScalingActivity(20_000, None, "Successful", 75.0),
        ),
    )
    assert (gsi.target, gsi.direction, gsi.target_share) == (CASES.at("GSI1"), Direction.WRITE, None)


def test_a_row_that_comes_twice_counts_once() -> None:
    (table,) = parsed(ScalableTargets=[BOUNDS, BOUNDS], ScalingActivities=[activity(10, 50), activity(10, 50)])
    assert len(table.activities) == 1


@pytest.mark.parametrize(
    "rows",
    [
        {"ScalableTargets": [{}]},
        {"ScalableTargets": [at("service/x", MinCapacity=1, MaxCapacity=2)]},
        {"ScalableTargets": [at("table/a/b/c/d", MinCapacity=1, MaxCapacity=2)]},
        {"ScalableTargets": [at(dimension="ecs", MinCapacity=1, MaxCapacity=2)]},
        {"ScalableTargets": [at(MinCapacity=None, MaxCapacity=2)]},
        {"ScalingPolicies": [at(TargetTrackingScalingPolicyConfiguration={})]},
        {"ScalingActivities": [at(StartTime="soon", StatusCode="x")]},
    ],
)
def test_a_row_that_cannot_be_read_is_malformed(rows: dict[str, list[dict[str, Any]]]) -> None:
    with pytest.raises(MalformedError, match="a row cannot be read"):
        parsed(**rows)


def test_an_index_is_part_of_its_resource() -> None:
    assert target_of_resource("table/a/index/b", None, None) == Target(None, None, "a", "b")


def test_activities_are_changes_since_a_time() -> None:
    rows = [activity(10, 50), activity(20, 1750), activity(30, 60, "Failed")]
    rows[2]["Description"] = "it failed"
    limits = parsed(ScalableTargets=[BOUNDS], ScalingActivities=rows)
    changes = activity_changes(limits, 15_000)
    assert [(change.time, change.detail) for change in changes] == [
        (20_000, "read capacity to 1,750"),
        (30_000, "read capacity (Failed)"),
    ]
    assert changes[0] == Change(
        time=20_000,
        what="scaling",
        table="cases",
        who="application-autoscaling",
        detail="read capacity to 1,750",
        source="table-catalog",
    )
