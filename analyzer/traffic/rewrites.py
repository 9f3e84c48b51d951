"""Writes of items that are there already: how often a key is put again, and how much an update changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["changes_little", "rewritten_share"]

_LITTLE = re.compile(r"list_append\(|\bADD |\bDELETE |\.\* = |\[\*\] = | = [^,]+ [+-] \?")
"""An entry of a list, a set or a map, and arithmetic: small beside an item of many kilobytes."""


def changes_little(shape: Shape) -> bool:
    """Whether an update says of itself that it changes one entry or one number, and no whole attribute."""
    update = shape.update or ""
    return _LITTLE.search(update) is not None


def rewritten_share(traffic: Traffic, row: PatternTraffic) -> float:
    """Return the part of a row's puts whose key was put before, among keys of which every call is in the book."""
    calls = () if traffic.calls is None else traffic.calls.of(traffic.target)
    keys = [
        call.key
        for call in calls
        if call.key_whole
        and not call.failed
        and call.fingerprint == row.shape.fingerprint
        and call.caller == row.caller
    ]
    return 1 - len(set(keys)) / len(keys) if keys else 0.0
