"""JSON objects found in text, however they lie there, in bounded memory.

One a line, pretty-printed, one after the other without a newline (`}{`), in an array, in the list that a known
envelope holds (`{"Records": [...]}`), or behind other text on a line.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from collectors.request_log.decoders.seam import Broken, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LONGEST", "Splitter"]

LONGEST = 16 * 1024 * 1024
"""Characters of the longest object: DynamoDB's largest answer is a batch of 16 MB."""

_ENVELOPE = re.compile(r'\{\s*"(?:Records|resourceSpans|resource_spans|Traces|events)"\s*:\s*\[')
_LONGEST_OPENING = 64
"""Characters in which an envelope must have opened its list."""

_LONGEST_BEFORE = 1000
_EXCERPT = 4096
_MANY_DIGITS = re.compile(r"\d{50,}")
"""A number beyond all measure, that would hide what the rest of an object is."""
_NEW_ENTRY = re.compile(r"\n(?=[^\s}\])])")
"""Where something new begins after an object that is broken: a line that is neither indented nor closes anything."""

_READ_BEHIND = 8192
"""Characters that were read and are still held: to cut them off at every object would copy the rest each time."""

_NEAR_END = 12
"""The longest JSON token but for strings, `\\ud83d\\ude00`: a fault this near to the end may be that of a cut."""


class Splitter:
    """Finds the objects of one text; chunks may be cut anywhere, within a character too.

    Only as much is held as the object that is unfinished, at most `longest` characters.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._at = 0
        self._needed = 0
        self._line_end = -1
        self._tried_to = -1
        self._is_passing_over = False

    @property
    def held(self) -> int:
        """How many bytes are held of what is not whole yet; chunks that end within a character are not counted so."""
        return len(self._text[self._at :].encode())

    def feed(self, chunk: bytes) -> Iterator[Piece | Broken]:
        """Yield the objects that are whole by now."""
        return self._split(self._decode(chunk), is_final=False)

    def finish(self) -> Iterator[Piece | Broken]:
        """Yield what is left at the end of the text."""
        return self._split(self._decode(b"", final=True), is_final=True)

    def _split(self, more: str, *, is_final: bool) -> Iterator[Piece | Broken]:
        self._text = self._text[self._at :] + more
        self._at, self._line_end, self._tried_to = 0, -1, -1
        while self._go_on(is_final=is_final):
            self._let_go_of_what_was_read()
            start = self._text.find("{", self._at)
            if start < 0:
                self._keep_the_line()
                return
            if not is_final and len(self._text) - start < max(self._needed, _LONGEST_OPENING):
                return
            opening = _ENVELOPE.match(self._text, start)
            if opening is not None:
                self._at = opening.end()
                continue
            found = self._whole_line(start) or self._next_value(start, is_final=is_final)
            if found is None:
                return
            yield found

    def _let_go_of_what_was_read(self) -> None:
        """Cut off the text behind: an error of the decoder counts the lines before it, in a broken log every line's."""
        if self._at > _READ_BEHIND:
            self._text = self._text[self._at :]
            self._line_end -= self._at
            self._tried_to -= self._at
            self._at = 0

    def _go_on(self, *, is_final: bool) -> bool:
        """Pass over the rest of a broken object, if there is one; whether there is more text to look at."""
        if not self._is_passing_over:
            return self._at < len(self._text)
        following = _NEW_ENTRY.search(self._text, self._at)
        if following is None:
            self._at = len(self._text) - (self._text.endswith("\n") and not is_final)
            return False
        self._at = following.end()
        self._is_passing_over = False
        return True

    def _keep_the_line(self) -> None:
        """Keep the text that may yet stand before an object on its line."""
        begin = max(self._text.rfind("\n") + 1, self._at)
        self._at = max(begin, len(self._text) - _LONGEST_BEFORE)

    def _whole_line(self, start: int) -> Piece | None:
        """Return the object that ends with its line: the quick way."""
        if self._line_end < start:
            self._line_end = self._text.find("\n", start)
            if self._line_end < 0:
                self._line_end = len(self._text)
        end = self._line_end
        if end == self._tried_to or end == len(self._text):
            return None
        self._tried_to = end
        line = self._text[start:end].rstrip("\r\t ,]")
        if not line.endswith("}"):
            return None
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        return self._piece(value, start, end)

    def _next_value(self, start: int, *, is_final: bool) -> Piece | Broken | None:
        """Return the object that begins here; None where more text is needed."""
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            if not is_final and self._waits(error, start):
                return None
        except ValueError:  # it may be whole, but for a number that is none
            return self._without_its_numbers(start, is_final=is_final)
        except RecursionError:
            pass
        else:
            return self._piece(value, start, end)
        return self._broken(start)

    def _without_its_numbers(self, start: int, *, is_final: bool) -> Broken | None:
        """Return an object with NaN, or an integer beyond all measure, whole; None where more text is needed."""
        try:
            _, end = _LENIENT.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            if not is_final and self._waits(error, start):
                return None
        except RecursionError:
            pass
        else:
            self._at, self._needed = end, 0
            return Broken(_MANY_DIGITS.sub("0", self._text[start:end])[:_EXCERPT])
        return self._broken(start)

    def _waits(self, error: json.JSONDecodeError, start: int) -> bool:
        """Whether the fault may be that of a cut, so that more text is waited for."""
        is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END
        if not is_cut or len(self._text) - start > self._longest:
            return False
        self._needed = 2 * (len(self._text) - start)
        return True

    def _broken(self, start: int) -> Broken:
        self._needed = 0
        self._at = start
        self._is_passing_over = True
        return Broken(_NEW_ENTRY.split(self._text[start : start + _EXCERPT], maxsplit=1)[0])

    def _piece(self, value: dict[str, Any], start: int, end: int) -> Piece:
        begin = max(self._text.rfind("\n", self._at, start) + 1, self._at, start - _LONGEST_BEFORE)
        before = self._text[begin:start].strip("\r\t ,[]}")
        self._at = end
        self._needed = 0
        return Piece(value, before)


def _refuse(_constant: str) -> None:
    raise ValueError


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_LENIENT = json.JSONDecoder(parse_int=len)
