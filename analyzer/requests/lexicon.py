"""What is declared of key values, made ready to classify those of requests."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.shape import KeyPredicate
from analyzer.requests.templates import Template
from analyzer.requests.tokens import is_placeholder, is_token, placeholder, rewrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.requests.tokens import Salt

__all__ = ["Lexicon", "TableKeys"]

_MOST_TABLES = 4096
_MOST_SEGMENTS = 12
_MOST_UNKNOWN_SEGMENTS = 4
_JOINT = {"between": " and "}

Schema = tuple[tuple[str, ...], tuple[str, ...]]


class TableKeys(Struct, frozen=True, kw_only=True):
    """The keys of one table, or of all whose names fit a glob; `indexes` maps a name to partition and sort key.

    `literals` are segments that may stand in clear. `templates` holds what patterns and entities declare of an
    attribute.
    """

    name: str
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    indexes: dict[str, Schema] = {}
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

    def schema(self, table: str, index: str | None = None) -> Schema | None:
        """Return the declared partition and sort key attributes of a table or index; None where nothing is declared."""
        keys = self._words(table).keys
        if index is not None:
            return keys.indexes.get(index)
        return (keys.partition_key, keys.sort_key) if keys.partition_key else None

    def literals(self, table: str) -> frozenset[str]:
        """Return the segments of a table's key values that may stand in clear."""
        return self._words(table).literals

    def template(self, table: str, value: str, *, clear: bool = True) -> str:
        """Return a value's shape, such as `CASE#<id>`.

        Of a clear value only declared literals are kept; of one that was recorded as token or template whatever is
        neither token nor placeholder, since only literals were left standing.
        """
        words = self._words(table)
        known = 0
        total = 0

        def shown(segment: str) -> str:
            nonlocal known, total
            total += 1
            literal = words.behind.get(segment, segment)
            if literal in words.literals or not (clear or is_token(segment) or is_placeholder(segment)):
                known += 1
                return literal
            return segment if is_placeholder(segment) else placeholder(segment)

        text = rewrite(value, shown)
        if total > _MOST_SEGMENTS or (not known and total > _MOST_UNKNOWN_SEGMENTS):
            return "<id>"
        return text

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
        if words.behind:
            values = tuple(rewrite(value, lambda segment: words.behind.get(segment, segment)) for value in values)
        templates = words.templates.get(attribute, ())
        declared = tuple(template.text for template in templates if template.takes(operator, values))
        if not declared and self._hides(templates, operator, values):
            return KeyPredicate(attribute, operator)
        texts = [self.template(table, value, clear=clear) for value in values]
        text = _JOINT[operator].join(texts) if operator in _JOINT else " or ".join(sorted(set(texts)))
        return KeyPredicate(attribute, operator, text, declared)

    def _hides(self, templates: tuple[Template, ...], operator: str, values: tuple[str, ...]) -> bool:
        if self.salt is not None and not any("<" in value for value in values):
            return False
        return any(template.may_take(operator, values) for template in templates)


def _words_of(keys: TableKeys, salt: Salt | None) -> _Words:
    declared = {segment for listed in keys.templates.values() for t in listed for segment in t.segments_literal()}
    literals = frozenset(declared) | keys.literals
    ordered = {
        attribute: tuple(sorted(set(listed), key=lambda t: (-t.literal_characters, t.text)))
        for attribute, listed in keys.templates.items()
    }
    behind = {} if salt is None else {salt.token(literal): literal for literal in literals}
    return _Words(keys, literals, behind, ordered)
