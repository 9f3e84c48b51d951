"""What is asked of CloudWatch, and what a poll makes of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from collectors.cloudwatch_metrics.config import MetricTarget
from tests.support.metric_world import MINUTE, NOW, MetricWorld
from tests.support.watched_metrics import Watched, series

HOUR = 60 * MINUTE
DAY = 24 * HOUR


async def test_use_is_read_of_the_table_and_of_each_index_apart(world: MetricWorld) -> None:
    world.table("orders", ["by-state"])
    world.put("ConsumedReadCapacityUnits", "Sum", 60.0, TableName="orders", GlobalSecondaryIndexName="by-state")
    batch = await Watched(world, MetricTarget("orders", ("by-state",))).poll()
    assert series(batch, "ConsumedReadCapacityUnits", TableName="orders").values[-1] == 600
    place: dict[str, Any] = {"TableName": "orders", "GlobalSecondaryIndexName": "by-state"}
    assert series(batch, "ConsumedReadCapacityUnits", **place).values[-1] == 60
    assert batch.gaps == ()


async def test_a_poll_covers_what_has_settled_and_was_read_again(world: MetricWorld) -> None:
    world.table("orders", ["by-state"])
    batch = await Watched(world, MetricTarget("orders", ("by-state",))).poll()
    settled = Window(NOW - 20 * MINUTE, NOW - 3 * MINUTE)
    assert [(one.table, one.index, one.window) for one in batch.covers] == [
        ("orders", None, settled),
        ("orders", "by-state", settled),
    ]
    assert series(batch, "ConsumedReadCapacityUnits", TableName="orders").timestamps[-1] == NOW - 4 * MINUTE


async def test_a_throttle_series_without_points_is_whole_and_has_none(world: MetricWorld) -> None:
    world.table("orders")
    batch = await Watched(world, MetricTarget("orders")).poll()
    throttles = series(batch, "ReadKeyRangeThroughputThrottleEvents", TableName="orders")
    assert (throttles.values, throttles.is_complete) == ((), True)


async def test_calls_are_as_few_as_five_hundred_series_each_allow(world: MetricWorld) -> None:
    targets = [MetricTarget(f"table-{number}", ("one", "two"), is_provisioned=True) for number in range(200)]
    for target in targets:
        world.table(target.table, target.indexes)
    watched = Watched(world, *targets)
    await watched.poll()
    asked = [call["MetricDataQueries"] for call in watched.aws.asked("GetMetricData")]
    by_period: dict[int, int] = {}
    for queries in asked:
        assert len({query["MetricStat"]["Period"] for query in queries}) == 1
        period = queries[0]["MetricStat"]["Period"]
        by_period[period] = by_period.get(period, 0) + len(queries)
    assert len(asked) == sum(-(-count // 500) for count in by_period.values())
    assert by_period == {60: 200 * (12 + 2 * 12 + 4 + 5) + 1, 300: 200 * 3 * 2 + 8}


async def test_operations_are_those_that_metrics_know_and_always_scan(world: MetricWorld) -> None:
    world.table("orders", operations=["PutItem"])
    watched = Watched(world, MetricTarget("orders"))
    await watched.poll()
    assert asked_operations(watched) == {"PutItem", "Scan"}


async def test_without_permission_to_list_the_usual_operations_are_asked_for(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"), answers={"ListMetrics": {"Unexpected": True}})
    batch = await watched.poll()
    assert {"GetItem", "Query", "Scan", "PutItem"} <= asked_operations(watched)
    assert [(gap.reason, gap.table) for gap in batch.gaps] == [(GapReason.MALFORMED, None)]
    assert batch.covers


async def test_what_was_listed_once_stands_for_an_hour(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"))
    for _ in range(3):
        await watched.wait_and_poll()
    assert watched.aws.operations().count("ListMetrics") == 1
    await watched.wait_and_poll(60)
    assert watched.aws.operations().count("ListMetrics") == 2


async def test_a_new_table_is_looked_for_sooner(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"), MetricTarget("carts"))
    await watched.poll()
    world.table("carts", operations=["DeleteItem"])
    await watched.wait_and_poll()
    assert "DeleteItem" not in asked_operations(watched)
    await watched.wait_and_poll()
    assert "DeleteItem" in asked_operations(watched)
    await watched.wait_and_poll(20)
    assert watched.aws.operations().count("ListMetrics") == 2


async def test_without_a_catalog_the_tables_are_those_that_metrics_name(world: MetricWorld) -> None:
    world.table("orders", ["by-state"]).table("orders-copy").table("carts")
    batch = await Watched(world, include=("orders*",), exclude=("*-copy",)).poll()
    assert {(one.table, one.index) for one in batch.covers} == {("orders", None), ("orders", "by-state")}


async def test_pages_are_followed_and_put_together() -> None:
    world = MetricWorld(page_points=7).table("orders")
    watched = Watched(world, MetricTarget("orders"))
    batch = await watched.poll()
    one_page = await Watched(MetricWorld().table("orders"), MetricTarget("orders")).poll()
    assert batch.metrics == one_page.metrics
    assert len(watched.aws.asked("GetMetricData")) > 2


async def test_a_service_that_turns_in_a_circle_is_left(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"))
    watched.break_with(lambda params: world.get_metric_data(params | {"NextToken": "0"}) | {"NextToken": "same"})
    batch = await watched.poll()
    assert {gap.reason for gap in batch.gaps} == {GapReason.MALFORMED}
    assert len(watched.aws.asked("GetMetricData")) == 4


async def test_points_that_change_are_taken_again(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"))
    await watched.poll()
    world.put("ConsumedReadCapacityUnits", "Sum", 900.0, TableName="orders")
    batch = await watched.wait_and_poll()
    found = series(batch, "ConsumedReadCapacityUnits", TableName="orders")
    again = [v for t, v in zip(found.timestamps, found.values, strict=True) if t >= batch.window.start - 15 * MINUTE]
    assert set(again) == {900.0}


async def test_ten_minutes_late_is_a_gap_and_nothing_is_lost() -> None:
    world = MetricWorld(delay_ms=10 * MINUTE)
    world.table("orders").put("ConsumedReadCapacityUnits", "Sum", lambda time: time / MINUTE, TableName="orders")
    watched = Watched(world, MetricTarget("orders"))
    batch = await watched.poll()
    assert [(gap.reason, gap.table, gap.end) for gap in batch.gaps] == [(GapReason.LATE, "orders", NOW - 3 * MINUTE)]
    assert {one.window.end for one in batch.covers} == {NOW - 10 * MINUTE}
    for _ in range(3):
        batch = await watched.wait_and_poll()
    points = series(batch, "ConsumedReadCapacityUnits", TableName="orders").timestamps
    assert points == tuple(range(points[0], world.now - 10 * MINUTE, MINUTE))


async def test_a_minute_or_two_late_is_covered_less_far_and_no_gap() -> None:
    world = MetricWorld(delay_ms=5 * MINUTE).table("orders")
    batch = await Watched(world, MetricTarget("orders")).poll()
    assert batch.gaps == ()
    assert {one.window.end for one in batch.covers} == {NOW - 5 * MINUTE}


async def test_a_late_table_recovers_by_itself() -> None:
    world = MetricWorld(delay_ms=10 * MINUTE).table("orders")
    watched = Watched(world, MetricTarget("orders"))
    assert (await watched.poll()).gaps
    world.delay_ms = MINUTE
    batch = await watched.wait_and_poll()
    assert batch.gaps == ()
    assert batch.covers


async def test_an_idle_table_is_not_late(world: MetricWorld) -> None:
    world.table("orders")
    stopped = world.now
    for direction in ("Read", "Write"):
        world.put(
            f"Consumed{direction}CapacityUnits", "Sum", lambda time: 1.0 if time < stopped else None, TableName="orders"
        )
    watched = Watched(world, MetricTarget("orders"))
    await watched.poll()
    batch = await watched.wait_and_poll(45)
    assert batch.gaps == ()


@pytest.mark.parametrize(
    ("status", "reason"), [("InternalError", GapReason.LOW_COVERAGE), ("Forbidden", GapReason.DENIED)]
)
async def test_a_series_that_is_not_whole_is_a_gap_and_covers_nothing(status: str, reason: GapReason) -> None:
    world = MetricWorld().table("orders").table("carts")
    world.statuses["ReadThrottleEvents"] = status
    batch = await Watched(world, MetricTarget("orders"), MetricTarget("carts")).poll()
    assert [(gap.reason, gap.table, gap.detail) for gap in batch.gaps] == [
        (reason, table, f"ReadThrottleEvents: status {status}") for table in ("orders", "carts")
    ]
    assert batch.covers == ()


async def test_a_series_that_was_not_answered_is_a_gap(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"))

    def shortened(params: dict[str, object]) -> dict[str, object]:
        answer = world.get_metric_data(params)
        return {"MetricDataResults": answer["MetricDataResults"][:-1]}

    watched.break_with(shortened)
    batch = await watched.poll()
    assert [gap.reason for gap in batch.gaps] == [GapReason.LOW_COVERAGE] * 2
    assert all("not answered" in gap.detail for gap in batch.gaps)


async def test_a_window_to_come_says_that_nothing_has_settled(world: MetricWorld) -> None:
    window = Window(NOW + HOUR, NOW + 2 * HOUR)
    batch = await Watched(world, MetricTarget("orders")).collector.collect(window)
    assert [gap.reason for gap in batch.gaps] == [GapReason.LATE]


async def test_a_window_of_another_year_says_that_it_is_forgotten(world: MetricWorld) -> None:
    window = Window(NOW - 500 * DAY, NOW - 500 * DAY + HOUR)
    batch = await Watched(world, MetricTarget("orders")).collector.collect(window)
    assert [gap.reason for gap in batch.gaps] == [GapReason.UNSUPPORTED]


@pytest.mark.parametrize(("days", "period"), [(2, 60), (20, 300), (100, 3600)])
async def test_an_old_window_is_read_at_the_period_that_is_kept(days: int, period: int) -> None:
    world = MetricWorld().table("orders")
    window = Window(NOW - days * DAY, NOW - days * DAY + 3 * HOUR)
    batch = await Watched(world, MetricTarget("orders")).collector.collect(window)
    found = series(batch, "ConsumedReadCapacityUnits", period=period, TableName="orders")
    assert len([time for time in found.timestamps if window.holds(time)]) == 3 * 3600 / period
    assert all(one.window.start <= window.start and one.window.end == window.end for one in batch.covers)


async def test_what_settles_later_is_read_later(world: MetricWorld) -> None:
    watched = Watched(world.table("orders"), MetricTarget("orders"), overlap_ms=0)
    periods = {one.period_seconds for one in (await watched.poll()).metrics}
    assert periods == {60}
    periods = {one.period_seconds for one in (await watched.poll(minutes=15)).metrics}
    assert periods == {60, 300}


async def test_an_overlap_that_is_kept_coarser_is_left_out(world: MetricWorld) -> None:
    window = Window(NOW - 15 * DAY + MINUTE, NOW - 15 * DAY + HOUR)
    batch = await Watched(world.table("orders"), MetricTarget("orders")).collector.collect(window)
    found = series(batch, "ConsumedReadCapacityUnits", TableName="orders")
    assert found.timestamps == tuple(range(window.start, window.end, MINUTE))


async def test_a_list_of_many_pages_is_read_to_its_end(world: MetricWorld) -> None:
    everything = world.table("orders").table("carts").list_metrics({})["Metrics"]

    def page(params: dict[str, str]) -> dict[str, object]:
        place = int(params.get("NextToken", "0"))
        following = {"NextToken": str(place + 1)} if place + 1 < len(everything) else {}
        return {"Metrics": everything[place : place + 1], **following}

    batch = await Watched(world, answers={"ListMetrics": page}).poll()
    assert {one.table for one in batch.covers} == {"orders", "carts"}


async def test_a_list_without_an_end_is_a_gap(world: MetricWorld) -> None:
    batch = await Watched(world, answers={"ListMetrics": {"Metrics": [], "NextToken": "more"}}).poll()
    assert [(gap.reason, gap.detail) for gap in batch.gaps] == [
        (GapReason.MALFORMED, "ListMetrics: pages without an end")
    ]


async def test_a_window_before_the_last_one_can_be_read_too(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"))
    await watched.poll()
    window = Window(NOW - 7 * HOUR, NOW - 6 * HOUR)
    batch = await watched.collector.collect(window)
    found = series(batch, "ConsumedReadCapacityUnits", TableName="orders")
    assert len([time for time in found.timestamps if window.holds(time)]) == 60


async def test_series_over_the_bound_are_named_by_table(world: MetricWorld) -> None:
    targets = [MetricTarget(f"table-{number}") for number in range(100)]
    batch = await Watched(world, *targets, most_series=60).poll()
    wide = [gap for gap in batch.gaps if gap.reason is GapReason.LOW_COVERAGE]
    assert len(wide) == 50
    assert "such" in wide[-1].detail


async def test_a_global_table_tells_its_own_writes_and_how_far_replicas_are(world: MetricWorld) -> None:
    world.table("orders")
    world.put("ConsumedWriteCapacityUnits", "Sum", 5.0, TableName="orders", Source="Customer")
    world.put("ReplicationLatency", "Average", 800.0, TableName="orders", ReceivingRegion="eu-west-1")
    batch = await Watched(world, MetricTarget("orders", replicas=("eu-west-1",))).poll(minutes=15)
    assert series(batch, "ConsumedWriteCapacityUnits", TableName="orders", Source="Customer").values[-1] == 5
    latency: dict[str, Any] = {"TableName": "orders", "ReceivingRegion": "eu-west-1"}
    assert series(batch, "ReplicationLatency", "Average", 300, **latency).values[-1] == 800


async def test_the_past_that_detectors_compare_with_is_read_once_an_hour(world: MetricWorld) -> None:
    world.table("orders").put("ConsumedReadCapacityUnits", "Sum", float, TableName="orders")
    watched = Watched(world, MetricTarget("orders"), baselines=True)
    batch = await watched.poll()
    minutes = series(batch, "ConsumedReadCapacityUnits", TableName="orders").timestamps
    window = batch.window
    for days in (1, 7):
        assert [t for t in minutes if window.holds(t + days * DAY)] == [
            t - days * DAY for t in range(window.start, window.end, MINUTE)
        ]
    hours = series(batch, "ConsumedReadCapacityUnits", period=3600, TableName="orders").timestamps
    assert hours == tuple(NOW - HOUR - days * DAY for days in range(7, 0, -1))
    assert len(series(batch, "ConsumedReadCapacityUnits", period=86_400, TableName="orders").timestamps) == 14
    before = len(watched.aws.calls)
    await watched.wait_and_poll()
    await watched.wait_and_poll()
    assert len(watched.aws.calls) - before == 2 * 2 + 3


async def test_the_past_that_could_not_be_read_is_a_gap_and_is_read_again(world: MetricWorld) -> None:
    world.table("orders")
    watched = Watched(world, MetricTarget("orders"), baselines=True)

    def recent_only(params: dict[str, int]) -> dict[str, object]:
        return world.get_metric_data(params) if int(params["StartTime"]) * 1000 > NOW - DAY / 2 else {}

    watched.break_with(recent_only)
    batch = await watched.poll()
    assert {gap.reason for gap in batch.gaps} == {GapReason.MALFORMED}
    assert batch.covers
    watched.mend()
    world.now += MINUTE // 2
    batch = await watched.poll()
    assert batch.gaps == ()
    assert series(batch, "ConsumedReadCapacityUnits", period=86_400, TableName="orders").values


def asked_operations(watched: Watched) -> set[str]:
    return {
        one["Value"]
        for call in watched.aws.asked("GetMetricData")
        for query in call["MetricDataQueries"]
        for one in query["MetricStat"]["Metric"]["Dimensions"]
        if one["Name"] == "Operation"
    }
