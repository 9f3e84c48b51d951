"""What a change of contract does to the hottest partition keys: those observed, else those declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.shards import imbalance
from analyzer.model.finding import Direction
from analyzer.planning.expected import expected_of
from analyzer.planning.partitions import (
    Partition,
    declared_partitions,
    entry_key,
    hot_keys,
    partition_text,
    parts_of,
    same_text,
)
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.contract.model import PatternDeclaration, TableDeclaration
    from analyzer.model.traffic import Traffic
    from analyzer.planning.partitions import HotKey

__all__ = ["HeatChange", "heat_changes"]

_SHARD = "<>"
_DELIMITERS = "#|/:-_."


class HeatChange(Struct, frozen=True, kw_only=True):
    """The hottest key of one partition template under both contracts, as a share of what one partition serves.

    `basis` says what each of them rests on. None is not known, or not there.
    """

    index: str | None
    direction: Direction
    template: str
    before: float | None
    after: float | None
    basis: str

    @property
    def crosses(self) -> bool:
        """Whether the change takes it to the ceiling or over it."""
        return self.after is not None and self.after >= 1 and (self.before is None or self.before < 1)


def heat_changes(
    old: TableDeclaration | None, new: TableDeclaration | None, traffics: Sequence[Traffic]
) -> tuple[HeatChange, ...]:
    """Return every partition template of the new contract, and of the old one those that are gone; hottest first."""
    keys = hot_keys(traffics)
    first = () if old is None else declared_partitions(old)
    second = () if new is None else declared_partitions(new)
    formers = [_former(one, first) for one in second]
    found = [_change(one, former, old, new, keys) for one, former in zip(second, formers, strict=True)]
    found += [
        HeatChange(
            index=one.index,
            direction=one.direction,
            template=one.template,
            before=_observed(one, keys),
            after=None,
            basis="no pattern uses it any more",
        )
        for one in first
        if not any(one is former for former in formers)
    ]
    return tuple(sorted(found, key=lambda one: -max(one.before or 0.0, one.after or 0.0)))


def _former(partition: Partition, others: Sequence[Partition]) -> Partition | None:
    """Return what it was under the old contract: at its place the same template, else that of the same patterns."""
    at_place = [one for one in others if (one.index, one.direction) == (partition.index, partition.direction)]
    text, names = same_text(partition.template), set(_names(partition))
    alike = [one for one in at_place if same_text(one.template) == text]
    return next(iter((*alike, *(one for one in at_place if names & set(_names(one))))), None)


def _names(partition: Partition) -> tuple[str, ...]:
    return (*(load.pattern for load in partition.loads), *partition.unknown)


def _observed(partition: Partition, keys: Sequence[HotKey]) -> float | None:
    seen = partition.seen(keys)
    return partition.heat if seen is None else seen


def _change(
    partition: Partition,
    former: Partition | None,
    old: TableDeclaration | None,
    new: TableDeclaration | None,
    keys: Sequence[HotKey],
) -> HeatChange:
    before = None if former is None else _observed(former, keys)
    scaled = None if old is None or new is None else _scaled(partition, old, new, keys)
    after = partition.heat if scaled is None else scaled
    basis = "observed, scaled by the units of a request" if scaled is not None else "declared"
    if former is not None and former.template != partition.template:
        basis = f"{basis}; the key was {former.template}"
    if after is None:
        basis = f"{', '.join(partition.unknown)}: nothing was observed, and no per_key rate or top_share is declared"
    return HeatChange(
        index=partition.index,
        direction=partition.direction,
        template=partition.template,
        before=before,
        after=after,
        basis=basis,
    )


def _scaled(partition: Partition, old: TableDeclaration, new: TableDeclaration, keys: Sequence[HotKey]) -> float | None:
    """Return the heat of the hottest observed key under the new contract; None where no old key tells it."""
    factors = {name: factor for name in _names(partition) if (factor := _factor(name, partition, old, new)) is not None}
    heat = [
        sum(units * factors[name] for name, units in key.by_pattern.items() if name in factors)
        for key in keys
        if key.direction is partition.direction and factors.keys() & key.by_pattern.keys()
        if _spreads_alike(key.template, partition.template)
    ]
    return max(heat) / ceiling_of(partition.direction) if heat else None


def _factor(name: str, partition: Partition, old: TableDeclaration, new: TableDeclaration) -> float | None:
    """Return by how much a pattern's load on its hottest key changes; None where old traffic does not tell it."""
    first, second = old.pattern(name), new.pattern(name)
    if first is None or second is None:
        return None
    expected, wanted = _units(old, first, partition.index), _units(new, second, partition.index)
    keys = entry_key(old, first, partition.index), entry_key(new, second, partition.index)
    texts = partition_text(old, partition.index, keys[0]), partition_text(new, partition.index, keys[1])
    if not expected or wanted is None or texts[0] is None or texts[1] is None:
        return None
    parts = parts_of(new, partition.index, keys[1]) / parts_of(old, partition.index, keys[0])
    if parts == 1 and same_text(texts[0]) != same_text(texts[1]):
        return None
    spread = imbalance(round(parts), second.rate.most or 0.0) if parts > 1 and second.writes else 1.0
    return wanted / expected / parts * min(spread, max(parts, 1.0))


def _units(table: TableDeclaration, pattern: PatternDeclaration, index: str | None) -> float | None:
    """Return the units of a request at a place; None where it does not touch it."""
    expected = expected_of(table, pattern)
    return expected.units if pattern.index == index else expected.index_units.get(index or "")


def _spreads_alike(one: str, other: str) -> bool:
    """Whether two templates differ in shards at most: a suffix that spreads, behind what was there."""
    first, second = sorted((same_text(one), same_text(other)), key=len)
    rest = second.removeprefix(first)
    return rest == "" or (second.startswith(first) and rest.strip(_DELIMITERS) == _SHARD)
