"""The recordings of the pages on reads."""

from __future__ import annotations

from typing import Any

from tests.support.recordings import Recorded

__all__ = ["unexpected_scan"]


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
