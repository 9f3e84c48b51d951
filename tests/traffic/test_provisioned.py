from __future__ import annotations

from analyzer.model.finding import Direction
from analyzer.model.traffic import Capacity, Place
from analyzer.model.window import Window
from analyzer.traffic.provisioned import capacity_points, units_provisioned
from tests.support.evidence import traffic
from tests.support.told import series

READ, WRITE = Direction.READ, Direction.WRITE
FIXED = Place(capacity=Capacity("PROVISIONED", 200.0, 50.0))


def test_metrics_tell_what_was_provisioned_at_the_time() -> None:
    known = series("ProvisionedReadCapacityUnits", (10, 20, 30), stat="Maximum")
    one = traffic(metrics=(known,), place=FIXED)
    assert units_provisioned(one, READ, Window(60_000, 180_000)) == 20
    assert [point.value for point in capacity_points(one, READ)] == [10, 20, 30]


def test_else_the_description_does() -> None:
    one = traffic(place=FIXED)
    assert (units_provisioned(one, READ, one.window), units_provisioned(one, WRITE, one.window)) == (200, 50)
    assert units_provisioned(traffic(), READ, one.window) is None
