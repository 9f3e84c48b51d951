"""Key values as they may be kept: every part that nobody declared becomes a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.requests.tokens import is_placeholder, is_token, rewrite

if TYPE_CHECKING:
    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.tokens import Salt

__all__ = ["conceal"]


def conceal(lexicon: Lexicon, salt: Salt, table: str, text: str) -> str:
    """Write a key value as it may be kept: tokens for all segments that are not declared literals."""
    literals = lexicon.literals(table)

    def kept(segment: str) -> str:
        is_free = segment in literals or is_token(segment) or is_placeholder(segment)
        return segment if is_free else salt.token(segment)

    return rewrite(text, kept)
