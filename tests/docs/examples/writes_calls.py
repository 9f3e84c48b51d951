"""The recordings of the pages on how writes are called: batches, times to live, conditions, replicas, streams."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import Recorded

__all__ = [
    "idempotency_mismatch",
    "replication_lag",
    "stream_lag",
    "ttl_invalid",
    "ttl_stale_read",
    "unconditional_write",
    "unprocessed_dropped",
]


def _puts(first: int, many: int) -> list[dict[str, Any]]:
    keys = ({"PK": {"S": f"READING#{number}"}, "SK": {"S": "META"}} for number in range(first, first + many))
    return [{"op": "Put", "table": "readings", "key": key} for key in keys]


def unprocessed_dropped() -> Recorded:
    """A loader writes 25 readings a batch into 20 write units, and never looks at what comes back; another one does."""
    made = Recorded(minutes=3, table="readings").table(read=10, write=20)
    for number in range(60):
        back = [3, 4, 9, 17] if number % 3 == 0 else []
        batch: dict[str, Any] = {"parts": _puts(25 * number, 25), "unprocessed": len(back), "handed_back": back}
        made.request(
            "BatchWriteItem", number, units=25 - len(back), caller="loader", trace_id=f"file-{number}", **batch
        )
    for number in range(4):
        first: dict[str, Any] = {"parts": _puts(5000 + 25 * number, 25), "unprocessed": 2, "handed_back": [0, 1]}
        again: dict[str, Any] = {"parts": _puts(5000 + 25 * number, 2), "unprocessed": 0, "handed_back": []}
        made.request("BatchWriteItem", 70 + number, units=23, caller="repair", trace_id=f"repair-{number}", **first)
        made.request("BatchWriteItem", 70.4 + number, units=2, caller="repair", trace_id=f"repair-{number}", **again)
    return made


def ttl_invalid() -> Recorded:
    """A web front end writes the end of a session in milliseconds; the mobile one writes seconds."""
    made = Recorded(table="sessions").table("id")
    put = {"id": "open-session", "operation": "PutItem", "key": {"id": "<session>"}, "callers": ["web", "mobile"]}
    made.contract(put, key=("id",), ttl_attribute="expires", ttl_purpose="session")
    made.line("ttl", table="sessions", ttl={"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
    for number in range(60):
        end = made.start // 1000 + 3600 + 5 * number
        is_web = number % 3 == 0
        seen = {"attribute": "expires", "value": {"N": str(end * 1000 if is_web else end)}}
        key = {"id": f"session-{number}"}
        caller = "web" if is_web else "mobile"
        made.request("PutItem", 5 * number, key=key, units=1, caller=caller, ttl_seen=seen, item_bytes=420)
    return made


def ttl_stale_read() -> Recorded:
    """A login service trusts DynamoDB to have deleted what has expired."""
    made = Recorded(table="sessions").table("id")
    made.contract(
        {"id": "load-session", "operation": "GetItem", "key": {"id": "<session>"}, "callers": ["login"]},
        key=("id",),
        ttl_attribute="expires",
        ttl_purpose="session",
    )
    made.line("ttl", table="sessions", ttl={"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
    for number in range(80):
        seen = {"attribute": "expires", "expired_returned": int(number % 10 == 0)}
        key = {"id": f"session-{number}"}
        made.request("GetItem", 3.5 * number, key=key, units=0.5, caller="login", count=1, ttl_seen=seen)
    return made


def unconditional_write() -> Recorded:
    """Two services read a basket, change it and put it back; once they meet, and a line of the basket is gone."""
    made = Recorded(table="baskets").table()
    for number in range(12):
        key = {"PK": f"BASKET#{number}", "SK": "META"}
        at, trace = 20 * number, f"add-{number}"
        made.request("GetItem", at, key=key, units=0.5, caller="shop", trace_id=trace, count=1, latency_ms=4.0)
        if number == 5:
            made.request(
                "UpdateItem", at + 0.1, key=key, units=1, caller="offers", trace_id="offer", update="SET a = :a"
            )
        made.request("PutItem", at + 0.25, key=key, units=2, caller="shop", trace_id=trace, latency_ms=5.0)
    return made


def idempotency_mismatch() -> Recorded:
    """A meter adds to a counter; where an answer is lost, its SDK sends the update again."""
    made = Recorded(table="meters").table()
    for number in range(200):
        is_lost = number in {40, 110, 170}
        retried: dict[str, Any] = {"attempts": 2, "tries": [{"at_ms": 1000.0, "code": "ReadTimeoutError"}]}
        added: dict[str, Any] = {"update": "ADD #n :one", "names": {"#n": "used"}, "caller": "meter"}
        key = {"PK": f"CUSTOMER#{number}", "SK": "2026-03"}
        made.request("UpdateItem", 1.4 * number, key=key, units=1, **added, **(retried if is_lost else {"attempts": 1}))
    return made


def replication_lag() -> Recorded:
    """The replica in Ireland falls behind: it has less write capacity than the table that feeds it."""
    made = Recorded(minutes=60, table="profiles").table(Replicas=[{"RegionName": "eu-west-1"}])
    latencies = [900, 1100, 1000, 950, 1050, 980, 1020, 1000, 9900, 24_000, 41_000, 62_000]
    made.metric("ReplicationLatency", latencies, stat="Average", period=300, ReceivingRegion="eu-west-1")
    return made.quiet_metrics()


def stream_lag() -> Recorded:
    """A search index is fed from the table's Kinesis stream, and is further behind than it may be."""
    made = Recorded(minutes=30, table="articles").table()
    made.contract(streams=[{"consumer": "search-indexer", "purpose": "search", "max_age": "60s"}])
    ages = [2000, 3000, 45_000, 210_000, 480_000, 760_000]
    made.metric("AgeOfOldestUnreplicatedRecord", ages, stat="Maximum", period=300, DelegatedOperation="PutRecord")
    return made.quiet_metrics()
