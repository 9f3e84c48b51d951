"""Error messages with values removed. DynamoDB and its clients quote keys in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["mask_message", "strings_of"]

_LONGEST = 300
_STRINGS = 400
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_ODD_WORD = re.compile(r"\S*[\d#|/~@=%&\\+^$*]\S*")
_REPEATED = re.compile(r"\?(?:[\s,;:.\-]*\?)+")
_WORD = re.compile(r"\w+")
_SHORT = 3
_PROSE = 100
"""Values longer than this are text: their single words are no keys, and taking them out would leave no message."""
_STRUCTURE = frozenset(
    {
        "ClientRequestToken",
        "ConditionExpression",
        "ConditionalOperator",
        "ExpressionAttributeNames",
        "FilterExpression",
        "IndexName",
        "KeyConditionExpression",
        "ProjectionExpression",
        "ReturnConsumedCapacity",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
        "Select",
        "TableName",
        "UpdateExpression",
    }
)


def strings_of(params: Any) -> list[str] | None:
    """Return the values that a request carries, whole and word by word, longest first; None if they are too many."""
    found: set[str] = set()
    for text in _walk(params):
        found.add(text)
        if len(text) <= _PROSE:
            found.update(word for word in _WORD.findall(text) if len(word) > _SHORT)
        if len(found) > _STRINGS:
            return None
    return sorted(found, key=len, reverse=True)


def _walk(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "Statement" and isinstance(value, str):
                yield from _WORD.findall(value)
            elif name not in _STRUCTURE:
                yield from _walk(value)
                if name == "M" and isinstance(value, dict):
                    yield from value
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _walk(value)
    elif isinstance(node, str):
        yield node
    elif isinstance(node, (bytes, bytearray)):
        yield bytes(node).decode("utf-8", "replace")


def mask_message(message: str, values: list[str] | None) -> str | None:
    """Return a message with the request's own values, all that is quoted and all odd words replaced by `?`."""
    if values is None:
        return None
    for value in values:
        if len(value) > _SHORT:
            message = message.replace(value, "?")
        elif value:
            message = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "?", message)
    message = _ODD_WORD.sub("?", _QUOTED.sub("?", message))
    return _REPEATED.sub("?", message)[:_LONGEST]
