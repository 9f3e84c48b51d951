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
_REPEATED = re.compile(r"\?(?:[\s,;:]*\?)+")
_DELIMITERS = re.compile(r"[#|/]")
_SHORT = 3
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


def strings_of(params: Any) -> list[str]:
    """Return the values that a request carries, whole and in their segments, as far as they are strings."""
    found: dict[str, None] = {}
    for text in _walk(params):
        found[text] = None
        for segment in _DELIMITERS.split(text):
            if len(segment) > _SHORT:
                found[segment] = None
        if len(found) >= _STRINGS:
            break
    return sorted(found, key=len, reverse=True)


def _walk(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name not in _STRUCTURE:
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


def mask_message(message: str, values: list[str]) -> str:
    """Return a message with the request's own values, all that is quoted and all odd words replaced by `?`."""
    for value in values:
        if len(value) > _SHORT:
            message = message.replace(value, "?")
        elif value:
            message = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "?", message)
    message = _ODD_WORD.sub("?", _QUOTED.sub("?", message))
    return _REPEATED.sub("?", message)[:_LONGEST]
