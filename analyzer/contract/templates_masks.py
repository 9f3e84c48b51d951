"""What a piece of a key value looks like: a word, a number, or one of the kinds that are known by their form."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["DELIMITERS", "Segment", "cut", "segment_of"]

DELIMITERS = "#|/:"
"""Characters that may part a key value; which of them do is learnt."""

_SPANS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?P<email>[^\s#|/:<>@]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})"
    r"|(?P<timestamp>\d{4}-\d\d-\d\d[T ]\d\d:?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?|\d{8}T\d{6}Z?)"
    r"|(?P<date>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))"
    r"|(?P<month>\d{4}-(?:0[1-9]|1[0-2]))"
    r"|(?P<ip>\d{1,3}(?:\.\d{1,3}){3})"
    r")(?![A-Za-z0-9])"
    r"|(?P<id>~k[a-z2-7]{8}|<id>)|(?P<number>~d[a-z2-7]{8}|<n>)"
)
_HIDDEN = re.compile("([\ue000-\ue007])")
_KINDS = ("uuid", "email", "timestamp", "date", "month", "ip", "id", "number")
_WORD = re.compile(r"[^\W\d_][A-Za-z_.&+-]{0,31}")
_COUNTED = re.compile(r"([^\W\d_][A-Za-z_.-]{0,19}?)(\d+)")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_KSUID = re.compile(r"[0-9A-Za-z]{27}")
_HEX = re.compile(r"[0-9a-fA-F]{16,}")
_EPOCH = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")
_PREFIX = re.compile(r"([A-Za-z]{1,20}[-_.+~,])(?=.)")


class Segment(NamedTuple):
    """One piece between delimiters.

    `kind` is `word`, `counted` (a word and a number: `stem` is the word), `empty`, or the kind of a variable. `prefix`
    is a word with one of the lesser delimiters, which may part it from what follows: `cus_`.
    """

    text: str
    kind: str
    stem: str = ""
    prefix: str = ""


def cut(text: str, delimiters: str = DELIMITERS) -> tuple[list[Segment], str]:
    """Cut a value into segments, and return the delimiters between them; a timestamp or address is never cut."""
    spans: list[str] = []

    def hide(found: re.Match[str]) -> str:
        spans.append(found.group())
        return chr(0xE000 + _KINDS.index(str(found.lastgroup)))

    hidden = _SPANS.sub(hide, text)
    pieces = re.split(f"([{re.escape(delimiters)}])", hidden) if delimiters else [hidden]
    left = iter(spans)
    segments = []
    for piece in pieces[::2]:
        marks = _HIDDEN.findall(piece)
        shown = _HIDDEN.sub(lambda _: next(left), piece)
        if len(marks) == 1 and len(piece) == 1:
            segments.append(Segment(shown, _KINDS[ord(piece) - 0xE000]))
        else:
            segments.append(segment_of(shown))
    return segments, "".join(pieces[1::2])


def segment_of(text: str) -> Segment:
    """Classify a piece that holds no delimiter."""
    kind = _kind_of(text)
    if kind:
        return Segment(text, kind)
    prefix = _PREFIX.match(text)
    before = prefix.group(1) if prefix else ""
    counted = _COUNTED.fullmatch(text)
    if counted:
        return Segment(text, "counted", stem=counted.group(1), prefix=before)
    if _WORD.fullmatch(text):
        return Segment(text, "word", prefix=before)
    return Segment(text, "id", prefix=before)


def _kind_of(text: str) -> str:
    """Return the kind that a piece shows by its form, empty for none."""
    if not text:
        return "empty"
    if text.isascii() and text.isdigit():
        return "epoch" if _EPOCH.fullmatch(text) else "number"
    has_digit = any(character.isdigit() for character in text)
    known = (("ulid", _ULID), ("ksuid", _KSUID), ("hex", _HEX))
    return next((kind for kind, form in known if has_digit and form.fullmatch(text)), "")
