"""The recordings of the pages on reads."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import Recorded

__all__ = [
    "count_by_reading",
    "declared_scan",
    "empty_page_stop",
    "filter_heavy_query",
    "limit_before_filter",
    "missing_pagination",
    "n_plus_one",
    "polling_read",
    "strong_read_cost",
    "unexpected_scan",
    "unpaced_scan",
]


def unexpected_scan() -> Recorded:
    """A report reads the whole table once a second for the orders of one status, beside a shop that gets its own."""
    made = Recorded().table(read=500, write=100, indexes={"by-status": ("status", "placed")})
    made.contract({"id": "get-order", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}})
    for second in range(0, 300, 3):
        made.request("GetItem", second + 0.4, key={"PK": f"ORDER#{second}", "SK": "META"}, units=0.5, caller="shop")
        page: dict[str, Any] = {"count": 12, "scanned": 990, "more": True, "resumed": second > 0}
        page |= {"filter": "#s = :open", "names": {"#s": "status"}}
        made.request("Scan", second, units=128.5, caller="daily-report", **page)
    return made


def unpaced_scan() -> Recorded:
    """A backup reads ten items a page, back to back, from a table with 40 units."""
    made = Recorded(minutes=2).table(read=40, write=10)
    made.contract({"id": "nightly-backup", "operation": "Scan", "callers": ["backup"], "schedule": "0 9 * * *"})
    for number in range(150):
        page: dict[str, Any] = {"count": 10, "scanned": 10, "limit": 10, "more": True, "resumed": number > 0}
        made.request("Scan", number * 0.1, units=6.5, caller="backup", latency_ms=40.0, consistent=False, **page)
    return made


def limit_before_filter() -> Recorded:
    """A help desk asks for ten open tickets and gets those among the first ten tickets, of which most are closed."""
    made = Recorded(table="tickets").table()
    asked: dict[str, Any] = {"filter": "#s = :open", "names": {"#s": "state"}, "limit": 10}
    for number, found in enumerate((0, 1, 0, 2, 0, 0)):
        page: dict[str, Any] = {"count": found, "scanned": 10, "more": True, "trace_id": f"view-{number}"}
        key = {"PK": f"DESK#{number % 2}"}
        made.request("Query", 20 + 25 * number, key=key, units=0.5, caller="help-desk", **asked, **page)
    return made


def empty_page_stop() -> Recorded:
    """An export of open tasks ends at a first page whose tasks are all done; that of a smaller tenant works."""
    made = Recorded(table="tasks").table()
    asked: dict[str, Any] = {"filter": "done = :no", "caller": "task-export"}
    for number in range(4):
        page: dict[str, Any] = {"count": 0, "scanned": 2310, "more": True, "trace_id": f"large-{number}"}
        made.request("Query", 10 + 60 * number, key={"PK": "TENANT#17"}, units=128.5, **asked, **page)
        page = {"count": 31, "scanned": 40, "more": False, "trace_id": f"small-{number}"}
        made.request("Query", 30 + 60 * number, key={"PK": "TENANT#4"}, units=2.5, **asked, **page)
    return made


def missing_pagination() -> Recorded:
    """Bills are made from the first page of each customer's calls; the contract says that all are needed."""
    made = Recorded(table="phone-calls").table()
    bill = {"id": "calls-of-customer", "operation": "Query", "key": {"PK": "CUSTOMER#<id>"}, "returns_all": True}
    made.contract(bill)
    for number in range(20):
        has_many = number % 4 == 0
        page: dict[str, Any] = {"count": 3900 if has_many else 120, "scanned": 3900 if has_many else 120}
        page |= {"more": has_many, "trace_id": f"bill-{number}", "units": 128.5 if has_many else 4.0}
        made.request("Query", 5 + 10 * number, key={"PK": f"CUSTOMER#{number}"}, caller="billing", **page)
    return made


def count_by_reading() -> Recorded:
    """A dashboard counts a team's open alerts every fifteen seconds, three pages each time."""
    made = Recorded(table="alerts").table(indexes={"by-team": ("team", "raised")})
    for number in range(20):
        for part in range(3):
            page: dict[str, Any] = {"count": 5200, "scanned": 5200, "more": part < 2, "resumed": part > 0}
            page |= {"index": "by-team", "select": "COUNT", "trace_id": f"board-{number}"}
            at = 15 * number + 0.1 * part
            made.request("Query", at, key={"team": "payments"}, units=128.5, caller="dashboard", **page)
    return made


def n_plus_one() -> Recorded:
    """A page lists forty orders of a shop by an index, then loads each of them."""
    made = Recorded().table(indexes={"by-shop": ("shop", "placed")})
    for view in range(6):
        start, trace = 40 * view, f"page-{view}"
        listed: dict[str, Any] = {"index": "by-shop", "count": 40, "scanned": 40, "trace_id": trace}
        made.request("Query", start, key={"shop": f"SHOP#{view}"}, units=4.5, caller="shop-page", **listed)
        for number in range(40):
            key = {"PK": f"ORDER#{view}-{number}", "SK": "META"}
            at = start + 0.02 + 0.012 * number
            made.request("GetItem", at, key=key, units=0.5, caller="shop-page", trace_id=trace, count=1)
    return made


def polling_read() -> Recorded:
    """A mailer scans for letters that are due every five seconds, on a table that the front end shares."""
    made = Recorded(table="letters").table(read=60, write=20)
    asked: dict[str, Any] = {"filter": "sent = :no", "caller": "mailer"}
    for number in range(60):
        for part in range(2):
            page: dict[str, Any] = {"count": part, "scanned": 2900, "more": part == 0, "resumed": part > 0}
            if number % 20 == 19:
                page["tries"] = [{"at_ms": 3.0, "code": "ProvisionedThroughputExceededException"}]
            made.request("Scan", 5 * number + 0.2 * part, units=128.5, attempts=1 + ("tries" in page), **asked, **page)
        made.request("GetItem", 5 * number + 1.3, key={"PK": f"LETTER#{number}", "SK": "META"}, units=0.5, caller="web")
    return made


def strong_read_cost() -> Recorded:
    """A nightly copy reads strongly although its pattern says eventual; a replay is declared strong, and left alone."""
    made = Recorded(table="journal").table()
    made.contract(
        {"id": "nightly-copy", "operation": "Scan", "consistency": "eventual", "callers": ["copier"]},
        {"id": "replay", "operation": "Query", "key": {"PK": "ENTITY#<id>"}, "consistency": "strong"},
    )
    for number in range(60):
        page: dict[str, Any] = {"count": 950, "scanned": 950, "more": number < 59, "resumed": number > 0}
        made.request("Scan", 2 + 3 * number, units=257, caller="copier", consistent=True, **page)
        key = {"PK": f"ENTITY#{number}"}
        made.request(
            "Query", 3 + 3 * number, key=key, units=6, caller="replayer", consistent=True, count=40, scanned=40
        )
    return made


def declared_scan() -> Recorded:
    """An archive reads at its declared pace, in its hour."""
    made = Recorded(table="readings").table(read=400, write=100)
    nightly = {"schedule": "0 9 * * *", "max_units_per_second": 150, "callers": ["archiver"], "purpose": "export"}
    made.contract({"id": "nightly-archive", "operation": "Scan"} | nightly)
    for number in range(100):
        page: dict[str, Any] = {"count": 1400, "scanned": 1400, "more": number < 99, "resumed": number > 0}
        made.request("Scan", 1 + 2 * number, units=128.5, caller="archiver", **page)
    return made


def filter_heavy_query() -> Recorded:
    """A page reads a customer's whole history for the invoices among it."""
    made = Recorded(table="history").table()
    asked: dict[str, Any] = {"filter": "kind = :invoice", "caller": "account-page"}
    for number in range(90):
        key = {"PK": f"CUSTOMER#{number}"}
        made.request("Query", 1 + 3 * number, key=key, units=64, count=9, scanned=1200, **asked)
    return made
