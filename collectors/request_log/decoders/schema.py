"""Which attributes are keys, learned from calls that name them: a put does not say which of its attributes are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.request_log.decoders.values import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.model.request import AttributeValue

__all__ = ["KeyNames"]

_MOST_TABLES = 5000
_MOST_NAMES = 2
"""A table's key has a partition key and at most a sort key."""


class KeyNames:
    """The names of tables' key attributes, as far as a log has shown them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def learn(self, table: str | None, names: Iterable[str]) -> None:
        """Take note of a whole key of a table."""
        if table is not None and table not in self._known and len(self._known) < _MOST_TABLES:
            found = tuple(names)
            if len(found) <= _MOST_NAMES:
                self._known[table] = found

    def of(self, table: str | None) -> tuple[str, ...]:
        """Return the names of a table's key attributes, none where no call has shown them yet."""
        return () if table is None else self._known.get(table, ())

    def key_in(self, table: str | None, item: Mapping[str, Any]) -> dict[str, AttributeValue] | None:
        """Return the key of an item; None where the table's is not known yet, or the item has it not whole."""
        names = self.of(table)
        return key_of({name: item.get(name) for name in names}) if names else None
