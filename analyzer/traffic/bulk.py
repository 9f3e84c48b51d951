"""Work that has time: backfills, imports, replays. Nobody waits for it, and it comes as fast as it is let."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["busiest_writes", "is_bulk", "write_weight"]

_ONE_OFF = frozenset({"migration", "repair", "admin"})
"""Purposes of the contract that say that a pattern is no daily work."""

_NAMES = re.compile(r"back-?fill|bulk|import|migrat|replay|re-?index|loader|restore|seed|\betl\b", re.IGNORECASE)
"""What people call callers that have time; none of them answers a click."""


def is_bulk(rows: Sequence[PatternTraffic], traffic: Traffic, batch_share: float) -> bool:
    """Whether one caller's writes come in batches, are declared as a one-off, or are named for what they do."""
    batches = sum(write_weight([row]) for row in rows if row.shape.operation == "BatchWriteItem")
    if batches and batches >= batch_share * write_weight(rows):
        return True
    most = busiest_writes(rows)
    declared = traffic.place.patterns.get(most.attribution.pattern or "")
    is_declared = declared is not None and declared.purpose in _ONE_OFF
    return is_declared or bool(_NAMES.search(most.caller or ""))


def busiest_writes(rows: Sequence[PatternTraffic]) -> PatternTraffic:
    """Return the row that writes most."""
    return max(rows, key=lambda row: write_weight([row]))


def write_weight(rows: Sequence[PatternTraffic]) -> float:
    """Return write units, or requests where units are not known."""
    return sum(row.write_units.value if row.units_known else row.requests.value for row in rows)
