from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from tests.support.planned import contract_of, observed, planned
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

GET = {"operation": "GetItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}, "item_bytes": 1000, "rate": {"p95": 2, "peak": 9}}
PUT = {"operation": "PutItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}, "item_bytes": 1000}


def calls(made: Recorded, minutes: int = 10) -> Recorded:
    """One read and one write a second, each key once."""
    for second in range(minutes * 60):
        key = {"PK": f"C#{second}", "SK": f"O#{second}"}
        made.request("GetItem", second, key=key, units=0.5, caller="shop", region="eu-central-1")
        made.request("PutItem", second, key=key, caller="shop", consumed={"total": 2, "table": 1, "indexes": {"I": 1}})
    return made


def test_a_request_log_alone_tells_demand_by_place_and_says_so(tmp_path: Path) -> None:
    plan = planned(calls(Recorded(minutes=10)), tmp_path, contract_of(GET, PUT))
    told = {(one.place, one.direction): one.mean_units for one in plan.demands}
    assert told == {
        ("orders", Direction.READ): 0.5,
        ("orders", Direction.WRITE): 1,
        ("orders/I", Direction.WRITE): 1,
    }
    assert plan.requests_a_month == 2 * 2_628_000
    assert any("units are those of the request log" in note for note in plan.notes)
    assert any("the table is in eu-central-1, and prices are those of us-east-1" in note for note in plan.notes)
    assert any("only 600 seconds were observed" in note for note in plan.notes)
    assert any("storage is not reckoned" in note for note in plan.notes)
    assert (plan.storage_bytes, plan.billing_mode) == (None, None)


def test_metrics_come_before_the_log(tmp_path: Path) -> None:
    made = calls(Recorded(minutes=10)).table("PK", "SK", TableSizeBytes=2**30)
    made.metric("ConsumedReadCapacityUnits", [600] * 10)
    plan = planned(made, tmp_path)
    first = plan.demands[0]
    assert (first.source, first.mean_units) == (SourceName.CLOUDWATCH_METRICS, 10)
    assert plan.demands[1].source is SourceName.REQUEST_LOG
    assert plan.storage_bytes == 2**30
    assert plan.billing_mode == "PAY_PER_REQUEST"


def test_autoscaling_s_own_bounds_and_target_are_used(tmp_path: Path) -> None:
    made = Recorded(minutes=60).table("PK", "SK", read=100, write=100)
    made.metric("ConsumedWriteCapacityUnits", [60 * 50] * 60)
    made.line("scaling", table="orders", dimension="write", min=200, max=400, target=50, activities=[])
    plan = planned(made, tmp_path)
    provisioned = next(one for one in plan.options if one.name == "provisioned")
    assert provisioned.because == "capacity units: writes of orders 200 to 400 at 50%"
    other = planned(made, tmp_path, target_share=0.8)
    assert "at 80%" in str(next(one for one in other.options if one.name == "provisioned").because)


def test_a_local_index_is_in_its_table_s_numbers(tmp_path: Path) -> None:
    made = calls(Recorded(minutes=10)).table("PK", "SK", local={"I": ("PK", "SK2")})
    plan = planned(made, tmp_path)
    assert {one.place for one in plan.demands} == {"orders"}
    assert next(one.mean_units for one in plan.demands if one.direction is Direction.WRITE) == 2


def test_the_cheapest_way_that_refuses_next_to_nothing_is_best(tmp_path: Path) -> None:
    steady = Recorded(minutes=60).table("PK", "SK").metric("ConsumedWriteCapacityUnits", [60 * 70] * 60)
    assert planned(steady, tmp_path).best == "provisioned"
    jumpy = Recorded(minutes=60).table("PK", "SK")
    jumpy.metric("ConsumedWriteCapacityUnits", [60, *([60 * 70] * 10), *([60] * 49)])
    assert planned(jumpy, tmp_path).best == "on-demand"


def test_a_reservation_takes_a_week_of_observation(tmp_path: Path) -> None:
    day, week = 24 * 60, 7 * 24 * 60
    for minutes, best in ((day, "provisioned"), (week, "reserved")):
        made = Recorded(minutes=minutes).table("PK", "SK")
        made.metric("ConsumedWriteCapacityUnits", [60 * 700] * minutes)
        plan = planned(made, tmp_path)
        assert plan.best == best
        assert any("reservation" in note for note in plan.notes) is (best == "provisioned")


def test_requests_are_counted_by_cloudwatch_where_it_was_asked(tmp_path: Path) -> None:
    made = calls(Recorded(minutes=10)).table("PK", "SK")
    made.metric("SuccessfulRequestLatency", [600] * 10, stat="SampleCount", Operation="GetItem")
    made.metric("ConsumedWriteCapacityUnits", [60] * 10)
    assert planned(made, tmp_path).requests_a_month == 10 * 2_628_000


def test_keys_come_first_and_capacity_last(tmp_path: Path) -> None:
    made = Recorded(minutes=1)
    for number in range(200):
        made.request("GetItem", 5 + number / 100, key={"PK": "C#1", "SK": "O#1"}, units=200)
    bad = {
        "operation": "Query",
        "key": {"PK": "<x>"},
        "filter": "none",
        "rate": {"peak": 9000},
        "per_key": {"top_share": "100%"},
    }
    plan = planned(made, tmp_path, contract_of(bad))
    assert any("`check` finds 1 fault" in text for text in plan.warnings)
    assert any("one key of orders takes 133% of what one partition serves (reads)" in text for text in plan.warnings)


def test_a_coarse_sample_convicts_no_key(tmp_path: Path) -> None:
    made = Recorded(minutes=1)
    for number in range(3):
        made.request("GetItem", number * 20, key={"PK": "C#1", "SK": "O#1"}, units=1, sample_rate=0.0001)
    assert planned(made, tmp_path).warnings == ()


def test_what_was_refused_replicas_and_holes_are_said(tmp_path: Path) -> None:
    made = Recorded(minutes=10).table("PK", "SK", Replicas=[{"RegionName": "us-east-1"}])
    made.metric("ConsumedWriteCapacityUnits", [60] * 9, status="PartialData")
    tries = [{"code": "ThrottlingException", "at_ms": 1}]
    made.request("PutItem", 5, key={"PK": "C#1", "SK": "O#1"}, units=1, tries=tries, attempts=2)
    notes = planned(made, tmp_path).notes
    assert any("1 tries were refused" in note for note in notes)
    assert any("1 minutes of CloudWatch's series are missing" in note for note in notes)
    assert any("the table has replicas" in note for note in notes)


def test_nothing_consumed_is_nothing_reckoned(tmp_path: Path) -> None:
    plan = planned(Recorded(minutes=10).table("PK", "SK"), tmp_path, factor=2)
    assert (plan.demands, plan.best, plan.requests_a_month) == ((), None, None)
    assert any("no consumed units are known" in note for note in plan.notes)
    assert plan.event is not None
    assert plan.event.peaks == ()


def test_warm_throughput_that_was_told_is_what_stands_ready(tmp_path: Path) -> None:
    warm = {"ReadUnitsPerSecond": 50, "WriteUnitsPerSecond": 40, "Status": "ACTIVE"}
    made = Recorded(minutes=10).table("PK", "SK", WarmThroughput=warm)
    made.metric("ConsumedWriteCapacityUnits", [600] * 10)
    event = planned(made, tmp_path, factor=5).event
    assert event is not None
    assert (event.peaks[0].ready_units, event.peaks[0].is_told, event.peaks[0].is_short) == (40, True, True)


def test_a_pattern_costs_what_it_and_its_index_writes_cost_and_should_cost_what_is_declared(tmp_path: Path) -> None:
    contract = contract_of(
        GET,
        PUT,
        GET | {"key": {"PK": "X#<x>", "SK": "X"}},
        indexes=[{"name": "I", "partition_key": "S", "projection": "all"}],
    )
    plan = planned(calls(Recorded(minutes=10)), tmp_path, contract)
    costs = {one.pattern: one for one in plan.patterns}
    get, put, unseen = costs["p0"], costs["p1"], costs["p2"]
    assert (get.requests_a_second, get.units_a_request, get.read_units) == (1, 0.5, 0.5)
    assert (put.units_a_request, put.write_units, put.index_units) == (2, 1, {"I": 1})
    assert put.dollars == pytest.approx(2 * 2.628 * 0.625)
    assert put.should is not None
    assert (put.should.units_a_request, put.should.dollars_as_declared) == (2, None)
    assert put.should.dollars_as_observed == pytest.approx(put.dollars)
    assert get.should is not None
    assert get.should.dollars_as_declared == pytest.approx(2 * 0.5 * 2.628 * 0.125)
    assert (get.drift, unseen.drift) == (1, None)
    assert (unseen.requests_a_second, unseen.dollars, unseen.kind) == (0, 0, "declared")


def test_requests_that_tell_no_units_cost_nobody_knows_what(tmp_path: Path) -> None:
    made = Recorded(minutes=10)
    made.request("GetItem", 5, key={"PK": "C#1", "SK": "O#1"})
    (cost,) = planned(made, tmp_path, contract_of()).patterns
    assert (cost.pattern, cost.dollars, cost.units_a_request, cost.drift) == ("undeclared", None, None, None)


def test_a_table_of_which_only_an_index_was_read_is_planned_too(tmp_path: Path) -> None:
    made = Recorded(minutes=2)
    made.request("Query", 5, index="I", key={"S": "OPEN"}, units=2)
    seen, _ = observed(made, tmp_path)
    assert [one.target.index for one in seen.traffics] == [None, "I"]
    assert [one.place for one in planned(made, tmp_path).demands] == ["orders/I"]
