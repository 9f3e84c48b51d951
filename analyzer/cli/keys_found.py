"""The search for a token's clear value: what is seen in clear is made a token and compared, and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.requests.tokens import is_token, split_key

if TYPE_CHECKING:
    from analyzer.model.target import Target
    from analyzer.requests.tokens import Salt

__all__ = ["HOW_TO_CHECK", "Found", "Search", "printable"]

HOW_TO_CHECK = "a suspect can be checked: dynascope key --is VALUE --salt-file FILE"
"""What is left to do where only tokens of keys are known."""


class Found(Struct, frozen=True):
    """A key value whose token is the one that was looked for."""

    table: str
    attribute: str
    value: str


class Search:
    """Looks for a token, whole (`CASE#~k7f3a2c5b`) or one part of it; raises ValueError where it is none."""

    def __init__(self, token: str, salt: Salt) -> None:
        self._parts = split_key(token.strip())
        if not any(is_token(part) for part in self._parts):
            raise ValueError(f"{token!r} is no token; a token looks like CASE#~k7f3a2c5b or ~k7f3a2c5b")
        self._salt = salt
        self._texts: set[tuple[str, str]] = set()
        self.found: list[Found] = []
        self.rules: set[tuple[Target, str]] = set()

    @property
    def seen(self) -> int:
        """How many key values were looked at."""
        return len(self._texts)

    def see(self, table: str, attribute: str, value: str) -> str:
        """Look at one clear value, and return its token: a collector's `conceal`."""
        token = self._salt.tokenize(value)
        if (table, token) not in self._texts:
            self._texts.add((table, token))
            if self._is_meant(value, token):
                self.found.append(Found(table, attribute or "key", value))
        return token

    def _is_meant(self, value: str, token: str) -> bool:
        """Whether every part of the token fits, as a token of it or as the literal that stands there."""
        clear, hashed = split_key(value), split_key(token)
        if len(self._parts) == 1:
            return self._parts[0] in {*hashed, self._salt.token(value)}
        return len(clear) == len(self._parts) and all(
            part in pair for part, pair in zip(self._parts, zip(clear, hashed, strict=True), strict=True)
        )


def printable(value: str) -> str:
    """Write a key value so that a terminal does nothing but show it."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in value)
