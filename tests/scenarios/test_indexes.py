"""Faults of indexes, each as a recording that is replayed; variants have other numbers, or a field or source less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Severity
from tests.docs.examples import indexes as examples
from tests.support.lagging_store import records
from tests.support.recordings import ACCOUNT, REGION, Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.report import Report

OF_INDEXES = {
    "gsi-back-pressure",
    "gsi-lag",
    "gsi-stale-read",
    "gsi-consistent-read",
    "unused-index",
    "missing-index",
    "index-building",
    "write-amplification",
    "item-collection-limit",
}
INDEX = {"by-status": ("status",)}
ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders/index/by-status"
DAY = 86_400


def found(report: Report) -> set[tuple[str, str | None]]:
    """Return what the detectors of indexes found, and where."""
    return {(one.detector, one.index) for one in report.findings if one.detector in OF_INDEXES}


def order(number: int) -> dict[str, str]:
    return {"PK": f"ORDER#{number}", "SK": "META"}


def written(table: float, index: float = 0.0) -> dict[str, Any]:
    indexes = {"indexes": {"by-status": index}} if index else {}
    return {"consumed": {"total": table + index, "write": table + index, "table": table, **indexes}}


# a bulk writer that knows the capacity of the table alone


def bulk(**fields: Any) -> Recorded:
    made = Recorded(minutes=1).table(write=2000, indexes=INDEX)
    for number in range(120):
        call = fields if number % 2 else written(1, 1)
        made.request("PutItem", number / 2, key=order(number), caller="loader", **call)
    return made


def refused(**fields: str) -> dict[str, Any]:
    reasons = [{"reason": "IndexWriteProvisionedThroughputExceeded", **fields}]
    return {"error": {"code": "ProvisionedThroughputExceededException", "reasons": reasons}}


def test_a_full_index_is_blamed_and_not_its_table(tmp_path: Path) -> None:
    report = bulk(**refused(resource=ARN)).replayed(tmp_path)
    pressure = only_of(report, "gsi-back-pressure")
    throttling = only_of(report, "throttling")
    assert (pressure.severity, pressure.index, pressure.caller) == (Severity.CRITICAL, "by-status", "loader")
    assert (pressure.cause, throttling.index, throttling.caused_by) == ("provisioned", "by-status", pressure.id)
    assert "raise-capacity" not in {advice.action for one in report.findings for advice in one.advice}


def test_requests_that_only_metrics_count_are_those_of_the_index_and_not_of_its_table(tmp_path: Path) -> None:
    made = bulk(**refused(resource=ARN))
    made.metric("ThrottledRequests", [140], Operation="PutItem")
    made.metric("WriteThrottleEvents", [140], index="by-status")
    throttled = {(one.detector, one.index) for one in made.replayed(tmp_path).findings if "throttling" in one.detector}
    assert throttled == {("throttling", "by-status")}


def test_a_try_that_a_retry_absorbed_blames_the_only_index_that_the_write_reaches(tmp_path: Path) -> None:
    tries = [{"at_ms": 4, "code": "ThrottlingException", "reason": "IndexWriteProvisionedThroughputExceeded"}]
    report = bulk(**written(1, 1), tries=tries, attempts=2).replayed(tmp_path)
    pressure = only_of(report, "gsi-back-pressure")
    assert (pressure.severity, pressure.index, pressure.cause) == (Severity.HIGH, "by-status", "provisioned")


def test_metrics_alone_blame_the_index_whose_events_they_count(tmp_path: Path) -> None:
    made = Recorded(minutes=3).table(write=2000, indexes=INDEX).quiet_metrics(write=70_000)
    made.metric("ConsumedWriteCapacityUnits", [119_000] * 3, index="by-status")
    made.metric("WriteThrottleEvents", [0, 800, 900], index="by-status")
    report = made.replayed(tmp_path)
    pressure = only_of(report, "gsi-back-pressure")
    assert (pressure.severity, pressure.index, pressure.cause) == (Severity.HIGH, "by-status", "provisioned")
    assert not [one for one in report.findings if one.detector == "throttling" and one.index is None]


# throttled keys are not counted where an index refuses


def blind(**events: list[float]) -> Recorded:
    made = Recorded(minutes=1).table(read=900, write=900, indexes=INDEX)
    made.metric("ConsumedWriteCapacityUnits", [9_000])
    for metric, values in events.items():
        made.metric(metric, values, index="by-status")
    nothing = {"KeyLabels": ["PartitionKey"], "AggregationStatistic": "Sum", "AggregateValue": 0, "Contributors": []}
    parts = {"table": "orders", "rule": "PKT", "mode": "THROTTLED_KEYS", "period": 60}
    return made.line("insights", **parts, report=nothing)


def test_an_empty_list_of_throttled_keys_is_a_gap_beside_an_index_that_refuses(tmp_path: Path) -> None:
    report = blind(WriteThrottleEvents=[2_400]).replayed(tmp_path)
    assert only_of(report, "gsi-back-pressure").severity is Severity.HIGH
    assert any("PKT" in gap.detail or gap.index == "by-status" for gap in report.gaps)
    assert report.verdict.state.value == "fault"


def test_the_reason_that_metrics_name_is_the_cause(tmp_path: Path) -> None:
    events: dict[str, list[float]] = {"WriteThrottleEvents": [2_400], "WriteKeyRangeThroughputThrottleEvents": [2_400]}
    pressure = only_of(blind(**events).replayed(tmp_path), "gsi-back-pressure")
    assert (pressure.cause, pressure.confidence) == ("key-range", Confidence.CERTAIN)
    assert not [advice for advice in pressure.advice if advice.action.startswith("raise")]


def test_events_that_the_table_counts_as_well_are_folded_under_the_index(tmp_path: Path) -> None:
    made = blind(WriteThrottleEvents=[2_400]).metric("WriteThrottleEvents", [2_400])
    report = made.replayed(tmp_path)
    pressure = only_of(report, "gsi-back-pressure")
    at_table = [one for one in report.findings if one.detector == "throttling" and one.index is None]
    assert [one.caused_by for one in at_table] == [pressure.id]


# an index that is declared, and scanned around


def around(days: int = 30, *, points: bool = True, units: int | None = 10) -> Recorded:
    made = Recorded(minutes=days * 24 * 60).table(read=units, write=units, indexes=INDEX)
    made.contract(
        {"id": "open-orders", "operation": "Query", "index": "by-status", "key": {"status": "<status>"}},
        indexes=[{"name": "by-status", "partition_key": "status"}],
    )
    made.metric("ConsumedReadCapacityUnits", [0] * days if points else [], index="by-status", period=DAY)
    made.metric("ConsumedWriteCapacityUnits", [86_400] * days, index="by-status", period=DAY)
    for number in range(12):
        asked: Any = {"filter": "#s = :open", "names": {"#s": "status"}, "caller": "desk", "count": 3, "scanned": 900}
        made.request("Scan", days * DAY - 290 + number * 20, units=200, consistent=True, **asked)
    return made


def test_an_index_that_scans_go_around_is_unused_and_is_not_to_be_deleted(tmp_path: Path) -> None:
    report = around().replayed(tmp_path)
    unused = only_of(report, "unused-index")
    assert (unused.severity, unused.index, unused.cost_per_month_usd) == (Severity.MEDIUM, "by-status", 5.69)
    assert "delete-index" not in {advice.action for advice in unused.advice}
    assert "query-instead-of-scan" in {advice.action for advice in unused.advice}


def test_no_points_at_all_are_no_reads_where_writes_were_told_as_long(tmp_path: Path) -> None:
    unused = only_of(around(20, points=False, units=None).replayed(tmp_path), "unused-index")
    assert (unused.severity, unused.cost_per_month_usd) == (Severity.LOW, 1.64)


def test_five_days_say_nothing_of_an_index(tmp_path: Path) -> None:
    report = around(5).replayed(tmp_path)
    assert ("unused-index", "by-status") not in found(report)
    assert [one.needs for one in report.skipped if one.detector == "unused-index" and one.index] == [
        ("SPAN(14d): 5 days are covered",)
    ]


# a strong read of an index

SAID = "Consistent reads are not supported on global secondary indexes"


def strong(message: str | None = SAID, **table: Any) -> Recorded:
    made = Recorded().table(**(table or {"indexes": INDEX}))
    error = {"code": "ValidationException"} | ({"message": message} if message else {})
    for number in range(15):
        asked: Any = {"index": "by-status", "consistent": True, "error": error, "caller": "list"}
        made.request("Query", number * 19.1, key={"status": "NEW"}, **asked)
    return made


@pytest.mark.parametrize(("message", "confidence"), [(SAID, Confidence.CERTAIN), (None, Confidence.LIKELY)])
def test_a_strong_read_of_a_global_index_is_refused_and_said_to_be(
    message: str | None, confidence: Confidence, tmp_path: Path
) -> None:
    report = strong(message).replayed(tmp_path)
    one = only_of(report, "gsi-consistent-read")
    assert (one.severity, one.index, one.caller, one.confidence) == (Severity.CRITICAL, "by-status", "list", confidence)
    assert one.direction == "read"
    assert found(report) == {("gsi-consistent-read", "by-status")}


def test_a_local_index_that_refuses_for_another_reason_is_no_strong_read(tmp_path: Path) -> None:
    assert found(strong(None, local={"by-status": ("PK", "status")}).replayed(tmp_path)) == set()


# a loop that reads its own writes


def loop(gap: float, *, loses: bool = True, keys: bool = False) -> Recorded:
    made = Recorded(minutes=2).table(indexes=INDEX)
    for number in range(25):
        at = number * 4.3
        told: Any = {"trace_id": f"run-{number}", "caller": "runner"}
        sets: Any = {"update": "SET #s = :s", "names": {"#s": "status"}, **told}
        entry: Any = {"index_keys": {"by-status": {"status": {"S": "RUNNING"}}}} if keys else {}
        made.request("UpdateItem", at, key=order(number), **written(1), **entry, **sets)
        seen: Any = {"returned": [{"key": "ORDER#900\tMETA"}]} if keys else {}
        asked: Any = {"index": "by-status", "count": 1, "scanned": 1, **seen, **told}
        made.request("Query", at + gap, key={"status": "RUNNING"}, units=0.5, **asked)
        if loses:
            lost: Any = {"condition": "#s = :old", "error": {"code": "ConditionalCheckFailedException"}, **sets}
            made.request("UpdateItem", at + gap + 0.02, key=order(number), **lost)
    return made


def test_a_conditional_write_that_loses_after_the_read_makes_it_medium_and_still_a_risk(tmp_path: Path) -> None:
    report = loop(0.011).replayed(tmp_path)
    one = only_of(report, "gsi-stale-read")
    assert (one.severity, one.index, one.caller) == (Severity.MEDIUM, "by-status", "runner")
    assert (one.evidence["gap_median_ms"], one.evidence["stale_results"]) == (11, 0)
    assert "a risk" in (one.because or "")
    assert "gsi-stale-read" not in alarms(report)


def test_a_result_without_the_item_just_written_is_proof(tmp_path: Path) -> None:
    one = only_of(loop(0.011, loses=False, keys=True).replayed(tmp_path), "gsi-stale-read")
    assert (one.severity, one.confidence, one.evidence["stale_results"]) == (Severity.MEDIUM, Confidence.CERTAIN, 25)


def test_a_race_that_is_won_as_far_as_is_seen_is_low_and_three_seconds_later_is_none(tmp_path: Path) -> None:
    assert only_of(loop(0.2, loses=False).replayed(tmp_path), "gsi-stale-read").severity is Severity.LOW
    assert found(loop(3.0, loses=False).replayed(tmp_path)) == set()


# writes that cost more since there is an index


def moves(rate: float = 1.0, **contract: Any) -> Recorded:
    made = Recorded().table(indexes=INDEX)
    if contract:
        index = {"name": "by-status", "partition_key": "status", **contract}
        made.contract({"id": "get-order", "operation": "GetItem", "key": {"PK": "ORDER#<id>"}}, indexes=[index])
    for number in range(440):
        told: Any = {"sample_rate": rate, "caller": "states", "key": order(number // 2)}
        if number % 2:
            made.request("UpdateItem", number * 0.65, update="SET comment = :c", **written(1), **told)
        else:
            moved: Any = {"update": "SET #s = :s", "names": {"#s": "status"}, **written(1, 2)}
            made.request("UpdateItem", number * 0.65, **moved, **told)
    return made


@pytest.mark.parametrize(("rate", "severity"), [(1.0, Severity.LOW), (0.1, Severity.MEDIUM)])
def test_a_change_of_state_that_moves_its_entry_costs_three_writes(
    rate: float, severity: Severity, tmp_path: Path
) -> None:
    report = moves(rate).replayed(tmp_path)
    one = only_of(report, "write-amplification")
    assert (one.severity, one.index, one.evidence["factor"], one.caller) == (severity, "by-status", 3.0, "states")
    assert found(report) == {("write-amplification", "by-status")}


def test_what_the_contract_expects_is_no_finding(tmp_path: Path) -> None:
    assert found(moves(0.1, expected_write_amplification=1.5).replayed(tmp_path)) == set()


def test_metrics_alone_tell_moves_by_more_units_on_the_index_than_on_its_table(tmp_path: Path) -> None:
    made = Recorded().table(indexes=INDEX).quiet_metrics(write=6_000)
    one = only_of(
        made.metric("ConsumedWriteCapacityUnits", [11_400] * 5, index="by-status").replayed(tmp_path),
        "write-amplification",
    )
    assert (one.severity, one.confidence, one.evidence["amplification"]) == (Severity.MEDIUM, Confidence.LIKELY, 1.9)


# an index that is behind


def test_an_index_that_is_ten_seconds_behind_is_told_from_reads_and_writes_alone(tmp_path: Path) -> None:
    one = only_of(examples.gsi_lag().replayed(tmp_path), "gsi-lag")
    low, high = one.evidence["lag_p50_seconds_low"], one.evidence["lag_p50_seconds_high"]
    assert (one.severity, one.index) == (Severity.HIGH, "by-status")
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 5 < low <= 10.4 <= high


def test_an_index_that_is_as_fast_as_usual_says_nothing_of_a_lag(tmp_path: Path) -> None:
    made = Recorded().table(indexes=INDEX)
    for at, record in records(7, items=20, writes=30):
        made.request(record.pop("op"), at, latency_ms=4, **record)
    report = made.replayed(tmp_path)
    assert "gsi-lag" not in {one.detector for one in report.findings}
    assert ("gsi-lag", "by-status") not in {(one.detector, one.index) for one in report.skipped}


def test_metrics_alone_tell_a_possible_lag_under_the_back_pressure_that_explains_it(tmp_path: Path) -> None:
    made = Recorded(minutes=5).table(write=2000, indexes=INDEX).quiet_metrics(write=60_000)
    made.metric("ConsumedWriteCapacityUnits", [3_600_000] * 48, period=3600, at=-48 * 3600)
    made.metric("ConsumedWriteCapacityUnits", [3_600_000] * 48, index="by-status", period=3600, at=-48 * 3600)
    made.metric("ConsumedWriteCapacityUnits", [40_000] * 5, index="by-status")
    made.metric("WriteThrottleEvents", [900] * 5, index="by-status")
    report = made.replayed(tmp_path)
    lag = only_of(report, "gsi-lag")
    assert (lag.confidence, lag.index) == (Confidence.POSSIBLE, "by-status")
    assert lag.caused_by == only_of(report, "gsi-back-pressure").id


# builds, missing indexes, collections


def test_an_index_that_is_being_built_is_not_missing(tmp_path: Path) -> None:
    made = examples.missing_index()
    made.metric("OnlineIndexPercentageProgress", [10, 20, 30, 40, 50], index="by-state", stat="Maximum")
    report = made.replayed(tmp_path)
    assert found(report) == {("index-building", "by-state")}
    assert alarms(report) == set()


def test_a_collection_is_full_whatever_else_its_table_does(tmp_path: Path) -> None:
    one = only_of(examples.item_collection_limit().replayed(tmp_path), "item-collection-limit")
    assert (one.severity, one.key, one.caller) == (Severity.CRITICAL, {"PK": "DEVICE#17"}, "ingest")


# what is healthy


def test_a_healthy_index_says_nothing(tmp_path: Path) -> None:
    """A shop: orders are put once and change state now and then, lists are read seconds later, some throttles pass."""
    made = Recorded(minutes=10).table(read=400, write=400, indexes=INDEX).quiet_metrics(write=9_000)
    made.metric("ConsumedWriteCapacityUnits", [6_000] * 10, index="by-status")
    made.metric("ConsumedReadCapacityUnits", [3_000] * 10, index="by-status")
    made.metric("WriteThrottleEvents", [], index="by-status")
    for number in range(300):
        at = number * 1.9
        trace: Any = {"trace_id": f"trace-{number}", "caller": "shop"}
        entry: Any = {"by-status": {"status": {"S": "NEW"}}}
        made.request("PutItem", at, key=order(number), index_keys=entry, **written(1, 1), **trace)
        seen: Any = {"index": "by-status", "count": 8, "scanned": 8, "trace_id": f"list-{number}", "caller": "desk"}
        made.request("Query", at + 0.3, key={"status": "NEW"}, units=0.5, **seen)
        if number % 10 == 0:
            update: Any = {"update": "SET #s = :s", "names": {"#s": "status"}, "caller": "desk"}
            made.request("UpdateItem", at + 1, key=order(number), **update, **written(1, 2))
    assert found(made.replayed(tmp_path)) == set()
