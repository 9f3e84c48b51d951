"""Who takes work from the head of a key, and what moves items away from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic

__all__ = ["HANDFUL", "is_move", "is_poll"]

HANDFUL = 16
"""Who asks for more items than that reads a list, not the head of a queue."""


def is_poll(row: PatternTraffic, most_items: int = HANDFUL) -> bool:
    """Whether a row asks for the first few items of a key."""
    shape = row.shape
    return shape.operation == "Query" and shape.limit_bucket is not None and shape.limit_bucket <= most_items


def is_move(row: PatternTraffic, attributes: Iterable[str]) -> bool:
    """Whether a row updates one of these attributes, which an index is keyed by: its entry is deleted and put anew."""
    texts = [row.shape.update, *(part.update for part in row.shape.parts)]
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in attributes for text in texts if text)
