"""The recordings of the pages on indexes."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import ACCOUNT, REGION, Recorded

__all__ = [
    "gsi_back_pressure",
    "gsi_consistent_read",
    "gsi_lag",
    "gsi_stale_read",
    "index_building",
    "item_collection_limit",
    "missing_index",
    "unused_index",
    "write_amplification",
]

INDEX = {"by-status": ("status", "placed")}
DAY = 86_400


def _order(number: int) -> dict[str, str]:
    return {"PK": f"ORDER#{number}", "SK": "META"}


def _written(table: float, index: float) -> dict[str, Any]:
    return {"total": table + index, "write": table + index, "table": table, "indexes": {"by-status": index}}


def gsi_back_pressure() -> Recorded:
    """An import fills an index beyond what it is provisioned for; the shop's orders fail with it."""
    made = Recorded(minutes=2).table(write=1000, indexes=INDEX)
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/orders/index/by-status"
    refused = [{"reason": "IndexWriteProvisionedThroughputExceeded", "resource": arn}]
    code = "ProvisionedThroughputExceededException"
    for number in range(240):
        at, caller = number / 2, "shop" if number % 8 == 0 else "import"
        if number % 4:
            made.request("PutItem", at, key=_order(number), caller=caller, consumed=_written(1, 1))
        else:
            made.request("PutItem", at, key=_order(number), caller=caller, error={"code": code, "reasons": refused})
    return made


def gsi_consistent_read() -> Recorded:
    """A page of open orders was made strong, to cure stale lists; the rest of the shop goes on."""
    made = Recorded().table(indexes=INDEX)
    said = "Consistent reads are not supported on global secondary indexes"
    for second in range(0, 300, 10):
        made.request("GetItem", second, key=_order(second), units=0.5, caller="shop")
        error: Any = {"code": "ValidationException", "message": said}
        asked: Any = {"index": "by-status", "consistent": True, "error": error}
        made.request("Query", second + 3.5, key={"status": "OPEN"}, caller="order-list", **asked)
    return made


def gsi_lag() -> Recorded:
    """An index is ten seconds behind: new orders are listed late."""
    made = Recorded().table(indexes=INDEX)
    for number in range(25):
        at, key, status = number * 11.0, _order(number), f"NEW#{number % 8}"
        entry: Any = {"by-status": {"status": {"S": status}, "placed": {"S": f"2026-03-02T{number:02}"}}}
        new: Any = {"condition": "attribute_not_exists(PK)", "index_keys": entry, "caller": "shop"}
        made.request("PutItem", at, key=key, consumed=_written(1, 1), latency_ms=6, **new)
        for second in range(1, 16, 2):
            age = second + number % 4 / 4
            listed = [
                other for other in range(number % 8, number + 1, 8) if at + age >= other * 11 + 10 + other % 5 / 5
            ]
            returned = [{"key": f"ORDER#{other}\tMETA"} for other in listed]
            seen: Any = {"index": "by-status", "returned": returned, "count": len(returned), "caller": "desk"}
            made.request("Query", at + age, key={"status": status}, latency_ms=4, **seen)
    return made


def gsi_stale_read() -> Recorded:
    """A worker takes an order, then looks for the next open one through the index: now and then it gets the same."""
    made = Recorded().table(indexes=INDEX)
    for number in range(30):
        at, trace = number * 9.7, f"trace-{number}"
        update: Any = {
            "update": "SET #s = :taken",
            "names": {"#s": "status"},
            "trace_id": trace,
            "caller": "picker",
        }
        taken = {"by-status": {"status": {"S": "TAKEN"}, "placed": {"S": f"2026-03-02T{number:02}"}}}
        made.request("UpdateItem", at, key=_order(number), consumed=_written(1, 2), index_keys=taken, **update)
        seen = number if number % 6 == 0 else number + 1
        listed: Any = {
            "index": "by-status",
            "count": 1,
            "scanned": 1,
            "limit": 1,
            "more": True,
            "trace_id": trace,
        }
        listed |= {"returned": [{"key": f"ORDER#{seen}\tMETA"}], "caller": "picker"}
        made.request("Query", at + 0.02, key={"status": "OPEN"}, units=0.5, **listed)
        if seen == number:
            lost: Any = {"condition": "#s = :open", "error": {"code": "ConditionalCheckFailedException"}}
            made.request("UpdateItem", at + 0.05, key=_order(number), **lost, **update)
    return made


def unused_index() -> Recorded:
    """Three weeks of metrics: orders are written all day, and nobody reads one of the two indexes."""
    made = Recorded(minutes=21 * 24 * 60).table(indexes=INDEX | {"by-coupon": ("coupon",)})
    for index, read, written in ((None, 900_000, 400_000), ("by-status", 300_000, 400_000), ("by-coupon", 0, 400_000)):
        made.metric("ConsumedReadCapacityUnits", [read] * 21, index=index, period=DAY)
        made.metric("ConsumedWriteCapacityUnits", [written] * 21, index=index, period=DAY)
    return made


def missing_index() -> Recorded:
    """The code that asks for a new index went out before the index did."""
    made = Recorded().table(indexes=INDEX)
    said = "The table does not have the specified index: by-state"
    for second in range(0, 300, 10):
        made.request("GetItem", second, key=_order(second), units=0.5, caller="shop")
        asked: Any = {"index": "by-state", "error": {"code": "ValidationException", "message": said}}
        made.request("Query", second + 3.5, key={"state": "OPEN"}, caller="order-list", **asked)
    return made


def index_building() -> Recorded:
    """An index is four fifths built, and its backfill is refused now and then."""
    made = Recorded().table(indexes={})
    described = {
        "IndexName": "by-status",
        "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "IndexStatus": "CREATING",
        "Backfilling": True,
    }
    made.table(GlobalSecondaryIndexes=[described]).quiet_metrics()
    made.metric("OnlineIndexPercentageProgress", [64, 68, 72, 76, 80], index="by-status", stat="Maximum")
    return made.metric("OnlineIndexThrottleEvents", [0, 3, 0, 4, 0], index="by-status")


def write_amplification() -> Recorded:
    """Each order passes through states, and each change of state moves its entry in an index of all orders."""
    made = Recorded().table(indexes=INDEX)
    for number in range(400):
        at = number * 0.74
        seen: Any = {"caller": "fulfilment", "names": {"#s": "status"}, "sample_rate": 0.1}
        made.request("UpdateItem", at, key=_order(number), update="SET #s = :s", consumed=_written(1, 2), **seen)
        if number % 4 == 0:
            made.request("UpdateItem", at + 0.1, key=_order(number), update="SET note = :n", units=1, caller="desk")
    return made


def item_collection_limit() -> Recorded:
    """A device's log stands at ten gigabytes; a local index by level keeps it from going on."""
    made = Recorded(table="device-log").table("PK", "SK", local={"by-level": ("PK", "level")})
    for number in range(60):
        written: Any = {"caller": "ingest", "item_bytes": 900, "trace_id": f"trace-{number}"}
        made.request("PutItem", number * 4.9, key={"PK": f"DEVICE#{number}", "SK": f"T#{number}"}, units=1, **written)
        if number % 3 == 0:
            error: Any = {
                "code": "ItemCollectionSizeLimitExceededException",
                "message": "Collection size exceeded.",
            }
            full = {"PK": "DEVICE#17", "SK": f"T#{number}"}
            made.request("PutItem", number * 4.9 + 1, key=full, error=error, **written)
    return made
