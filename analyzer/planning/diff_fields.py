"""Which declared fields of a pattern or an index differ, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.contract.model import KeyTemplate
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from analyzer.contract.model import IndexDeclaration, PatternDeclaration

__all__ = ["changed_fields"]

_ELSEWHERE = frozenset({"file", "line", "id", "name", "title", "allow", "is_key_empty", "keys_assumed"})
"""What says nothing of how requests are served."""
_LONGEST = 80


def changed_fields(
    first: PatternDeclaration | IndexDeclaration | None, second: PatternDeclaration | IndexDeclaration | None
) -> tuple[str, ...]:
    """Return the fields that differ, each with both values; none where one of the two is not there."""
    if first is None or second is None:
        return ()
    return tuple(
        f"{name} {_shown(old)} → {_shown(new)}"
        for name in first.__struct_fields__
        if name not in _ELSEWHERE and (old := getattr(first, name)) != (new := getattr(second, name))
    )


def _shown(value: object) -> str:
    """Write a declared value as a person would."""
    if value is None or value == ():
        return "none"
    if isinstance(value, KeyTemplate):
        return f"{value.attribute}={value.template.text}"
    if isinstance(value, Template):
        return value.text
    if isinstance(value, tuple | list):
        text = ", ".join(_shown(entry) for entry in value)
    elif isinstance(value, Struct):
        told = {name: one for name, one in msgspec.structs.asdict(value).items() if one is not None}
        text = ", ".join(f"{name} {_shown(one)}" for name, one in told.items()) or "none"
    elif isinstance(value, dict):
        text = ", ".join(f"{name} {_shown(one)}" for name, one in value.items()) or "none"
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
