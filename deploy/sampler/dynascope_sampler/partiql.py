"""PartiQL far enough to log it: literals become `?`; the values compared with key attributes keep their position."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from dynascope_sampler.keys import Key, capture
from dynascope_sampler.statements import Literal, mask_statement

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Statement", "read_statement"]

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

_CACHE_ENTRIES = 1_000
_NO_KEYS: frozenset[str] = frozenset()
_statements: dict[tuple[str, frozenset[str]], tuple[str, tuple[Literal, ...]]] = {}


def read_statement(text: str, parameters: Sequence[Any] | None, names_of: Any) -> Statement:
    """Read a statement; `names_of(table, index)` returns the key attributes of a target, as far as they are known."""
    table, index = _target_of(text)
    keys = frozenset((*names_of(table, None), *names_of(table, index))) if table else _NO_KEYS
    masked, literals = _masked(text, keys)
    table, index = _target_of(masked)
    first = masked.split(None, 1)[0].partition("(")[0].upper() if masked else ""
    given = iter(parameters or ())
    operands = [_operand(kind, piece, given) for kind, piece in literals]
    key, values = _compared(masked, operands, names_of(table, index) if table else ())
    return Statement(masked, _OPERATIONS.get(first, "Get"), table, index, key, values)


def _masked(text: str, keys: frozenset[str]) -> tuple[str, tuple[Literal, ...]]:
    found = _statements.get((text, keys))
    if found is None:
        found = mask_statement(text, keys)
        if len(_statements) >= _CACHE_ENTRIES:
            _statements.clear()
        _statements[text, keys] = found
    return found


def _target_of(text: str) -> tuple[str | None, str | None]:
    target = _TARGET.search(text)
    if target is None:
        return None, None
    return _unquote(target.group(1)), _unquote(target.group(2)) if target.group(2) else None


def _operand(kind: str, piece: str, given: Any) -> tuple[str, str] | None:
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
