"""A day of one table, and the change of contract that its owners think of: the examples of the planning pages.

`pytest tests/docs --rewrite-golden` writes them anew into docs/planning.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tests.support.recordings import Recorded

__all__ = ["orders_day", "sharded"]

MINUTES = 24 * 60
SALE = range(20 * 60, 20 * 60 + 30)
RATE = 0.001

DEMO = Path(__file__).parents[2] / "deploy/demo/contract.yaml"
CONTRACT: dict[str, Any] = {
    "owner": "shop",
    "source_of_truth": True,
    "entities": [
        {
            "name": "Order",
            "PK": "CUSTOMER#<customerId>",
            "SK": "ORDER#<orderId>",
            "status": "<status>",
            "item_bytes": 1800,
        }
    ],
    "indexes": [
        {
            "name": "by-status",
            "partition_key": "status",
            "sort_key": "SK",
            "projection": "all",
            "staleness_tolerance": "10s",
            "hot_key_risk": "every new order is OPEN",
            "owner": "fulfilment",
        }
    ],
}
PATTERNS: tuple[dict[str, Any], ...] = (
    {
        "id": "get-order",
        "title": "Get one order",
        "entity": "Order",
        "operation": "GetItem",
        "key": {"PK": "CUSTOMER#<customerId>", "SK": "ORDER#<orderId>"},
        "rate": {"p95": 250, "peak": 1200},
        "per_key": {"read_rate": 5},
        "callers": ["shop"],
    },
    {
        "id": "orders-of-customer",
        "title": "Orders of a customer, newest first",
        "entity": "Order",
        "operation": "Query",
        "key": {"PK": "CUSTOMER#<customerId>", "SK": "begins_with ORDER#"},
        "order": "descending",
        "page_size": 20,
        "rate": {"p95": 60, "peak": 200},
        "callers": ["shop"],
    },
    {
        "id": "place-order",
        "title": "Place an order",
        "entity": "Order",
        "operation": "PutItem",
        "key": {"PK": "CUSTOMER#<customerId>", "SK": "ORDER#<orderId>"},
        "condition": "create-only",
        "rate": {"p95": 40, "peak": 160},
        "per_key": {"write_rate": 0.1},
        "callers": ["shop"],
    },
    {
        "id": "open-orders",
        "title": "Orders to be packed",
        "entity": "Order",
        "operation": "Query",
        "index": "by-status",
        "key": {"status": "<status>", "SK": "begins_with ORDER#"},
        "page_size": 50,
        "rate": {"p95": 2, "peak": 4},
        "callers": ["packing"],
    },
)


def sharded() -> str:
    """Return the demo's contract with its hot index key split in ten, and with less projected."""
    text = DEMO.read_text("utf-8")
    for old, new in (("REGION#<region>", "REGION#<region>#<0..9>"), ("projection: all", "projection: keys_only")):
        text = text.replace(old, new)
    return text


def orders_day() -> Recorded:
    """Return a day of the table `orders`: night, noon, and a sale of half an hour in the evening."""
    made = Recorded(minutes=MINUTES, start="2026-03-02T00:00:00.000Z")
    made.contract(*PATTERNS, **CONTRACT)
    made.table(
        "PK",
        "SK",
        read=1500,
        write=400,
        indexes={"by-status": ("status", "SK")},
        TableSizeBytes=42 * 2**30,
        ItemCount=24_000_000,
    )
    asked = [_demand(minute) for minute in range(MINUTES)]
    made.metric("ConsumedReadCapacityUnits", [round(60 * (0.5 * gets + 5 * lists)) for gets, lists, _ in asked])
    made.metric("ConsumedWriteCapacityUnits", [round(60 * 2 * puts) for _, _, puts in asked])
    made.metric("ConsumedReadCapacityUnits", [(60 * 12) for _ in asked], index="by-status")
    made.metric("ConsumedWriteCapacityUnits", [round(60 * 2 * puts) for _, _, puts in asked], index="by-status")
    for number in range(0, MINUTES, 10):
        _requests(made, number, *asked[number])
    return made


def _demand(minute: int) -> tuple[float, float, float]:
    """Return gets, queries and puts a second."""
    day = 1 + 0.8 * math.sin((minute / MINUTES - 0.3) * 2 * math.pi)
    sale = 5 if minute in SALE else 1
    return 120 * day * sale, 30 * day, 20 * day * sale


def _requests(made: Recorded, minute: int, gets: float, lists: float, puts: float) -> None:
    """Sample the requests of ten minutes: each record stands for a thousand."""
    calls = {
        "get-order": (gets, "GetItem", 0.5, {}),
        "orders-of-customer": (lists, "Query", 5.0, {}),
        "place-order": (puts, "PutItem", 2.0, {}),
        "open-orders": (1.0, "Query", 12.0, {"index": "by-status"}),
    }
    for name, (rate, op, units, more) in calls.items():
        kept = max(1, round(rate * 600 * RATE / 12))
        for number in range(kept):
            _one(made, name, op, minute * 60 + number * 600 / kept, units, rate * 600 / kept, more)


def _one(made: Recorded, name: str, op: str, at: float, units: float, weight: float, more: dict[str, Any]) -> None:
    customer, order = f"CUSTOMER#{round(at) % 977}", f"ORDER#{round(at)}"
    fields: dict[str, Any] = {"caller": "packing" if more else "shop", "sample_rate": round(1 / weight, 9), **more}
    if name == "open-orders":
        fields |= {
            "key_condition": "#s = :s AND begins_with(SK, :o)",
            "names": {"#s": "status"},
            "values": {":s": {"S": "OPEN"}, ":o": {"S": "ORDER#"}},
        }
        made.request(op, at, units=units, count=50, scanned=50, **fields)
        return
    if op == "Query":
        fields |= {
            "key_condition": "PK = :p AND begins_with(SK, :o)",
            "values": {":p": {"S": customer}, ":o": {"S": "ORDER#"}},
            "forward": False,
            "limit": 20,
        }
        made.request(op, at, units=units, count=20, scanned=20, **fields)
        return
    if op == "PutItem":
        fields |= {
            "consumed": {"total": 4, "table": 2, "indexes": {"by-status": 2}},
            "index_keys": {"by-status": {"status": {"S": "OPEN"}, "SK": {"S": order}}},
            "condition": "attribute_not_exists(PK)",
            "item_bytes": 1800,
        }
        made.request(op, at, key={"PK": customer, "SK": order}, **fields)
        return
    made.request(op, at, key={"PK": customer, "SK": order}, units=units, **fields)
