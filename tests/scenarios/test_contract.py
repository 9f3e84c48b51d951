"""Traffic that leaves its declaration, that has none, and declarations without traffic, each replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Severity
from tests.docs.examples import contract as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.report import Report

CONTRACT = {"pattern-drift", "undeclared-pattern", "unused-pattern"}


def found(report: Report) -> set[str]:
    return {one.detector for one in report.findings if one.detector in CONTRACT}


# a library's new version reads its little table more often, and otherwise


def leases(units: float | None = 0.5, before: float = 60, after: float = 6, **fields: Any) -> Recorded:
    made = Recorded(minutes=30, table="workers").table("leaseKey", indexes={"by-owner": ("leaseOwner", "leaseKey")})
    made.contract(
        {"id": "renew", "operation": "UpdateItem", "key": {"leaseKey": "<shard>"}, "callers": ["consumer"]},
        {"id": "list", "operation": "Scan", "callers": ["consumer"], "rate": {"p95": 0.04, "peak": 1},
         "schedule": "* * * * *"} | fields,
        key=("leaseKey",),
        indexes=[{"name": "by-owner", "partition_key": "leaseOwner", "sort_key": "leaseKey"}],
    )  # fmt: skip
    at = 0.0
    while at < 1800:
        is_new = at >= 900
        segments: dict[str, Any] = {"segment": round(at) % 8, "total_segments": 8} if is_new else {}
        made.request("Scan", at, units=units, count=3, scanned=3, caller="consumer", **segments)
        if is_new:
            owner = {"leaseOwner": "w1"}
            made.request("Query", at + 1, key=owner, units=units, index="by-owner", count=3, scanned=3,
                         caller="consumer")  # fmt: skip
        at += after if is_new else before
    for number in range(300):
        renewed: dict[str, Any] = {"condition": "#c = :c", "names": {"#c": "leaseCounter"}, "caller": "consumer"}
        made.request("UpdateItem", 6 * number + 0.5, key={"leaseKey": f"shard-{number % 3}"}, units=units, **renewed)
    return made


def test_a_library_that_reads_its_own_table_more_often_is_worth_knowing_and_no_more(tmp_path: Path) -> None:
    report = leases().replayed(tmp_path)
    one = only_of(report, "pattern-drift")
    assert (one.severity, one.table, one.index, one.cause) == (Severity.LOW, "workers", None, "rate")
    assert (one.caller, one.pattern) == ("consumer", "list")
    assert one.evidence["segmented_share"] == pytest.approx(0.909, abs=0.01)
    assert "of 30 minutes" in one.summary
    assert only_of(report, "undeclared-pattern").severity is Severity.LOW
    assert alarms(report) == set()


@pytest.mark.parametrize("fields", [{"units": None}, {"after": 2.5}], ids=["units not told", "far more often"])
def test_other_numbers_of_it_are_told_the_same(fields: dict[str, Any], tmp_path: Path) -> None:
    report = leases(**fields).replayed(tmp_path)
    assert only_of(report, "pattern-drift").severity is Severity.LOW
    assert alarms(report) == set()


@pytest.mark.parametrize(
    ("fields", "rate"),
    [({"after": 60}, None), ({"after": 30}, None), ({}, {"p95": 0.2, "peak": 1})],
    ids=["as before", "within a margin", "as it is declared now"],
)
def test_within_its_declaration_it_is_silent(fields: dict[str, Any], rate: Any, tmp_path: Path) -> None:
    report = leases(**fields, **({} if rate is None else {"rate": rate})).replayed(tmp_path)
    assert "pattern-drift" not in found(report)


def test_a_surge_that_was_announced_is_no_drift(tmp_path: Path) -> None:
    assert "pattern-drift" not in found(leases(surge={"rebalance": "10x"}).replayed(tmp_path))


# a pattern that is used otherwise than declared


def cases(pattern: dict[str, Any], op: str = "Query", many: int = 60, **request: Any) -> Recorded:
    made = Recorded(minutes=10, table="cases").table()
    given = {"id": "audit", "operation": op, "key": {"PK": "CASE#<id>"}, "callers": ["dash"]} | pattern
    callers = {"dash": {"services": ["dash-*", "dash"]}, "batch": {"services": ["nightly-*"]}}
    made.contract(given, callers=callers)
    for number in range(many):
        asked: dict[str, Any] = {"units": 1.0, "caller": "dash-1", "count": 10, "scanned": 10} | request
        key = {"PK": f"CASE#{number}"} | ({"SK": "META"} if op != "Query" else {})
        made.request(op, 10 * number, key=key, **asked)
    return made


@pytest.mark.parametrize(
    ("pattern", "request_", "cause"),
    [
        ({"filter": "none"}, {"filter": "#s = :s", "names": {"#s": "state"}}, "filter"),
        ({"order": "descending"}, {"forward": True}, "order"),
        ({"order": "ascending"}, {"forward": False}, "order"),
        ({"page_size": 25}, {"limit": 500}, "page-size"),
        ({"items_per_key": 20}, {"count": 400, "scanned": 400}, "items-per-key"),
        ({"consistency": "strong"}, {"consistent": False}, "consistency"),
        ({}, {"caller": "nightly-7"}, "caller"),
        ({}, {"caller": "who-knows"}, "caller"),
    ],
)
def test_a_query_that_leaves_its_declaration_is_told_by_what_it_leaves(
    pattern: dict[str, Any], request_: dict[str, Any], cause: str, tmp_path: Path
) -> None:
    report = cases(pattern, **request_).replayed(tmp_path)
    one = only_of(report, "pattern-drift")
    assert (one.cause, one.pattern) == (cause, "audit")
    assert one.severity is (Severity.MEDIUM if cause == "consistency" else Severity.LOW)
    assert one.evidence[f"{cause.replace('-', '_')}_standing"] == "OUT"


@pytest.mark.parametrize(
    ("pattern", "request_"),
    [
        ({"filter": {"discards_at_most": "10%"}}, {"filter": "#s = :s", "names": {"#s": "state"}}),
        ({"order": "descending"}, {"forward": False}),
        ({"page_size": 25}, {"limit": 25}),
        ({"items_per_key": 8}, {}),
        ({"consistency": "eventual"}, {}),
        ({}, {"caller": None}),
        ({"rate": {"p95": 0.1}}, {}),
    ],
)
def test_a_query_that_keeps_it_is_silent(pattern: dict[str, Any], request_: dict[str, Any], tmp_path: Path) -> None:
    assert found(cases(pattern, **request_).replayed(tmp_path)) == set()


def test_items_that_grew_are_told_by_their_size(tmp_path: Path) -> None:
    made = cases({"item_bytes": 2000}, "PutItem", item_bytes=9000, units=9.0)
    one = only_of(made.replayed(tmp_path), "pattern-drift")
    assert (one.cause, one.evidence["item_bytes"]) == ("item-bytes", 9000)


def test_where_few_requests_were_seen_nothing_is_decided(tmp_path: Path) -> None:
    report = cases({"order": "descending"}, many=12, forward=True).replayed(tmp_path)
    assert "pattern-drift" not in found(report)
    assert "pattern-drift" in {one.detector for one in report.skipped}


def test_who_writes_to_a_projection_without_building_it_is_told(tmp_path: Path) -> None:
    made = Recorded(table="search").table()
    build = {"id": "build", "operation": "PutItem", "key": {"PK": "DOC#<id>", "SK": "META"}, "callers": ["indexer"]}
    made.contract(build, source_of_truth=False, rebuild="replay", callers={"indexer": {"services": ["indexer"]}})
    for number in range(40):
        key = {"PK": f"DOC#{number}", "SK": "META"}
        made.request("PutItem", 5 * number, key=key, units=1, caller="indexer")
        if number % 10 == 0:
            made.request("UpdateItem", 5 * number + 1, key=key, units=1, caller="admin", update="SET title = :t")
    one = only_of(made.replayed(tmp_path), "pattern-drift")
    assert (one.cause, one.caller, one.severity) == ("foreign-write", "admin", Severity.MEDIUM)


# what was never declared, and what never comes


def test_a_new_query_after_a_deploy_is_told_with_its_declaration(tmp_path: Path) -> None:
    report = examples.undeclared_pattern().replayed(tmp_path)
    one = only_of(report, "undeclared-pattern")
    assert (one.caller, one.severity, one.fingerprint is not None) == ("shop", Severity.LOW, True)
    assert "operation: Query" in (one.advice[1].snippet or "")


def test_dear_traffic_that_nobody_declared_is_medium(tmp_path: Path) -> None:
    made = Recorded(minutes=10).table()
    made.contract({"id": "get", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}})
    for number in range(120):
        made.request("Query", 5 * number, key={"PK": f"ORDER#{number}"}, units=120, count=9, scanned=9, caller="shop")
    one = only_of(made.replayed(tmp_path), "undeclared-pattern")
    assert one.severity is Severity.MEDIUM


def test_somebody_who_looks_around_is_no_finding(tmp_path: Path) -> None:
    made = Recorded(minutes=10).table()
    made.contract({"id": "get", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}})
    for number in range(300):
        made.request("GetItem", 2 * number, key={"PK": f"ORDER#{number}", "SK": "META"}, units=0.5, caller="shop")
    for number in range(4):
        made.request("Query", 100 * number, key={"PK": f"ORDER#{number}"}, units=1, caller="console")
    assert found(made.replayed(tmp_path)) == set()


def test_a_report_that_stopped_is_missed_by_the_metrics_of_its_index(tmp_path: Path) -> None:
    report = examples.unused_pattern().replayed(tmp_path)
    one = only_of(report, "unused-pattern")
    index = only_of(report, "unused-index")
    assert (one.severity, one.confidence, one.index) == (Severity.LOW, Confidence.CERTAIN, "by-day")
    assert one.caused_by == index.id


def test_a_week_of_metrics_says_nothing_of_a_pattern(tmp_path: Path) -> None:
    made = Recorded(minutes=7 * 24 * 60).table(indexes={"by-day": ("day", "placed")})
    pattern = {"id": "of-day", "operation": "Query", "index": "by-day", "key": {"day": "<d>"}, "rate": {"p95": 1}}
    made.contract(pattern, indexes=[{"name": "by-day", "partition_key": "day", "sort_key": "placed"}])
    made.metric("ConsumedReadCapacityUnits", [0.0] * 168, index="by-day", period=3600)
    assert found(made.replayed(tmp_path)) == set()
