"""Words that come back line after line, such as names of tables, are made once and handed out again.

A decoder that is told which words a field may hold gives those it has: none is allocated, hashed and compared anew, and
half of what a line is made of are such words. Whatever else stands in a line makes it refuse, and the block is read as
if no word were known.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from analyzer.requests.digest_block import LONGEST_LINE, Line, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.requests.digest_block import ReadCounters

__all__ = ["LineReader"]

_FIELDS = msgspec.structs.fields(Line)
_WORDY = {
    field.name: attrgetter(field.name)
    for field in _FIELDS
    if field.type in {str, str | None} and field.name not in {"time", "trace_id", "request_id"}
}
"""Fields of text that is the same in many lines."""

_ENOUGH = 256
"""So many lines tell most of the words; fewer are not worth a decoder."""

_MOST_WORDS = 256
_LONGEST_WORD = 1024
_MOST_LESSONS = 32
"""A field with more words, longer ones, or new ones after so many lessons is one of free text."""


class LineReader:
    """Reads blocks of whole lines, and learns the words of their fields; what it knows is bounded."""

    def __init__(self) -> None:
        self._words: dict[str, set[str | None]] = {name: set() for name in _WORDY}
        self._read: Callable[[bytes], list[Line]] | None = None
        self._lines = 0
        self._lessons = 0
        self._is_news = False

    def read(self, block: bytes, counters: ReadCounters) -> list[Line]:
        """Decode a block of whole lines; what cannot be read is counted."""
        if self._read is not None and len(block) <= LONGEST_LINE:
            try:
                return self._read(block)
            except (ValueError, RecursionError):
                pass  # a word that is not known, or what is counted below
        lines = read_lines(block, counters)
        self._note(lines)
        return lines

    def _note(self, lines: list[Line]) -> None:
        """Look at the words of some lines; once they are enough, with new words in them, learn those."""
        for name, known in list(self._words.items()):
            words = set(map(_WORDY[name], lines))
            if words <= known:
                continue
            self._is_news = True
            known.update(words)
            is_free = self._lessons >= _MOST_LESSONS or len(known) > _MOST_WORDS
            if is_free or any(len(word) > _LONGEST_WORD for word in words if word):
                del self._words[name]
        self._lines += len(lines)
        if self._is_news and self._lines >= _ENOUGH:
            self._read = _decoder(self._words)
            self._lines = 0
            self._lessons += 1
            self._is_news = False


def _decoder(words: dict[str, set[str | None]]) -> Callable[[bytes], list[Line]]:
    """Return what decodes lines whose fields hold these words and no others."""
    fields: list[Any] = []
    for field in _FIELDS:
        known = words.get(field.name, set()) - {None}
        kind: Any = field.type
        if known:
            kind = Literal[tuple(sorted(cast("set[str]", known)))]
            kind = kind if field.type is str else kind | None
        fields.append((field.name, kind) if field.required else (field.name, kind, field.default))
    told = msgspec.defstruct("Line", fields, gc=False)
    return cast("Callable[[bytes], list[Line]]", msgspec.json.Decoder(told).decode_lines)
