"""Just enough of DynamoDB's expressions to know which key attributes a request binds. Scanning only, results cached."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dynascope_sampler.keys import Key, capture

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NameTable", "assigned", "bound", "used_values"]

Pairs = tuple[tuple[str, str], ...]

_EQUALITY = re.compile(r"([#:]?[\w.\-]+)\s*=\s*([#:]?[\w.\-]+)")
_PLACEHOLDER = re.compile(r":\w+")
_NAME = re.compile(r"#\w+")
_ASSIGNMENT = re.compile(
    r"(?<![\w.#\-])(#?[\w\-]+)\s*=\s*(:\w+)\s*(?=,|$|\b(?:SET|REMOVE|ADD|DELETE)\b)", re.IGNORECASE
)
_CACHE_ENTRIES = 1_000

_conditions: dict[str, tuple[Pairs, tuple[str, ...]]] = {}
_updates: dict[str, Pairs] = {}


def _read_condition(text: str) -> tuple[Pairs, tuple[str, ...]]:
    found = _conditions.get(text)
    if found is None:
        pairs = tuple(
            (right, left) if left.startswith(":") else (left, right) for left, right in _EQUALITY.findall(text)
        )
        found = (pairs, tuple(dict.fromkeys(_PLACEHOLDER.findall(text))))
        if len(_conditions) >= _CACHE_ENTRIES:
            _conditions.clear()
        _conditions[text] = found
    return found


def bound(text: str, names: Mapping[str, str], values: Mapping[str, Any]) -> Key:
    """Return the attributes that a key condition binds by equality."""
    return _resolve(_read_condition(text)[0], names, values)


def used_values(text: str, values: Mapping[str, Any]) -> Key:
    """Return the values that a key condition uses, by their placeholders."""
    return tuple(
        (placeholder, *captured)
        for placeholder in _read_condition(text)[1]
        if placeholder in values and (captured := capture(values[placeholder])) is not None
    )


def assigned(text: str, names: Mapping[str, str], values: Mapping[str, Any]) -> Key:
    """Return the attributes that an update sets to a value of the request, nothing computed."""
    pairs = _updates.get(text)
    if pairs is None:
        pairs = tuple(_ASSIGNMENT.findall(text))
        if len(_updates) >= _CACHE_ENTRIES:
            _updates.clear()
        _updates[text] = pairs
    return _resolve(pairs, names, values)


def _resolve(pairs: Pairs, names: Mapping[str, str], values: Mapping[str, Any]) -> Key:
    return tuple(
        (names.get(name, name), *captured)
        for name, placeholder in pairs
        if placeholder in values and (captured := capture(values[placeholder])) is not None
    )


class NameTable:
    """The placeholder names of all parts of a call in one map; one that means two attributes gets a second name."""

    def __init__(self) -> None:
        """Begin empty."""
        self.names: dict[str, str] = {}

    def add(self, names: Mapping[str, str] | None, text: str | None) -> str | None:
        """Take one part's names and return its expression with those that clash renamed."""
        if not names or not text:
            return text
        renamed = {}
        for placeholder, attribute in names.items():
            fresh, number = placeholder, 1
            while self.names.setdefault(fresh, attribute) != attribute:
                number += 1
                fresh = f"{placeholder}_{number}"
            if fresh != placeholder:
                renamed[placeholder] = fresh
        return _NAME.sub(lambda found: renamed.get(found.group(), found.group()), text) if renamed else text
