"""Scans that nobody planned, or paced: each as a recording that is replayed, with other numbers, fields or logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Severity
from tests.docs.examples import reads as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def names(report: Report) -> set[str]:
    return {one.detector for one in report.findings}


# a framework that scans for what its index is keyed by, strongly, at every lookup


def timers(*, units: float = 192, every: float = 6, **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="timers").table("TimerId", read=80, write=20, indexes={"of-owner": ("OwnerId",)})
    of_owner = {"id": "timers-of-owner", "operation": "Query", "index": "of-owner", "key": {"OwnerId": "<owner>"}}
    made.contract(of_owner, key=("TimerId",), indexes=[{"name": "of-owner", "partition_key": "OwnerId"}])
    lookup: dict[str, Any] = {
        "filter": "OwnerId = :o AND Shard = :s",
        "consistent": True,
        "caller": "scheduler",
    } | fields
    for number in range(int(300 / every)):
        page: dict[str, Any] = {"trace_id": f"lookup-{number}", "scanned": 3100}
        made.request("Scan", every * number + 0.1, units=units, count=0, more=True, **page, **lookup)
        made.request("Scan", every * number + 0.3, units=units / 2, count=1, more=False, resumed=True, **page, **lookup)
    return made


def test_a_scan_for_what_an_index_is_keyed_by_is_sent_to_that_index(tmp_path: Path) -> None:
    report = timers().replayed(tmp_path)
    scan, strong = only_of(report, "unexpected-scan"), only_of(report, "strong-read-cost")
    assert (scan.severity, scan.confidence, scan.caller) == (Severity.HIGH, Confidence.CERTAIN, "scheduler")
    assert "query-instead-of-scan" in actions(scan)
    assert (strong.severity, strong.evidence["saving_percent"]) == (Severity.LOW, 50)


def test_seldom_and_small_it_is_no_more_than_worth_knowing(tmp_path: Path) -> None:
    report = timers(units=4, every=30).replayed(tmp_path)
    assert only_of(report, "unexpected-scan").severity is Severity.LOW
    assert alarms(report) == set()


def test_without_consistency_in_the_log_nothing_is_said_of_strong_reads(tmp_path: Path) -> None:
    report = timers(consistent=None).replayed(tmp_path)
    assert only_of(report, "unexpected-scan").severity is Severity.HIGH
    assert "strong-read-cost" not in names(report)


# the sweep of a session store


def sessions(attribute: str = "expire_at", gets: int = 900, **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="web-sessions").table("session_id", read=120, write=60)
    for number in range(gets):
        key = {"session_id": f"s-{number % 311:04d}"}
        made.request("GetItem", number * 300 / gets, key=key, units=0.5)
    sweep: dict[str, Any] = {"filter": f"{attribute} < :now", "caller": "sweeper"} | fields
    for number in range(30):
        page: dict[str, Any] = {"count": 3, "scanned": 2000, "more": True, "resumed": number > 0}
        made.request("Scan", 60 + 4 * number, units=128.5, **page, **sweep)
    return made


@pytest.mark.parametrize("attribute", ["expire_at", "ttl"])
def test_a_sweep_of_expired_sessions_is_time_to_live_made_by_hand(tmp_path: Path, attribute: str) -> None:
    report = sessions(attribute).replayed(tmp_path)
    one = only_of(report, "unexpected-scan")
    assert (one.severity, one.caller, one.evidence["sweeps"]) == (Severity.HIGH, "sweeper", attribute)
    assert actions(one)[:2] == ["fix-caller", "enable-ttl"]
    assert not {"hot-key", "undeclared-pattern"} & alarms(report)


def test_a_sweep_of_a_caller_that_the_log_does_not_name_is_found_all_the_same(tmp_path: Path) -> None:
    one = only_of(sessions(caller=None).replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.caller) == (Severity.HIGH, None)


def test_what_the_session_store_sends_otherwise_is_known(tmp_path: Path) -> None:
    report = sessions().replayed(tmp_path)
    assert "session-store-read" in {line.pattern for line in report.patterns}


# a finder that hides a Scan


def people(**fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="people").table("login", read=60, write=10)
    asked: dict[str, Any] = {"filter": "#m = :m", "names": {"#m": "mail"}} | fields
    for number in range(18):
        page: dict[str, Any] = {"scanned": 2500, "trace_id": f"login-{number}"}
        made.request("Scan", 16 * number + 1, units=128.5, count=0, more=True, **page, **asked)
        made.request("Scan", 16 * number + 1.2, units=70, count=1, more=False, resumed=True, **page, **asked)
    return made


def test_a_scan_for_one_item_by_an_attribute_gets_the_advice_to_index_it(tmp_path: Path) -> None:
    one = only_of(people().replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.confidence, one.evidence["filter_attributes"]) == (
        Severity.HIGH,
        Confidence.LIKELY,
        "mail",
    )
    assert "add-index" in actions(one)


def test_of_a_log_without_expressions_the_scan_is_found_and_its_filter_is_not_guessed(tmp_path: Path) -> None:
    one = only_of(people(filter=None, names=None).replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.evidence["filter_attributes"]) == (Severity.HIGH, None)


def test_of_a_log_without_units_the_harm_is_not_known(tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="people").table("login", read=60, write=10)
    for number in range(18):
        made.request("Scan", 16 * number, filter="mail = :m", caller="web")
    one = only_of(made.replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.cost_per_month_usd) == (Severity.MEDIUM, None)


# a small list that every call of an API reads whole: suddenly more calls


def labels(before: float, during: float, units: float = 8) -> Recorded:
    made = Recorded(minutes=15, table="labels").table("thing", "label", read=40, write=5)
    at = 0.0
    while at < 900:
        made.request("Scan", at, units=units, count=260, scanned=260, caller="control-api")
        at += before if at < 720 else during
    return made


def test_a_rise_of_calls_is_no_growth_of_the_table(tmp_path: Path) -> None:
    report = labels(2.0, 0.25).replayed(tmp_path)
    one = only_of(report, "unexpected-scan")
    assert (one.severity, one.evidence["driver"], one.evidence["size_ratio"]) == (Severity.HIGH, "calls", 1)
    assert not {"item-growth", "table-growth"} & names(report)


def test_a_table_that_grows_is_no_rise_of_calls(tmp_path: Path) -> None:
    made = Recorded(minutes=15, table="labels").table("thing", "label", read=400, write=5)
    for second in range(0, 900, 2):
        made.request("Scan", second, units=40 if second < 600 else 120, count=900, scanned=900, caller="control-api")
    one = only_of(made.replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.evidence["driver"], one.evidence["size_ratio"]) == (Severity.HIGH, "size", 3)


# a backup that takes a limit on items for a limit on units


def backup(every: float = 0.07, limit: int = 6, units: float = 7.5, **fields: Any) -> Recorded:
    made = Recorded(minutes=1, table="notes").table("id", read=12, write=5)
    pattern = {"id": "backup", "operation": "Scan", "callers": ["backup-tool"], "schedule": "0 9 * * *"} | fields
    made.contract(pattern, key=("id",))
    for number in range(140):
        page: dict[str, Any] = {"count": limit, "scanned": limit, "limit": limit, "more": True, "resumed": number > 0}
        made.request("Scan", every * number, units=units, consistent=True, caller="backup-tool", **page)
    return made


def test_small_pages_back_to_back_are_no_pace(tmp_path: Path) -> None:
    report = backup().replayed(tmp_path)
    one = only_of(report, "unpaced-scan")
    assert (one.severity, one.caller, one.pattern) == (Severity.MEDIUM, "backup-tool", "backup")
    assert "unexpected-scan" not in names(report)
    assert actions(one)[:2] == ["fix-caller", "pace-scan"]


def test_one_over_its_own_maximum_is_unpaced_whatever_the_table_has(tmp_path: Path) -> None:
    one = only_of(backup(max_units_per_second=40).replayed(tmp_path), "unpaced-scan")
    assert (one.cause, one.evidence["declared_units_a_second"]) == ("over-its-maximum", 40)


def test_a_scan_with_a_pause_after_each_page_is_paced(tmp_path: Path) -> None:
    report = backup(every=0.4, limit=2, units=2).replayed(tmp_path)
    assert "unpaced-scan" not in names(report)
    assert only_of(report, "declared-scan").severity is Severity.LOW


# a SELECT that is a Scan


def selected(where: str = "WHERE level = ?", **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="events").table("stream", "at", read=30, write=30)
    for number in range(6):
        page: dict[str, Any] = {"count": 0, "more": number < 5, "resumed": number > 0} | fields
        made.request("ExecuteStatement", 90 + number, statement=f'SELECT * FROM "events" {where}', units=128.5, **page)
        keyed = 'SELECT * FROM "events" WHERE stream = ? AND at > ?'
        made.request("ExecuteStatement", 100 + number, statement=keyed, units=1.5, count=9)
    report = {"KeyLabels": ["PartitionKey"], "Contributors": []}
    return made.line(
        "insights", table="events", rule="PKC", mode="ACCESSED_AND_THROTTLED_KEYS", period=60, report=report
    )


@pytest.mark.parametrize("where", ["WHERE level = ?", "", "WHERE at = ? AND level = ?", "WHERE stream <> ?"])
def test_a_select_that_names_no_partition_key_is_a_scan(tmp_path: Path, where: str) -> None:
    report = selected(where).replayed(tmp_path)
    one = only_of(report, "unexpected-scan")
    assert (one.evidence["operation"], one.severity in {Severity.MEDIUM, Severity.HIGH}) == ("ExecuteStatement", True)
    assert any("PartiQL" in gap.detail for gap in report.gaps)


def test_a_select_by_key_is_none(tmp_path: Path) -> None:
    assert "unexpected-scan" not in names(selected("WHERE stream = ? AND level = ?").replayed(tmp_path))


# metrics alone


def counted(at: str = "2026-03-02T14:00:00.000Z", scans: float = 30, **pattern: Any) -> Recorded:
    made = Recorded(minutes=5, start=at, table="ledger").table(read=300, write=50)
    made.contract({"id": "nightly", "operation": "Scan", "schedule": "0 2 * * *"} | pattern).quiet_metrics(read=9000)
    return made.metric("SuccessfulRequestLatency", [scans] * 5, stat="SampleCount", Operation="Scan")


def test_metrics_tell_of_a_scan_at_a_time_for_which_none_was_declared(tmp_path: Path) -> None:
    one = only_of(counted().replayed(tmp_path), "unexpected-scan")
    assert (one.severity, one.confidence, one.caller) == (Severity.MEDIUM, Confidence.LIKELY, None)


def test_metrics_of_the_declared_hour_are_the_declared_scan(tmp_path: Path) -> None:
    assert "unexpected-scan" not in names(counted("2026-03-02T02:10:00.000Z").replayed(tmp_path))
    assert "unexpected-scan" not in names(counted(schedule="nightly").replayed(tmp_path))


# the lease table of a library


def leases(segments: int = 10) -> Recorded:
    made = Recorded(minutes=10, table="stream-app").table("leaseKey")
    for number in range(60):
        for _ in range(segments if number % 6 == 0 else 0):
            made.request(
                "Scan", 10 * number, units=0.5, count=3, scanned=3, total_segments=segments, caller="stream-app"
            )
        key = {"leaseKey": f"shard-{number % 3}"}
        renewed: dict[str, Any] = {"condition": "leaseCounter = :c", "caller": "stream-app"}
        made.request("GetItem", 10 * number + 1, key=key, units=1, consistent=True, caller="stream-app")
        made.request("UpdateItem", 10 * number + 2, key=key, consumed={"total": 1, "write": 1}, **renewed)
    return made


def test_the_leases_of_a_library_are_left_alone(tmp_path: Path) -> None:
    report = leases().replayed(tmp_path)
    reads = {"unexpected-scan", "polling-read", "strong-read-cost", "undeclared-pattern"}
    assert not reads & names(report)
    assert alarms(report) == set()


def test_a_table_like_that_of_a_library_with_a_sort_key_is_not_its(tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="own").table("leaseKey", "at", read=20, write=5)
    for number in range(30):
        made.request("Scan", 10 * number, units=128.5, count=9, scanned=900, caller="own")
    assert only_of(made.replayed(tmp_path), "unexpected-scan").severity is Severity.HIGH


def test_a_declared_scan_at_its_pace_is_told_and_wakes_nobody(tmp_path: Path) -> None:
    report = examples.declared_scan().replayed(tmp_path)
    assert names(report) & {"unexpected-scan", "unpaced-scan", "polling-read"} == set()
    assert alarms(report) == set()


# a Scan that is not most of what is read, on a table whose other readers are refused


@pytest.mark.parametrize(
    ("units", "share", "severity"), [(82.0, 0.4824, Severity.CRITICAL), (20.0, 0.1852, Severity.MEDIUM)]
)
def test_a_scan_of_less_than_half_of_the_reads_is_to_blame_where_others_are_refused(
    units: float, share: float, severity: Severity, tmp_path: Path
) -> None:
    made = Recorded(minutes=2, table="baskets").table("id", read=15, write=5)
    made.contract({"id": "load-basket", "operation": "GetItem", "key": {"id": "<id>"}}, key=("id",))
    refusal = {"code": "ProvisionedThroughputExceededException", "reason": "TableReadProvisionedThroughputExceeded"}
    for number in range(240):
        refused: dict[str, Any] = {"error": refusal | {"reasons": [{"reason": refusal["reason"]}]}, "attempts": 1}
        of_one: dict[str, Any] = refused if number % 5 == 0 else {"units": 5.0}
        made.request("GetItem", number / 2, key={"id": f"b-{number}"}, caller="shop", **of_one)
    for number in range(10):
        page: dict[str, Any] = {"scanned": 900, "count": 900, "more": True}
        made.request("Scan", number * 12, units=units, caller="export", **page)
    report = made.replayed(tmp_path)
    scan, throttling = only_of(report, "unexpected-scan"), only_of(report, "throttling")
    assert (scan.severity, scan.evidence["share_of_read_units"]) == (severity, share)
    assert throttling.caused_by == (scan.id if severity is Severity.CRITICAL else None)
