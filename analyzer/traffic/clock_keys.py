"""Keys that rotate with the clock: `METRIC#2026-11-30T16`, `20261130`, an epoch, a number of days since it.

The part of such a key that tells the time changes while the fault stays: without that part the key is the same one in
every hour.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.window import Window

__all__ = ["TIME", "names_time", "without_time"]

TIME = "<time>"
"""What stands for the part of a key that tells the time."""

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_ZONES = 14 * _HOUR
"""No place on Earth is further from UTC."""

_WRITTEN = re.compile(
    r"(?<!\d)(20\d\d)([-/.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01])(?:[-T ./_#:]?([01]\d|2[0-3])"
    r"(?::?([0-5]\d)(?::?([0-5]\d)(?:\.\d+)?)?)?)?)?Z?(?!\d)"
)
_COUNTED = re.compile(r"(?<!\d)(\d{5,6}|\d{8}|\d{10}|\d{13})(?!\d)")
_UNITS = {5: _DAY, 6: _HOUR, 8: _MINUTE, 10: _SECOND, 13: 1}
"""Counts since the epoch, by how many digits they have in this century."""

_SLACK = 2 * _MINUTE
_NAMES = re.compile(
    r"<[^<>=]*?(?:date|day|hour|minute|month|week|year|time|stamp|bucket|period|epoch|yyyy)[^<>=]*>", re.IGNORECASE
)


def without_time(text: str, window: Window) -> str | None:
    """Return a key with the window's own time taken out of it; None where it does not tell it."""
    for pattern, is_now in ((_WRITTEN, _is_written_now), (_COUNTED, _is_counted_now)):
        for found in pattern.finditer(text):
            if is_now(found, window):
                return text[: found.start()] + TIME + text[found.end() :]
    return None


def names_time(templates: Iterable[str]) -> bool:
    """Whether a declared template has a variable that is named for the clock."""
    return any(_NAMES.search(template) for template in templates)


def _is_written_now(found: re.Match[str], window: Window) -> bool:
    year, mark, month, day, hour, minute, _ = found.groups()
    if day is None and not mark:
        return False  # six digits are a month in too many numbers
    try:
        moment = datetime(int(year), int(month), int(day or 1), int(hour or 0), int(minute or 0), tzinfo=UTC)
    except ValueError:
        return False
    start = int(moment.timestamp()) * 1000
    length = _MINUTE if minute else _HOUR if hour else _DAY if day else 31 * _DAY
    return start - _ZONES - _SLACK < window.end and window.start < start + length + _ZONES + _SLACK


def _is_counted_now(found: re.Match[str], window: Window) -> bool:
    unit = _UNITS[len(found[1])]
    start = int(found[1]) * unit
    slack = max(_SLACK, _HOUR if unit <= _SECOND else 0)
    return start - slack < window.end and window.start < start + unit + slack
