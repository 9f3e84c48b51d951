"""PartiQL far enough to log it: literals become `?`; the values compared with key attributes keep their position."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from dynascope_sampler.keys import Key, capture

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Statement", "read_statement"]

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|$))
      | (?P<text>'(?:[^']|'')*(?:'|$))
      | (?P<name>"(?:[^"]|"")*(?:"|$))
      | (?P<ion>`[^`]*(?:`|$))
      | (?P<number>(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
      | (?P<hole>\?)
      | (?P<brace>[{}])""",
    re.VERBOSE | re.DOTALL,
)
_FIELD = re.compile(r"\s*:")
_PLAIN_NAME = re.compile(r"'[A-Za-z_][A-Za-z_0-9]{0,47}'")
_IDENT = r'("(?:[^"]|"")*"|[A-Za-z_][\w\-]*)'
_TARGET = re.compile(rf"\b(?:FROM|INTO|UPDATE)\s+{_IDENT}(?:\s*\.\s*{_IDENT})?", re.IGNORECASE)
_COMPARED = re.compile(
    rf"""begins_with\s*\(\s*{_IDENT}\s*,\s*(\?)
       | {_IDENT}\s*(=|<=|>=|<|>)\s*\?
       | {_IDENT}\s+BETWEEN\s+(\?)\s+AND\s+\?
       | {_IDENT}\s+IN\s*[\[(]([?,\s]+)
       | '([A-Za-z_]\w*)'\s*:\s*(\?)""",
    re.VERBOSE | re.IGNORECASE,
)
_OPERATIONS = {"SELECT": "Get", "INSERT": "Put", "UPDATE": "Update", "DELETE": "Delete", "EXISTS": "ConditionCheck"}


class Statement(NamedTuple):
    """One statement without its values."""

    text: str
    operation: str
    table: str | None
    secondary: str | None
    """Name of the index that is read."""
    key: Key
    """Key attributes bound by equality."""
    values: Key
    """All values compared with key attributes, named by the position of their `?` in `text`: `?1`."""


Operands = list[Any]


def read_statement(text: str, parameters: Sequence[Any] | None, names_of: Any) -> Statement:
    """Read a statement; `names_of(table, index)` returns the key attributes of a target, as far as they are known."""
    masked, operands = _mask(text, parameters or ())
    target = _TARGET.search(masked)
    table = _unquote(target.group(1)) if target else None
    index = _unquote(target.group(2)) if target and target.group(2) else None
    first = masked.split(None, 1)[0].partition("(")[0].upper() if masked.strip() else ""
    key, values = _compared(masked, operands, names_of(table, index) if table else ())
    return Statement(masked, _OPERATIONS.get(first, "Get"), table, index, key, values)


def _mask(text: str, parameters: Sequence[Any]) -> tuple[str, Operands]:
    """Return the text with `?` for every literal, and for each `?` the captured value that stood there, or None."""
    operands: Operands = []
    given = iter(parameters)
    depth = 0

    def masked(found: re.Match[str]) -> str:
        nonlocal depth
        kind, piece = found.lastgroup, found.group()
        if kind == "comment":
            return " "
        if kind == "name":
            return piece
        if kind == "brace":
            depth += 1 if piece == "{" else -1
            return piece
        if kind == "text" and depth == 1 and _FIELD.match(text, found.end()) and _PLAIN_NAME.fullmatch(piece):
            return piece
        operands.append(_operand(kind, piece, given))
        return "?"

    return _TOKEN.sub(masked, text).strip(), operands


def _operand(kind: str | None, piece: str, given: Any) -> tuple[str, str] | None:
    if kind == "hole":
        parameter = next(given, None)
        return None if parameter is None else capture(parameter)
    if kind == "text":
        closed = len(piece) > 1 and piece.endswith("'")
        return "S", piece[1 : -1 if closed else None].replace("''", "'")
    return ("N", piece.lstrip("+")) if kind == "number" else None


def _compared(masked: str, operands: Operands, attributes: Collection[str]) -> tuple[Key, Key]:
    key: list[tuple[str, str, str]] = []
    values: list[tuple[str, str, str]] = []
    if not attributes:
        return (), ()
    where = masked.upper().find(" WHERE ") if masked[:6].upper() == "UPDATE" else 0
    for found in _COMPARED.finditer(masked, max(where, 0)):
        name = next(group for group in found.groups() if group)
        name = _unquote(name)
        if name not in attributes:
            continue
        first = masked.count("?", 0, found.start())
        for position in range(first, first + found.group().count("?")):
            operand = operands[position]
            if operand is None:
                continue
            values.append((f"?{position + 1}", *operand))
            if found.group(4) == "=" or found.group(10):
                key.append((name, *operand))
    return tuple(key), tuple(values)


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
