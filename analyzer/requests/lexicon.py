"""What is declared of key values, made ready to classify those of requests."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.shape import KeyPredicate
from analyzer.requests.templates import Template
from analyzer.requests.tokens import DIGITS, TEXT, is_placeholder, placeholder, rewrite, split_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.requests.tokens import Salt

__all__ = ["Lexicon", "TableKeys"]

_WORD = re.compile(r"[A-Za-z][A-Za-z_.-]{0,31}")
_MOST_TABLES = 4096
_MOST_PARTS = 23
"""Twelve segments and the delimiters between them; a value of more is shown as one variable."""

_MOST_UNKNOWN_PARTS = 7
"""The same for a value without a literal segment, four: a path or base64 would make shapes without end."""

_MOST_ALTERNATIVES = 4

_DIGITS = re.compile(r"[0-9]+")
_TOUCHING = re.compile(r"[0-9]<|>[0-9]")
Schema = tuple[tuple[str, ...], tuple[str, ...]]


class TableKeys(Struct, frozen=True, kw_only=True):
    """The keys of one table, or of all whose names fit a glob; `indexes` maps a name to partition and sort key.

    `literals` are segments that may stand in clear. `templates` holds what patterns and entities declare of an
    attribute. `global_indexes` are those of `indexes` that are known to be no local ones.
    """

    name: str
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    indexes: dict[str, Schema] = {}
    global_indexes: frozenset[str] = frozenset()
    templates: dict[str, tuple[Template, ...]] = {}
    literals: frozenset[str] = frozenset()


class _Words(Struct, frozen=True):
    """One table's words: literal segments, the literals behind tokens, and templates, the most literal first."""

    keys: TableKeys
    literals: frozenset[str]
    behind: dict[str, str]
    templates: dict[str, tuple[Template, ...]]


_NOTHING = _Words(TableKeys(name=""), frozenset(), {}, {})


class Lexicon:
    """The declared keys of all tables; immutable to its callers.

    A table is looked up by its exact name first, then by the globs in their order.
    """

    def __init__(self, tables: Sequence[TableKeys] = (), salt: Salt | None = None) -> None:
        self.salt = salt
        self._tables = tuple(tables)
        self._exact: dict[str, _Words] = {}
        self._globs: list[_Words] = []
        for keys in tables:
            words = _words_of(keys, salt)
            if any(mark in keys.name for mark in "*?["):
                self._globs.append(words)
            self._exact.setdefault(keys.name, words)
        self._found: dict[str, _Words] = {}

    def _words(self, table: str) -> _Words:
        words = self._found.get(table)
        if words is None:
            words = self._exact.get(table) or next(
                (glob for glob in self._globs if fnmatchcase(table, glob.keys.name)), _NOTHING
            )
            if len(self._found) < _MOST_TABLES:
                self._found[table] = words
        return words

    def without_salt(self) -> Lexicon:
        """Return the same words for tokens that were made with another salt."""
        return Lexicon(self._tables)

    def schema(self, table: str, index: str | None = None) -> Schema | None:
        """Return the declared partition and sort key attributes of a table or index; None where nothing is declared."""
        keys = self._words(table).keys
        if index is not None:
            return keys.indexes.get(index)
        return (keys.partition_key, keys.sort_key) if keys.partition_key else None

    def is_global(self, table: str, index: str) -> bool:
        """Whether an index is known to be no local one, whatever its keys."""
        return index in self._words(table).keys.global_indexes

    def literals(self, table: str) -> frozenset[str]:
        """Return the segments of a table's key values that may stand in clear."""
        return self._words(table).literals

    def vocabulary(self, table: str) -> tuple[bool, int | None]:
        """Say whether anything is declared of a table's key values, and the longest run of digits in it.

        None where such a run touches a variable: then digits cannot be told apart from those of a value.
        """
        words = self._words(table)
        texts = [t.text for listed in words.templates.values() for t in listed]
        if any(_TOUCHING.search(text) for text in texts):
            return True, None
        runs = [len(run) for text in (*texts, *words.literals) for run in _DIGITS.findall(text)]
        return bool(texts or words.literals), max(runs, default=0)

    def template(self, table: str, value: str, *, clear: bool = True) -> str:
        """Return a value's shape, such as `CASE#<id>`.

        Of a clear value only declared literals are kept; of one that was recorded as token or template also other words
        of letters, which its writer knew as literals. Nothing else is believed: a log may say token and bear keys.
        """
        return _template(self._words(table), value, clear=clear)

    def template_as_kept(self, table: str, value: str) -> str:
        """Return the shape of a value that lies in a digest, which is clear unless it bears a token."""
        return self.template(table, value, clear="~" not in value)

    def classify(
        self, table: str, attribute: str, operator: str, values: tuple[str, ...] | None, *, clear: bool = True
    ) -> KeyPredicate:
        """Return what a request's condition on a key attribute is, whatever its values.

        A condition whose values are not known has no template. Neither has one whose tokens may hide the literals of a
        declared template while the salt is not known: that would be a false "undeclared".
        """
        if not values:
            return KeyPredicate(attribute, operator)
        words = self._words(table)
        behind = words.behind
        if behind and any("~" in value for value in values):
            values = tuple(rewrite(value, lambda segment: behind.get(segment, segment)) for value in values)
        templates = words.templates.get(attribute, ())
        declared = tuple(template.text for template in templates if template.takes(operator, values))
        if not declared and self._hides(templates, operator, values):
            return KeyPredicate(attribute, operator)
        texts = [_template(words, value, clear=clear) for value in values]
        if declared:  # a variable is a variable: ids of digits alone are no shape of their own
            texts = [text.replace(DIGITS, TEXT) for text in texts]
        text = texts[0] if len(texts) == 1 else _joined(operator, texts)
        return KeyPredicate(attribute, operator, text, declared)

    def _hides(self, templates: tuple[Template, ...], operator: str, values: tuple[str, ...]) -> bool:
        mark = "~" if self.salt is None else "<"
        if not any(mark in value or "<" in value for value in values):
            return False
        return any(template.may_take(operator, values) for template in templates)


def _template(words: _Words, value: str, *, clear: bool) -> str:
    literals, behind = words.literals, words.behind
    parts = split_key(value)
    known = 0
    for position in range(0, len(parts), 2):
        segment = parts[position]
        if segment in behind:
            segment = parts[position] = behind[segment]
        if segment in literals:
            known += 1
        elif is_placeholder(segment) or not segment:
            continue
        elif clear or not _WORD.fullmatch(segment):
            parts[position] = placeholder(segment)
        else:
            known += 1
    if len(parts) > _MOST_PARTS or (not known and len(parts) > _MOST_UNKNOWN_PARTS):
        return TEXT
    return "".join(parts)


def _joined(operator: str, texts: list[str]) -> str:
    if operator == "between":
        return " and ".join(texts)
    distinct = sorted(set(texts))
    return " or ".join(distinct) if len(distinct) <= _MOST_ALTERNATIVES else TEXT


def _words_of(keys: TableKeys, salt: Salt | None) -> _Words:
    declared = {segment for listed in keys.templates.values() for t in listed for segment in t.segments_literal()}
    literals = frozenset(declared) | keys.literals
    ordered = {
        attribute: tuple(sorted(set(listed), key=lambda t: (-t.literal_characters, t.text)))
        for attribute, listed in keys.templates.items()
    }
    behind = {} if salt is None else {salt.token(literal): literal for literal in literals}
    return _Words(keys, literals, behind, ordered)
