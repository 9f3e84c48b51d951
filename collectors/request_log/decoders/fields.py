"""Fields of decoded JSON by type: what is of another type is not known."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["flag", "listed", "mapping", "number", "text", "whole"]

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
