"""The kinds of items, as item operations name them: keys of the table and of indexes, and their size."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.contract.details import Details
    from analyzer.contract.schemas import Schema
    from analyzer.contract.seen import Key, Seen

__all__ = ["Entities", "unique", "words_of"]

_MOST_ENTITIES = 50
_LEAST_SHARE = 0.9
_NO_NAMES = frozenset({"META", "METADATA", "PROFILE", "INFO", "DETAILS", "ROOT", "CONFIG", "#"})
_OF_ITEMS = frozenset(
    {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "BatchGetItem", "TransactWriteItems"}
)


class Entities:
    """The kinds of items of one table by key; `taken` are names that are declared already."""

    def __init__(self, schema: Schema, taken: Iterable[str] = ()) -> None:
        self._schema = schema
        self._taken = Counter(taken)
        self.found: dict[Key, dict[str, Any]] = {}

    def take(self, seen: Sequence[Seen]) -> None:
        """Name the kinds of items that patterns ask for, those that are asked for alone first."""
        for one in sorted(seen, key=lambda s: len(s.keys) > 1):
            if one.shape.operation in _OF_ITEMS:
                for key in one.keys:
                    self._add(tuple(sorted(key)))

    def name_of(self, seen: Seen) -> str | None:
        """Return the kind that a pattern is about, where it is about one."""
        keys = {tuple(sorted(key)) for key in seen.keys}
        names = {self.found[key]["name"] for key in keys if key in self.found}
        return names.pop() if len(names) == 1 and len(keys) == 1 else None

    def _add(self, key: Key) -> None:
        partition, sort = self._schema.partition or "", self._schema.sort or ""
        known = {attribute: text for attribute, text in key if attribute in (partition, sort)}
        if key in self.found or len(self.found) >= _MOST_ENTITIES or partition not in known:
            return
        words = words_of(known.get(sort, "")) or words_of(known[partition])
        if not words or any(Template.parse(text).operator != "=" for text in known.values()):
            return
        if words[0].upper() in _NO_NAMES:
            words = words_of(known[partition]) or words
        ordered = {name: known[name] for name in (partition, sort) if name in known}
        self.found[key] = {"name": unique("".join(w.title() for w in words[:1]), self._taken)} | ordered

    def describe(self, table: str, details: Details, indexes: Iterable[str]) -> None:
        """Add index keys and sizes, as items written show them."""
        wanted = set(indexes)
        for key, entity in self.found.items():
            item = details.of_item(table, key)
            for index, keys in sorted(item.index_keys.items()):
                found, times = keys.most_common(1)[0]
                if index in wanted and times >= _LEAST_SHARE * keys.total():
                    entity |= {name: text for name, text in found if name not in entity}
            if item.usual_bytes is not None:
                entity["item_bytes"] = item.usual_bytes


def words_of(text: str) -> list[str]:
    """Return the words among a template's literals."""
    if not text:
        return []
    literals = [e for operand in Template.parse(text).operands for e in operand if isinstance(e, str)]
    return re.findall(r"[A-Za-z0-9]+", " ".join(literals))


def unique(name: str, used: Counter[str]) -> str:
    """Return a name that was not used, with a number where it was."""
    used[name] += 1
    if used[name] == 1:
        return name
    numbered = f"{name}-{used[name]}"
    return numbered if not used[numbered] else unique(name, used)
