from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.detectors.capacity import raise_capacity, raise_maximum, wanted_units
from analyzer.model.finding import Direction, Risk
from tests.support.evidence import CASES, GSI2, limit, traffic
from tests.support.told import scaling, series

if TYPE_CHECKING:
    from analyzer.model.target import Target


def test_where_autoscaling_sets_capacity_its_maximum_is_raised() -> None:
    (one,) = raise_capacity(traffic(scaling=(scaling(300),)), Direction.READ)
    assert one.action == "raise-max-capacity"
    assert "dynamodb:table:ReadCapacityUnits --max-capacity 380" in (one.command or "")
    assert (one.command or "").endswith("# changes production")


def test_of_an_index_the_maximum_is_its_own() -> None:
    (one,) = raise_capacity(traffic(GSI2, scaling=(scaling(300, Direction.WRITE),)), Direction.WRITE)
    assert "table/cases/index/GSI2 --scalable-dimension dynamodb:index:WriteCapacityUnits" in (one.command or "")


@pytest.mark.parametrize(("target", "action"), [(CASES, "raise-capacity"), (GSI2, "raise-index-capacity")])
def test_where_the_maximum_was_never_reached_it_is_the_minimum_that_is_raised(target: Target, action: str) -> None:
    stood = series("ProvisionedReadCapacityUnits", [120.0, 280.0], target=target, stat="Average")
    (one,) = raise_capacity(traffic(target, scaling=(scaling(300),), metrics=(stood,)), Direction.READ)
    assert (one.action, one.text.partition(": ")[2]) == (action, "280 of at most 300 read units stood ready")
    assert "--min-capacity 300" in (one.command or "")
    full = series("ProvisionedReadCapacityUnits", [120.0, 300.0], target=target, stat="Average")
    (other,) = raise_capacity(traffic(target, scaling=(scaling(300),), metrics=(full,)), Direction.READ)
    assert other.action == "raise-max-capacity"


def test_else_the_units_are_raised() -> None:
    assert [one.action for one in raise_capacity(traffic(), Direction.READ)] == ["raise-capacity"]
    assert [one.action for one in raise_capacity(traffic(GSI2), Direction.WRITE)] == ["raise-index-capacity"]
    assert [one.action for one in raise_capacity(traffic(scaling=(scaling(9),)), Direction.WRITE)] == ["raise-capacity"]


def test_what_is_raised_costs_little_thought_and_can_be_taken_back() -> None:
    (maximum,) = raise_capacity(traffic(scaling=(scaling(1300), scaling(9, Direction.WRITE))), Direction.READ)
    (units,) = raise_capacity(traffic(), Direction.WRITE)
    assert [(one.risk, one.reversible) for one in (maximum, units)] == [(Risk.LOW, True)] * 2
    assert maximum.text.endswith("it is 1,300 read units")
    assert units.text.startswith("Raise WriteCapacityUnits of cases")


def test_what_is_wanted_serves_what_was_refused_too_with_some_room() -> None:
    used = series("ConsumedReadCapacityUnits", [60 * 300.0, 60 * 400.0])
    assert wanted_units(traffic(metrics=(used,)), Direction.READ) == 500
    refused = traffic(metrics=(used,), throttles=(limit("provisioned", tries=1000.0),))
    assert (wanted_units(refused, Direction.READ) or 0) > 500
    assert wanted_units(refused, Direction.WRITE) is None
    assert wanted_units(refused, Direction.READ, 2000) == 2500


def test_a_minimum_is_raised_up_to_the_maximum() -> None:
    stood = series("ProvisionedReadCapacityUnits", [100.0], stat="Average")
    (one,) = raise_capacity(traffic(scaling=(scaling(300),), metrics=(stood,)), Direction.READ)
    assert "--min-capacity 130" in (one.command or "")
    used = series("ConsumedReadCapacityUnits", [60 * 900.0])
    (one,) = raise_capacity(traffic(scaling=(scaling(300),), metrics=(stood, used)), Direction.READ)
    assert "--min-capacity 300" in (one.command or "")


def test_a_maximum_of_which_neither_use_nor_limit_is_known_has_no_command() -> None:
    assert raise_maximum(traffic(rows=()), Direction.WRITE).command is None
