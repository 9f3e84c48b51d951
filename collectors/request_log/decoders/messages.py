"""Error messages with values removed: DynamoDB and its clients quote keys in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["cancellation_in", "error_code", "masked_message", "quoted_code", "texts_in"]

_LONGEST = 300
_LONGEST_READ = 1000
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_ODD_WORD = re.compile(r"\S*[\d#|/~@=%&\\+^$*]\S*")
_REPEATED = re.compile(r"\?(?:[\s,;:.\-]*\?)+")
_WORD = re.compile(r"\w+")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,127}")
_CANCELED = re.compile(r"\[([A-Za-z]+(?:, *[A-Za-z]+)*)\]")
_QUOTED_CODE = re.compile(r"An error occurred \((\w+)\)")
_CLASSES = {"RequestLimitExceededException": "RequestLimitExceeded"}
"""Names of the SDKs' classes that are not the code that DynamoDB sends: Java's and PHP's all end in `Exception`."""
_SHORT = 3
_MOST_TEXTS = 400


def texts_in(*values: object) -> Iterator[str]:
    """Yield every text that stands in values of a request."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from texts_in(*value.values())
        elif isinstance(value, list):
            yield from texts_in(*value)


def masked_message(message: object, values: Iterable[str] = ()) -> str | None:
    """Return a message with the request's values, all that is quoted and all odd words replaced by `?`."""
    if not isinstance(message, str):
        return None
    found = {word for text in values for word in (text, *_WORD.findall(text)) if word}
    if len(found) > _MOST_TEXTS:
        return None
    if len(message) > _LONGEST_READ:
        message = message[:_LONGEST_READ].rpartition(" ")[0]  # a word that is cut would not be told for a value
    for text in sorted(found, key=len, reverse=True):
        if len(text) > _SHORT:
            message = message.replace(text, "?")
        else:
            message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "?", message)
    return _REPEATED.sub("?", _ODD_WORD.sub("?", _QUOTED.sub("?", message)))[:_LONGEST] or None


def cancellation_in(code: str, message: object) -> list[str | None] | None:
    """Return a cancelled transaction's reasons by position, from the message: `[ConditionalCheckFailed, None]`."""
    found = _CANCELED.search(message) if code == "TransactionCanceledException" and isinstance(message, str) else None
    if found is None:
        return None
    words = [word.strip() for word in found[1].split(",")]
    return [None if word == "None" else word for word in words]


def error_code(name: object) -> str | None:
    """Return an error's code from its code or the name of its class, with or without namespaces; None for neither."""
    if not isinstance(name, str):
        return None
    last = re.split(r"[.$#]", name.strip())[-1]
    return _CLASSES.get(last, last) if _CODE.fullmatch(last) else None


def quoted_code(message: object) -> str | None:
    """Return the code that botocore quotes in the message of its `ClientError`; None where it quotes none."""
    found = _QUOTED_CODE.search(message) if isinstance(message, str) else None
    return None if found is None else error_code(found[1])
