"""Attribute values as logs write them, typed (`{"S": "a"}`) or plain (`"a"`), made AttributeValues of the wire."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.model.request import AttributeValue

__all__ = ["item_bytes", "key_of", "scalar"]

_HIDDEN = ("HIDDEN_DUE_TO_SECURITY_REASONS", "(Redacted)")
"""What AWS writes in place of a value that it does not show."""


def key_of(given: object) -> dict[str, AttributeValue] | None:
    """Return a key, None where it is not known whole: a value that is no scalar, or that is hidden."""
    if not isinstance(given, dict) or not given:
        return None
    known = {name: value for name in given if (value := scalar(given[name])) is not None}
    return known if len(known) == len(given) else None


def scalar(given: object) -> AttributeValue | None:
    """Return a string, number or binary as an AttributeValue; None for anything else, for only those are keys."""
    if isinstance(given, dict):
        return _typed(*next(iter(given.items()))) if len(given) == 1 else None
    if isinstance(given, str):
        return None if any(mark in given for mark in _HIDDEN) else {"S": given}
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return {"N": _number(given)}


def _typed(kind: str, content: object) -> AttributeValue | None:
    if kind == "B":
        return _binary(content)
    if kind == "N" and isinstance(content, str):
        return {"N": content}
    wanted = str if kind == "S" else int | float if kind == "N" else ()
    return scalar(content) if isinstance(content, wanted) else None


def _number(given: float) -> str:
    return str(int(given)) if given == int(given) else str(given)


def _binary(content: object) -> AttributeValue | None:
    """Read base64, or bytes as JavaScript writes them: a list, a Buffer, an object of positions."""
    if isinstance(content, str):
        return {"B": content}
    listed: object = content
    if isinstance(content, dict):
        listed = content.get("data", list(content.values()))
    if isinstance(listed, list):
        try:
            return {"B": base64.b64encode(bytes(listed)).decode("ascii")}
        except (TypeError, ValueError):
            return None
    return None


def item_bytes(item: Mapping[str, Any]) -> int:
    """Return the stored size of an item, as the Developer Guide has it ("DynamoDB item sizes and formats").

    Plain values weigh as their types do; a map that looks like a typed value is taken for one.
    """
    return sum(len(name.encode("utf-8", "replace")) + _weigh(value) for name, value in item.items())


def _weigh(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_bytes(str(value))
    if isinstance(value, list):
        return 3 + sum(_weigh(element) + 1 for element in value)
    return _weigh_map(value) if isinstance(value, dict) else 1


def _weigh_map(value: Mapping[str, Any]) -> int:
    known = _weigh_typed(*next(iter(value.items()))) if len(value) == 1 else None
    return 3 + item_bytes(value) + len(value) if known is None else known


def _weigh_typed(kind: str, content: object) -> int | None:  # noqa: PLR0911 -- one line a type
    """Return the size of a typed value, None where it is none."""
    if kind == "N" and isinstance(content, str):
        return _number_bytes(content)
    if kind == "S" and isinstance(content, str):
        return len(content.encode("utf-8", "replace"))
    if kind == "B":
        binary = _binary(content)
        return None if binary is None else len(binary["B"]) * 3 // 4
    if kind in {"BOOL", "NULL"} and isinstance(content, bool):
        return 1
    if kind == "M" and isinstance(content, dict):
        return 3 + item_bytes(content) + len(content)
    if kind == "L" and isinstance(content, list):
        return _weigh(content)
    if kind in {"SS", "NS", "BS"} and isinstance(content, list):
        return sum(_weigh_typed(kind[0], element) or 0 for element in content)
    return None


def _number_bytes(text: str) -> int:
    digits, _, _ = text.lower().partition("e")
    significant = digits.lstrip("+-").replace(".", "").strip("0")
    return (len(significant) + 1) // 2 + 1 + digits.startswith("-")
