"""Queries and pages that go wrong: each as a recording that is replayed, with other numbers, fields or logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Severity
from tests.docs.examples import reads as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.report import Report

READS = {
    "unexpected-scan",
    "unpaced-scan",
    "filter-heavy-query",
    "limit-before-filter",
    "empty-page-stop",
    "missing-pagination",
    "count-by-reading",
    "n-plus-one",
    "polling-read",
    "strong-read-cost",
}


def found(report: Report) -> set[str]:
    return {one.detector for one in report.findings if one.detector in READS}


# a poll every few seconds, on a table that autoscaling has just made small


def due(period: float = 15, units: float = 100, throttles: int = 2, **fields: Any) -> Recorded:
    made = Recorded(minutes=10, table="reminders").table("id", read=60, write=10)
    made.metric("ReadThrottleEvents", [0, 0, 0, throttles, throttles, 0, 0, 0, 0, 0])
    asked: dict[str, Any] = {"filter": "sent = :f", "caller": "tick"} | fields
    for number in range(int(600 / period)):
        for part in range(3):
            page: dict[str, Any] = {"count": 2, "scanned": 3300, "more": part < 2, "resumed": part > 0}
            made.request("Scan", period * number + 0.25 * part, units=units, **page, **asked)
    return made


def test_a_poll_beside_refusals_is_high_with_its_period(tmp_path: Path) -> None:
    one = only_of(due().replayed(tmp_path), "polling-read")
    assert (one.severity, one.caller, one.evidence["period_s"]) == (Severity.HIGH, "tick", 15)
    assert one.advice[0].action == "fix-caller"
    assert "raise-max-capacity" not in {advice.action for advice in one.advice}


def test_a_poll_that_nobody_suffers_from_is_waste(tmp_path: Path) -> None:
    one = only_of(due(throttles=0).replayed(tmp_path), "polling-read")
    assert one.severity is Severity.MEDIUM


def test_a_poll_of_a_caller_that_the_log_does_not_name_is_found_by_its_clock(tmp_path: Path) -> None:
    one = only_of(due(period=20, caller=None).replayed(tmp_path), "polling-read")
    assert (one.caller, one.evidence["period_s"]) == (None, 20)


def test_a_sampled_log_has_no_clock(tmp_path: Path) -> None:
    strata = [{"by": "request", "rate": 0.1}]
    report = due(sample_rate=0.1, strata=strata).replayed(tmp_path)
    assert "polling-read" not in found(report)


# a filter and a limit


def test_empty_pages_that_people_stop_at_are_high_and_nothing_is_lost(tmp_path: Path) -> None:
    report = examples.limit_before_filter().replayed(tmp_path)
    one = only_of(report, "limit-before-filter")
    assert (one.severity, one.caller, one.table) == (Severity.HIGH, "help-desk", "tickets")
    assert "lost" not in one.summary


def listed(op: str = "Scan", limit: int = 20, count: int = 0, **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="chores").table("id")
    key = {"key": {"id": "HOME#1"}} if op == "Query" else {}
    for number in range(3):
        page: dict[str, Any] = {
            "count": count,
            "scanned": limit,
            "limit": limit,
            "more": True,
            "trace_id": f"v{number}",
        }
        made.request(op, 30 + 70 * number, units=0.5, filter="done = :no", **key, **page | fields)
    return made


@pytest.mark.parametrize(("op", "limit"), [("Scan", 20), ("Query", 100)])
def test_a_scan_and_a_query_with_a_limit_are_alike(tmp_path: Path, op: str, limit: int) -> None:
    report = listed(op, limit).replayed(tmp_path)
    assert only_of(report, "limit-before-filter").severity is Severity.HIGH
    assert not found(report) & {"empty-page-stop", "missing-pagination"}


def test_without_traces_the_caller_and_shape_tell_that_nobody_read_on(tmp_path: Path) -> None:
    report = listed(trace_id=None, caller="list").replayed(tmp_path)
    assert only_of(report, "limit-before-filter").severity is Severity.HIGH


def test_pages_that_people_ask_for_later_in_another_request_are_not_left(tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="chores").table("id")
    for number in range(4):
        page: dict[str, Any] = {"count": 2, "scanned": 20, "limit": 20, "filter": "done = :no", "caller": "web"}
        key = {"id": f"HOME#{number}"}
        made.request("Query", 10 + 9 * number, key=key, units=0.5, more=True, trace_id=f"a{number}", **page)
        made.request("Query", 99 + 9 * number, key=key, units=0.5, resumed=True, trace_id=f"b{number}", **page)
    assert "limit-before-filter" not in found(made.replayed(tmp_path))


# an empty page that is taken for the end


def test_an_empty_page_is_named_with_the_key_that_is_too_large(tmp_path: Path) -> None:
    report = examples.empty_page_stop().replayed(tmp_path)
    one = only_of(report, "empty-page-stop")
    assert (one.severity, one.key, one.confidence) == (Severity.HIGH, {"PK": "TENANT#17"}, Confidence.CERTAIN)
    assert found(report) == {"empty-page-stop", "filter-heavy-query"}


def exported(**fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="tasks").table()
    page: dict[str, Any] = {"count": 0, "scanned": 1800, "more": True, "filter": "done = :no"} | fields
    return made.request("Query", 40, key={"PK": "TENANT#3"}, units=128.5, **page)


def test_one_such_page_is_likely(tmp_path: Path) -> None:
    one = only_of(exported().replayed(tmp_path), "empty-page-stop")
    assert (one.severity, one.confidence) == (Severity.HIGH, Confidence.LIKELY)


def test_of_a_log_without_scanned_counts_the_empty_page_is_found_all_the_same(tmp_path: Path) -> None:
    one = only_of(exported(scanned=None).replayed(tmp_path), "empty-page-stop")
    assert one.evidence["items_examined"] is None


def test_an_empty_page_that_was_read_on_is_as_it_should_be(tmp_path: Path) -> None:
    made = exported(trace_id="x")
    made.request(
        "Query", 41, key={"PK": "TENANT#3"}, filter="done = :no", resumed=True, trace_id="x", count=4, scanned=50
    )
    assert "empty-page-stop" not in found(made.replayed(tmp_path))


# the first page for all


def test_who_needs_every_page_and_takes_one_is_high(tmp_path: Path) -> None:
    one = only_of(examples.missing_pagination().replayed(tmp_path), "missing-pagination")
    assert (one.severity, one.caller, one.pattern) == (Severity.HIGH, "billing", "calls-of-customer")


def first_pages(op: str = "Query", times: int = 8, **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="visits").table()
    for number in range(times):
        key = {"key": {"PK": f"SITE#{number}"}} if op == "Query" else {}
        page: dict[str, Any] = {"count": 4100, "scanned": 4100, "more": True, "trace_id": f"t{number}"} | fields
        made.request(op, 20 * number, units=128.5, caller="stats", **key, **page)
    return made


@pytest.mark.parametrize("op", ["Query", "Scan"])
def test_without_a_contract_it_is_likely(tmp_path: Path, op: str) -> None:
    one = only_of(first_pages(op).replayed(tmp_path), "missing-pagination")
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)


def test_a_limit_says_how_much_is_wanted(tmp_path: Path) -> None:
    assert "missing-pagination" not in found(first_pages(limit=4100).replayed(tmp_path))


# counting by reading


def test_a_count_of_many_pages_is_told_and_is_no_missing_page(tmp_path: Path) -> None:
    report = examples.count_by_reading().replayed(tmp_path)
    one = only_of(report, "count-by-reading")
    assert (one.table, one.index, one.key) == ("alerts", "by-team", {"team": "payments"})
    assert (one.severity, "missing-pagination" in found(report)) == (Severity.MEDIUM, False)


def totals(op: str = "Query", pages: int = 4, **fields: Any) -> Recorded:
    made = Recorded(minutes=5, table="rows").table(read=400, write=10)
    for number in range(25):
        for part in range(pages):
            page: dict[str, Any] = {"count": 900, "scanned": 900, "more": part < pages - 1, "resumed": part > 0}
            told = {"key": {"PK": "ALL"} if op == "Query" else None, "select": "COUNT", "units": 128.5} | page | fields
            made.request(op, 10 * number + 0.2 * part, caller="pager", **told)
    return made


def test_a_count_of_the_table_may_be_looked_up_instead(tmp_path: Path) -> None:
    one = only_of(totals("Scan").replayed(tmp_path), "count-by-reading")
    assert (one.severity, one.advice[0].command is not None) == (Severity.MEDIUM, True)


def test_without_units_a_count_is_known_by_its_pages(tmp_path: Path) -> None:
    one = only_of(totals(units=None).replayed(tmp_path), "count-by-reading")
    assert one.cost_per_month_usd is None


def test_a_count_within_one_page_is_cheap(tmp_path: Path) -> None:
    assert "count-by-reading" not in found(totals(pages=1).replayed(tmp_path))


# one read a result


def test_a_loop_over_the_results_is_told_at_what_is_queried(tmp_path: Path) -> None:
    one = only_of(examples.n_plus_one().replayed(tmp_path), "n-plus-one")
    assert (one.severity, one.table, one.evidence["reads"], one.evidence["traces"]) == (
        Severity.MEDIUM,
        "orders",
        40,
        6,
    )


def related(reads: int = 60, **fields: Any) -> Recorded:
    made = Recorded(minutes=1, table="web-of-things").table("node", "edge", read=200, write=20)
    made.request("Query", 0, key={"node": "root#1"}, units=3, count=reads, trace_id="z", caller="graph")
    for number in range(reads):
        read: dict[str, Any] = {"units": 0.5, "count": 4, "trace_id": "z", "caller": "graph"} | fields
        made.request("Query", 0.02 + 0.01 * number, key={"node": f"edge#{number}"}, **read)
    return made


def test_queries_of_the_same_shape_as_the_first_are_a_loop_too(tmp_path: Path) -> None:
    report = related().replayed(tmp_path)
    one = only_of(report, "n-plus-one")
    assert (one.severity, one.caller) == (Severity.MEDIUM, "graph")
    assert "hot-key" not in alarms(report)


def test_a_few_reads_and_reads_without_a_trace_are_no_loop(tmp_path: Path) -> None:
    assert found(related(8).replayed(tmp_path)) == set()
    assert found(related(trace_id=None).replayed(tmp_path)) == set()


# strong reads


def test_a_pattern_that_is_declared_strong_is_left_alone(tmp_path: Path) -> None:
    one = only_of(examples.strong_read_cost().replayed(tmp_path), "strong-read-cost")
    assert (one.pattern, one.severity, one.evidence["saving_percent"]) == ("nightly-copy", Severity.LOW, 50)


def carts(*, guards: bool) -> Recorded:
    made = Recorded(minutes=5, table="carts").table()
    made.contract({"id": "get-cart", "operation": "GetItem", "key": {"PK": "CART#<id>"}, "consistency": "eventual"})
    for number in range(150):
        key, trace = {"PK": f"CART#{number}", "SK": "META"}, f"t{number}"
        made.request("GetItem", 2 * number, key=key, units=1, consistent=True, trace_id=trace, caller="shop")
        if guards:
            written: dict[str, Any] = {"condition": "version = :v", "consumed": {"total": 1, "write": 1}}
            made.request("UpdateItem", 2 * number + 0.1, key=key, trace_id=trace, caller="shop", **written)
    return made


def test_strong_reads_before_conditional_writes_have_a_reason(tmp_path: Path) -> None:
    assert "strong-read-cost" not in found(carts(guards=True).replayed(tmp_path))
    assert only_of(carts(guards=False).replayed(tmp_path), "strong-read-cost").pattern == "get-cart"


# a healthy table


def healthy() -> Recorded:
    """A day's five minutes: gets, pages that are read on, a filter on time to live, a lease, a health check, a cron."""
    made = Recorded(minutes=5, table="shop").table(read=500, write=200)
    made.line("ttl", table="shop", ttl={"TimeToLiveStatus": "ENABLED", "AttributeName": "expiresAt"})
    made.contract(
        {"id": "get-order", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}},
        {"id": "orders", "operation": "Query", "key": {"PK": "USER#<id>"}, "page_size": 25},
        {"id": "sessions", "operation": "Query", "key": {"PK": "SESSION#<id>"}},
        {"id": "health", "operation": "GetItem", "key": {"PK": "HEALTH", "SK": "META"}},
        {"id": "lease", "operation": ["GetItem", "UpdateItem"], "key": {"PK": "LEASE#<name>", "SK": "META"}},
    )
    for number in range(600):
        at, trace = number * 0.5, f"web-{number}"
        key = {"PK": f"ORDER#{number * 7 % 500}", "SK": "META"}
        made.request("GetItem", at, key=key, units=0.5, caller="web", trace_id=trace, count=1)
        if number % 3 == 0:
            page: dict[str, Any] = {"limit": 25, "count": 25, "scanned": 25, "more": True, "trace_id": trace}
            made.request("Query", at + 0.1, key={"PK": f"USER#{number}"}, units=2, caller="web", **page)
        if number % 4 == 0:
            live: dict[str, Any] = {"filter": "expiresAt > :now", "count": 3, "scanned": 9, "trace_id": trace}
            made.request("Query", at + 0.2, key={"PK": f"SESSION#{number}"}, units=0.5, caller="web", **live)
    for number in range(60):
        lease = {"PK": "LEASE#mailer", "SK": "META"}
        made.request("GetItem", 5 * number, key=lease, units=1, consistent=True, caller="mailer")
        renewed: dict[str, Any] = {"condition": "holder = :me", "consumed": {"total": 1, "write": 1}}
        made.request("UpdateItem", 5 * number + 0.1, key=lease, caller="mailer", **renewed)
        made.request("GetItem", 5 * number + 2, key={"PK": "HEALTH", "SK": "META"}, units=0.5, caller="balancer")
    return made


def test_of_a_healthy_table_the_detectors_of_reads_say_nothing(tmp_path: Path) -> None:
    report = healthy().replayed(tmp_path)
    assert found(report) == set()
    assert alarms(report) == set()
