"""Advice on limits that are set: provisioned units, what bounds their autoscaling, and the account's quota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, scalable
from analyzer.detectors.words import number
from analyzer.model.finding import Advice, Direction, Risk
from analyzer.traffic.provisioned import capacity_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

__all__ = ["raise_capacity", "raise_quota"]


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
        yield advise(
            action if is_below else "raise-max-capacity",
            f"Raise the {bound} of autoscaling for {target}: {told}",
            effect="the next burst need not wait for it" if is_below else "autoscaling may follow demand",
            command=_bounded(target, units, f"--{bound[:3]}-capacity N"),
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


def raise_quota(traffic: Traffic, which: str = "table-level") -> Advice:
    """Return how to see the account's quotas, one of which is to be raised; `which` says what is known of it."""
    return advise(
        "raise-account-quota",
        f"Ask AWS for a higher {which} quota",
        effect="the account's limit no longer refuses requests",
        command=aws(traffic.target, "service-quotas list-service-quotas --service-code dynamodb"),
        takes="hours",
    )
