"""Key values become small numbers: which key, which partition, which prefixes, and which class of key values.

A class is what all keys of one shape have in common (`CASE#<id>` and `META`); numbers are good until `rotate`, which
forgets all keys but those of the last stretch, so that memory does not follow the number of keys.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec

from analyzer.model.shape import KeyPredicate
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.requests.lexicon import Lexicon

__all__ = ["NO_KEY", "PREFIXES", "KeyClass", "KeySpace", "KeyTable"]

NO_KEY = 0
"""The number of the key that is not known."""

PREFIXES = 3
"""How many prefixes of a partition key are counted at most."""

KeyClass = tuple[KeyPredicate, ...]

_MOST_SIGNATURES = 4096
_LONGEST_VALUE = 2048
_DECODE = msgspec.json.Decoder(dict[str, dict[str, Any]]).decode
_TOKEN = re.compile(r"~([kd])[a-z2-7]{8}")
_DELIMITER = re.compile(r"[#|/]")
_DIGITS = re.compile(r"[0-9]+")
_TEXT = re.compile(r"[^#|/]*[^#|/0-9][^#|/]*")
_PREFIX = re.compile(r"[^#|/]*[#|/]+")
_VARIABLE = re.compile(r"[0-9]|~[kd][a-z2-7]{8}")
_SORT_LIKE = re.compile(r"sk$|sort|range", re.IGNORECASE)


class KeyTable:
    """All keys of the present stretch; one for a digest, since targets may share keys."""

    def __init__(self) -> None:
        self.classes: list[KeyClass] = [()]
        self._class_numbers: dict[KeyClass, int] = {(): 0}
        self.previous: tuple[array[int], list[tuple[str, str | None] | None]] = (array("i"), [])
        self._clear()

    def _clear(self) -> None:
        self._items: dict[tuple[int, str | None, str | None], int] = {}
        self._pairs: dict[tuple[str, str], int] = {}
        self._parts: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        self.item_class = array("i", [0])
        self.item_part = array("i", [-1])
        self.item_pair = array("i", [-1])
        self.item_names: list[tuple[str, str | None] | None] = [None]
        self.pair_names: list[tuple[str, str]] = []
        self.part_names: list[str] = []
        self.part_hash = array("L")
        self.part_prefixes = [array("i") for _ in range(PREFIXES)]
        self.prefix_names: list[str] = []

    def __len__(self) -> int:
        return len(self.item_names)

    def rotate(self) -> None:
        """Begin a new stretch."""
        self.previous = (self.item_class, self.item_names)
        self._clear()

    def class_number(self, key_class: KeyClass) -> int:
        """Return the number of a class."""
        number = self._class_numbers.get(key_class)
        if number is None:
            number = self._class_numbers[key_class] = len(self.classes)
            self.classes.append(key_class)
        return number

    def item(self, class_number: int, part: str | None, sort: str | None) -> int:
        """Return the number of a key; one without identity has a class alone."""
        identity = (class_number, part, sort)
        number = self._items.get(identity)
        if number is not None:
            return number
        number = self._items[identity] = len(self.item_names)
        self.item_class.append(class_number)
        if part is None:
            self.item_part.append(-1)
            self.item_pair.append(-1)
            self.item_names.append(None)
            return number
        self.item_part.append(self._part(part))
        self.item_pair.append(-1 if sort is None else self._pair((part, sort)))
        self.item_names.append((part, sort))
        return number

    def _part(self, part: str) -> int:
        number = self._parts.get(part)
        if number is None:
            number = self._parts[part] = len(self.part_names)
            self.part_names.append(part)
            self.part_hash.append(crc32(part.encode("utf-8", "surrogatepass")))
            found = self._prefixes_of(part)
            for column, prefix in zip(self.part_prefixes, found, strict=True):
                column.append(prefix)
        return number

    def _pair(self, pair: tuple[str, str]) -> int:
        number = self._pairs.get(pair)
        if number is None:
            number = self._pairs[pair] = len(self.pair_names)
            self.pair_names.append(pair)
        return number

    def _prefixes_of(self, part: str) -> list[int]:
        """Number the leading segments that end in a delimiter; those of letters alone name a kind, not a tenant."""
        found: list[int] = []
        for piece in _PREFIX.finditer(part):
            prefix = part[: piece.end()]
            if len(found) < PREFIXES and piece.end() < len(part) and _VARIABLE.search(prefix):
                number = self._prefixes.get(prefix)
                if number is None:
                    number = self._prefixes[prefix] = len(self.prefix_names)
                    self.prefix_names.append(prefix)
                found.append(number)
        return found + [-1] * (PREFIXES - len(found))


class KeySpace:
    """The keys of one table or index as records of one `keys` policy write them.

    `is_clear`: values as sent. `has_identity`: two keys can be told apart; templates cannot.
    """

    def __init__(self, keys: KeyTable, lexicon: Lexicon, table: str, index: str | None, policy: str | None) -> None:
        self._keys = keys
        self._lexicon = lexicon
        self._table = table
        self.schema = lexicon.schema(table, index)
        self.is_clear = policy in {None, "reveal"}
        self.has_identity = policy != "template"
        self.numbers: dict[bytes, int] = {}
        self._previous: dict[bytes, int] = {}
        self._by_signature: dict[tuple[str, str, tuple[str, ...]], KeyPredicate] = {}
        literals = lexicon.literals(table)
        self._behind = frozenset() if lexicon.salt is None else frozenset(map(lexicon.salt.token, literals))
        self._is_declared, self._has_digits = lexicon.vocabulary(table)

    def rotate(self) -> None:
        """Begin a new stretch, together with the table of keys."""
        self._previous = self.numbers
        self.numbers = {}

    def number(self, raw: bytes) -> int:
        """Return the number of a key as a record writes it; the caller has looked into `numbers` before."""
        before = self._previous.get(raw)
        if before is None:
            number = self._read(raw)
        else:
            classes, names = self._keys.previous
            part, sort = names[before] or (None, None)
            number = self._keys.item(classes[before], part, sort)
        self.numbers[raw] = number
        return number

    def _read(self, raw: bytes) -> int:
        try:
            attributes = _DECODE(raw)
        except ValueError:
            return NO_KEY
        return self.number_of(attributes)

    def number_of(self, attributes: dict[str, dict[str, Any]]) -> int:
        """Return the number of a decoded key."""
        texts: dict[str, str] = {}
        for attribute, value in attributes.items():
            text = key_text(value)
            if text is None or len(text) > _LONGEST_VALUE:
                return NO_KEY
            texts[attribute] = text
        if not texts:
            return NO_KEY
        keys = self._keys
        predicates = [self.predicate(attribute, "=", (text,)) for attribute, text in texts.items()]
        if len(predicates) > 1:
            predicates.sort(key=_attribute)
        number = keys.class_number(tuple(predicates))
        if not self.has_identity:
            return keys.item(number, None, None)
        part, sort = self._identity(texts)
        return keys.item(number, part, sort)

    def predicate(self, attribute: str, operator: str, texts: tuple[str, ...] | None) -> KeyPredicate:
        """Return the class of the values that one condition compares an attribute with."""
        signature = (attribute, operator, () if texts is None else tuple([self._signature(text) for text in texts]))
        predicate = self._by_signature.get(signature)
        if predicate is None:
            predicate = self._lexicon.classify(self._table, attribute, operator, texts, clear=self.is_clear)
            if len(self._by_signature) >= _MOST_SIGNATURES:
                self._by_signature.clear()
            self._by_signature[signature] = predicate
        return predicate

    def _signature(self, text: str) -> str:
        """Return a text that is equal only for values of one class: tokens, numbers and free words look alike."""
        if not self.is_clear:
            if "~" not in text or (self._behind and not self._behind.isdisjoint(_DELIMITER.split(text))):
                return text
            return _TOKEN.sub(r"~\1aaaaaaaa", text)
        if not self._is_declared:
            text = _TEXT.sub("x", text)
        return text if self._has_digits else _DIGITS.sub("0", text)

    def _identity(self, texts: dict[str, str]) -> tuple[str | None, str | None]:
        schema = self.schema
        if schema is None:
            schema = _guess(texts)
        partition, sort = schema
        try:
            part = texts[partition[0]] if len(partition) == 1 else "|".join([texts[name] for name in partition])
        except KeyError:
            return None, None
        if not sort:
            return part, None
        if len(sort) == 1:
            return part, texts.get(sort[0])
        known = [texts[name] for name in sort if name in texts]
        return part, "|".join(known) if len(known) == len(sort) else None


def _attribute(predicate: KeyPredicate) -> str:
    return predicate.attribute


def _guess(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell partition and sort key of an undeclared table apart by their names; else the first is the partition key."""
    first, *rest = sorted(names, key=lambda name: _SORT_LIKE.search(name) is not None)
    return (first,), tuple(rest)
