"""The kinds of values that a configuration holds: sections, durations, texts."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

__all__ = [
    "UNITS_MS",
    "AccountNumber",
    "Duration",
    "Limit",
    "Section",
    "Texts",
    "format_duration",
    "parse_duration",
    "split_address",
    "whole_globs",
]

UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MOST = 2**31 - 1
_LONGEST_MS = 36_525 * UNITS_MS["d"]
_ACCOUNT = re.compile(r"[0-9]{12}")
_LAST_PORT = 65_535
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_duration(value: object) -> int:
    """Read `30s`, `5m`, `1h30m` or `250ms` as milliseconds; raises ValueError on anything else."""
    text = value.replace(" ", "") if isinstance(value, str) else ""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{value!r} is not a duration; write a number with its unit, such as 30s or 5m")
    milliseconds = sum(float(number) * UNITS_MS[unit] for number, unit in parts)
    if milliseconds > _LONGEST_MS:
        raise ValueError(f"{text[:20]!r} is longer than a century; write a number with its unit, such as 30s or 5m")
    return round(milliseconds)


def format_duration(milliseconds: int) -> str:
    """Write milliseconds in the largest unit that holds them whole."""
    unit = next((u for u in ("d", "h", "m", "s") if milliseconds and milliseconds % UNITS_MS[u] == 0), "ms")
    return "0s" if milliseconds == 0 else f"{milliseconds // UNITS_MS[unit]}{unit}"


def split_address(value: str, example: str) -> tuple[str, int]:
    """Return host and port of `host:port`, an IPv6 address without its brackets; raises ValueError."""
    host, _, port = value.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT:
        raise ValueError(f"{value!r} is not an address; write host:port, such as {example}")
    return host.strip("[]"), int(port)


def _one_or_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _quoted(value: object) -> object:
    if type(value) is int:
        raise ValueError("an account is a text of 12 digits; quote it, a leading zero would be lost")
    return value


def _twelve_digits(value: str) -> str:
    if not _ACCOUNT.fullmatch(value):
        raise ValueError(f"{value[:20]!r} is no account; write its 12 digits, quoted")
    return value


def whole_globs(value: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs as they are; raises ValueError for one that is empty, or has a bracket that never closes."""
    for glob in value:
        if not glob:
            raise ValueError("an empty glob fits no table; write a name, or * for all")
        if "[" in glob and "]" not in glob[glob.rindex("[") + 1 :]:
            raise ValueError(f"the bracket of {glob!r} never closes; close it, or write [[] for the bracket itself")
    return value


Duration = Annotated[
    int,
    BeforeValidator(lambda value: value if type(value) is int and value == 0 else parse_duration(value)),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^(\d+(\.\d+)?(ms|s|m|h|d))+$", "examples": ["30s", "5m"]}),
]
Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(_one_or_many),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
AccountNumber = Annotated[str, BeforeValidator(_quoted), AfterValidator(_twelve_digits)]
"""The twelve digits of an account."""
Limit = Annotated[int, Field(ge=1, le=_MOST)]


class Section(BaseModel):
    """A part of the configuration: what it does not know is a fault."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_alias=True, validate_by_name=True, serialize_by_alias=True
    )
