"""Heavy keys become heat: the share of what one partition can serve, with bounds from the sketch and from sampling.

Demand counts what was refused too: a throttled try consumes nothing, so that the admitted units of a key at its ceiling
sit just below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.knowledge.limits import READ_UNITS_A_PARTITION, WRITE_UNITS_A_PARTITION
from analyzer.model.counts import Counts, HeavyKey, HeavyKeys, KeyLevel
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.finding import Direction, KeyShown
from analyzer.model.instant import SLICE_MS
from analyzer.model.traffic import KeyHeat, KeySlice, Place
from analyzer.statistics.intervals import estimate_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.traffic import PatternTraffic
    from analyzer.traffic.rows import RowIndex

__all__ = ["attribute_of", "ceiling_of", "heat_of", "is_coarse", "least_rate", "named_at"]

_KEPT = 10
"""How many keys of a level are looked at for a target and direction, as many as the metrics have ranks."""

_SLICE_SECONDS = SLICE_MS / 1000

_COARSE_SLICE = 0.1
"""The part of a partition's ceiling in a slice that one kept record may stand for: ten of them are chance, not heat."""

_COARSE_SECOND = 0.01
"""The same in a second: at a hundred records a sample spreads by a tenth, and the fullest second is one of many."""

_NAMELESS = ("partition key", "sort key")
"""What the attributes of a key are called as long as nobody tells their names."""


def ceiling_of(direction: Direction) -> int:
    """Return the units a second that one partition serves."""
    return READ_UNITS_A_PARTITION if direction is Direction.READ else WRITE_UNITS_A_PARTITION


def heat_of(heavy: HeavyKeys, counts: Counts, places: RowIndex) -> list[KeyHeat]:
    """Return the heat of the heaviest keys of a target and direction, level by level."""
    all_tries = sum(key.tries for key in heavy.keys if key.name.level is KeyLevel.PARTITION)
    kept: list[KeyHeat] = []
    for level in KeyLevel:
        of_level = [key for key in heavy.keys if key.name.level is level]
        chosen = of_level[:_KEPT] + [key for key in of_level[_KEPT:] if key.tries][:_KEPT]
        kept += [_heat(key, heavy, counts, places, all_tries) for key in chosen]
    return kept


def _heat(key: HeavyKey, heavy: HeavyKeys, counts: Counts, places: RowIndex, all_tries: int) -> KeyHeat:
    ceiling = ceiling_of(heavy.direction)
    kept = _kept(key, counts)
    below, above = _factors(key.sampled, kept)
    units = Estimate((key.low + key.high) / 4, key.low * below / 2, key.high * above / 2)
    record = units.value / max(key.sampled, 1)
    series = tuple(KeySlice(at, low / 2 / _SLICE_SECONDS, high / 2 / _SLICE_SECONDS) for at, low, high in key.series)
    admitted = _hottest(series, record, kept) / ceiling
    demand = 1 + key.tries / key.requests if key.requests else 1.0
    shown, template = _shown(key, heavy)
    tells_seconds = key.peak_second is not None and (kept >= 1 or record <= _COARSE_SECOND * ceiling)
    return KeyHeat(
        direction=heavy.direction,
        name=key.name,
        key=shown,
        key_template=template,
        units=units,
        admitted=admitted,
        heat=Estimate(admitted.value * demand, admitted.low * demand, admitted.high * demand),
        share=_share(units, heavy.total / 2),
        tries=key.tries,
        tries_share=key.tries / all_tries if all_tries else 0.0,
        series=series,
        tries_seen=round(key.tries * _tries_rate(key, heavy, counts)),
        rows=tuple((places[cell][1], weight / 2) for cell, weight in key.by_cell if cell in places),
        peak_second=key.peak_second / 2 if tells_seconds and key.peak_second is not None else None,
        seconds_over=key.seconds_over if tells_seconds else None,
        observed=key.sampled,
        distinct_sorts=key.distinct_sorts,
        kept=kept,
    )


def _kept(key: HeavyKey, counts: Counts) -> float:
    """Return with which probability the records of a key's units were kept; 1 where all were, or nothing tells."""
    weight = sum(part for _, part in key.by_cell)
    if not weight or not key.sampled:
        return 1.0
    return min(1.0, sum(part * counts.cells[cell].sample_rate for cell, part in key.by_cell) / weight)


def _factors(records: float, kept: float, of: int = 1) -> tuple[float, float]:
    """Return by which factors a sample of so many records may have over- and understated what it stands for.

    `of` so many slices it is the fullest: chance had as many throws.
    """
    if kept >= 1:
        return 1.0, 1.0
    estimate = estimate_count([(max(1, round(records)), kept)], of=of)
    return estimate.low / estimate.value, estimate.high / estimate.value


def least_rate(key: KeyHeat, slices: Sequence[KeySlice]) -> float:
    """Return the units a second that a key had at least over some slices together, by what was kept of them."""
    rate = sum(part.low for part in slices) / len(slices)
    return rate * _factors(rate * len(slices) * _SLICE_SECONDS / (key.record_units or 1.0), key.kept)[0]


def is_coarse(key: KeyHeat) -> bool:
    """Whether one kept record stands for so much that a slice of few of them, by chance, looks like heat."""
    return key.kept < 1 and key.record_units >= _COARSE_SLICE * ceiling_of(key.direction) * _SLICE_SECONDS


def _tries_rate(key: HeavyKey, heavy: HeavyKeys, counts: Counts) -> float:
    """Return with which probability records of a key's tries were kept, at least: of its cells, else of its target's.

    A key that is refused alone has no cell: nothing was served of it.
    """
    own = [counts.cells[cell].sample_rate for cell, _ in key.by_cell]
    return min(own or [cell.sample_rate for cell in counts.cells if cell.target == heavy.target], default=1.0)


def _hottest(series: tuple[KeySlice, ...], record: float, kept: float) -> Estimate:
    """Return the units a second of the hottest slice, bounded by the records that were kept of that slice alone."""
    if not series:
        return ZERO
    hottest = max(series, key=lambda part: part.low + part.high)
    rate = (hottest.low + hottest.high) / 2
    below, above = _factors(rate * _SLICE_SECONDS / (record or 1.0), kept, len(series))
    return Estimate(rate, hottest.low * below, hottest.high * above)


def _share(units: Estimate, total: float) -> Estimate:
    if total <= 0:
        return ZERO
    return Estimate(*(min(1.0, part / total) for part in units))


def _shown(key: HeavyKey, heavy: HeavyKeys) -> tuple[KeyShown, KeyShown]:
    """Return attribute → value, and attribute → template; a prefix is shown with a star for what follows."""
    name = key.name
    values = [name.partition + "*" if name.level is KeyLevel.PREFIX else name.partition]
    if name.level is KeyLevel.ITEM and name.sort is not None:
        values.append(name.sort)
    attributes = heavy.attributes or _NAMELESS
    return dict(zip(attributes, values, strict=False)), dict(zip(attributes, key.templates, strict=False))


def named_at(key: KeyHeat, place: Place, rows: Sequence[PatternTraffic] = ()) -> KeyHeat:
    """Return a key with the names of its attributes, where the request log did not know which of them are the key.

    The table itself tells them; else `rows` of requests to it, one of which has a key of one attribute.
    """
    if _NAMELESS[0] not in key.key:
        return key
    told = (place.partition_key[0], *place.sort_key[:1]) if place.partition_key else _asked_by(rows)
    if not told:
        return key
    names = dict(zip(_NAMELESS, told, strict=False))
    both = [{names.get(name, name): value for name, value in of.items()} for of in (key.key, key.key_template)]
    return msgspec.structs.replace(key, key=both[0], key_template=both[1])


def _asked_by(rows: Sequence[PatternTraffic]) -> tuple[str, ...]:
    """Return the names by which requests bind the partition key and, where they do, the sort key; () of doubt."""
    asked = (row.shape.key for row in rows if not row.secondary)
    bound = {tuple(one.attribute for one in key if one.operator == "=") for key in asked}
    alone = {names[0] for names in bound if len(names) == 1}
    if len(alone) != 1:
        return ()
    (partition,) = alone
    others = {name for names in bound if len(names) > 1 and partition in names for name in names} - alone
    return (partition, *others) if len(others) == 1 else (partition,)


def attribute_of(key: KeyShown) -> str:
    """Return what to call the attribute of a partition key in a sentence."""
    name = next(iter(key), _NAMELESS[0])
    return f"the {name}" if name == _NAMELESS[0] else name
