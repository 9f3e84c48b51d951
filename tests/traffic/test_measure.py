from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.finding import Direction
from analyzer.model.window import Window
from analyzer.traffic.measure import units_a_second
from tests.support.evidence import row, traffic
from tests.support.told import series

METRIC = series("ConsumedReadCapacityUnits", [600.0] * 5)
ROWS = (row(read_units=900.0),)


@pytest.mark.parametrize(
    ("fields", "rate"),
    [
        ({"metrics": (METRIC,), "rows": ROWS}, 10.0),
        ({"rows": ROWS}, 3.0),
        ({"rows": ROWS, "sights": frozenset()}, None),
        ({"rows": ROWS, "window": Window(0, 0)}, None),
    ],
    ids=["metrics come first", "then the log", "nobody tells units", "no time at all"],
)
def test_units_a_second_are_those_of_metrics_or_else_of_the_log(fields: dict[str, Any], rate: float | None) -> None:
    assert units_a_second(traffic(**fields), Direction.READ) == rate
