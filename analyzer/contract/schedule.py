"""Whether a schedule that looks like a cron expression is one; words such as `nightly` are as good."""

from __future__ import annotations

import re

__all__ = ["is_malformed"]

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAYS = "sun|mon|tue|wed|thu|fri|sat"
_FIELDS = ((0, 59, ""), (0, 23, ""), (1, 31, ""), (1, 12, _MONTHS), (0, 7, _DAYS), (1970, 2199, ""))
_LIKE_CRON = re.compile(r"(?=.*[*?])[0-9*/?,-][0-9A-Za-z*/?,-]*(?:\s+[0-9A-Za-z*/?,#-]+){2,}")
_RATE = re.compile(r"rate\(\s*[1-9][0-9]*\s+(?:minute|hour|day)s?\s*\)", re.IGNORECASE)
_CLASSIC = 5
_OF_AWS = 6


def is_malformed(text: str) -> bool:
    """Whether a text means to be a cron or rate expression, and no scheduler would take it."""
    text = text.strip()
    called = re.match(r"(cron|rate|at)\b\s*\(", text, re.IGNORECASE)
    if called is None:
        return bool(_LIKE_CRON.fullmatch(text)) and not _is_cron(text.split(), (_CLASSIC, _OF_AWS))
    kind = called[1].lower()
    if kind == "cron":
        inner = text[called.end() :]
        return not inner.endswith(")") or not _is_cron(inner[:-1].split(), (_OF_AWS,))
    return kind == "rate" and _RATE.fullmatch(text) is None


def _is_cron(fields: list[str], lengths: tuple[int, ...]) -> bool:
    return len(fields) in lengths and all(
        _is_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=False)
    )


def _is_field(field: str, least: int, most: int, names: str) -> bool:
    return all(_is_part(part, least, most, names) for part in field.split(","))


def _is_part(part: str, least: int, most: int, names: str) -> bool:
    span, _, step = part.partition("/")
    if "/" in part and not (step.isdecimal() and int(step[:6])):
        return False
    if re.fullmatch(r"\*|\?|L|LW|[0-9]{1,2}[LW]|[0-7]#[1-5]", span, re.IGNORECASE):
        return True
    least_text, _, most_text = span.partition("-")
    return all(
        (end.isdecimal() and least <= int(end[:6]) <= most) or re.fullmatch(names or r"(?!)", end, re.IGNORECASE)
        for end in (least_text, most_text or least_text)
    )
