"""Key values as they may be kept: structure and literals in clear, all other segments keyed hashes or placeholders."""

from __future__ import annotations

import re
from base64 import b32encode
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "DIGITS",
    "TEXT",
    "Salt",
    "is_digits",
    "is_placeholder",
    "is_token",
    "key_text",
    "placeholder",
    "rewrite",
    "split_key",
    "template_value",
]

DIGITS = "<n>"
"""What stands for a variable segment made of digits."""

TEXT = "<id>"
"""What stands for any other variable segment."""

_DELIMITERS = re.compile(r"([#|/])")
_TOKEN = re.compile(r"~[kd][a-z2-7]{8}")
_KNOWN_TOKENS = 4096


class Salt:
    """The secret that all samplers of one account share; one made for a single process joins with nothing else.

    A token of one salt says nothing about a token of another: records are never merged by key across `id`s.
    """

    __slots__ = ("_key", "_token", "id", "is_joinable")

    def __init__(self, secret: bytes, *, is_joinable: bool = True) -> None:
        key = blake2b(secret, digest_size=32).digest()
        digest = blake2b(b"dynascope salt id", key=key, digest_size=4).hexdigest()
        self._key = key
        self._token: Callable[[str], str] = lru_cache(maxsize=_KNOWN_TOKENS)(self._hash)
        self.is_joinable = is_joinable
        self.id = digest if is_joinable else f"p-{digest}"

    def __repr__(self) -> str:
        return f"Salt({self.id})"

    def _hash(self, segment: str) -> str:
        digest = blake2b(segment.encode("utf-8", "surrogatepass"), key=self._key, digest_size=5).digest()
        return ("~d" if is_digits(segment) else "~k") + b32encode(digest).decode("ascii").lower()

    def token(self, segment: str) -> str:
        """Return the keyed hash of one segment; an empty one stays empty."""
        return self._token(segment) if segment else ""

    def tokenize(self, text: str, literals: frozenset[str] = frozenset()) -> str:
        """Replace every segment of a string that is no literal by its token; delimiters stay."""
        return rewrite(text, lambda segment: segment if segment in literals else self.token(segment))

    def tokenize_value(self, value: Mapping[str, Any], literals: frozenset[str] = frozenset()) -> dict[str, str]:
        """Return an AttributeValue's token, always an `S`; numbers and binary values are hashed whole, as sent."""
        if "S" in value:
            return {"S": self.tokenize(str(value["S"]), literals)}
        text = "".join(str(part) for part in value.values())
        return {"S": text if text in literals else self.token(text)}


def split_key(text: str) -> list[str]:
    """Split a key value into segments, at even positions, and the delimiters between them."""
    return _DELIMITERS.split(text)


def rewrite(text: str, replace: Callable[[str], str]) -> str:
    """Rewrite every segment of a key value, leaving delimiters and empty segments as they are."""
    parts = split_key(text)
    for position in range(0, len(parts), 2):
        if parts[position]:
            parts[position] = replace(parts[position])
    return "".join(parts)


def is_digits(segment: str) -> bool:
    """Whether a segment consists of ASCII digits alone."""
    return segment.isascii() and segment.isdigit()


def is_token(segment: str) -> bool:
    """Whether a segment is a token, of any salt."""
    return _TOKEN.fullmatch(segment) is not None


def is_placeholder(segment: str) -> bool:
    """Whether a segment is one of the two placeholders of a template."""
    return segment in {TEXT, DIGITS}


def placeholder(segment: str) -> str:
    """Return the placeholder that stands for a segment, clear or token."""
    return DIGITS if is_digits(segment) or (segment[:2] == "~d" and is_token(segment)) else TEXT


def template_value(text: str, literals: frozenset[str] = frozenset()) -> str:
    """Replace every segment that is no literal by its placeholder."""
    return rewrite(
        text, lambda segment: segment if segment in literals or is_placeholder(segment) else placeholder(segment)
    )


def key_text(value: Mapping[str, Any]) -> str | None:
    """Return the text of a key's AttributeValue; None for what is no key value.

    `S` as it is, `N` in one spelling whatever was sent (`1`, `1.0` and `1e0` are the same key), `B` in base64.
    """
    text = value.get("S")
    if isinstance(text, str):
        return text
    number = value.get("N")
    if isinstance(number, str):
        return number if _plain(number) else _canonical(number)
    binary = value.get("B")
    return binary if isinstance(binary, str) else None


_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,37}")
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?")


def _plain(number: str) -> bool:
    return _PLAIN_NUMBER.fullmatch(number) is not None


def _canonical(number: str) -> str:
    """Write a decimal without exponent, leading or trailing zeros; what is no number stays as it is."""
    parts = _NUMBER.fullmatch(number.strip())
    if parts is None:
        return number
    sign, whole, fraction, exponent = parts.group(1), parts.group(2), parts.group(3) or "", int(parts.group(4) or 0)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0" if whole or fraction else number
    power = exponent - len(fraction)
    stripped = digits.rstrip("0")
    power += len(digits) - len(stripped)
    sign = "-" if sign == "-" else ""
    if not -_WIDEST <= power <= _WIDEST:
        return f"{sign}{stripped}E{power}"
    if power >= 0:
        return sign + stripped + "0" * power
    padded = stripped.rjust(1 - power, "0")
    return f"{sign}{padded[:power]}.{padded[power:]}"


_WIDEST = 130
"""DynamoDB's numbers reach from 1E-130 to 9.99E+125; what lies beyond keeps its exponent."""
