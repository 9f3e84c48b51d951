"""The raw text of a request with everything taken out that libraries invent anew for each call. Scanning only."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from analyzer.requests.operands import FUNCTIONS, Operands

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "LONGEST_TEXT",
    "MaskedStatement",
    "is_variable_name",
    "mask_expression",
    "mask_name",
    "mask_statement",
    "masked_statement",
]

LONGEST_TEXT = 16_384
"""No expression (4 KB) and no statement (8 KB) of DynamoDB's is longer; what follows is not looked at."""

_WORDS = frozenset({"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"})
_SYNTAX = re.compile(r":\*|\w+|<>|<=|>=|\S")
_VALUE_LIST = re.compile(r"\b(?i:in)\s*\(\s*:\w+(?:\s*,\s*:\w+)*+\s*\)")
_PLACEHOLDER = re.compile(r"([#:]\w+)")
_INDEX = re.compile(r" ?\[ \d+ \]")
_NESTED = re.compile(r"\. (?=[^\W\d])\w+")
_REMEMBERED = 1024

_RUN_OF_DIGITS = re.compile(r"[0-9]{4}")
_LONGEST_NAME = 48
_ODD = frozenset("@:/#|")


def is_variable_name(name: str, *, is_nested: bool) -> bool:
    """Whether a name may be a value: those of map entries often are ids, dates or people, and none of them tells."""
    return is_nested or len(name) > _LONGEST_NAME or bool(_RUN_OF_DIGITS.search(name)) or not _ODD.isdisjoint(name)


def mask_name(name: str, *, is_nested: bool = False) -> str:
    """Return an attribute name, or `*` for one that looks like a value."""
    return "*" if is_variable_name(name, is_nested=is_nested) else name


def mask_expression(text: str, names: Mapping[str, str] | None = None) -> str:
    """Return an expression with placeholders numbered in order of appearance and IN lists squashed.

    Spaces and the case of keywords are evened out. With `names` each name's placeholder is replaced by the quoted
    attribute, so that the result stands for the structure alone; without, the attributes have to be looked at as well.
    """
    pieces = _PLACEHOLDER.split(_VALUE_LIST.sub(" IN (:*)", text[:LONGEST_TEXT]))
    values: dict[str, str] = {}
    unknown: dict[str, str] = {}
    before = ""
    for position, piece in enumerate(pieces):
        if not position % 2:
            before = pieces[position] = _evened(piece)
        elif piece[0] == ":":
            pieces[position] = values.setdefault(piece, f":{len(values)}")
        elif names is not None and piece in names:
            name = mask_name(names[piece], is_nested=before[-1:] == ".")
            pieces[position] = f'"{name}"' if '"' not in name else '"' + name.replace('"', '""') + '"'
        else:
            pieces[position] = unknown.setdefault(piece, f"#{len(unknown)}")
    return " ".join(filter(None, pieces))


@lru_cache(maxsize=_REMEMBERED)
def _evened(syntax: str) -> str:
    """Even out what stands between two placeholders: there are few such texts, whatever the placeholders are named."""
    words = _SYNTAX.findall(syntax)
    evened = " ".join([word.upper() if word.upper() in _WORDS else word for word in words])
    return _INDEX.sub("[*]", _NESTED.sub('. "*"', evened))


_NUMBER = r"\.?[0-9](?:[eE][+-](?=[0-9])|[\w.])*+"
_CURLY = (
    r"[\u2018-\u201b][^\u2018-\u201b]*(?:[\u2018-\u201b]|\Z)"
    r"|[\u201c-\u201f][^\u201c-\u201f]*(?:[\u201c-\u201f]|\Z)"
)
_STATEMENT = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<string>'(?:[^']|'')*(?:'|\Z))(?P<colon>\s*:)?"""
    r"""|(?P<name>"(?:[^"]|"")*(?:"|\Z))"""
    rf"""|(?P<value>`[^`]*(?:`|\Z)|\?|{_NUMBER}|{_CURLY})"""
    r"""|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<mark><<|>>|<>|<=|>=|!=|\|\||\S)""",
    re.DOTALL,
)
_STRING = r"'(?:[^']|'')*+'"
_IN_LIST = rf"(?:{_STRING}|[+-]?{_NUMBER})"
_BEGINS = "\"\\-/'\\[(<`\u2018-\u201f0-9."
_LITERAL = re.compile(
    rf"(?=[{_BEGINS}])(?:"  # what nothing begins with is passed over at once
    r"""("(?:[^"]|"")*+(?:"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"""
    rf"""|{_STRING}(?=\s*:))"""
    rf"""|(\[|\(|<<)\s*{_IN_LIST}(?:\s*,\s*{_IN_LIST})*+(?=\s*(?:\]|\)|>>))"""
    rf"""|'(?:[^']|'')*+(?:'|\Z)|`[^`]*(?:`|\Z)|{_CURLY}|(?<!\w){_NUMBER})""",
    re.DOTALL,
)
_FOLLOWS = re.compile(r"\s*([(:]?)")
_LITERAL_WORDS = frozenset({"TRUE", "FALSE"})
_STATEMENT_WORDS = frozenset(
    {
        "ADD",
        "ALL",
        "AND",
        "AS",
        "ASC",
        "ATTRIBUTE_TYPE",
        "BEGINS_WITH",
        "BETWEEN",
        "BY",
        "CONTAINS",
        "DELETE",
        "DESC",
        "EXISTS",
        "FROM",
        "IN",
        "INSERT",
        "INTO",
        "IS",
        "LIMIT",
        "LIST_APPEND",
        "NOT",
        "NULL",
        "OR",
        "ORDER",
        "REMOVE",
        "RETURNING",
        "SELECT",
        "SET",
        "SET_ADD",
        "SET_DELETE",
        "SIZE",
        "UPDATE",
        "VALUE",
        "WHERE",
    }
)
_SIGN_AFTER = frozenset({"(", ",", "[", "=", "<", ">", "<=", ">=", "<>", "!=", ":", "<<", "AND", "BETWEEN", "LIMIT"})
_LIST_OPENS = frozenset({"(", "[", "<<"})
_LIST_HEAD = 2
_PLACES = (["FROM"], ["INTO"], ["UPDATE"])


class MaskedStatement(NamedTuple):
    """A masked statement; for each `?` left in it the positions, from 0, of the parameters that it stands for.

    Positions count the `?` of the statement as it was recorded; a `?` that stands for a literal has none.
    """

    text: str
    positions: tuple[tuple[int, ...], ...]


def mask_statement(text: str) -> str:
    """Return a PartiQL statement with every literal replaced by `?`, lists squashed, spaces and keywords evened out.

    Names stay; in an item (`{'a': 1}`) they are written as quoted names, so that no quoted value is left anywhere.
    """
    return masked_statement(text).text


def masked_statement(text: str) -> MaskedStatement:
    """Return what `mask_statement` does, and which parameters are left where."""
    return _masked(_LITERAL.sub(_emptied, text[:LONGEST_TEXT]))


def _emptied(found: re.Match[str]) -> str:
    kept, opening = found.groups("")
    return kept or opening + "''"


@lru_cache(maxsize=_REMEMBERED)
def _masked(text: str) -> MaskedStatement:
    """Mask a statement of which the literals were emptied: there are few such texts, whatever was inlined."""
    words: list[str] = []
    positions: list[tuple[int, ...]] = []
    operands = Operands()
    parameters = 0
    for found in _STATEMENT.finditer(text):
        kind = found.lastgroup
        if kind == "comment":
            continue
        word = _masked_word(kind, found, words, operands)
        if word == "?":
            is_parameter = found.group() == "?"
            if len(words) > 1 and words[-1] in {"-", "+"} and words[-2] in _SIGN_AFTER:
                words.pop()
            if words[-2:] == ["?", ","] and len(words) > _LIST_HEAD and words[-3] in _LIST_OPENS:
                words.pop()
                positions[-1] += (parameters,) * is_parameter
            else:
                words.append(word)
                positions.append((parameters,) * is_parameter)
            parameters += is_parameter
        else:
            words.append(word)
            if kind == "colon":
                words.append(":")
                operands.word(":")
    return MaskedStatement(" ".join(words), tuple(positions))


def _masked_word(kind: str | None, found: re.Match[str], words: list[str], operands: Operands) -> str:
    word = found.group()
    if kind in {"string", "value"}:
        return "?"
    if kind == "mark":
        operands.word(word)
        return word
    if kind == "word":
        upper = word.upper()
        if upper in _LITERAL_WORDS:
            return "?"
        if upper in _STATEMENT_WORDS and words[-1:] != ["."]:
            operands.word(upper)
            return upper
    return _masked_name(kind, found, words, operands)


def _masked_name(kind: str | None, found: re.Match[str], words: list[str], operands: Operands) -> str:
    """Return a name as it may stay: `*` for that of a map entry, and where a value may be meant."""
    word = found.group("string") if kind == "colon" else found.group()
    mark = word[0] if word[0] in "'\"" else ""
    name = word[1:-1].replace(mark * 2, mark) if mark else word
    follows = _FOLLOWS.match(found.string, found.end())
    sign = ":" if kind == "colon" else follows[1] if follows is not None else ""
    if sign == ":":
        return '"' + mask_name(name, is_nested=operands.is_value).replace('"', '""') + '"'
    if sign == "(" and kind == "word":
        return word if name.lower() in FUNCTIONS else "?"
    is_step = words[-1:] == ["."] and words[-3:-2] not in _PLACES
    if is_step or not operands.keeps(name) or (operands.is_value and is_variable_name(name, is_nested=False)):
        return '"*"'
    operands.name(name)
    return word
