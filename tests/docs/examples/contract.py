"""The recordings of the pages on the contract."""

from __future__ import annotations

from tests.support.recordings import Recorded

__all__ = ["pattern_drift", "undeclared_pattern", "unused_pattern"]

_HOUR = 3600


def undeclared_pattern() -> Recorded:
    """A new version of the shop loads whole orders, by a Query without the sort condition that is declared."""
    made = Recorded(minutes=10).table(indexes={"by-customer": ("customer", "placed")})
    made.contract(
        {"id": "get-order", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}, "callers": ["shop"]},
        {"id": "list-lines", "operation": "Query", "key": {"PK": "ORDER#<id>", "SK": "begins_with LINE#"}},
    )
    for number in range(150):
        made.request("GetItem", 4 * number, key={"PK": f"ORDER#{number}", "SK": "META"}, units=0.5, caller="shop")
        if number >= 75:
            page = {"count": 40, "scanned": 40}
            made.request("Query", 4 * number + 1, key={"PK": f"ORDER#{number}"}, units=6, caller="shop", **page)
    return made


def unused_pattern() -> Recorded:
    """A report that used to read an index has stopped; the table itself is as busy as ever."""
    made = Recorded(minutes=15 * 24 * 60, start="2026-03-02T00:00:00.000Z").table(indexes={"by-day": ("day", "placed")})
    made.contract(
        {"id": "get-order", "operation": "GetItem", "key": {"PK": "ORDER#<id>", "SK": "META"}},
        {"id": "orders-of-day", "operation": "Query", "index": "by-day", "key": {"day": "<day>"}, "rate": {"p95": 0.5},
         "callers": ["daily-report"]},
        indexes=[{"name": "by-day", "partition_key": "day", "sort_key": "placed"}],
    )  # fmt: skip
    for index, each in ((None, 30_000.0), ("by-day", 0.0)):
        made.metric("ConsumedReadCapacityUnits", [each] * (15 * 24), index=index, period=_HOUR)
        made.metric("ConsumedWriteCapacityUnits", [9000.0] * (15 * 24), index=index, period=_HOUR)
    return made


def pattern_drift() -> Recorded:
    """A new version of a dashboard asks seven times as often from one minute on, and strongly."""
    made = Recorded(minutes=30).table()
    made.contract(
        {"id": "case-summary", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "SUMMARY"},
         "rate": {"p95": 0.2, "peak": 2}, "consistency": "eventual", "callers": ["dashboard"]},
    )  # fmt: skip
    at = 0.0
    while at < 30 * 60:
        is_new = at >= 15 * 60
        key = {"PK": f"CASE#{round(at) % 37}", "SK": "SUMMARY"}
        units = 1.0 if is_new else 0.5
        made.request("GetItem", at, key=key, units=units, caller="dashboard", consistent=is_new, attempts=1)
        at += 2.0 if is_new else 15.0
    return made
