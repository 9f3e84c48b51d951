"""Refused calls that say something of an index: it is not there, it cannot be read strongly, it is being built.

Where a log has no message, the shape of the calls and the table's description speak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.traffic.building import building_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Refused, Traffic

__all__ = ["is_of_index", "is_strong_read", "misses_index", "says_missing", "says_strong"]

_MISSING = ("does not have the specified index", "index not found", "requested resource not found: index")
_STRONG = "consistent reads are not supported"
"""DynamoDB's own words, with "on global secondary indexes" after them."""

_BACKFILLING = "backfilling global secondary index"
_REFUSAL = "ValidationException"


def says_missing(refused: Refused) -> bool:
    """Whether DynamoDB said that the table has not the index."""
    return any(text in refused.message.lower() for text in _MISSING)


def says_strong(refused: Refused) -> bool:
    """Whether DynamoDB said that a global index serves no strong read."""
    return _STRONG in refused.message.lower()


def misses_index(refused: Refused, traffic: Traffic) -> bool:
    """Whether a refusal says that the index is not there, or says nothing and the table is described without it."""
    if says_missing(refused) or refused.message or refused.code != _REFUSAL:
        return says_missing(refused)
    table = traffic.place.table
    return table is not None and bool(table.partition_key) and table.index(traffic.target.index) is None


def is_strong_read(refused: Refused, traffic: Traffic) -> bool:
    """Whether a refusal is that of a strong read, or says nothing and the shape's strong reads were all refused."""
    if says_strong(refused):
        return True
    row = traffic.rows[refused.row]
    is_silent = not refused.message and refused.code == _REFUSAL
    return is_silent and row.shape.consistent is True and row.failed.value >= row.requests.value


def is_of_index(refused: Refused, traffic: Traffic) -> bool:
    """Whether a refusal has a detector among those of indexes."""
    if traffic.target.index is None:
        return False
    if misses_index(refused, traffic) or is_strong_read(refused, traffic):
        return True
    is_built = refused.code == _REFUSAL and building_of(traffic) is not None
    return is_built and (not refused.message or _BACKFILLING in refused.message.lower())
