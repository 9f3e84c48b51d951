"""What to do about capacity that follows demand too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, quoted, scalable
from analyzer.detectors.capacity import raise_capacity
from analyzer.detectors.words import number, percent
from analyzer.model.finding import Advice, Direction, Risk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["lag_advice", "lowered_out_advice"]


def lag_advice(
    traffic: Traffic, direction: Direction, kind: str, met: float, reached: float, period_hours: float | None
) -> Iterator[Advice]:
    """Yield what helps: first to look at what autoscaling did, which changes nothing."""
    target = traffic.target
    yield advise(
        "back-off",
        "Let callers retry with jitter until capacity is there; the command shows what autoscaling did and when",
        effect="a burst waits instead of failing",
        command=aws(
            target,
            f"application-autoscaling describe-scaling-activities --service-namespace dynamodb {scalable(target)}",
        ),
        takes="minutes",
    )
    if period_hours is not None or kind != "at-maximum":
        known = (
            "Where a burst is known beforehand"
            if period_hours is None
            else f"The burst comes every {number(period_hours)} hours"
        )
        yield advise(
            "schedule-scaling",
            f"{known}: raise the minimum on a schedule, ten minutes before",
            effect="capacity is there when the burst is",
            command=aws(target, _scheduled(traffic, direction), changes=True),
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
    if kind == "at-maximum":
        yield from raise_capacity(traffic, direction)
    ready = f"Bursts of {percent(reached / met)} of what stands ready" if met else "Bursts from nothing"
    yield advise(
        "switch-to-on-demand",
        f"{ready} suit on-demand capacity better",
        effect="no autoscaling to wait for; up to twice the earlier peak at once",
        command=aws(
            target,
            f"dynamodb update-table --table-name {quoted(target.table)} --billing-mode PAY_PER_REQUEST",
            changes=True,
        ),
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
    )
    if period_hours is None and kind != "at-maximum":
        yield advise(
            "smooth-traffic",
            "Let the burst rise over minutes, or send it through a queue",
            effect="autoscaling can follow",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )


def _scheduled(traffic: Traffic, direction: Direction) -> str:
    kind = "table" if traffic.target.index is None else "index"
    return (
        "application-autoscaling put-scheduled-action --service-namespace dynamodb"
        f" {scalable(traffic.target)} --scalable-dimension dynamodb:{kind}:{direction.value.capitalize()}CapacityUnits"
        " --scheduled-action-name before-the-burst --schedule 'cron(M H * * ? *)'"
        " --scalable-target-action MinCapacity=N"
    )


def lowered_out_advice(traffic: Traffic) -> tuple[Advice, ...]:
    """Return what to do where capacity cannot be lowered any more today."""
    return (
        advise(
            "schedule-scaling",
            f"Let autoscaling of {traffic.target} lower less often: by a higher minimum, or a schedule",
            effect="the decreases of a day last for the day",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        ),
    )
