"""What to do about capacity that follows demand too late."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, quoted, scalable
from analyzer.detectors.capacity import raise_capacity
from analyzer.detectors.words import number, percent
from analyzer.model.finding import Advice, Direction, Risk
from analyzer.model.instant import MINUTE_MS, to_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Traffic

__all__ = ["lag_advice", "lowered_out_advice"]


def lag_advice(
    traffic: Traffic,
    direction: Direction,
    kind: str,
    met: float,
    reached: float,
    period_hours: float | None,
    begins: Instant = 0,
) -> Iterator[Advice]:
    """Yield what helps: first to look at what autoscaling did, which changes nothing; `begins` is the last burst's."""
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
            command=_scheduled(traffic, direction, _schedule(period_hours, begins), math.ceil(reached)),
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


def _schedule(period_hours: float | None, begins: Instant) -> str | None:
    """Write when to be ready: ten minutes before each burst; None where no schedule of hours or days holds them."""
    ready, hours = to_moment(begins - _BEFORE_MS), round(period_hours or 0)
    if period_hours is None or abs(period_hours - hours) > _SLACK_HOURS or not hours:
        return None
    if hours == _WEEK_HOURS:
        return f"cron({ready.minute} {ready.hour} ? * {_DAYS[ready.weekday()]} *)"
    if _DAY_HOURS % hours:
        return None
    of_day = sorted((ready.hour + step) % _DAY_HOURS for step in range(0, _DAY_HOURS, hours))
    return f"cron({ready.minute} {'*' if hours == 1 else ','.join(map(str, of_day))} * * ? *)"


_BEFORE_MS = 10 * MINUTE_MS
_DAY_HOURS, _WEEK_HOURS = 24, 168
_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_SLACK_HOURS = 0.1
"""Bursts this near to a whole number of hours apart follow the clock: it is less than they are awaited."""


def _scheduled(traffic: Traffic, direction: Direction, schedule: str | None, units: int) -> str | None:
    if schedule is None:
        return None
    kind = "table" if traffic.target.index is None else "index"
    call = (
        "application-autoscaling put-scheduled-action --service-namespace dynamodb"
        f" {scalable(traffic.target)} --scalable-dimension dynamodb:{kind}:{direction.value.capitalize()}CapacityUnits"
        f" --scheduled-action-name before-the-burst --schedule {quoted(schedule)}"
        f" --scalable-target-action MinCapacity={units}"
    )
    return aws(traffic.target, call, changes=True)


def lowered_out_advice(traffic: Traffic) -> tuple[Advice, ...]:
    """Return what to do where capacity cannot be lowered any more today."""
    target = traffic.target
    return (
        advise(
            "collect-longer",
            "Look when it was lowered today, and why it was raised again each time; the command lists it",
            effect="tells how high a minimum would spare the decreases",
            command=aws(
                target,
                f"application-autoscaling describe-scaling-activities --service-namespace dynamodb {scalable(target)}",
            ),
            takes="minutes",
        ),
        advise(
            "schedule-scaling",
            f"Let autoscaling of {traffic.target} lower less often: by a higher minimum, or a schedule",
            effect="the decreases of a day last for the day",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        ),
    )
