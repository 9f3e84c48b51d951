"""Tracked partition keys of history as planning looks at them: the units of each one's fullest minute.

A minute is longer than the ten seconds in which the daemon judges heat: what is said here is a lower bound of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec import Struct

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, KeyShown
from analyzer.model.target import Target
from analyzer.model.traffic import KeyHeat
from analyzer.planning.partitions import declared_partitions, same_text
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from analyzer.contract.model import TableDeclaration
    from analyzer.model.traffic import PatternTraffic, Place

__all__ = ["KeyPast", "KeyReading", "heats_of"]

_PARTITION = KeyLevel.PARTITION.name.lower()
_KEPT = 10
"""Keys of a target and direction, as many as the live report has."""
_COLUMNS = ("account", "region", "table_name", "index_name", "direction", "partition", "template")
_NUMBERS = ("units", "requests", "throttled_tries", "observed")


class KeyPast(Struct):
    """One key over the stretch; `demand` is units a second of its fullest minute, refused tries counted as demand."""

    partition: str
    direction: Direction
    template: str
    demand: float = 0.0
    units: float = 0.0
    observed: int = 0
    tries: float = 0.0


class KeyReading:
    """Gathers partition keys, read stretch by stretch in any order; memory follows the keys."""

    def __init__(self) -> None:
        self._keys: dict[Target, dict[tuple[str, str], KeyPast]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no key was there."""
        return not self._keys

    def take(self, rows: pa.Table, step_seconds: float) -> None:
        """Add rows of minutes, or of hours: of those only the mean is known."""
        kept = rows.filter(pc.equal(rows["level"], _PARTITION)).select([*_COLUMNS, *_NUMBERS]).to_pydict()
        for *place, direction, partition, template, units, requests, tries, observed in zip(
            *kept.values(), strict=True
        ):
            of_target = self._keys.setdefault(Target(*place), {})
            fresh = KeyPast(partition, Direction(direction), template or "")
            key = of_target.setdefault((direction, partition), fresh)
            key.demand = max(key.demand, units / step_seconds * (1 + tries / requests if requests else 1.0))
            key.units += units
            key.observed += observed or 0
            key.tries += tries

    def of(self, target: Target) -> list[KeyPast]:
        """Return the hottest keys of a target, as many in each direction as a live report has."""
        keys = sorted(self._keys.get(target, {}).values(), key=lambda key: (-key.demand, key.partition))
        return [key for way in Direction for key in [one for one in keys if one.direction is way][:_KEPT]]


def heats_of(
    keys: list[KeyPast],
    index: str | None,
    place: Place,
    rows: tuple[PatternTraffic, ...],
    declared: TableDeclaration | None,
) -> tuple[KeyHeat, ...]:
    """Return keys as the live report has them.

    Which pattern asked for a key is not kept: its units are shared out as those of all patterns of its template are.
    """
    whole = {way: sum(_units(row, way) for row in rows) for way in Direction}
    return tuple(_heat(key, index, place, rows, whole[key.direction], declared) for key in keys)


def _heat(
    key: KeyPast,
    index: str | None,
    place: Place,
    rows: tuple[PatternTraffic, ...],
    whole: float,
    declared: TableDeclaration | None,
) -> KeyHeat:
    name = (place.partition_key or ("partition key",))[0]
    template: KeyShown = {name: key.template}
    heat = key.demand / ceiling_of(key.direction)
    return KeyHeat(
        direction=key.direction,
        name=KeyName(KeyLevel.PARTITION, key.partition),
        key={name: key.partition},
        key_template=template,
        units=Estimate.exact(key.units),
        admitted=Estimate.exact(heat),
        heat=Estimate.exact(heat),
        share=Estimate.exact(min(1.0, key.units / whole) if whole else 0.0),
        tries=round(key.tries),
        tries_share=0.0,
        series=(),
        rows=tuple(_askers(key, f"{name}={key.template}", index, rows, declared)),
        observed=key.observed,
    )


def _askers(
    key: KeyPast, text: str, index: str | None, rows: tuple[PatternTraffic, ...], declared: TableDeclaration | None
) -> Iterator[tuple[int, float]]:
    """Yield the rows of the patterns that use a key's template, with their units."""
    place = (index, key.direction, same_text(text))
    names = {
        name
        for one in (declared_partitions(declared) if declared is not None else ())
        if (one.index, one.direction, same_text(one.template)) == place
        for name in (*(load.pattern for load in one.loads), *one.unknown)
    }
    for number, row in enumerate(rows):
        units = _units(row, key.direction)
        if units and row.attribution.pattern in names:
            yield number, units


def _units(row: PatternTraffic, direction: Direction) -> float:
    return row.read_units.value if direction is Direction.READ else row.write_units.value
