"""The key values of a log by attribute and operator, bounded, and the templates learnt from them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.contract.seen import as_template
from analyzer.contract.templates import learn
from analyzer.knowledge.names import table_name
from analyzer.model.target import Target
from analyzer.requests.lexicon import TableKeys
from analyzer.requests.shapes import raw_key, skeleton_of
from analyzer.requests.templates import Template
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from analyzer.model.request import RequestRecord
    from analyzer.model.table import TableDescription
    from analyzer.requests.shapes import Skeleton

__all__ = ["KeySamples"]

_MOST_VALUES = 5_000
_MOST_PLACES = 2_000
_MOST_SKELETONS = 4_096
_MOST_TEMPLATES = 64
_ENDS = 2
_LONGEST = 2_048
"""The bytes of a partition key at most; a sort key has half of it. DynamoDB refuses what is longer."""

_CLEAR = frozenset({None, "reveal"})

Place = tuple[str, str, str]
"""Table, attribute and operator."""


class KeySamples:
    """Collects key values, and learns what of them is literal; what a contract declares already is left to it."""

    def __init__(
        self, known: Contract = EMPTY_CONTRACT, described: Mapping[str, TableDescription] | None = None
    ) -> None:
        self._known = known
        self._described = described or {}
        self._values: dict[Place, Counter[str]] = {}
        self._pairs: dict[Place, Counter[tuple[str, ...]]] = {}
        self._sure: dict[Place, set[str]] = {}
        self._skeletons: dict[object, tuple[Skeleton, ...]] = {}
        self.unsure: dict[tuple[str, str], str] = {}

    def add(self, record: RequestRecord) -> None:
        """Look at the keys of one record."""
        is_sure = record.keys not in _CLEAR
        for table, attribute, operator, texts in self._conditions(record):
            if any(len(text) > _LONGEST for text in texts):
                continue
            place = (table, attribute, "=" if operator == "IN" else operator)
            values = self._values.get(place)
            if values is None:
                if len(self._values) >= _MOST_PLACES:
                    continue
                values = self._values[place] = Counter()
            for text in texts:
                if text in values or len(values) < _MOST_VALUES:
                    values[text] += 1
                    if is_sure:
                        self._sure.setdefault(place, set()).add(text)
            if operator == "between":
                pairs = self._pairs.setdefault(place, Counter())
                if texts in pairs or len(pairs) < _MOST_VALUES:
                    pairs[texts] += 1

    def _conditions(self, record: RequestRecord) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        if record.parts is None and (record.key or record.values):
            for skeleton in self._skeletons_of(record):
                for slot, texts in zip(skeleton.slots, skeleton.values(record), strict=True):
                    if texts:
                        yield skeleton.table, slot.attribute, slot.operator, texts
        for part in record.parts or ():
            yield from _equalities(part.table or record.table, part.key or {})
            for key in (part.index_keys or {}).values():
                yield from _equalities(part.table or record.table, key)
        for key in (record.index_keys or {}).values():
            yield from _equalities(record.table, key)

    def _skeletons_of(self, record: RequestRecord) -> tuple[Skeleton, ...]:
        raw = raw_key(record)
        found = self._skeletons.get(raw)
        if found is None:
            found = skeleton_of(record)
            if len(self._skeletons) < _MOST_SKELETONS:
                self._skeletons[raw] = found
        return found

    def tables(self) -> list[TableKeys]:
        """Return what is declared and what was learnt of each table's keys, for a lexicon."""
        learnt: dict[str, dict[str, dict[str, None]]] = {}
        for place, values in sorted(self._values.items()):
            table, attribute, operator = place
            texts = self._between(place) if operator == "between" else self._single(place, values)
            learnt.setdefault(table, {}).setdefault(attribute, {}).update(dict.fromkeys(texts[:_MOST_TEMPLATES]))
        declared = self._known.table_keys()
        return [*(self._table(name, texts) for name, texts in learnt.items()), *declared]

    def _table(self, name: str, texts: Mapping[str, Mapping[str, None]]) -> TableKeys:
        declaration = self._known.table(Target(None, None, name))
        keys = _of_description(name, self._described.get(name)) if declaration is None else declaration.keys()
        templates = dict(keys.templates)
        for attribute, found in texts.items():
            templates[attribute] = (*templates.get(attribute, ()), *(Template.parse(text) for text in found))
        return msgspec.structs.replace(keys, name=name, templates=templates)

    def _declared(self, table: str, attribute: str) -> tuple[Template, ...]:
        declaration = self._known.table(Target(None, None, table))
        return () if declaration is None else declaration.keys().templates.get(attribute, ())

    def _single(self, place: Place, values: Counter[str]) -> list[str]:
        """Learn the templates of an attribute's values; those that a declared one takes are known."""
        table, attribute, operator = place
        declared = self._declared(table, attribute)
        left = {v: n for v, n in values.items() if not any(t.takes(operator, (v,)) for t in declared)}
        found = []
        for each in learn(left, self._sure.get(place, ())):
            text = as_template(operator, each.text)
            if text is not None:
                found.append(text)
                if each.unsure:
                    self.unsure[table, text] = each.unsure
        return found

    def _between(self, place: Place) -> list[str]:
        """Learn both ends together, and pair what stood together."""
        table, attribute, operator = place
        declared = self._declared(table, attribute)
        ends = {v: each.text for each in learn(self._values[place], self._sure.get(place, ())) for v in each.values}
        texts: Counter[str] = Counter()
        for pair, weight in self._pairs[place].items():
            if len(pair) != _ENDS or any(t.takes(operator, pair) for t in declared):
                continue
            text = as_template(operator, " and ".join(ends.get(value, "<id>") for value in pair))
            if text is not None:
                texts[text] += weight
        return [text for text, _ in texts.most_common()]


def _equalities(
    table: str | None, key: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for attribute, value in key.items():
        text = key_text(value)
        if table is not None and text is not None:
            yield table_name(table), attribute, "=", (text,)


def _of_description(name: str, described: TableDescription | None) -> TableKeys:
    if described is None:
        return TableKeys(name=name)
    indexes = {index.name: (index.partition_key, index.sort_key) for index in described.indexes}
    return TableKeys(name=name, partition_key=described.partition_key, sort_key=described.sort_key, indexes=indexes)
