from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.detectors.scaling_advice import lag_advice, lowered_out_advice
from analyzer.model.finding import Direction, Risk
from analyzer.model.instant import parse_instant
from tests.support.evidence import CASES, GSI2, traffic
from tests.support.told import scaling

if TYPE_CHECKING:
    from analyzer.model.finding import Advice
    from analyzer.model.target import Target

READ, WRITE = Direction.READ, Direction.WRITE


def told(
    kind: str = "too-late", met: float = 100.0, reached: float = 300.0, period_hours: float | None = None
) -> dict[str, Advice]:
    evidence = traffic(scaling=(scaling(300),))
    return {one.action: one for one in lag_advice(evidence, READ, kind, met, reached, period_hours)}


@pytest.mark.parametrize(
    ("kind", "period_hours", "actions"),
    [
        ("too-late", None, ["back-off", "schedule-scaling", "switch-to-on-demand", "smooth-traffic"]),
        ("too-late", 24.0, ["back-off", "schedule-scaling", "switch-to-on-demand"]),
        ("at-maximum", None, ["back-off", "raise-max-capacity", "switch-to-on-demand"]),
        ("at-maximum", 24.0, ["back-off", "schedule-scaling", "raise-max-capacity", "switch-to-on-demand"]),
    ],
)
def test_what_helps_follows_from_what_autoscaling_did(
    kind: str, period_hours: float | None, actions: list[str]
) -> None:
    assert list(told(kind, period_hours=period_hours)) == actions


def test_a_burst_without_a_period_may_be_known_beforehand() -> None:
    assert told()["schedule-scaling"].text.startswith("Where a burst is known beforehand: raise the minimum")
    assert told(period_hours=24.0)["schedule-scaling"].text.startswith("The burst comes every 24 hours: raise")


def test_what_changes_production_says_so_and_can_be_taken_back() -> None:
    every = told() | told("at-maximum", period_hours=24.0)
    assert {action: one.command and one.command.rpartition("# ")[2] for action, one in every.items()} == {
        "back-off": "read-only",
        "schedule-scaling": "changes production",
        "raise-max-capacity": "changes production",
        "switch-to-on-demand": "changes production",
        "smooth-traffic": None,
    }
    assert {action: (one.risk, one.reversible) for action, one in every.items()} == {
        "back-off": (Risk.NONE, None),
        "schedule-scaling": (Risk.LOW, True),
        "raise-max-capacity": (Risk.LOW, True),
        "switch-to-on-demand": (Risk.LOW, True),
        "smooth-traffic": (Risk.LOW, True),
    }


@pytest.mark.parametrize(
    ("met", "reached", "text"),
    [
        (100.0, 300.0, "Bursts of 300% of what stands ready suit on-demand capacity better"),
        (200.0, 150.0, "Bursts of 75% of what stands ready suit on-demand capacity better"),
        (0.0, 300.0, "Bursts from nothing suit on-demand capacity better"),
    ],
)
def test_a_burst_is_told_beside_what_stood_ready(met: float, reached: float, text: str) -> None:
    assert told(met=met, reached=reached)["switch-to-on-demand"].text == text


@pytest.mark.parametrize(
    ("period_hours", "schedule"),
    [
        (24.0, "cron(55 8 * * ? *)"),
        (23.95, "cron(55 8 * * ? *)"),
        (1.0, "cron(55 * * * ? *)"),
        (12.0, "cron(55 8,20 * * ? *)"),
        (168.0, "cron(55 8 ? * MON *)"),
        (1.5, None),
        (5.0, None),
        (0.05, None),
    ],
)
def test_a_schedule_is_ten_minutes_before_the_burst_where_it_follows_the_clock(
    period_hours: float, schedule: str | None
) -> None:
    begins = parse_instant("2026-03-02T09:05:00Z")
    one = list(lag_advice(traffic(), READ, "too-late", 100.0, 300.0, period_hours, begins))[1]
    assert (one.command is None) is (schedule is None)
    assert schedule is None or f"--schedule '{schedule}' " in (one.command or "")


@pytest.mark.parametrize(
    ("target", "direction", "place"),
    [
        (CASES, READ, "table/cases --scalable-dimension dynamodb:table:ReadCapacityUnits"),
        (GSI2, WRITE, "table/cases/index/GSI2 --scalable-dimension dynamodb:index:WriteCapacityUnits"),
    ],
)
def test_a_schedule_is_of_the_side_and_place_that_bursts(target: Target, direction: Direction, place: str) -> None:
    one = list(lag_advice(traffic(target), direction, "too-late", 1.0, 1.5, 2.0))[1]
    assert one.text.startswith("The burst comes every 2 hours: ")
    assert "MinCapacity=2 " in (one.command or "")
    assert place in (one.command or "")


def test_capacity_that_cannot_be_lowered_any_more_is_scheduled() -> None:
    look, one = lowered_out_advice(traffic(GSI2))
    assert (look.action, look.risk) == ("collect-longer", Risk.NONE)
    assert "describe-scaling-activities" in (look.command or "")
    assert (one.action, one.risk, one.reversible, one.command) == ("schedule-scaling", Risk.LOW, True, None)
    assert one.text.startswith("Let autoscaling of cases/GSI2 lower less often")
