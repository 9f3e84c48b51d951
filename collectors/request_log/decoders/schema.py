"""Which attributes are keys, declared or learned from calls that name them: a put does not say which of its are."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from collectors.request_log.decoders.values import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from analyzer.model.request import AttributeValue

__all__ = ["DeclaredKeys", "KeyNames"]

_MOST_TABLES = 5000
_MOST_NAMES = 2
"""A table's key has a partition key and at most a sort key."""


class DeclaredKeys(Struct, frozen=True):
    """The key attributes of a table, or of all whose names fit a glob, and of its indexes."""

    name: str
    key: tuple[str, ...]
    indexes: dict[str, tuple[str, ...]] = {}


class KeyNames:
    """The names of tables' key attributes: as declared, else as far as a log has shown them."""

    def __init__(self, declared: Sequence[DeclaredKeys] = ()) -> None:
        self._declared = tuple(declared)
        self._known: dict[str, DeclaredKeys] = {}

    def learn(self, table: str | None, names: Iterable[str]) -> None:
        """Take note of a whole key of a table."""
        found = tuple(names)
        if table is not None and found and not self.of(table) and len(found) <= _MOST_NAMES:
            self._note(table, DeclaredKeys(table, found))

    def of(self, table: str | None) -> tuple[str, ...]:
        """Return the names of a table's key attributes, none where nothing has shown them yet."""
        keys = self._keys(table)
        return () if keys is None else keys.key

    def key_in(self, table: str | None, item: Mapping[str, Any]) -> dict[str, AttributeValue] | None:
        """Return the key of an item; None where the table's is not known yet, or the item has it not whole."""
        names = self.of(table)
        return key_of({name: item.get(name) for name in names}) if names else None

    def index_keys_in(self, table: str | None, item: Mapping[str, Any]) -> dict[str, dict[str, AttributeValue]] | None:
        """Return the keys that an item has in declared indexes; one whose attributes it lacks does not hold it."""
        keys = self._keys(table)
        found = {} if keys is None else keys.indexes
        held = {index: key_of({name: item.get(name) for name in names}) for index, names in found.items()}
        return {index: key for index, key in held.items() if key is not None} or None

    def _keys(self, table: str | None) -> DeclaredKeys | None:
        if table is None:
            return None
        known = self._known.get(table)
        if known is None:
            fitting = [keys for keys in self._declared if keys.key and fnmatchcase(table, keys.name)]
            known = min(fitting, key=lambda keys: keys.name != table, default=None)
            if known is not None:
                self._note(table, known)
        return known

    def _note(self, table: str, keys: DeclaredKeys) -> None:
        if len(self._known) < _MOST_TABLES:
            self._known[table] = keys
