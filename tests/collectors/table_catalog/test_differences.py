from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.model.finding import Change, Direction
from analyzer.model.table import (
    IndexDescription,
    Provisioning,
    Replica,
    ScalingLimits,
    TableDescription,
    TableSnapshot,
    TimeToLive,
)
from analyzer.model.target import Target
from collectors.table_catalog.differences import bounds_changes, first_changes, table_changes, without_doubles

CASES = Target(None, None, "cases")
SINCE, AT = 1000, 2000


def snapshot(ttl: TimeToLive | None = None, **fields: Any) -> TableSnapshot:
    return TableSnapshot(target=CASES, ttl=ttl, table=TableDescription(name="cases", **fields))


def told(before: TableSnapshot, after: TableSnapshot) -> list[tuple[int, str, str | None, str | None]]:
    changes = list(table_changes(before, after, SINCE, AT))
    assert {(change.table, change.source) for change in changes} <= {("cases", "table-catalog")}
    return [(change.time, change.what, change.index, change.detail) for change in changes]


def units(read: float | None = None, **rest: Any) -> Provisioning:
    return Provisioning(read_units=read, **rest)


def gsi(read: float | None = None, name: str = "GSI1") -> IndexDescription:
    return IndexDescription(name=name, kind="gsi", provisioning=units(read))


def test_tables_that_are_alike_differ_in_nothing() -> None:
    one = snapshot(
        TimeToLive("ENABLED", "at"), created=5, indexes=(gsi(5),), replicas=(Replica("eu-west-1", "ACTIVE"),)
    )
    assert told(one, one) == []


@pytest.mark.parametrize(
    ("before", "after", "what", "index", "detail"),
    [
        (
            {"billing_mode": "PROVISIONED"},
            {"billing_mode": "PAY_PER_REQUEST"},
            "billing-mode",
            None,
            "PROVISIONED → PAY_PER_REQUEST",
        ),
        (
            {"provisioning": units(1000)},
            {"provisioning": units(2500)},
            "capacity",
            None,
            "read units 1,000 → 2,500",
        ),
        (
            {"provisioning": units()},
            {"provisioning": units(most_write_units=50)},
            "capacity",
            None,
            "maximum of write units none → 50",
        ),
        ({"indexes": (gsi(5),)}, {"indexes": (gsi(1),)}, "capacity", "GSI1", "read units 5 → 1"),
        ({}, {"indexes": (gsi(),)}, "index-created", "GSI1", "GSI GSI1"),
        ({"indexes": (gsi(),)}, {}, "index-deleted", "GSI1", "GSI GSI1"),
        ({"ttl": TimeToLive()}, {"ttl": TimeToLive("ENABLED", "x")}, "ttl", None, "not told → ENABLED on x"),
        ({"stream": None}, {"stream": "NEW_IMAGE"}, "stream", None, "off → NEW_IMAGE"),
        ({"stream": "KEYS_ONLY"}, {"stream": None}, "stream", None, "KEYS_ONLY → off"),
        ({}, {"replicas": (Replica("eu-west-1", "CREATING"),)}, "replica", None, "eu-west-1: none → CREATING"),
        ({"replicas": (Replica("eu-west-1"),)}, {}, "replica", None, "eu-west-1: there → none"),
    ],
)
def test_a_difference_is_a_change(
    before: dict[str, Any], after: dict[str, Any], what: str, index: str | None, detail: str
) -> None:
    assert told(snapshot(**before), snapshot(**after)) == [(AT, what, index, detail)]


def test_what_was_not_told_before_is_no_change() -> None:
    before = snapshot()
    after = snapshot(TimeToLive("ENABLED", "x"), billing_mode="PROVISIONED", provisioning=units(5))
    assert told(before, after) == []


def test_capacity_changed_when_aws_says_so_if_that_lies_between() -> None:
    raised = {"increased_at": 1500, "decreased_at": 10}
    assert told(snapshot(provisioning=units(1)), snapshot(provisioning=units(2, **raised)))[0][0] == 1500
    assert told(snapshot(provisioning=units(2)), snapshot(provisioning=units(1, **raised)))[0][0] == AT


def test_a_table_made_anew_tells_of_its_own_past_alone() -> None:
    after = snapshot(created=1900, restored=1950, stream="NEW_IMAGE")
    assert told(snapshot(created=5), after) == [(1950, "restore", None, "restored from a backup")]


def test_a_table_that_was_not_known_tells_what_it_remembers() -> None:
    index = msgspec.structs.replace(gsi(), provisioning=Provisioning(decreased_at=1700))
    table = snapshot(restored=10, provisioning=Provisioning(increased_at=1600, decreased_at=10), indexes=(index,))
    found = [(change.time, change.index, change.detail) for change in first_changes(table, SINCE)]
    assert found == [(1600, None, "capacity was raised"), (1700, "GSI1", "capacity was lowered")]


def test_autoscaling_that_comes_goes_or_has_other_bounds_is_a_change() -> None:
    def bounds(maximum: int, share: float | None = 0.7) -> dict[tuple[Target, Direction], ScalingLimits]:
        limits = ScalingLimits(target=CASES, direction=Direction.READ, minimum=5, maximum=maximum, target_share=share)
        return {(CASES, Direction.READ): limits}

    def details(before: Any, after: Any) -> list[str | None]:
        return [change.detail for change in bounds_changes(before, after, AT)]

    assert details(bounds(10), bounds(10)) == []
    assert details({}, bounds(10)) == ["autoscaling of reads: off → 5 to 10 units at 70%"]
    assert details(bounds(10), bounds(1500, None)) == ["autoscaling of reads: 5 to 10 units at 70% → 5 to 1,500 units"]
    assert details(bounds(10), {}) == ["autoscaling of reads: 5 to 10 units at 70% → off"]


def test_changes_come_once_in_the_order_of_time() -> None:
    one, two = Change(time=2, what="ttl"), Change(time=1, what="ttl")
    assert without_doubles([one, two, one]) == (two, one)
