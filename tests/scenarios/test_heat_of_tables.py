"""Faults of whole tables: capacity, bursts, retries, the service, wrong calls, bulk work; and days without any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Direction, Severity
from analyzer.model.instant import parse_instant
from tests.docs.examples import heat as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report

READ, WRITE = Direction.READ, Direction.WRITE
PROVISIONED = "TableReadProvisionedThroughputExceeded"


def found(report: Report, detector: str) -> list[Finding]:
    return [one for one in report.findings if one.detector == detector]


def no_hot_key(report: Report) -> bool:
    return all(one.severity is Severity.LOW for one in found(report, "hot-key"))


# a small table whose autoscaling may not go where demand goes


def spike(*, most: int | None = 12, told: bool = True) -> Recorded:
    """Four quiet minutes, then twenty of sixty reads a second; capacity follows to twelve."""
    made = Recorded(minutes=30, table="portal").table("id", read=2, write=2)
    had = [2] * 9 + [12] * 21
    made.metric("ProvisionedReadCapacityUnits", had, stat="Average")
    made.metric("ConsumedReadCapacityUnits", [30.0] * 4 + [60.0 * units for units in had[4:]])
    refused = [0] * 4 + [2_000] * 20 + [0] * 6
    made.metric("ReadProvisionedThroughputThrottleEvents" if told else "ReadThrottleEvents", refused)
    if most is not None:
        made.line("scaling", table="portal", dimension="read", min=2, max=most, target=70, scheduled=[], activities=[])
    return made


def test_a_maximum_below_demand_is_told_with_the_lag(tmp_path: Path) -> None:
    report = spike().replayed(tmp_path)
    lag, throttling = only_of(report, "autoscale-lag"), only_of(report, "throttling")
    assert (lag.severity, lag.cause, throttling.caused_by) == (Severity.HIGH, "at-maximum", lag.id)
    assert "raise-max-capacity" in [advice.action for advice in lag.advice]
    assert (throttling.cause, throttling.direction) == ("provisioned", READ)
    assert no_hot_key(report)


def test_what_metrics_alone_show_began_with_its_first_minute(tmp_path: Path) -> None:
    made = spike()
    lag, throttling = (only_of(made.replayed(tmp_path), name) for name in ("autoscale-lag", "throttling"))
    fourth = parse_instant(made.time(4 * 60))
    assert (lag.first_seen, throttling.first_seen) == (fourth, fourth)


def test_what_autoscaling_was_told_may_be_unseen(tmp_path: Path) -> None:
    lag = only_of(spike(most=None).replayed(tmp_path), "autoscale-lag")
    assert (lag.cause, lag.confidence) == ("too-late", Confidence.LIKELY)


def test_refusals_without_a_reason_at_full_use_are_the_capacity_s(tmp_path: Path) -> None:
    report = spike(told=False).replayed(tmp_path)
    assert only_of(report, "autoscale-lag").cause == "at-maximum"
    assert {one.cause for one in found(report, "throttling")} == {"provisioned"}


# a burst that keeps a clock


@pytest.mark.parametrize("hours", [4.0, 2.5])
def test_bursts_that_keep_a_clock_get_a_schedule(hours: float, tmp_path: Path) -> None:
    report = examples.autoscale_lag(hours).replayed(tmp_path)
    lag = only_of(report, "autoscale-lag")
    assert lag.cause == "too-late"
    assert lag.evidence["period_hours"] == pytest.approx(hours, abs=0.1)
    assert "schedule-scaling" in [advice.action for advice in lag.advice]
    assert no_hot_key(report)


def test_capacity_that_was_lowered_before_the_burst_is_told_as_such(tmp_path: Path) -> None:
    made = Recorded(minutes=60, table="feed").table("id", read=100, write=10)
    made.metric("ProvisionedReadCapacityUnits", [400] * 30 + [100] * 30, stat="Average")
    made.metric("ConsumedReadCapacityUnits", [1_200.0] * 45 + [6_000.0] * 15)
    made.metric("ReadThrottleEvents", [0] * 45 + [300] * 15)
    lag = only_of(made.replayed(tmp_path), "autoscale-lag")
    assert (lag.cause, lag.evidence["capacity_met"], lag.evidence["capacity_reached"]) == ("scaled-in", 100, 400)


# minutes below the line, seconds above it


def test_a_timer_that_asks_for_everything_at_once_is_told(tmp_path: Path) -> None:
    report = examples.sub_minute_burst().replayed(tmp_path)
    burst, throttling = only_of(report, "sub-minute-burst"), only_of(report, "throttling")
    assert (burst.severity, burst.caller, burst.evidence["fullest_second_units"]) == (
        Severity.HIGH,
        "price-cache",
        1500,
    )
    assert throttling.caused_by == burst.id
    assert no_hot_key(report)


def test_calls_that_are_spread_over_the_minute_are_none(tmp_path: Path) -> None:
    made = Recorded(minutes=3, table="prices").table("sku", read=100, write=10)
    for number in range(180):
        made.request("GetItem", number, key={"sku": f"SKU#{number}"}, units=60, caller="price-cache")
    made.metric("ConsumedReadCapacityUnits", [3_600] * 3)
    made.metric("ReadProvisionedThroughputThrottleEvents", [180, 170, 190])
    assert found(made.replayed(tmp_path), "sub-minute-burst") == []


def test_a_log_without_units_cannot_tell_and_says_so(tmp_path: Path) -> None:
    report = examples.sub_minute_burst(units=None).replayed(tmp_path)
    assert found(report, "sub-minute-burst") == []
    assert "sub-minute-burst" in {one.detector for one in report.skipped}


# throttles that nobody is told of


def test_waits_without_an_error_are_told(tmp_path: Path) -> None:
    report = examples.silent_throttling().replayed(tmp_path)
    silent = only_of(report, "silent-throttling")
    assert (silent.severity, silent.caller, silent.direction) == (Severity.MEDIUM, "collector", WRITE)
    assert silent.caused_by == only_of(report, "throttling").id


def test_where_tries_are_not_told_metrics_and_latency_tell_it(tmp_path: Path) -> None:
    made = examples.silent_throttling(attempts=None, tries=None)
    made.metric("WriteProvisionedThroughputThrottleEvents", [150, 150])
    silent = only_of(made.replayed(tmp_path), "silent-throttling")
    assert (silent.confidence, silent.sources) == (Confidence.LIKELY, ("request-log", "cloudwatch-metrics"))


def test_metrics_alone_leave_it_possible(tmp_path: Path) -> None:
    made = Recorded(minutes=2, table="meters").table(read=100, write=5)
    made.metric("WriteProvisionedThroughputThrottleEvents", [60, 60])
    made.metric("ThrottledRequests", [60, 60], Operation="PutItem")
    made.metric("SuccessfulRequestLatency", [3_000, 3_000], stat="SampleCount", Operation="PutItem")
    assert only_of(made.replayed(tmp_path), "silent-throttling").confidence is Confidence.POSSIBLE


# who asks again and again


def test_a_loop_of_the_application_is_a_storm_although_the_sdk_tries_once(tmp_path: Path) -> None:
    report = examples.retry_storm().replayed(tmp_path)
    storm = only_of(report, "retry-storm")
    assert (storm.severity, storm.caller, storm.direction) == (Severity.CRITICAL, "poster", WRITE)
    assert storm.evidence["repeated_calls"] == 320
    assert storm.caused_by == only_of(report, "throttling").id


def test_a_loop_around_the_sdk_s_retries_multiplies_both(tmp_path: Path) -> None:
    storm = only_of(examples.retry_storm(attempts=10, every_ms=300).replayed(tmp_path), "retry-storm")
    assert (storm.evidence["attempts_a_request"], storm.evidence["retry_mode"]) == (10, "legacy")


def test_a_lock_that_is_taken_is_asked_for_again_without_a_storm(tmp_path: Path) -> None:
    made = Recorded(minutes=1, table="locks").table("name")
    held = {"code": "ConditionalCheckFailedException", "message": "The conditional request failed"}
    for number in range(120):
        asked: dict[str, Any] = {"condition": "attribute_not_exists(#n)", "names": {"#n": "name"}, "caller": "deployer"}
        made.request("PutItem", number / 2, key={"name": "release"}, attempts=1, error=held, **asked)
    report = made.replayed(tmp_path)
    assert found(report, "retry-storm") == []
    assert found(report, "throttling") == []


# scans that throttle themselves: calls, not size


@pytest.mark.parametrize("reason", [True, False])
def test_reads_over_capacity_are_the_capacity_s_and_no_key_is_blamed(reason: bool, tmp_path: Path) -> None:  # noqa: FBT001
    made = Recorded(minutes=5, table="labels").table("id", read=50, write=10)
    used = [600.0] * 2 + [2_950.0] * 3
    made.metric("ConsumedReadCapacityUnits", used)
    made.metric("ReadProvisionedThroughputThrottleEvents" if reason else "ReadThrottleEvents", [0, 0, 90, 80, 95])
    made.metric("SuccessfulRequestLatency", [60, 60, 295, 295, 295], stat="SampleCount", Operation="Scan")
    report = made.replayed(tmp_path)
    throttling = only_of(report, "throttling")
    assert (throttling.cause, throttling.direction, throttling.severity) == ("provisioned", READ, Severity.HIGH)
    assert no_hot_key(report)


# a table used as a queue


@pytest.mark.parametrize(
    ("polls", "limit", "is_queue"), [(150, 10, True), (400, 1, True), (40, 10, False), (150, 100, False)]
)
def test_polls_of_a_head_while_items_move_are_a_queue(
    polls: int, limit: int, *, is_queue: bool, tmp_path: Path
) -> None:
    report = examples.queue_like_table(polls, limit).replayed(tmp_path)
    told = found(report, "queue-like-table")
    assert [(one.severity, one.index) for one in told] == ([(Severity.MEDIUM, "by-state")] if is_queue else [])


# slower than on other days


def test_bigger_answers_are_told_from_a_slow_service(tmp_path: Path) -> None:
    assert only_of(examples.latency_shift().replayed(tmp_path), "latency-shift").cause == "bigger-reads"
    slow = only_of(examples.latency_shift(items=None).replayed(tmp_path), "latency-shift")
    assert (slow.cause, slow.severity, slow.evidence["days"]) == ("service", Severity.MEDIUM, 3)


def test_a_p99_that_wobbles_is_none(tmp_path: Path) -> None:
    assert found(examples.latency_shift(slow=20.0).replayed(tmp_path), "latency-shift") == []


# it is not you


def test_answers_that_dynamodb_fails_to_give_are_its_own(tmp_path: Path) -> None:
    fault = only_of(examples.service_fault().replayed(tmp_path), "service-fault")
    assert (fault.severity, fault.cause) == (Severity.CRITICAL, "service")
    assert only_of(examples.service_fault(every=50).replayed(tmp_path), "service-fault").severity is Severity.HIGH


def test_metrics_of_two_tables_tell_it_too(tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="a")
    for table in ("a", "b"):
        made.name = table
        made.metric("SystemErrors", [20] * 5, Operation="GetItem")
        made.metric("SuccessfulRequestLatency", [2_000] * 5, stat="SampleCount", Operation="GetItem")
    told = found(made.replayed(tmp_path), "service-fault")
    assert {(one.table, one.severity, one.evidence["tables_with_it"]) for one in told} == {
        ("a", Severity.HIGH, 2),
        ("b", Severity.HIGH, 2),
    }


# the request is wrong


@pytest.mark.parametrize(
    ("every", "code", "cause", "severity"),
    [
        (5, "ValidationException", "validation", Severity.MEDIUM),
        (1, "AccessDeniedException", "access", Severity.HIGH),
        (2, "ResourceNotFoundException", "missing-table", Severity.HIGH),
    ],
)
def test_refused_calls_are_told_by_what_is_wrong(
    every: int, code: str, cause: str, severity: Severity, tmp_path: Path
) -> None:
    one = only_of(examples.request_errors(every, code).replayed(tmp_path), "request-errors")
    assert (one.cause, one.severity, one.caller) == (cause, severity, "profile-editor")


# work that has time takes the room of work that has not


@pytest.mark.parametrize(
    ("caller", "op", "is_bulk"),
    [
        ("catalog-import", "BatchWriteItem", True),
        ("order-replay", "PutItem", True),
        ("checkout", "PutItem", False),
    ],
)
def test_bulk_work_that_pushes_others_aside_is_named(caller: str, op: str, *, is_bulk: bool, tmp_path: Path) -> None:
    report = examples.unpaced_bulk(caller, op).replayed(tmp_path)
    told = found(report, "unpaced-bulk")
    assert [(one.severity, one.caller) for one in told] == ([(Severity.HIGH, caller)] if is_bulk else [])
    if is_bulk:
        assert only_of(report, "throttling").caused_by == told[0].id


# what is no fault


def test_a_scaled_table_with_a_few_retries_a_lease_and_a_cron_alarms_nobody(tmp_path: Path) -> None:
    """Three refusals of two thousand calls, a lease that is renewed, a lock that is taken, a cron's read."""
    made = Recorded(minutes=10, table="accounts").table(read=40, write=40)
    held = {"code": "ConditionalCheckFailedException", "message": "The conditional request failed"}
    for number in range(600):
        key = {"PK": f"ACCOUNT#{number * 37 % 500}", "SK": "PROFILE"}
        if number in {200, 201, 350}:
            tries = [{"at_ms": 4, "code": "ProvisionedThroughputExceededException", "reason": PROVISIONED}]
            made.request("GetItem", number, key=key, units=1, caller="web", attempts=2, tries=tries)
        else:
            made.request("GetItem", number, key=key, units=1, caller="web", attempts=1)
        if number % 10 == 0:
            lease = {"PK": "LEASE", "SK": "shard-1"}
            made.request("UpdateItem", number + 0.5, key=lease, units=1, condition="owner = :me", caller="worker")
            made.request("PutItem", number + 0.6, key={"PK": "LOCK", "SK": "x"}, error=held, caller="deployer")
        if number % 60 == 0:
            made.request("Query", number + 0.7, key={"PK": "JOBS"}, units=2, count=9, scanned=9, caller="cron")
    made.metric("ProvisionedReadCapacityUnits", [20] * 4 + [40] * 6, stat="Average")
    made.metric("ConsumedReadCapacityUnits", [62.0] * 10)
    made.metric("ReadProvisionedThroughputThrottleEvents", [0, 0, 0, 2, 0, 1])
    made.metric("SystemErrors", [1], Operation="GetItem")
    report = made.replayed(tmp_path)
    assert alarms(report) == set()
    of_heat = {one.detector for one in report.findings if one.severity is not Severity.LOW}
    assert of_heat <= {"throttling"}
