"""What a write's condition is there for: to create once, to take a lock, to change what has not changed meanwhile."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.shape import Shape

__all__ = ["Guard", "guard_of", "is_named_lock"]


class Guard(StrEnum):
    """What a condition guards."""

    CREATE = "create-once"
    LOCK = "lock"
    EXISTS = "must-exist"
    VERSION = "version"
    UNKNOWN = "unknown"


_ABSENT = re.compile(r"attribute_not_exists\(|NOT attribute_exists\(")
_EXISTS = re.compile(r"attribute_exists\(")
_COMPARES = re.compile(r"[<>=]|BETWEEN|\bIN\b|begins_with\(|contains\(")
_LOCK = re.compile(r"(?<![bcf])lock|(?<!re)(?<!p)lease|mutex|semaphore|leader(?!board)|election", re.IGNORECASE)
"""No block, no release and no leaderboard."""
_OWNER = re.compile(r"owner|holder|held_by|heartbeat", re.IGNORECASE)
"""In a condition these speak of who has it; as the name of a table they do not."""
_VERSION = re.compile(r"version|revision|etag|rev\b", re.IGNORECASE)
"""`lock_version` counts versions: optimistic locking is no lock."""


def is_named_lock(names: Iterable[str | None]) -> bool:
    """Whether any name speaks of a lock, a lease or an election."""
    return any(name is not None and _LOCK.search(name) and not _VERSION.search(name) for name in names)


def guard_of(shape: Shape) -> Guard:
    """Return what the condition of a call, or of the parts of a transaction, guards; of several the most telling."""
    if shape.statement is not None and shape.statement.upper().startswith("INSERT"):
        return Guard.CREATE
    texts = [text for text in (shape.condition, *(part.condition for part in shape.parts)) if text]
    found = {_guard(text) for text in texts}
    order = (Guard.VERSION, Guard.LOCK, Guard.EXISTS, Guard.CREATE)
    return next((guard for guard in order if guard in found), Guard.UNKNOWN)


def _guard(text: str) -> Guard:
    if is_named_lock([text]) or (_OWNER.search(text) and not _VERSION.search(text)):
        return Guard.LOCK
    is_absent, compares = _ABSENT.search(text) is not None, _COMPARES.search(text) is not None
    if is_absent and not compares:
        return Guard.CREATE
    if is_absent and re.search(r" < | <= | > | >= ", text) and " OR " in text and not _VERSION.search(text):
        return Guard.LOCK
    if not compares:
        return Guard.EXISTS if _EXISTS.search(text) else Guard.UNKNOWN
    return Guard.VERSION
