"""The recordings of the pages on heat."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import ACCOUNT, REGION, Recorded

__all__ = [
    "autoscale_lag",
    "hot_key",
    "latency_shift",
    "low_cardinality_key",
    "queue_like_table",
    "request_errors",
    "retry_storm",
    "service_fault",
    "silent_throttling",
    "sub_minute_burst",
    "throttling",
    "unpaced_bulk",
]

THROTTLED = "ProvisionedThroughputExceededException"
DAY, HOUR = 86_400, 3_600


def failed_try(reason: str | None, at_ms: int = 4) -> dict[str, Any]:
    """Write one failed try, with DynamoDB's reason where it is told."""
    return {"at_ms": at_ms, "code": THROTTLED} | ({"reason": reason} if reason else {})


def refusal(reason: str | None, table: str, index: str | None = None) -> dict[str, Any]:
    """Write the error of a call that was refused to its last try."""
    place = f"table/{table}" + (f"/index/{index}" if index else "")
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:{place}"
    return {"code": THROTTLED} | ({"reasons": [{"reason": reason, "resource": arn}]} if reason else {})


def hot_key(units: float = 60.0, reason: str | None = "TableReadKeyRangeThroughputExceeded", **fields: Any) -> Recorded:
    """The start page of a shop is one item; a sale brings everybody to it."""
    made = Recorded(minutes=1, table="pages").table("page")
    for number in range(240):
        at = number / 4
        every: dict[str, Any] = {"caller": "storefront", "sample_rate": 0.1} | fields
        made.request("GetItem", at, key={"page": f"PRODUCT#{number}"}, units=0.5, **every)
        asked = {"key": {"page": "PAGE#home"}, "consistent": True, **every}
        if number % 8 == 7:
            made.request("GetItem", at, attempts=3, error=refusal(reason, "pages"), **asked)
        elif number % 2:
            tries = [failed_try(reason), failed_try(reason, 30)]
            made.request("GetItem", at, units=units, attempts=3, tries=tries, **asked)
        else:
            made.request("GetItem", at, units=units, attempts=1, **asked)
    return made


def low_cardinality_key(states: int = 4, units: float = 8.0, rate: float = 0.1, calls: int = 240) -> Recorded:
    """Nearly all look for open tickets; the index has one partition key value for them."""
    made = Recorded(table="tickets").table(indexes={"by-state": ("state", "opened")})
    for number in range(calls):
        state = "OPEN" if number % 10 else f"STATE{number // 10 % (states - 1)}"
        asked: dict[str, Any] = {"index": "by-state", "caller": "help-desk", "sample_rate": rate if rate < 1 else None}
        made.request("Query", number * 300 / calls, key={"state": state}, units=units, count=40, scanned=40, **asked)
    return made


def throttling(refused: int = 20, reason: str | None = "TableWriteProvisionedThroughputExceeded") -> Recorded:
    """Orders outgrow what their table is provisioned for; the SDK's third try fails now and then."""
    made = Recorded(minutes=2).table(read=500, write=5)
    for number in range(600):
        at, key = number / 5, {"PK": f"ORDER#{number}", "SK": "META"}
        if number % refused == 0:
            made.request("PutItem", at, key=key, caller="shop", attempts=3, error=refusal(reason, "orders"))
        elif number % refused in {5, 11}:
            made.request("PutItem", at, key=key, units=1, caller="shop", attempts=2, tries=[failed_try(reason)])
        else:
            made.request("PutItem", at, key=key, units=1, caller="shop", attempts=1)
    return made


def silent_throttling(every: int = 4, **fields: Any) -> Recorded:
    """Writes of meters wait for their second or third try; none fails, and nobody is told."""
    made = Recorded(minutes=2, table="meters").table(read=100, write=5)
    reason = "TableWriteProvisionedThroughputExceeded"
    for number in range(600):
        put: dict[str, Any] = {"key": {"PK": f"METER#{number % 300}", "SK": "NOW"}, "units": 1, "caller": "collector"}
        if number % every:
            put |= {"attempts": 1, "latency_ms": 4 + number % 3}
        else:
            tries = [failed_try(reason), failed_try(reason, 60)]
            put |= {"attempts": 3, "latency_ms": 240, "tries": tries} | fields
        made.request("PutItem", number / 5, **put)
    return made


def retry_storm(attempts: int | None = 1, every_ms: int = 100) -> Recorded:
    """A worker puts the same entry again and again while it is refused, five times a second and more."""
    made = Recorded(minutes=1, table="ledger").table(read=50, write=50)
    error = refusal("TableWriteProvisionedThroughputExceeded", "ledger")
    for second in range(40):
        at: float = second
        for number in range(900 // every_ms):
            entry = {"PK": f"ACCOUNT#{second}", "SK": "ENTRY"}
            last = number == 900 // every_ms - 1
            ended: dict[str, Any] = {"units": 1} if last else {"error": error}
            made.request(
                "PutItem", at + number * every_ms / 1000, key=entry, caller="poster", attempts=attempts, **ended
            )
        made.request("GetItem", at + 0.5, key={"PK": f"ACCOUNT#{second}", "SK": "META"}, units=0.5, caller="bank")
    return made


def sub_minute_burst(units: float | None = 30.0, events: tuple[float, ...] = (180, 170, 190)) -> Recorded:
    """A timer refreshes all prices at second 0 of each minute: half a minute's units in two seconds."""
    made = Recorded(minutes=3, table="prices").table("sku", read=100, write=10)
    for minute in range(3):
        for number in range(100):
            at = minute * 60 + number / 50
            made.request("GetItem", at, key={"sku": f"SKU#{number}"}, units=units, caller="price-cache")
    made.metric("ConsumedReadCapacityUnits", [(units or 30.0) * 100] * 3)
    return made.metric("ReadProvisionedThroughputThrottleEvents", events)


def autoscale_lag(period_hours: float = 4.0, most: int | None = 2000) -> Recorded:
    """An import of four times what stands ready lands every four hours; capacity comes ten minutes later."""
    made = Recorded(minutes=16 * 60, table="stock").table(read=200, write=200)
    points = 16 * 12
    late = [int(number * 300 % (period_hours * HOUR)) // 300 for number in range(points)]
    made.metric(
        "ProvisionedWriteCapacityUnits", [800 if 2 <= at < 5 else 200 for at in late], stat="Average", period=300
    )
    made.metric("ConsumedWriteCapacityUnits", [60_000 if at < 5 else 18_000 for at in late], period=300)
    made.metric("WriteProvisionedThroughputThrottleEvents", [9_000 if at < 2 else 0 for at in late], period=300)
    if most is not None:
        limits: dict[str, Any] = {"min": 200, "max": most, "target": 70}
        made.line("scaling", table="stock", dimension="write", **limits, scheduled=[], activities=[])
    return made


def queue_like_table(polls: int = 150, limit: int | None = 10) -> Recorded:
    """A worker asks every two seconds for the first waiting mail, and marks what it has sent."""
    made = Recorded(table="mails").table(indexes={"by-state": ("mailState", "createdAt")})
    for number in range(polls):
        at, asked = (
            number * 300 / polls,
            {"index": "by-state", "limit": limit, "count": number % 3, "scanned": number % 3},
        )
        made.request("Query", at, key={"mailState": "WAITING"}, units=0.5, caller="mail-worker", **asked)
        if number % 3 == 0:
            entry: dict[str, Any] = {"by-state": {"mailState": {"S": "SENT"}, "createdAt": {"S": "2026-03-02"}}}
            consumed: dict[str, Any] = {"total": 3, "write": 3, "table": 1, "indexes": {"by-state": 2}}
            update: dict[str, Any] = {"update": "SET mailState = :sent", "index_keys": entry, "consumed": consumed}
            made.request(
                "UpdateItem", at + 0.4, key={"PK": f"MAIL#{number}", "SK": "META"}, caller="mail-worker", **update
            )
    return made


def latency_shift(items: float | None = 240.0, slow: float = 48.0) -> Recorded:
    """The list of bookings is slow this morning: an answer has six times the items that it has on other days."""
    made = Recorded(minutes=15, table="bookings").table()
    start, points = -3 * DAY, 3 * 24 * 12 + 3
    now = points - 3

    def told(metric: str, stat: str, before: float, later: float) -> None:
        values = [before if at < now else later for at in range(points)]
        made.metric(metric, values, stat=stat, period=300, at=start, Operation="Query")

    told("SuccessfulRequestLatency", "p99", 12.0, slow)
    told("SuccessfulRequestLatency", "SampleCount", 900, 950)
    if items is not None:
        told("ReturnedItemCount", "Average", 40.0, items)
    return made


def service_fault(every: int = 20, code: str = "InternalServerError") -> Recorded:
    """DynamoDB answers one call in twenty with an error of its own."""
    made = Recorded(minutes=2, table="sessions").table("session")
    for number in range(400):
        ended: dict[str, Any] = {"error": {"code": code, "message": ""}} if number % every == 0 else {"units": 0.5}
        made.request("GetItem", number * 0.3, key={"session": f"S#{number}"}, caller="web", **ended)
    return made


def request_errors(every: int = 5, code: str = "ValidationException") -> Recorded:
    """A release sends an empty string as the key of an index: every fifth save is refused."""
    made = Recorded(minutes=2, table="profiles").table("user")
    said = "One or more parameter values are not valid. A value specified for a secondary index key is not supported."
    for number in range(200):
        ended: dict[str, Any] = {"error": {"code": code, "message": said}} if number % every == 0 else {"units": 1}
        made.request("PutItem", number * 0.6, key={"user": f"USER#{number}"}, caller="profile-editor", **ended)
    return made


def unpaced_bulk(caller: str = "catalog-import", op: str = "BatchWriteItem", units: float = 25.0) -> Recorded:
    """A catalog is imported while people shop; their carts are refused beside it."""
    made = Recorded(minutes=2, table="products").table("sku", read=200, write=200)
    reason = "TableWriteProvisionedThroughputExceeded"
    for number in range(240):
        at = number / 2
        if op == "BatchWriteItem":
            parts = [{"op": "Put", "table": "products", "key": {"sku": {"S": f"NEW#{number}-{n}"}}} for n in range(2)]
            bulk: dict[str, Any] = {"parts": parts, "attempts": 1}
        else:
            bulk = {"key": {"sku": f"NEW#{number}"}, "attempts": 1}
        made.request(op, at, units=units, caller=caller, **bulk)
        cart: dict[str, Any] = {"key": {"sku": f"SKU#{number % 40}"}, "caller": "cart"}
        if number % 6:
            made.request("UpdateItem", at + 0.2, units=1, attempts=1, **cart)
        else:
            made.request("UpdateItem", at + 0.2, attempts=3, error=refusal(reason, "products"), **cart)
    return made
