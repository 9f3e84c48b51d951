"""Times as logs write them: RFC 3339, with a comma or without a colon, or counted from the epoch."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.model.instant import format_instant, parse_instant

if TYPE_CHECKING:
    from analyzer.model.instant import Instant

__all__ = ["instant_of", "time_in", "time_of"]

_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?:\s?(Z|UTC|[+-]\d\d:?\d\d))?(?!\d)", re.ASCII
)
_NUMBER = re.compile(r"\d{9,19}(?:\.\d+)?", re.ASCII)
_YEAR_2001 = 1e9
"""Seconds of the epoch: what is larger by a factor of a thousand counts milliseconds, microseconds, nanoseconds."""


def instant_of(value: object) -> Instant | None:
    """Read a time; None where the value is none. Numbers count seconds, milliseconds, micro- or nanoseconds."""
    if isinstance(value, str):
        if _NUMBER.fullmatch(value):
            return _counted(float(value)) if "." in value else _counted(int(value))
        match = _RFC_3339.fullmatch(value.strip())
        return None if match is None else _parsed(match)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _counted(value)
    return None


def time_in(text: str) -> Instant | None:
    """Return the first time that stands in a text."""
    match = _RFC_3339.search(text)
    return None if match is None else _parsed(match)


def time_of(instant: Instant) -> str:
    """Write a record's time."""
    second, rest = divmod(instant, 1000)
    return f"{_of_second(second)}{rest:03d}Z"


@lru_cache(maxsize=64)
def _of_second(second: int) -> str:
    """Write a whole second up to its fraction: entries of one second come together."""
    return format_instant(second * 1000).removesuffix("000Z")


def _parsed(match: re.Match[str]) -> Instant | None:
    day, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in {None, "Z", "UTC"} else zone
    try:
        return parse_instant(f"{day}T{clock}.{(fraction or '0')[:6]:0<6}{zone}")
    except ValueError:
        return None


def _counted(value: float) -> Instant | None:
    if not math.isfinite(value) or value < _YEAR_2001 / 10:
        return None
    for factor in (1, 1000, 1_000_000, 1_000_000_000):
        if value < 100 * _YEAR_2001 * factor:
            return value * 1000 // factor if isinstance(value, int) else round(value * 1000 / factor)
    return None
