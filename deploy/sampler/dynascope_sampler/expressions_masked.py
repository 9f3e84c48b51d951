"""Expressions without what a value could hide in: placeholders renumbered, map entries and odd names taken out.

An expression that holds anything but DynamoDB's own language was refused, and is left out. Where the call was refused
as invalid, so is one with a bare word where a value is due.
"""

from __future__ import annotations

import re
from typing import Callable, NamedTuple, Optional

from dynascope_sampler.statements import is_odd_name

__all__ = ["MaskedExpressions", "mask_expressions"]

Texts = tuple[Optional[str], ...]

_TOKEN = re.compile(r"\s+|[#:]\w+|[A-Za-z_]\w*|\[\s*\d+\s*\]|<>|<=|>=|[=<>(),.+*-]|(?P<odd>.)", re.ASCII | re.DOTALL)
_FUNCTIONS = frozenset(
    {
        "attribute_exists",
        "attribute_not_exists",
        "attribute_type",
        "begins_with",
        "contains",
        "if_not_exists",
        "list_append",
        "size",
    }
)
_NAME_FOLLOWS = frozenset({"", "(", ",", ".", "AND", "OR", "NOT", "SET", "REMOVE", "ADD", "DELETE"})
_KEYWORDS = _NAME_FOLLOWS | {"BETWEEN", "IN"}
_LONGEST_INDEX = 5


class MaskedExpressions(NamedTuple):
    """Expressions in their order, None for one that was left out, and what their placeholders are now."""

    texts: Texts
    names: tuple[tuple[str, str], ...]
    """New placeholder and the one of the request."""
    fixed: tuple[tuple[str, str], ...]
    """New placeholder and the attribute: `*` for entries of maps, words that were no plain names."""
    values: dict[str, str]
    """Placeholder of the request and the new one, of the first group's values."""


def mask_expressions(groups: tuple[Texts, ...], *, refused: bool, hide: Callable[[str], str]) -> MaskedExpressions:
    """Mask the expressions of a call; each group (the call's own, each part's) numbers its values by itself."""
    names: dict[str, str] = {}
    fixed: dict[str, str] = {}
    texts: list[str | None] = []
    first: dict[str, str] = {}
    for number, group in enumerate(groups):
        values = first if number == 0 else {}
        for text in group:
            tokens = None if text is None else _tokens(text, refused=refused)
            texts.append(None if tokens is None else "".join(_renamed(tokens, names, fixed, values, hide)))
    return MaskedExpressions(
        tuple(texts),
        tuple((new, old) for old, new in names.items() if old[0] == "#"),
        tuple((names[key], attribute) for key, attribute in fixed.items()),
        first,
    )


def _tokens(text: str, *, refused: bool) -> list[str] | None:
    """Return the tokens of an expression, None where it is none or where a value may stand in it."""
    tokens = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup:
            return None
        tokens.append(found.group())
    return None if refused and _has_value(tokens) else tokens


def _has_value(tokens: list[str]) -> bool:
    """Whether a bare word stands where a name cannot be told from a value."""
    words = [token for token in tokens if not token.isspace()]
    before, between, depth = "", 0, 0
    for place, word in enumerate(words):
        upper = word.upper()
        if word[0].isalpha() or word[0] == "_":
            is_call = word.lower() in _FUNCTIONS and words[place + 1 : place + 2] == ["("]
            is_listed = before == "," and depth > 0
            if upper not in _KEYWORDS and not is_call and (before not in _NAME_FOLLOWS or is_listed):
                return True
            if upper == "AND" and between > 0:
                between, upper = between - 1, "BETWEEN"
            elif upper == "BETWEEN":
                between += 1
        elif word == "(":
            depth += 1
            if before not in _NAME_FOLLOWS and before.lower() not in _FUNCTIONS:
                continue  # what is due before a bracket is due inside
        elif word == ")":
            depth -= 1
        before = upper
    return False


def _renamed(
    tokens: list[str],
    names: dict[str, str],
    fixed: dict[str, str],
    values: dict[str, str],
    hide: Callable[[str], str],
) -> list[str]:
    out = []
    is_nested = False
    for token in tokens:
        first = token[0]
        fresh = token
        if first == ":":
            fresh = values.setdefault(token, f":{len(values)}")
        elif first == "#" or first.isalpha() or first == "_":
            if is_nested:
                fixed["."] = "*"
                fresh = names.setdefault(".", f"#{len(names)}")
            elif first == "#":
                fresh = names.setdefault(token, f"#{len(names)}")
            elif is_odd_name(token):
                fixed[token] = hide(token)
                fresh = names.setdefault(token, f"#{len(names)}")
        elif first == "[" and len(token) > _LONGEST_INDEX:
            fresh = "[0]"
        if not token.isspace():
            is_nested = first == "."
        out.append(fresh)
    return out
