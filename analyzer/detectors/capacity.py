"""Advice on limits that are set: provisioned units, what bounds their autoscaling, and the account's quota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, scalable
from analyzer.model.finding import Advice, Direction, Risk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["raise_capacity", "raise_quota"]


def raise_capacity(traffic: Traffic, direction: Direction) -> Iterator[Advice]:
    """Yield how to raise the provisioned units of a target; where autoscaling sets them, its maximum first."""
    units = "ReadCapacityUnits" if direction is Direction.READ else "WriteCapacityUnits"
    limits = next((one for one in traffic.scaling if one.direction is direction), None)
    target = traffic.target
    if limits is not None:
        kind = "table" if target.index is None else "index"
        yield advise(
            "raise-max-capacity",
            f"Raise the maximum of autoscaling for {target}: it is {limits.maximum:,} {direction} units",
            effect="autoscaling may follow demand",
            command=aws(
                target,
                "application-autoscaling register-scalable-target --service-namespace dynamodb"
                f" {scalable(target)} --scalable-dimension dynamodb:{kind}:{units} --max-capacity N",
                changes=True,
            ),
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
        return
    action = "raise-capacity" if target.index is None else "raise-index-capacity"
    yield advise(
        action,
        f"Raise {units} of {target}, or let autoscaling set them",
        effect="it serves what is asked of it",
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
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
