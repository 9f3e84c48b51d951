"""Calls and books built by hand: healthy, and whole, until told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.calls import Call, CallBook
from analyzer.model.counts import KeyLevel, KeyName
from tests.support.evidence import CASES, shape

if TYPE_CHECKING:
    from analyzer.model.shape import Shape

__all__ = ["book", "call", "item"]


def item(partition: str = "CASE#7", sort: str | None = None) -> KeyName:
    """A key."""
    return KeyName(KeyLevel.PARTITION if sort is None else KeyLevel.ITEM, partition, sort)


def call(operation: str = "GetItem", at: float = 0.0, of: Shape | None = None, **fields: Any) -> Call:
    """A call so many seconds after the epoch; its key, or where it has one its trace, is whole."""
    key = fields.setdefault("key", item())
    defaults: dict[str, Any] = {
        "target": CASES,
        "caller": "api",
        "trace_whole": fields.get("trace") is not None,
        "key_whole": key is not None,
        "shape_whole": key is None and fields.get("trace") is None,
    }
    made = of or shape(operation, fingerprint=operation.lower())
    return Call(time=round(at * 1000), shape=made, **defaults | fields)


def book(*calls: Call, **fields: Any) -> CallBook:
    """A book of calls, sorted by time."""
    return CallBook(sorted(calls, key=lambda one: one.time), **fields)
