"""Fields of decoded JSON by type: what is of another type is not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["flag", "listed", "mapping", "number", "text", "texts", "whole", "within"]

_LARGEST = 2**40
"""Beyond this a number is none that DynamoDB ever told."""


def text(value: object) -> str | None:
    """Return a text that is not empty."""
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int | None:
    """Return a whole number that is not negative, also where it is written as text or with a point."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def number(value: object) -> float | None:
    """Return a number that is not negative, also where it is written as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if 0 <= value <= _LARGEST else None


def flag(value: object) -> bool | None:
    """Return true or false, also where it is written as text."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def mapping(value: object) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def texts(values: Iterable[object]) -> list[str]:
    """Return the texts among values that are not empty."""
    return [value for value in values if isinstance(value, str) and value]


def within(value: dict[str, Any], is_it: Callable[[dict[str, Any]], bool], depth: int) -> dict[str, Any] | None:
    """Return the object that is meant, wherever a logger has put it, so many levels deep; None where it is not."""
    if is_it(value):
        return value
    inner = (one for one in value.values() if isinstance(one, dict)) if depth else ()
    return next((found for one in inner if (found := within(one, is_it, depth - 1)) is not None), None)
