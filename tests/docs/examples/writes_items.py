"""The recordings of the pages on items, transactions, conditions and locks."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import Recorded

__all__ = [
    "conditional_contention",
    "item_growth",
    "item_too_large",
    "stuck_lock",
    "transaction_conflict",
    "unneeded_transaction",
    "write_cost",
]

HOUR = 3600


def item_growth() -> Recorded:
    """A chat keeps all its messages in one item; the support's busiest one grew for two days."""
    made = Recorded(minutes=2 * 24 * 60, table="chats").table("chat")
    for number in range(9):
        said: Any = {"update": "SET messages = list_append(messages, :new)", "caller": "chat-api"}
        made.request("UpdateItem", 6 * HOUR * number, key={"chat": "CHAT#91"}, units=20 + 30 * number, **said)
        made.request("UpdateItem", 6 * HOUR * number + 60, key={"chat": "CHAT#17"}, units=3, **said)
    return made


def item_too_large() -> Recorded:
    """The report of the largest customer is over 400 KB since this morning, and is lost each time."""
    made = Recorded(table="reports").table("report")
    said = "Item size has exceeded the maximum allowed size"
    for number in range(30):
        size = 40_000 + 1000 * number
        key = {"report": f"CUSTOMER#{number}"}
        made.request("PutItem", 5 + 9 * number, key=key, units=-(-size // 1024), item_bytes=size, caller="reporter")
    for number in range(3):
        error: Any = {"code": "ValidationException", "message": said}
        made.request("PutItem", 20 + 90 * number, key={"report": "CUSTOMER#777"}, caller="reporter", error=error)
    return made


def write_cost() -> Recorded:
    """A meter writes twelve readings of a device at a time, 90 bytes each."""
    made = Recorded(minutes=1, table="readings").table("device", "reading")
    for number in range(50):
        for part in range(12):
            key = {"device": f"DEVICE#{number}", "reading": f"{part:02}"}
            at = 1.1 * number + 0.004 * part
            made.request("PutItem", at, key=key, units=1, item_bytes=90, caller="meter", trace_id=f"batch-{number}")
    return made


def _part(key: str, op: str = "Update", **fields: Any) -> dict[str, Any]:
    return {"op": op, "table": "payments", "key": {"PK": {"S": key}, "SK": {"S": "META"}}, **fields}


def unneeded_transaction() -> Recorded:
    """A ledger marks payments as seen by transactions of one item; transfers need theirs."""
    made = Recorded(table="payments").table()
    for number in range(40):
        seen: Any = {"parts": [_part(f"PAY#{number}")], "token_sent": False, "caller": "ledger"}
        made.request("TransactWriteItems", 4 + 7 * number, units=2, **seen)
        moved: Any = {"parts": [_part(f"ACC#{number}"), _part(f"ACC#{number + 1}")], "caller": "transfers"}
        made.request("TransactWriteItems", 6 + 7 * number, units=4, **moved)
    return made


def transaction_conflict() -> Recorded:
    """Every sale adds to one total of the day in its transaction; at noon a third of them fail."""
    made = Recorded(table="payments").table()
    for number in range(150):
        parts = [_part(f"SALE#{number}", "Put"), _part("TOTAL#2026-03-02")]
        told: Any = {"parts": parts, "caller": "till", "attempts": 1}
        if number % 3 == 0:
            told["error"] = {"code": "TransactionCanceledException", "cancellation": ["None", "TransactionConflict"]}
        made.request("TransactWriteItems", 2 * number, units=None if number % 3 == 0 else 4, **told)
    return made


def conditional_contention() -> Recorded:
    """Workers save their progress in one item by its version, and try again with the version that they had."""
    made = Recorded(table="imports").table("import")
    for number in range(120):
        told: Any = {"condition": "version = :seen", "update": "SET progress = :p, version = :next", "caller": "worker"}
        if number % 5 < 2:
            told["error"] = {"code": "ConditionalCheckFailedException"}
        made.request("UpdateItem", 2.4 * number, key={"import": "IMPORT#4"}, units=1, **told)
    return made


def stuck_lock() -> Recorded:
    """A deploy was killed while it held its lock; those after it wait for it in vain."""
    made = Recorded(minutes=180, table="deploy-locks").table("lock")
    told: Any = {"condition": "attribute_not_exists(#l)", "names": {"#l": "lock"}}
    made.request("PutItem", 30, key={"lock": "shop"}, units=1, caller="pipeline-12", **told)
    for start in (1800, 5400, 9900):
        for number in range(4):
            error = {"code": "ConditionalCheckFailedException"}
            at = start + 15 * number
            made.request("PutItem", at, key={"lock": "shop"}, units=1, caller="pipeline-13", error=error, **told)
    for name, at in (("blog", 600), ("mail", 7000)):
        made.request("PutItem", at, key={"lock": name}, units=1, caller="pipeline-8", **told)
        made.request("DeleteItem", at + 240, key={"lock": name}, units=1, caller="pipeline-8")
    return made
