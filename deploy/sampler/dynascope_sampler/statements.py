"""PartiQL without its values: every word has to show that it is a name, all else becomes `?`.

A statement may be refused, so nothing is taken for a name because it stands in double quotes or in none: on the right
of a comparison only `?` is left, and elsewhere a name stays where it is plain, a key attribute or the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Literal", "is_odd_name", "mask_statement"]

Literal = tuple[str, str]
"""What stood where a `?` is now: (kind, text); the kind is `hole`, `text`, `number` or `other`."""

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<text>'(?:[^']|'')*(?:'|\Z))
      | (?P<name>"(?:[^"]|"")*(?:"|\Z))
      | (?P<other>`[^`]*(?:`|\Z))
      | (?P<hole>\?)
      | (?P<number>[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w@\#\\/&%$~^-]))
      | (?P<mark><<|>>|<>|<=|>=|!=|\|\||[()\[\]{},.:=<>+*;|-])
      | (?P<word>(?:(?!--|/\*)[^\s()\[\]{},.:=<>!+*|;'"`?])+|!)""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r"[A-Za-z_]\w*(?:-\w+)*", re.ASCII)
_TABLE = re.compile(r"[A-Za-z0-9_][\w.\-]{0,254}|arn:aws[\w.:/\-]{1,400}", re.ASCII)
_RUN_OF_DIGITS = re.compile(r"[0-9]{4}")
_LONGEST_NAME = 48
_FUNCTIONS = frozenset(
    "ATTRIBUTE_TYPE BEGINS_WITH CONTAINS LIST_APPEND SET_ADD SET_DELETE SIZE".split()  # noqa: SIM905 - reads better
)
_KEYWORDS = _FUNCTIONS | frozenset(
    """ALL AND AS ASC BETWEEN BY DELETE DESC EXISTS FALSE FROM IN INSERT INTO IS LIMIT MISSING MODIFIED NEW NOT NULL OLD
    OR ORDER REMOVE RETURNING SELECT SET TRUE UPDATE VALUE WHERE""".split()  # noqa: SIM905 - same
)
_TARGET_FOLLOWS = frozenset({"FROM", "INTO", "UPDATE"})
_VALUE_FOLLOWS = frozenset({"IN", "LIMIT", "BETWEEN", "=", "<", ">", "<=", ">=", "<>", "!=", "||"})
_LEFT_AGAIN = frozenset({"AND", "OR", "WHERE", "SET", "REMOVE", "RETURNING", "ORDER", "BY", "SELECT", "FROM"})
_OPENS = {"(": "group", "[": "list", "<<": "list", "{": "map"}
_CLOSES = frozenset({")", "]", ">>", "}"})
_FREE, _TARGET, _TARGET_READ = range(3)


def is_odd_name(name: str) -> bool:
    """Whether a name is too long to be an attribute's, or holds a run of digits as ids do."""
    return len(name) > _LONGEST_NAME or _RUN_OF_DIGITS.search(name) is not None


def mask_statement(text: str, keys: Collection[str]) -> tuple[str, tuple[Literal, ...]]:
    """Return the text with `?` for all that is no name or keyword, and what stood there, one for each `?`."""
    return _Masker(text, keys).run()


class _Masker:
    """One pass over a statement; `right` tells whether a value is due where we are."""

    def __init__(self, text: str, keys: Collection[str]) -> None:
        self._text = text
        self._keys = keys
        self._out: list[str] = []
        self._literals: list[Literal] = []
        self._names: set[str] = set()
        self._right = False
        self._between = 0
        self._target = _FREE
        self._before = ""
        self._nest: list[tuple[str, bool]] = []

    def run(self) -> tuple[str, tuple[Literal, ...]]:
        handlers: dict[str, Callable[[str, int], None]] = {
            "text": self._quoted,
            "name": self._name,
            "word": self._word,
            "mark": self._mark,
        }
        for found in _TOKEN.finditer(self._text):
            kind, piece = found.lastgroup or "other", found.group()
            if kind in {"space", "comment"}:
                self._out.append(piece if kind == "space" else " ")
            elif kind in handlers:
                handlers[kind](piece, found.end())
            else:
                self._value(kind, piece)
        return "".join(self._out).strip(), tuple(self._literals)

    def _value(self, kind: str, piece: str) -> None:
        """Write `?`; pieces of what was one value once, before a stray quote, are one `?` again."""
        if self._before == "?":
            self._literals[-1] = ("other", "")
            if kind != "hole":
                return
        self._out.append("?")
        self._literals.append((kind, piece))
        self._before, self._target = "?", _FREE

    def _keep(self, piece: str, name: str) -> None:
        self._out.append(piece)
        self._names.add(name)
        self._before = "name"

    def _is_field(self, end: int) -> bool:
        """Whether a map's field ends here: a colon follows."""
        return bool(self._nest) and self._nest[-1][0] == "map" and self._text[end:].lstrip()[:1] == ":"

    def _maps(self) -> int:
        return sum(kind == "map" for kind, _ in self._nest)

    def _quoted(self, piece: str, end: int) -> None:
        name = piece[1:-1]
        if self._is_field(end) and not self._right and self._maps() == 1 and (name in self._keys or _is_plain(name)):
            self._keep(piece, name)
        else:
            self._value("text", piece)

    def _name(self, piece: str, end: int) -> None:
        closed = len(piece) > 1 and piece.endswith('"')
        self._identifier(piece, piece[1:-1].replace('""', '"') if closed else "", end)

    def _word(self, piece: str, end: int) -> None:
        upper = piece.upper()
        if upper not in _KEYWORDS or self._before == "." or self._target == _TARGET:
            self._identifier(piece, piece, end)
            return
        self._out.append(piece)
        self._before = upper
        self._target = _TARGET if upper in _TARGET_FOLLOWS else _FREE
        if upper == "AND" and self._between:
            self._between -= 1
        elif upper in _LEFT_AGAIN:
            self._right = False
        elif upper in _VALUE_FOLLOWS:
            self._right = True
            self._between += upper == "BETWEEN"

    def _identifier(self, piece: str, name: str, end: int) -> None:
        if self._target == _TARGET:
            if _TABLE.fullmatch(name):
                self._keep(piece, name)
                self._target = _TARGET_READ
            else:
                self._value("other", piece)
        elif self._before == "." and name not in self._keys:
            self._out.append('"*"')
            self._before = "name"
        elif name in self._names or name in self._keys or self._may_be_name(name, end):
            self._keep(piece, name)
        else:
            self._value("other", piece)

    def _may_be_name(self, name: str, end: int) -> bool:
        """Whether an unknown word may stay: no value is due, none was before it, and it is no inner map's field."""
        maps = self._maps()
        if maps and not (maps == 1 and self._is_field(end)):
            return False
        return not self._right and self._before not in {"?", "name"} and _is_plain(name)

    def _mark(self, piece: str, _end: int) -> None:
        if piece == "." and self._target == _TARGET_READ:
            self._target = _TARGET
        elif self._target != _FREE:
            self._target = _FREE
        self._out.append(piece)
        if piece in _OPENS:
            kind = "call" if piece == "(" and self._before in _FUNCTIONS else _OPENS[piece]
            self._nest.append((kind, self._right))
            self._right = kind == "list" or (kind != "map" and self._right)
        elif piece in _CLOSES:
            if self._nest:
                self._right = self._nest.pop()[1]
        elif piece == ",":
            kind = self._nest[-1][0] if self._nest else "top"
            self._right = kind in {"call", "list"} or (kind == "group" and self._right)
        elif piece in _VALUE_FOLLOWS or (piece == ":" and self._nest):
            self._right = True
        self._before = piece


def _is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and not is_odd_name(name)
