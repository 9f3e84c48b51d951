"""How hot the hottest partition key of each key template gets: as declared, and as requests showed it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from analyzer.planning.expected import expected_of, is_reached
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.contract.model import IndexDeclaration, KeyTemplate, PatternDeclaration, TableDeclaration
    from analyzer.model.traffic import KeyHeat, Traffic

__all__ = [
    "Hot",
    "HotKey",
    "Partition",
    "declared_partitions",
    "entry_key",
    "hot_keys",
    "is_told",
    "partition_text",
    "parts_of",
    "same_text",
]

_PLACE = tuple[str | None, Direction]
_COARSE = 0.1
"""The part of a partition's ceiling that one record may stand for: a slice of few such records shows no heat."""
_SLICE_SECONDS = SLICE_MS / 1000
_VARIABLE = re.compile(r"<[^<>]*>")


class Hot(Struct, frozen=True):
    """What one pattern asks of the hottest key, in units a second; `words` is the arithmetic."""

    pattern: str
    units: float
    words: str


class HotKey(Struct, frozen=True, kw_only=True):
    """A partition key as observed: units a second in its hottest slice, refused tries counted as demand.

    `by_pattern` is what each pattern asked of it.
    """

    index: str | None
    direction: Direction
    template: str
    units: float
    by_pattern: dict[str, float] = {}

    @property
    def place(self) -> tuple[str | None, Direction, str]:
        """Where it is: index, direction, and the template without the names of its variables."""
        return self.index, self.direction, same_text(self.template)


class Partition(Struct, frozen=True, kw_only=True):
    """One partition-key template of a table or index in one direction.

    `loads` are the patterns whose load follows from what is declared, `unknown` those that say too little.
    """

    index: str | None
    direction: Direction
    template: str
    loads: tuple[Hot, ...]
    unknown: tuple[str, ...] = ()

    @property
    def heat(self) -> float | None:
        """The share of what one partition serves; None where no load is known."""
        return sum(load.units for load in self.loads) / ceiling_of(self.direction) if self.loads else None

    def seen(self, keys: Iterable[HotKey]) -> float | None:
        """Return the heat of its hottest observed key; None where none was observed."""
        mine = (self.index, self.direction, same_text(self.template))
        return max(
            (key.units / ceiling_of(key.direction) for key in keys if key.place == mine),
            default=None,
        )


def declared_partitions(table: TableDeclaration) -> tuple[Partition, ...]:
    """Return the partitions of a table and its indexes, the hottest first; those of unknown heat come last."""
    found: dict[tuple[str | None, Direction, str], list[tuple[str, Hot | None]]] = {}
    for pattern in table.patterns:
        for place, text, load in _loads(table, pattern):
            found.setdefault((*place, text), []).append((pattern.id, load))
    partitions = [
        Partition(
            index=index,
            direction=direction,
            template=text,
            loads=tuple(load for _, load in loads if load is not None),
            unknown=tuple(name for name, load in loads if load is None),
        )
        for (index, direction, text), loads in found.items()
    ]
    return tuple(sorted(partitions, key=lambda one: -(-1.0 if one.heat is None else one.heat)))


def partition_text(table: TableDeclaration, index: str | None, key: Iterable[KeyTemplate]) -> str | None:
    """Write the partition key of a key, such as `PK=CASE#<caseId>`; None where it does not name all of it."""
    named = {one.attribute: one.template.text for one in key}
    attributes, _ = table.schema(index)
    if not attributes or any(name not in named for name in attributes):
        return None
    return " ".join(f"{name}={named[name]}" for name in attributes)


def parts_of(table: TableDeclaration, index: str | None, key: Iterable[KeyTemplate]) -> int:
    """Return into how many parts shard variables (`<0..9>`) split a partition key; 1 without one."""
    attributes, _ = table.schema(index)
    count = 1
    for one in key:
        if one.attribute in attributes:
            for slot in one.template.slots:
                count *= len(slot.values) if slot.is_shard else 1
    return count


def _loads(table: TableDeclaration, pattern: PatternDeclaration) -> Iterator[tuple[_PLACE, str, Hot | None]]:
    """Yield what a pattern asks of each place; of a transaction, of the partition of each of its items."""
    if pattern.scans:
        return
    direction = Direction.WRITE if pattern.writes else Direction.READ
    expected = expected_of(table, pattern)
    for text in dict.fromkeys(partition_text(table, pattern.index, key) for key in pattern.keys):
        if text is not None:
            share = 1.0 if "<" not in text else pattern.per_key.top_share
            yield (pattern.index, direction), text, _hot(pattern, expected.units, share)
    for index in table.indexes if pattern.writes else ():
        if is_reached(table, pattern, index):
            yield from _at_index(table, pattern, index, expected.index_units.get(index.name))


def entry_key(table: TableDeclaration, pattern: PatternDeclaration, index: str | None) -> tuple[KeyTemplate, ...]:
    """Return the key of a request at a place; of a write at an index, that of the entry which it writes.

    The entity's own templates tell it, else the patterns that read the index, where all of them read the same key;
    nothing where neither does.
    """
    if pattern.index == index:
        return pattern.keys[0] if pattern.keys else ()
    entity = table.entity(pattern.entity)
    if entity is not None and partition_text(table, index, entity.key) is not None:
        return entity.key
    reading = {
        text: key
        for one in table.patterns
        for key in one.keys
        if one.index == index and (text := partition_text(table, index, key)) is not None
    }
    return next(iter(reading.values())) if len(reading) == 1 else ()


def _at_index(
    table: TableDeclaration, pattern: PatternDeclaration, index: IndexDeclaration, units: float | None
) -> Iterator[tuple[_PLACE, str, Hot | None]]:
    """Yield what a write asks of an index, where something tells the key of its entry."""
    text = partition_text(table, index.name, entry_key(table, pattern, index.name))
    if text is not None:
        share = 1.0 if "<" not in text else None
        yield (index.name, Direction.WRITE), text, _hot(pattern, units, share, has_own_key=False)


def _hot(
    pattern: PatternDeclaration, units: float | None, share: float | None, *, has_own_key: bool = True
) -> Hot | None:
    """Return the load on the hottest key: of the peak its share, or what a key is said to get, whichever is more."""
    if units is None:
        return None
    each, peak = pattern.per_key, pattern.rate.most
    direct = (each.write_rate if pattern.writes else each.read_rate) if has_own_key else None
    loads = []
    if peak is not None and share is not None:
        words = f"{peak:g}/s × {share:.3g} × {units:g} units"
        loads.append(Hot(pattern.id, peak * share * units, words))
    if direct is not None:
        loads.append(Hot(pattern.id, direct * units, f"{direct:g}/s on a key × {units:g} units"))
    return max(loads, key=lambda load: load.units, default=None)


def hot_keys(traffics: Sequence[Traffic]) -> tuple[HotKey, ...]:
    """Return the hottest observed partition keys of a table and its indexes, as far as their heat is known."""
    found = []
    for traffic in traffics:
        for key in traffic.keys:
            total = sum(units for _, units in key.rows)
            if key.level is not KeyLevel.PARTITION or not is_told(key):
                continue
            demand = key.heat.value * ceiling_of(key.direction)
            by_pattern: dict[str, float] = {}
            for row, units in key.rows if total else ():
                label = traffic.rows[row].attribution.label
                by_pattern[label] = by_pattern.get(label, 0.0) + demand * units / total
            found.append(
                HotKey(
                    index=traffic.target.index,
                    direction=key.direction,
                    template=" ".join(f"{name}={text}" for name, text in key.key_template.items()),
                    units=demand,
                    by_pattern=by_pattern,
                )
            )
    return tuple(found)


def is_told(key: KeyHeat) -> bool:
    """Whether units are known, and a sample is fine enough to show how hot a key's hottest slice was."""
    of_a_record = key.units.value / max(key.observed, 1)
    return 0 < of_a_record <= _COARSE * ceiling_of(key.direction) * _SLICE_SECONDS


def same_text(template: str) -> str:
    """Return a template without the names of its variables, so that two spellings of it are equal."""
    return _VARIABLE.sub("<>", template)
