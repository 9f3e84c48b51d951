"""What was provisioned over the time of a map, back along the changes of it."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.figures.limits import limits_of
from analyzer.model.finding import Change, Direction
from analyzer.model.heatmap import HeatLimit
from analyzer.model.table import Provisioning, TableDescription, TableSnapshot
from analyzer.model.window import Window
from collectors.table_catalog.differences import table_changes
from tests.support.page_report import ORDERS

HOUR = Window(0, 3_600_000)
READ = Direction.READ


def change(time: int, detail: str | None, what: str = "capacity", **fields: Any) -> Change:
    return Change(**{"time": time, "what": what, "table": "orders", "detail": detail, **fields})


def told(*changes: Change, limit: float | None = 8000.0) -> list[tuple[int, float | None]]:
    return [(one.at, one.units) for one in limits_of(changes, ORDERS, READ, HOUR, limit)]


def test_what_is_provisioned_is_a_step_where_the_table_catalog_saw_it_change() -> None:
    before, after = (
        TableSnapshot(target=ORDERS, table=TableDescription(name="orders", provisioning=one))
        for one in (Provisioning(read_units=6000, write_units=5), Provisioning(read_units=8000, write_units=5))
    )
    changes = tuple(table_changes(before, after, 500, 1000))
    assert limits_of(changes, ORDERS, READ, HOUR, 8000.0) == (HeatLimit(0, 6000.0), HeatLimit(1000, 8000.0))
    assert limits_of(changes, ORDERS, Direction.WRITE, HOUR, 5.0) == (HeatLimit(0, 5.0),)


def test_several_changes_are_gone_back_through_whatever_their_order() -> None:
    first, second = change(1000, "read units 2,000 → 4,000"), change(2000, "read units 4,000 → 8,000")
    assert told(first, second) == told(second, first) == [(0, 2000.0), (1000, 4000.0), (2000, 8000.0)]


def test_what_was_before_is_not_known_where_nobody_tells_it() -> None:
    assert told(change(1000, "capacity was raised")) == [(0, None), (1000, 8000.0)]
    assert told(change(1000, "PAY_PER_REQUEST → PROVISIONED", "billing-mode")) == [(0, None), (1000, 8000.0)]


@pytest.mark.parametrize(
    "other",
    [
        change(1000, "UpdateTable: read 8000"),
        change(1000, None),
        change(1000, "read units 6,000 → 8,000", "deploy"),
        change(1000, "read units 6,000 → 8,000", index="GSI1"),
        change(1000, "read units 6,000 → 8,000", table="users"),
        change(1000, "read units 6,000 → 8,000", region="eu-west-1"),
        change(-1, "read units 6,000 → 8,000"),
    ],
    ids=["what was asked for", "no words", "another kind", "an index", "a table", "a region", "before the map"],
)
def test_other_changes_make_no_step(other: Change) -> None:
    assert told(other) == [(0, 8000.0)]


def test_on_demand_there_is_no_limit() -> None:
    assert told(change(1000, "read units 6,000 → 8,000"), limit=None) == []
