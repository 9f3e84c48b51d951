"""Each way in which a call can fail: the right gap, nothing lost, and recovery with the next window."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import DeniedError
from analyzer.model.sight import GapReason
from collectors.cloudwatch_metrics.config import MetricTarget
from tests.support.faults import FAULTS
from tests.support.metric_world import MINUTE, NOW, MetricWorld
from tests.support.watched_metrics import Watched, series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.model.batch import Batch


def reads(batch: Batch, table: str = "orders") -> tuple[int, ...]:
    return series(batch, "ConsumedReadCapacityUnits", TableName=table).timestamps


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_one_gap_with_its_reason_and_nothing_is_covered(name: str, world: MetricWorld) -> None:
    fault, reason = FAULTS[name]
    watched = Watched(world.table("orders").table("carts"), MetricTarget("orders"), MetricTarget("carts"))
    watched.break_with(fault)
    batch = await watched.poll()
    assert {(gap.source, gap.reason, gap.table) for gap in batch.gaps} == {("cloudwatch-metrics", reason, None)}
    assert all(gap.hint for gap in batch.gaps)
    assert (batch.covers, batch.metrics) == ((), ())


@pytest.mark.parametrize("name", FAULTS)
async def test_after_a_fault_the_next_window_holds_all_that_was_missed(name: str, world: MetricWorld) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"))
    await watched.poll()
    watched.break_with(FAULTS[name][0])
    for _ in range(5):
        assert (await watched.wait_and_poll()).gaps
    watched.mend()
    batch = await watched.wait_and_poll()
    assert batch.gaps == ()
    assert reads(batch) == tuple(range(NOW - 20 * MINUTE, watched.world.now - 3 * MINUTE, MINUTE))
    assert batch.covers


async def test_old_values_are_not_served_as_new(world: MetricWorld) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"))
    await watched.poll()
    watched.break_with(FAULTS["denied"][0])
    batch = await watched.wait_and_poll()
    assert batch.covers == ()
    assert not series(batch, "ConsumedReadCapacityUnits", TableName="orders").is_complete
    assert max(reads(batch)) < NOW


@pytest.mark.parametrize("is_named", [True, False])
async def test_what_came_in_part_for_longer_than_the_overlap_is_read_when_it_comes(
    world: MetricWorld, *, is_named: bool
) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"))
    await watched.poll()

    def half(params: Mapping[str, Any]) -> dict[str, Any]:
        answer = world.get_metric_data(params)
        lost = {**answer["MetricDataResults"][0], "StatusCode": "InternalError", "Timestamps": [], "Values": []}
        results = [{**lost, "Id": one["Id"]} for one in answer["MetricDataResults"]] if is_named else []
        return {"MetricDataResults": results}

    watched.break_with(half)
    for _ in range(6):
        assert (await watched.wait_and_poll()).gaps
    watched.mend()
    batch = await watched.wait_and_poll()
    assert batch.gaps == ()
    assert reads(batch) == tuple(range(NOW - 20 * MINUTE, watched.world.now - 3 * MINUTE, MINUTE))


async def test_a_page_that_fails_keeps_the_pages_before_it(world: MetricWorld) -> None:
    world.page_points = 40
    watched = Watched(world.table("orders"), MetricTarget("orders"))

    def second_fails(params: Mapping[str, Any]) -> dict[str, Any]:
        if "NextToken" in params:
            raise DeniedError("the token has expired", hint="renew it")
        return world.get_metric_data(params)

    watched.break_with(second_fails)
    batch = await watched.poll()
    assert {gap.reason for gap in batch.gaps} == {GapReason.DENIED}
    assert len(reads(batch)) == 17
    assert batch.covers == ()
    watched.mend()
    assert (await watched.wait_and_poll()).gaps == ()


async def test_a_page_that_comes_twice_changes_nothing(world: MetricWorld) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"))
    once = await watched.poll()
    twice = Watched(world, MetricTarget("orders"))
    served: list[str] = []

    def again(params: Mapping[str, Any]) -> dict[str, Any]:
        served.append(params.get("NextToken", ""))
        first = {name: value for name, value in params.items() if name != "NextToken"}
        return world.get_metric_data(first) | ({} if "NextToken" in params else {"NextToken": "1"})

    twice.break_with(again)
    batch = await twice.poll()
    assert (batch.metrics, batch.gaps) == (once.metrics, ())
    assert served == ["", "1", "", "1"]


async def test_one_batch_that_fails_is_a_gap_for_its_tables_alone(world: MetricWorld) -> None:
    targets = [MetricTarget(f"table-{number:02}") for number in range(40)]
    for target in targets:
        world.table(target.table)
    watched = Watched(world, *targets)

    def first_fails(params: Mapping[str, Any]) -> dict[str, Any]:
        if "table-00" in str(params):
            raise FAULTS["throttled"][0]
        return world.get_metric_data(params)

    watched.break_with(first_fails)
    batch = await watched.poll()
    hurt = {gap.table for gap in batch.gaps}
    assert "table-00" in hurt
    assert "table-39" not in hurt
    assert {gap.reason for gap in batch.gaps} == {GapReason.THROTTLED}
    assert {one.table for one in batch.covers} == {target.table for target in targets} - hurt


async def test_a_point_outside_what_was_asked_is_left_out(world: MetricWorld) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"))

    def strays(params: Mapping[str, Any]) -> dict[str, Any]:
        return world.get_metric_data(dict(params) | {"EndTime": int(params["EndTime"]) + 120})

    watched.break_with(strays)
    assert max(reads(await watched.poll())) == NOW - 4 * MINUTE


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 7), st.integers(1, 10), st.sampled_from([*FAULTS, "none", "none", "none"]))),
)
def test_whatever_fails_and_however_late_it_is_nothing_is_lost(polls: list[tuple[int, int, str]]) -> None:
    """Minutes between polls, minutes that data is late, fault; what lies within the hour that is kept must be there."""

    async def story() -> None:
        world = MetricWorld().table("orders").put("ConsumedReadCapacityUnits", "Sum", float, TableName="orders")
        watched = Watched(world, MetricTarget("orders"))
        await watched.poll()
        for minutes, delay, fault in polls:
            world.delay_ms = delay * MINUTE
            watched.mend() if fault == "none" else watched.break_with(FAULTS[fault][0])
            await watched.wait_and_poll(minutes)
        world.delay_ms = MINUTE
        watched.mend()
        found = series(await watched.wait_and_poll(), "ConsumedReadCapacityUnits", TableName="orders")
        first = max(NOW - 20 * MINUTE, world.now - 60 * MINUTE)
        assert [time for time in found.timestamps if time >= first] == [*range(first, world.now - 3 * MINUTE, MINUTE)]
        assert all(time == value for time, value in zip(found.timestamps, found.values, strict=True))

    asyncio.run(story())
