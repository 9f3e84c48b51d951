"""DynamoDB's size arithmetic: what an item weighs when it is stored.

Developer Guide, "DynamoDB item sizes and formats": names and strings by their UTF-8 bytes, numbers about one byte for
two significant digits plus one, binary by its bytes, true, false and null one byte, lists and maps three bytes and one
for each element.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["item_bytes", "largest_item_bytes"]

_ALWAYS_WEIGHED = 24
_EVER_WEIGHED = 2_000
_WEIGHED_SHARE = 1 / 32
"""Answers of more than 24 attributes are weighed one in 32 times, those of more than 2,000 never: of the others
the largest item is not known, which is cheaper than a lie."""

_random = random.Random().random  # noqa: S311 - a sample, not a secret


def item_bytes(item: Any) -> int:
    """Return the stored size of an item of AttributeValues."""
    total = 0
    for name, value in item.items():
        total += len(name) if name.isascii() else len(name.encode("utf-8", "surrogatepass"))
        for kind, content in value.items():
            if kind == "S":
                total += len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))
            else:
                total += _weigh(kind, content)
    return total


def largest_item_bytes(items: Any) -> int | None:
    """Return the size of the largest item, or None where there is none or they are too many to weigh this time."""
    if not items:
        return None
    attributes = len(items) * len(items[0])
    if attributes > _ALWAYS_WEIGHED and (attributes > _EVER_WEIGHED or _random() >= _WEIGHED_SHARE):
        return None
    return max(map(item_bytes, items))


def _weigh(kind: str, content: Any) -> int:  # noqa: PLR0911 - one line a type
    if kind == "N":
        return _number_bytes(content)
    if kind == "S":
        return _text_bytes(content)
    if kind == "B":
        return len(getattr(content, "value", content))
    if kind == "M":
        return 3 + item_bytes(content) + len(content)
    if kind == "L":
        return 3 + sum(_weigh(*pair) + 1 for element in content for pair in element.items())
    if kind in {"SS", "NS", "BS"}:
        return sum(_weigh(kind[0], element) for element in content)
    return 1


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _number_bytes(text: str) -> int:
    digits, _, _ = text.lower().partition("e")
    negative = digits.startswith("-")
    significant = digits.lstrip("+-").replace(".", "").strip("0")
    return (len(significant) + 1) // 2 + 1 + negative
