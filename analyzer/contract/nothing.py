"""The words that people write where there is nothing to name, the same for every form of a contract."""

from __future__ import annotations

import re

__all__ = ["is_nothing", "names_no_index"]

_NOTHING = frozenset(
    {
        *("", "n/a", "na", "n.a.", "no", "none", "null", "nil", "nothing", "false", "unknown", "undefined", "unset"),
        *("tbd", "tba", "todo", "to be decided", "to be defined", "to be determined", "not applicable", "not needed"),
    }
)
_MAIN_TABLE = frozenset(
    {
        *("base", "base table", "table", "the table", "main", "main table", "primary", "primary key", "primary index"),
        *("primary table", "no index", "no gsi", "not indexed", "table itself"),
    }
)
_REMARK = re.compile(r"(?<=[^\s(\[])\s*[(\[].*[)\]]\s*$", re.DOTALL)
_MARKS = re.compile(r"[\s(\[<{`'\"*_.?!\u2010-\u2015\u2026/)\]>}-]+")


def is_nothing(value: object) -> bool:
    """Whether a value names nothing: null, false, a dash, a question mark, `N/A`, `TBD`, `(none)`."""
    return value is None or value is False or (isinstance(value, str) and _word(value) in _NOTHING)


def names_no_index(value: object) -> bool:
    """Whether what stands for an index says that there is none, or names the base table."""
    return is_nothing(value) or (isinstance(value, str) and _word(value) in _MAIN_TABLE)


def _word(text: str) -> str:
    """Return a text in lower case, without remark, quotes and brackets around it; only marks are nothing."""
    text = text.strip()
    if _MARKS.fullmatch(text):
        return ""
    bare = text.strip("()[]`'\"*_ ")
    return " ".join(_REMARK.sub("", bare if text[:1] in "([" else text).strip("`'\"*_.: ").lower().split())
