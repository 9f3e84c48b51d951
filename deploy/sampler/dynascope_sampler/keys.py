"""Key values under a policy: as sent (`reveal`), as tokens of a shared salt (`token`), or as bare shapes (`template`).

A token keeps the structure of a key: `CASE#4711` becomes `CASE#~dk3f7x2ab` where `CASE` is on the table's list of
literals. Every sampler with the same salt writes the same token, so that a hot key adds up across processes.
"""

from __future__ import annotations

import logging
import os
import re
from base64 import b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Callable, Union

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["POLICIES", "Attribute", "Key", "KeyPolicy", "Salt", "SaltLike", "capture", "capture_key"]

POLICIES = ("token", "template", "reveal")

Attribute = tuple[str, str, str]
"""Attribute name, type (`S`, `N` or `B`) and value as text: a copy that the application cannot change under us."""

Key = tuple[Attribute, ...]

SaltLike = Union[bytes, str, Callable[[], Union[bytes, str]], None]

_LOGGER = logging.getLogger("dynascope_sampler")
_DELIMITERS = re.compile(r"([#|/])")
_CACHE_ENTRIES = 20_000
_CACHED_LISTS = 8
_PAIRS = tuple(a + b for a in "abcdefghijklmnopqrstuvwxyz234567" for b in "abcdefghijklmnopqrstuvwxyz234567")


def capture(value: Any) -> tuple[str, str] | None:
    """Copy an AttributeValue that may be part of a key: its type and its text, B as standard base64."""
    for kind, content in value.items():
        if isinstance(content, str):
            if kind in {"S", "N"}:
                return kind, content if type(content) is str else str.__str__(content)
            content = content.encode("utf-8", "surrogatepass")  # noqa: PLW2901 - as botocore does
        if kind == "B":
            return kind, b64encode(bytes(getattr(content, "value", content))).decode("ascii")
    return None


def capture_key(attributes: Any) -> Key:
    """Copy a map of attribute to AttributeValue; attributes that cannot be keys are left out."""
    key = []
    for name, value in attributes.items():
        captured = capture(value)
        if captured is not None:
            key.append((name, captured[0], captured[1]))
    return tuple(key)


class Salt:
    """The secret that all samplers of an account share; without one, a random salt that joins with nobody's."""

    def __init__(self, given: SaltLike) -> None:
        """Resolve the salt once: given, else `DYNASCOPE_SALT`, else the file that `DYNASCOPE_SALT_FILE` names."""
        secret = _resolve(given)
        self.joinable = secret is not None
        self.key = blake2b(os.urandom(32) if secret is None else secret, digest_size=32).digest()
        mark = blake2b(b"dynascope salt id", key=self.key, digest_size=4).hexdigest()
        self.salt_id = mark if self.joinable else f"p-{mark}"


def _resolve(given: SaltLike) -> bytes | None:
    try:
        secret = given() if callable(given) else given
        if secret is not None and not isinstance(secret, (str, bytes)):
            raise TypeError("a salt is text or bytes")  # noqa: TRY301 - as if the callable had failed
        if secret is None:
            secret = os.environ.get("DYNASCOPE_SALT") or None
        path = os.environ.get("DYNASCOPE_SALT_FILE")
        if secret is None and path:
            with open(path, "rb") as file:
                secret = file.read().strip()
    except Exception as failure:  # noqa: BLE001 - a secret store that is down must not stop the application
        _LOGGER.warning("no salt (%s): key tokens of this process join with no other's", type(failure).__name__)
        return None
    if isinstance(secret, str):
        secret = secret.encode("utf-8")
    return secret or None


class KeyPolicy:
    """Turns captured values into AttributeValues as the policy allows. Used by the writer thread alone."""

    def __init__(self, policy: str, salt: Salt) -> None:
        """Take one of POLICIES and the salt of the process."""
        self.policy = policy
        self.salt = salt
        self._hash = blake2b(key=salt.key, digest_size=5)
        self._tokens: dict[str, str] = {}
        self._values: dict[frozenset[str], dict[str, str]] = {}

    def attribute_value(self, kind: str, text: str, literals: frozenset[str]) -> dict[str, str]:
        """Return the AttributeValue to write."""
        if self.policy == "reveal":
            return {kind: text}
        return {"S": self.text(kind, text, literals)}

    def key(self, key: Key, literals: frozenset[str]) -> dict[str, dict[str, str]]:
        """Return attribute → AttributeValue of a captured key."""
        if self.policy == "reveal":
            return {name: {kind: text} for name, kind, text in key}
        return {name: {"S": self.text(kind, text, literals)} for name, kind, text in key}

    def joined(self, key: Iterable[Any], literals: frozenset[str]) -> str:
        """Return a key as one string, tab between its values: a text is a string's, a pair is (type, text)."""
        known = self._known(literals)
        return "\t".join(
            [
                known.get(value) or self.text("S", value, literals)
                if type(value) is str
                else self.text(value[0], value[1], literals)
                for value in key
            ]
        )

    def text(self, kind: str, text: str, literals: frozenset[str]) -> str:
        """Return one value as text; only strings have segments, a number or binary value is hashed whole."""
        if self.policy == "reveal":
            return text
        if kind != "S":
            return self.segment(text, literals)
        known = self._known(literals)
        found = known.get(text)
        if found is None:
            parts = _DELIMITERS.split(text)
            parts[::2] = [self.segment(part, literals) for part in parts[::2]]
            found = "".join(parts)
            if len(known) >= _CACHE_ENTRIES:
                known.clear()
            known[text] = found
        return found

    def _known(self, literals: frozenset[str]) -> dict[str, str]:
        """Return the values seen lately under this list of literals; tables with the same list share it."""
        known = self._values.get(literals)
        if known is None:
            if len(self._values) >= _CACHED_LISTS:
                self._values.clear()
            known = self._values[literals] = {}
        return known

    def segment(self, segment: str, literals: frozenset[str]) -> str:
        """Return a segment as it is where it is empty or a known literal, otherwise its token or shape."""
        if not segment or segment in literals:
            return segment
        is_number = segment.isascii() and segment.isdigit()
        if self.policy == "template":
            return "<n>" if is_number else "<id>"
        found = self._tokens.get(segment)
        if found is None:
            found = ("~d" if is_number else "~k") + self._digest(segment)
            if len(self._tokens) >= _CACHE_ENTRIES:
                self._tokens.clear()
            self._tokens[segment] = found
        return found

    def _digest(self, segment: str) -> str:
        """Five bytes of the keyed hash in lower-case base32: forty bits, eight characters."""
        hashed = self._hash.copy()
        hashed.update(segment.encode("utf-8", "surrogatepass"))
        number = int.from_bytes(hashed.digest(), "big")
        pairs = _PAIRS
        return pairs[number >> 30] + pairs[number >> 20 & 1023] + pairs[number >> 10 & 1023] + pairs[number & 1023]
