from __future__ import annotations

from analyzer.detectors.capacity import raise_capacity
from analyzer.model.finding import Direction, Risk
from tests.support.evidence import GSI2, traffic
from tests.support.told import scaling


def test_where_autoscaling_sets_capacity_its_maximum_is_raised() -> None:
    (one,) = raise_capacity(traffic(scaling=(scaling(300),)), Direction.READ)
    assert one.action == "raise-max-capacity"
    assert "dynamodb:table:ReadCapacityUnits --max-capacity N" in (one.command or "")
    assert (one.command or "").endswith("# changes production")


def test_of_an_index_the_maximum_is_its_own() -> None:
    (one,) = raise_capacity(traffic(GSI2, scaling=(scaling(300, Direction.WRITE),)), Direction.WRITE)
    assert "table/cases/index/GSI2 --scalable-dimension dynamodb:index:WriteCapacityUnits" in (one.command or "")


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
