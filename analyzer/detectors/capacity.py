"""Advice on limits that are set: provisioned units, what bounds their autoscaling, and the account's quota."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, quoted, scalable
from analyzer.detectors.words import number
from analyzer.model.finding import Advice, Direction, Risk
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import units_a_second
from analyzer.traffic.provisioned import capacity_points
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

__all__ = ["raise_capacity", "raise_maximum", "raise_quota", "wanted_units", "with_room"]


def raise_capacity(traffic: Traffic, direction: Direction) -> Iterator[Advice]:
    """Yield how to raise the provisioned units of a target.

    Where autoscaling sets them that is its maximum, or, where it never stood near that, its minimum.
    """
    units = "ReadCapacityUnits" if direction is Direction.READ else "WriteCapacityUnits"
    limits = next((one for one in traffic.scaling if one.direction is direction), None)
    target = traffic.target
    action = "raise-capacity" if target.index is None else "raise-index-capacity"
    if limits is not None:
        stood = _most_provisioned(traffic, direction)
        is_below = stood is not None and stood < limits.maximum
        most = f"{limits.maximum:,} {direction} units"
        told = f"{number(stood or 0)} of at most {most} stood ready" if is_below else f"it is {most}"
        bound = "minimum" if is_below else "maximum"
        wanted = wanted_units(traffic, direction, stood if is_below else limits.maximum) or limits.maximum
        if is_below:
            wanted = min(wanted, limits.maximum)  # no minimum stands above its maximum
        yield advise(
            action if is_below else "raise-max-capacity",
            f"Raise the {bound} of autoscaling for {target}: {told}",
            effect="the next burst need not wait for it" if is_below else "autoscaling may follow demand",
            command=_bounded(target, units, f"--{bound[:3]}-capacity {wanted}"),
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
        return
    yield advise(
        action,
        f"Raise {units} of {target}, or let autoscaling set them",
        effect="it serves what is asked of it",
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
    )


def wanted_units(traffic: Traffic, direction: Direction, limit: float | None = None) -> int | None:
    """Return the units a second that would serve what was asked for, with some room, and more than `limit` in any case.

    What was refused would cost what was served. None where neither use nor a limit is known.
    """
    series = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
    minutes = [point.value / point.seconds for point in points(series, traffic.window)]
    used = max(minutes, default=None)
    if used is None:
        used = units_a_second(traffic, direction)
    shares = [hit.share.value for hit in limits_hit(traffic) if hit.direction is direction and hit.share is not None]
    served = 1 - min(max(shares, default=0.0), _MOST_REFUSED)
    return with_room(max((used or 0.0) / served, limit or 0.0))


def with_room(demand: float) -> int | None:
    """Return a demand with a quarter of room, in two digits, which say enough; None of no demand."""
    if not demand:
        return None
    wanted = demand * _ROOM
    step = int(10 ** max(math.floor(math.log10(wanted)) - 1, 0))
    return math.ceil(wanted / step) * step


_ROOM = 1.25
"""Autoscaling aims at 70 to 90 %: a quarter above demand lies between."""
_MOST_REFUSED = 0.9
"""Of what is refused more often tries are mostly one call's own, asked again."""


def _most_provisioned(traffic: Traffic, direction: Direction) -> float | None:
    """Return the most units that stood ready in the window; None where no metric tells."""
    return max((point.value for point in capacity_points(traffic, direction)), default=None)


def _bounded(target: Target, units: str, setting: str) -> str:
    kind = "table" if target.index is None else "index"
    return aws(
        target,
        "application-autoscaling register-scalable-target --service-namespace dynamodb"
        f" {scalable(target)} --scalable-dimension dynamodb:{kind}:{units} {setting}",
        changes=True,
    )


def raise_maximum(traffic: Traffic, direction: Direction) -> Advice:
    """Return how to raise the most that a target may use on demand; a number stands where use or limit is known."""
    target, most = traffic.target, _most_set(traffic, direction)
    units, wanted = f"Max{direction.value.capitalize()}RequestUnits", wanted_units(traffic, direction, most)
    setting = f"--on-demand-throughput {units}={wanted}"
    if target.index is not None:
        update = f"{{IndexName={target.index},OnDemandThroughput={{{units}={wanted}}}}}"
        setting = f"--global-secondary-index-updates {quoted(f'Update={update}')}"
    call = f"dynamodb update-table --table-name {quoted(target.table)} {setting}"
    return advise(
        "raise-on-demand-maximum",
        f"Raise the on-demand maximum of {target}"
        + ("" if most is None else f": it is {number(most)} {direction} units a second"),
        effect="the limit that was set no longer refuses requests",
        command=None if wanted is None else aws(target, call, changes=True),
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
    )


def _most_set(traffic: Traffic, direction: Direction) -> float | None:
    """Return the maximum that is set, where DescribeTable told it."""
    table, index = traffic.place.table, traffic.target.index
    described = None if table is None else table.index(index) if index is not None else table
    if described is None:
        return None
    told = described.provisioning
    return told.most_read_units if direction is Direction.READ else told.most_write_units


def raise_quota(traffic: Traffic, which: str = "table-level") -> Advice:
    """Return how to see the account's quotas, one of which is to be raised; `which` says what is known of it."""
    return advise(
        "raise-account-quota",
        f"Ask AWS for a higher {which} quota",
        effect="the account's limit no longer refuses requests",
        command=aws(traffic.target, "service-quotas list-service-quotas --service-code dynamodb"),
        takes="hours",
    )
