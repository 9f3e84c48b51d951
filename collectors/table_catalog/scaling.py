"""The answers of application-autoscaling become one value a target. Pure.

Shapes: botocore's model application-autoscaling/2016-02-06. A resource is `table/NAME` or `table/NAME/index/INDEX`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.errors import MalformedError
from analyzer.model.finding import Change
from analyzer.model.table import ScalingLimits
from analyzer.model.target import Target
from collectors.table_catalog.parse import direction_of, parse_activity, parse_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from analyzer.model.finding import Direction
    from analyzer.model.table import ScalingActivity

    T = TypeVar("T")

__all__ = ["activity_changes", "parse_scaling", "target_of_resource"]

AUTOSCALING = "application-autoscaling"
"""Who did it, of a change that autoscaling made, and its source: its activities."""


def target_of_resource(resource: str, region: str | None, account: str | None) -> Target:
    """Read a ResourceId; raises ValueError."""
    parts = resource.split("/")
    if parts[0] == "table" and len(parts) == 2:  # noqa: PLR2004 -- table/NAME
        return Target(account, region, parts[1])
    if parts[0] == "table" and len(parts) == 4 and parts[2] == "index":  # noqa: PLR2004 -- table/NAME/index/INDEX
        return Target(account, region, parts[1], parts[3])
    raise ValueError("a resource is table/NAME or table/NAME/index/INDEX")


def parse_scaling(
    answers: Mapping[str, Sequence[Mapping[str, Any]]], region: str | None, account: str | None
) -> tuple[ScalingLimits, ...]:
    """Join the rows of four operations, keyed by the member that holds them; raises MalformedError.

    Rows that come twice count once. Policies of other kinds than target tracking have no target share.
    """
    policies = _grouped(answers, "ScalingPolicies", _share)
    schedules = _grouped(answers, "ScheduledActions", lambda row: parse_schedule(dict(row)))
    activities = _grouped(answers, "ScalingActivities", lambda row: parse_activity(dict(row)))
    limits = {}
    for place, bounds in _grouped(answers, "ScalableTargets", _bounds).items():
        target, direction = target_of_resource(place[0], region, account), direction_of(place[1])
        minimum, maximum = bounds[0]
        limits[target, direction] = ScalingLimits(
            target=target,
            direction=direction,
            minimum=minimum,
            maximum=maximum,
            target_share=next((share for share in policies.get(place, ()) if share is not None), None),
            scheduled=tuple(schedules.get(place, ())),
            activities=tuple(sorted(activities.get(place, ()), key=lambda one: one.start)),
        )
    return tuple(limits.values())


def _bounds(row: Mapping[str, Any]) -> tuple[int, int]:
    target_of_resource(row["ResourceId"], None, None)
    direction_of(row["ScalableDimension"])
    return int(row["MinCapacity"]), int(row["MaxCapacity"])


def _share(row: Mapping[str, Any]) -> float | None:
    tracking = row.get("TargetTrackingScalingPolicyConfiguration")
    return None if tracking is None else float(tracking["TargetValue"]) / 100


def _grouped(
    answers: Mapping[str, Iterable[Mapping[str, Any]]], member: str, parse: Callable[[Mapping[str, Any]], T]
) -> dict[tuple[str, str], list[T]]:
    grouped: dict[tuple[str, str], list[T]] = {}
    for row in answers.get(member, ()):
        try:
            parsed, place = parse(row), (str(row["ResourceId"]), str(row["ScalableDimension"]))
        except (ValueError, KeyError, TypeError) as error:
            hint = "look at it with `aws application-autoscaling`; please report what is unusual about it"
            raise MalformedError(f"{member}: a row cannot be read", hint=hint) from error
        rows = grouped.setdefault(place, [])
        if parsed not in rows:
            rows.append(parsed)
    return grouped


def activity_changes(limits: Iterable[ScalingLimits], since: int) -> list[Change]:
    """Return what autoscaling did since a time, as changes."""
    return [
        Change(
            time=activity.start,
            what="scaling",
            table=one.target.table,
            index=one.target.index,
            who=AUTOSCALING,
            detail=_told(activity, one.direction),
            source="table-catalog",
        )
        for one in limits
        for activity in one.activities
        if activity.start >= since
    ]


def _told(activity: ScalingActivity, direction: Direction) -> str:
    units = "" if activity.to_units is None else f" to {activity.to_units:,.0f}"
    status = "" if activity.status == "Successful" else f" ({activity.status})"
    return f"{direction.value} capacity{units}{status}"
