"""Batches, times to live, conditions, repeats, replicas and streams that go wrong, each replayed from a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Direction, Severity
from tests.docs.examples import writes_calls as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.report import Report

CALLS = {
    "unprocessed-dropped",
    "ttl-invalid",
    "ttl-stale-read",
    "unconditional-write",
    "idempotency-mismatch",
    "replication-lag",
    "stream-lag",
}


def found(report: Report) -> set[str]:
    return {one.detector for one in report.findings if one.detector in CALLS}


def skipped(report: Report, detector: str) -> bool:
    return detector in {one.detector for one in report.skipped}


# a reader of batches that gets a part and takes it for all


def loaded(op: str = "BatchGetItem", every: int = 2, size: int = 40, back: int = 10, **fields: Any) -> Recorded:
    is_told = fields.pop("told", False)
    made = Recorded(minutes=4, table="parts-list").table("id", read=150, write=60)
    kind = "Get" if op == "BatchGetItem" else "Put"
    for number in range(50):
        keys = [{"id": {"S": f"P-{size * number + at}"}} for at in range(size)]
        listed = [{"op": kind, "table": "parts-list", "key": key} for key in keys]
        lacks = back if number % every == 0 else 0
        batch: dict[str, Any] = {"parts": listed, "unprocessed": lacks, "trace_id": "nightly-load"}
        batch |= {"handed_back": list(range(lacks))} if is_told else {}
        made.request(op, 3 * number, units=(size - lacks) / 2, **batch | fields)
    return made


def test_batch_reads_that_leave_what_came_back_are_high(tmp_path: Path) -> None:
    report = loaded().replayed(tmp_path)
    one = only_of(report, "unprocessed-dropped")
    assert (one.severity, one.direction, one.table) == (Severity.HIGH, Direction.READ, "parts-list")
    assert (one.evidence["items_dropped"], one.evidence["batches_left"]) == (250, 25)
    assert "retry-unprocessed" in {advice.action for advice in one.advice}
    assert alarms(report) == {"unprocessed-dropped"}


@pytest.mark.parametrize(
    "fields",
    [
        {"every": 5, "size": 25, "back": 1, "caller": "export"},
        {"told": True, "trace_id": None, "caller": "export"},
        {"keys": "token", "salt_id": "s1"},
    ],
    ids=["few, by a named caller", "positions, no trace", "tokens"],
)
def test_other_numbers_and_logs_tell_the_same(fields: dict[str, Any], tmp_path: Path) -> None:
    one = only_of(loaded(**fields).replayed(tmp_path), "unprocessed-dropped")
    assert (one.severity, one.confidence, one.caller) == (Severity.HIGH, Confidence.CERTAIN, fields.get("caller"))


def test_batch_writes_that_are_left_are_critical(tmp_path: Path) -> None:
    one = only_of(loaded("BatchWriteItem", size=25, caller="import").replayed(tmp_path), "unprocessed-dropped")
    assert (one.severity, one.direction, one.caller) == (Severity.CRITICAL, Direction.WRITE, "import")


def test_in_a_sampled_log_nobody_knows_what_followed(tmp_path: Path) -> None:
    report = loaded(sample_rate=0.1, strata=[{"by": "request", "rate": 0.1}]).replayed(tmp_path)
    assert found(report) == set()
    assert skipped(report, "unprocessed-dropped")


def test_one_by_one_is_sent_again_too(tmp_path: Path) -> None:
    made = Recorded(minutes=4, table="parts-list").table("id", read=150, write=60)
    for number in range(20):
        keys = [{"id": {"S": f"P-{number}-{at}"}} for at in range(10)]
        listed = [{"op": "Put", "table": "parts-list", "key": key} for key in keys]
        batch: dict[str, Any] = {"parts": listed, "unprocessed": 2, "handed_back": [0, 1], "caller": "import"}
        made.request("BatchWriteItem", 5 * number, units=8, **batch)
        for at in range(2):
            key = {"id": f"P-{number}-{at}"}
            made.request("PutItem", 5 * number + 1 + at, key=key, units=1, caller="import")
    assert found(made.replayed(tmp_path)) == set()


# expired items that are served, and times to live that never come


def sessions(purpose: str | None = None, *, ttl: dict[str, Any] | None = None) -> Recorded:
    made = Recorded(minutes=60, table="logins").table("token")
    if purpose is not None:
        pattern = {"id": "login", "operation": "GetItem", "key": {"token": "<t>"}}
        made.contract(pattern, key=("token",), ttl_attribute="until", ttl_purpose=purpose)
    on = {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    made.line("ttl", table="logins", ttl=ttl or on)
    return made.metric("TimeToLiveDeletedItemCount", [4000], period=3600)


def test_an_expired_item_that_is_served_is_told_without_any_contract(tmp_path: Path) -> None:
    made = sessions().request(
        "GetItem",
        600,
        key={"token": "a"},
        units=0.5,
        count=1,
        ttl_seen={"attribute": "until", "expired_returned": 1},
    )
    made.request("Query", 700, key={"token": "b"}, units=0.5, count=2, scanned=2)
    report = made.replayed(tmp_path)
    one = only_of(report, "ttl-stale-read")
    assert (one.severity, one.table, one.evidence["attribute"]) == (Severity.MEDIUM, "logins", "until")
    assert "filter-expired" in {advice.action for advice in one.advice}
    assert found(report) == {"ttl-stale-read"}


@pytest.mark.parametrize(("purpose", "severity"), [("session", Severity.HIGH), ("cleanup", Severity.MEDIUM)])
def test_of_sessions_it_is_harm(purpose: str, severity: Severity, tmp_path: Path) -> None:
    seen = {"attribute": "until", "expired_returned": 3}
    made = sessions(purpose)
    for number in range(5):
        made.request("Query", 60 * number, key={"token": f"t{number}"}, units=1, count=4, scanned=4, ttl_seen=seen)
    one = only_of(made.replayed(tmp_path), "ttl-stale-read")
    assert (one.severity, one.evidence["expired_returned"]) == (severity, 15)


def test_a_query_that_filters_by_the_time_is_acquitted(tmp_path: Path) -> None:
    seen = {"attribute": "until", "expired_returned": 3}
    asked: dict[str, Any] = {"filter": "#u > :now", "names": {"#u": "until"}, "ttl_seen": seen}
    made = sessions("session").request("Query", 60, key={"token": "a"}, units=1, count=3, scanned=6, **asked)
    assert found(made.replayed(tmp_path)) == set()


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ({"S": "2026-03-02T10:00:00Z"}, "not-a-number"),
        ({"S": "1772445600"}, "not-a-number"),
        ({"N": "1772445600000"}, "milliseconds"),
        ({"N": "86400"}, "duration"),
        ({"N": "1300000000"}, "too-old"),
    ],
)
def test_a_time_on_which_nobody_acts_is_told_with_its_fault(value: dict[str, str], cause: str, tmp_path: Path) -> None:
    made = sessions("cleanup")
    for number in range(8):
        seen = {"attribute": "until", "value": value}
        made.request("PutItem", 30 * number, key={"token": f"t{number}"}, units=1, caller="web", ttl_seen=seen)
    one = only_of(made.replayed(tmp_path), "ttl-invalid")
    assert (one.severity, one.cause, one.caller) == (Severity.MEDIUM, cause, "web")
    assert "fix-ttl-units" in {advice.action for advice in one.advice}


def test_a_table_whose_setting_looks_elsewhere_is_told_by_contract_and_description_alone(tmp_path: Path) -> None:
    other = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}
    one = only_of(sessions("cleanup", ttl=other).replayed(tmp_path), "ttl-invalid")
    assert (one.cause, one.evidence["enabled_attribute"]) == ("attribute-differs", "expires_at")
    assert [advice.action for advice in one.advice] == ["enable-ttl", "enable-ttl"]


# state that is changed blindly, and more than once


def test_two_writers_of_whole_items_undo_each_other(tmp_path: Path) -> None:
    report = examples.unconditional_write().replayed(tmp_path)
    one = only_of(report, "unconditional-write")
    assert (one.severity, one.caller, one.cause) == (Severity.HIGH, "shop", "read-then-put")


@pytest.mark.parametrize(
    ("put", "is_found"),
    [({}, True), ({"condition": "version = :v"}, False), ({"trace_id": None}, False)],
    ids=["blind", "with a condition", "no trace"],
)
def test_items_that_are_put_back_need_a_condition(put: dict[str, Any], is_found: bool, tmp_path: Path) -> None:  # noqa: FBT001
    made = Recorded(table="profiles").table("id")
    for number in range(6):
        key, trace = {"id": f"u{number}"}, f"edit-{number}"
        made.request("GetItem", 30 * number, key=key, units=0.5, caller="web", trace_id=trace, count=1)
        given: dict[str, Any] = {"caller": "web", "trace_id": trace} | put
        made.request("PutItem", 30 * number + 0.4, key=key, units=1, **given)
    assert ("unconditional-write" in found(made.replayed(tmp_path))) is is_found


@pytest.mark.parametrize(
    ("fields", "is_found"), [({}, True), ({"condition": "attribute_not_exists(id)"}, False), ({"key": None}, False)]
)
def test_a_pattern_that_creates_only_needs_its_condition(
    fields: dict[str, Any],
    is_found: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    made = Recorded(table="bookings").table("id")
    create = {"id": "book", "operation": "PutItem", "key": {"id": "<id>"}, "condition": "create-only"}
    made.contract(create, key=("id",))
    for number in range(10):
        given: dict[str, Any] = {"key": {"id": f"b{number}"}, "units": 1, "caller": "desk"} | fields
        made.request("PutItem", 20 * number, **given)
    report = made.replayed(tmp_path)
    assert ("unconditional-write" in found(report)) is is_found
    assert all(one.pattern == "book" for one in report.findings if one.detector == "unconditional-write")


def test_tokens_that_are_used_again_for_something_else_are_refused(tmp_path: Path) -> None:
    made = Recorded(table="ledger").table("id")
    error = {"code": "IdempotentParameterMismatchException", "message": "parameters do not match"}
    for number in range(40):
        parts = [{"op": "Put", "table": "ledger", "key": {"id": {"S": f"e{2 * number + at}"}}} for at in range(2)]
        failed: dict[str, Any] = {"error": error} if number % 3 == 0 else {"units": 4.0}
        made.request("TransactWriteItems", 5 * number, parts=parts, token_sent=True, caller="books", **failed)
    one = only_of(made.replayed(tmp_path), "idempotency-mismatch")
    assert (one.severity, one.caller, one.cause) == (Severity.HIGH, "books", "token-reused")


@pytest.mark.parametrize(
    ("update", "code", "is_found"),
    [
        ("SET total = total + :n", "ReadTimeoutError", True),
        ("SET l = list_append(l, :n)", "ECONNRESET", True),
        ("SET total = :n", "ReadTimeoutError", False),
        ("ADD total :n", "ConnectTimeoutError", False),
        ("ADD total :n", "ProvisionedThroughputExceededException", False),
    ],
)
def test_what_adds_and_was_sent_again_without_an_answer_may_count_twice(
    update: str,
    code: str,
    is_found: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    made = Recorded(table="meters").table("id")
    for number in range(60):
        lost: dict[str, Any] = (
            {"attempts": 2, "tries": [{"at_ms": 900.0, "code": code}]} if number == 30 else {"attempts": 1}
        )
        made.request("UpdateItem", 4 * number, key={"id": f"m{number}"}, units=1, update=update, caller="meter", **lost)
    assert ("idempotency-mismatch" in found(made.replayed(tmp_path))) is is_found


# what is behind


def test_a_replica_that_stays_behind_is_told_with_its_region(tmp_path: Path) -> None:
    report = examples.replication_lag().replayed(tmp_path)
    one = only_of(report, "replication-lag")
    assert (one.severity, one.evidence["receiving_region"], one.evidence["latency_ms"]) == (
        Severity.MEDIUM,
        "eu-west-1",
        62_000,
    )


def test_a_latency_that_wanders_is_no_lag(tmp_path: Path) -> None:
    made = Recorded(minutes=60).table()
    values = [800, 1200, 4000, 900, 2500, 1100, 6000, 1000, 900, 1300, 3000, 1000]
    made.metric("ReplicationLatency", values, stat="Average", period=300, ReceivingRegion="eu-west-1")
    assert found(made.quiet_metrics().replayed(tmp_path)) == set()


def test_regions_that_write_one_item_at_a_time_are_told_once(tmp_path: Path) -> None:
    made = Recorded(table="carts").table("id", Replicas=[{"RegionName": "us-east-1"}])
    for number in range(5):
        key = {"id": f"c{number}"}
        made.request("PutItem", 30 * number, key=key, units=1, caller="web")
        made.request("PutItem", 30 * number + 0.4, key=key, units=1, caller="web", region="us-east-1")
    one = only_of(made.replayed(tmp_path), "replication-lag")
    assert (one.cause, one.evidence["other_region"]) == ("two-writers", "us-east-1")


def test_a_stream_that_is_behind_its_consumer_is_told_with_its_name(tmp_path: Path) -> None:
    one = only_of(examples.stream_lag().replayed(tmp_path), "stream-lag")
    assert (one.severity, one.evidence["consumer"], one.cause) == (Severity.MEDIUM, "search-indexer", "behind")


def test_changes_that_never_arrived_are_lost(tmp_path: Path) -> None:
    made = Recorded(minutes=30).table()
    made.metric("FailedToReplicateRecordCount", [0, 0, 40, 12, 0, 0], period=300, DelegatedOperation="PutRecord")
    one = only_of(made.quiet_metrics().replayed(tmp_path), "stream-lag")
    assert (one.severity, one.cause) == (Severity.HIGH, "failed-replication")


# what a healthy table does


def test_a_healthy_hour_of_batches_sessions_locks_and_counters_is_silent(tmp_path: Path) -> None:
    made = sessions("session")
    now = made.start // 1000
    for number in range(120):
        at, trace = 30 * number, f"r-{number}"
        key = {"token": f"t{number}"}
        seen = {"attribute": "until", "value": {"N": str(now + at + 3600)}}
        made.request("PutItem", at, key=key, units=1, caller="web", ttl_seen=seen, trace_id=trace)
        clear = {"attribute": "until", "expired_returned": 0}
        made.request("GetItem", at + 5, key=key, units=0.5, caller="web", count=1, ttl_seen=clear, trace_id=trace)
        lock: dict[str, Any] = {"condition": "attribute_not_exists(#t)", "names": {"#t": "token"}, "caller": "cron"}
        failed: dict[str, Any] = {"error": {"code": "ConditionalCheckFailedException"}} if number % 4 else {}
        made.request("PutItem", at + 7, key={"token": "lock"}, **lock, **failed)
        made.request("UpdateItem", at + 9, key={"token": "hits"}, units=1, update="ADD n :one", caller="web")
        parts = [{"op": "Put", "table": "logins", "key": {"token": {"S": f"b{number}-{n}"}}} for n in range(10)]
        back = [9] if number % 10 == 0 else []
        batch: dict[str, Any] = {"parts": parts, "unprocessed": len(back), "handed_back": back, "caller": "load"}
        made.request("BatchWriteItem", at + 11, units=10 - len(back), **batch)
        if back:
            again: dict[str, Any] = {"parts": parts[9:], "unprocessed": 0, "handed_back": [], "caller": "load"}
            made.request("BatchWriteItem", at + 11.2, units=1, **again)
    assert found(made.replayed(tmp_path)) == set()


def test_a_writer_that_tries_several_times_and_then_gives_up_may_come_back_later(tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="parts-list").table("id", read=10, write=30)
    for chunk in range(6):
        parts = [{"op": "Put", "table": "parts-list", "key": {"id": {"S": f"c{chunk}-{n}"}}} for n in range(20)]
        for again in range(5):
            batch: dict[str, Any] = {"parts": parts, "unprocessed": 7, "units": 13, "caller": "ingest"}
            made.request("BatchWriteItem", 30 * chunk + 5 * again, **batch)
    report = made.replayed(tmp_path)
    one = only_of(report, "unprocessed-dropped")
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)
    assert one.evidence["left_share"] == 0.2
