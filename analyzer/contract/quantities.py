"""The quantities that people write in a contract: `5s`, `10%`, `2 KB`, `10x`, `100/s`. Each raises ValueError."""

from __future__ import annotations

import re

__all__ = ["parse_bytes", "parse_multiple", "parse_rate", "parse_seconds", "parse_share", "parse_staleness"]

_NUMBER = re.compile(r"\s*([0-9]+(?:[._][0-9]+)*|\.[0-9]+)\s*([^\s0-9][^0-9]*?)?\s*")

_MOST = 1e15
"""No duration, size or rate comes near; what is above is a slip, or infinite."""

_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"": 1, "b": 1, "kb": 1024, "k": 1024, "kib": 1024, "mb": 1024**2, "mib": 1024**2}
_A_SECOND = {"": 1, "/s": 1, "/sec": 1, "/second": 1, "rps": 1, "tps": 1, "qps": 1, "/m": 1 / 60, "/min": 1 / 60}
_A_SECOND |= {"/minute": 1 / 60, "rpm": 1 / 60, "/h": 1 / 3600, "/hour": 1 / 3600, "/d": 1 / 86400, "/day": 1 / 86400}


def parse_seconds(value: object) -> float:
    """Read a duration, in seconds: `20ms`, `5s`, `3m`, `2h`, `7d`; 0 needs no unit."""
    number, unit = _split(value)
    if unit in _SECONDS:
        return number * _SECONDS[unit]
    if number == 0 and not unit:
        return 0.0
    raise ValueError(f"{value!r} is no duration; write it like 5s, 20ms, 3m, 2h or 7d")


def parse_staleness(value: object) -> float:
    """Read a duration where nobody counts in anything but seconds: `5s`, or 5."""
    number, unit = _split(value)
    return parse_seconds(value) if unit else number


def parse_share(value: object) -> float:
    """Read a share, 0 to 1: `10%`, or 0.1."""
    number, unit = _split(value)
    share = number / 100 if unit == "%" else number
    if unit in ("", "%") and 0 <= share <= 1:
        return share
    raise ValueError(f"{value!r} is no share; write it like 10%, or as a number from 0 to 1")


def parse_bytes(value: object) -> int:
    """Read a size in bytes: 2000, `2 KB`, `1.5 MB`; a kilobyte is 1,024 bytes, as DynamoDB counts."""
    number, unit = _split(value)
    if unit in _BYTES:
        return round(number * _BYTES[unit])
    raise ValueError(f"{value!r} is no size; write bytes, or a size like 2KB")


def parse_multiple(value: object) -> float:
    """Read a multiple: `10x`, or 10."""
    number, unit = _split(value)
    if unit in ("", "x", "×"):
        return number
    raise ValueError(f"{value!r} is no multiple; write it like 10x")


def parse_rate(value: object) -> float:
    """Read a rate, a second: 100, `100/s`, `6000/min`, `50 rps`."""
    number, unit = _split(value)
    if unit in _A_SECOND:
        return number * _A_SECOND[unit]
    raise ValueError(f"{value!r} is no rate; write requests a second, or a rate like 100/s or 50/min")


def _split(value: object) -> tuple[float, str]:
    """Split a number from its unit; a value that has no number in front comes back as (nan, text)."""
    if isinstance(value, bool):
        return (float("nan"), "?")
    if isinstance(value, int | float):
        return (float(value), "") if 0 <= value < _MOST else (float("nan"), "?")
    match = _NUMBER.fullmatch(str(value).replace(",", ""))
    if match is None or match[1].count(".") > 1:
        return (float("nan"), "?")
    number = float(match[1].replace("_", ""))
    return (number, (match[2] or "").replace(" ", "").lower()) if number < _MOST else (float("nan"), "?")
