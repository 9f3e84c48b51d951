"""Key conditions as people write them: `PK=USER#<id>, SK begins_with ORDER#`, or as DynamoDB's own expressions."""

from __future__ import annotations

import re

from analyzer.contract.nothing import is_nothing

__all__ = ["equality", "parse_key_condition"]

_ATTRIBUTE = r"[A-Za-z_][\w.:-]*"
_OPERATOR = r"(?:=|<=|>=|<|>|(?:begins_with|between)\b)"
_SPLIT = re.compile(
    rf"\s*,\s*(?=begins_with\s*\(|{_ATTRIBUTE}\s*{_OPERATOR})|\s*,\s+(?={_ATTRIBUTE}\s*(?:,|$))"
    rf"|\s+and\s+(?=begins_with\s*\(|{_ATTRIBUTE}\s*{_OPERATOR})",
    re.IGNORECASE,
)
_CALL = re.compile(rf"begins_with\s*\(\s*({_ATTRIBUTE})\s*,\s*(.*?)\s*\)", re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(rf"({_ATTRIBUTE})\s*({_OPERATOR})\s*(.+)", re.IGNORECASE | re.DOTALL)


def parse_key_condition(text: str) -> tuple[list[tuple[str, str]], bool]:
    """Read `PK=USER#<id>, SK begins_with ORDER#` as (attribute, template) pairs, and whether it begins with "sparse".

    Raises ValueError where a part is no condition on one attribute.
    """
    text = text.replace("`", "").strip()
    is_sparse = re.match(r"sparse\b\s*", text, re.IGNORECASE)
    text = text[is_sparse.end() :] if is_sparse else text
    parts = [] if is_nothing(text) or text.lower() == "any" else _SPLIT.split(text)
    return [_condition(part.strip()) for part in parts], is_sparse is not None


def _condition(text: str) -> tuple[str, str]:
    call = _CALL.fullmatch(text)
    if call:
        return call[1], f"begins_with {_unquoted(call[2])}"
    found = _CONDITION.fullmatch(text)
    if found is None:
        if re.fullmatch(_ATTRIBUTE, text):
            return text, f"<{text}>"
        raise ValueError(f"{text!r} is no condition on a key attribute; write PK=USER#<id> or SK begins_with ORDER#")
    operator = found[2].lower()
    value = _unquoted(found[3].strip())
    return found[1], value if operator == "=" else f"{operator} {value}"


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def equality(text: str) -> tuple[str, str] | None:
    """Return attribute and value of a text such as `PK=USER#<id>`, or None where it is no equality."""
    found = _CONDITION.fullmatch(text)
    return (found[1], found[3]) if found is not None and found[2] == "=" else None
