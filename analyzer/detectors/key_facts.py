"""What kind of heat a key has: its shape, how its sort keys come, what it bursts to, how many parts it would need."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.shards import Shards, fan_out_units, shards_needed
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS, SLICE_MS
from analyzer.traffic.bulk import is_bulk
from analyzer.traffic.clock_keys import names_time, without_time
from analyzer.traffic.heat import attribute_of, ceiling_of
from analyzer.traffic.measure import row_units
from analyzer.traffic.queue import is_move, is_poll
from analyzer.traffic.rolling import SortOrder, sort_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from analyzer.model.counts import KeyName
    from analyzer.model.traffic import KeyHeat, KeySlice, PatternTraffic, Traffic
    from analyzer.model.window import Window

__all__ = [
    "FEW_ITEMS",
    "KeyFacts",
    "effective_items",
    "facts_of",
    "is_added_to",
    "is_single",
    "spread",
    "steady_name",
    "subject_of",
]

FEW_ITEMS = 4
"""So few items under a partition key leave nothing to spread heat over."""
_OF_WHOLE_KEY = frozenset({"GetItem", "UpdateItem", "DeleteItem"})
"""Calls whose `Key` names every attribute of the primary key, by DynamoDB's API; an item put has others beside them."""
_BATCHED = 0.5
_SAME_QUESTION = 0.8
_LEAST_QUESTIONS = 20
_MINUTE_SLICES = MINUTE_MS // SLICE_MS


class KeyFacts(Struct, frozen=True, kw_only=True):
    """All that words and advice say of a key; what is None is not known.

    `burst_factor` is the fullest second ÷ the mean of the fullest minute. `shards` is asked for writes alone, and
    `added_read_units` what its readers would pay for them; `reads_a_second` are those seen at the key.
    """

    shape: str
    direction: Direction | None
    attribute: str
    caller: str | None
    is_index: bool = False
    is_strong: bool = False
    is_single: bool = False
    is_prefix: bool = False
    order: SortOrder | None = None
    effective_items: float | None = None
    burst_factor: float | None = None
    shards: Shards | None = None
    reads_a_second: float | None = None
    added_read_units: float | None = None


def facts_of(key: KeyHeat, traffic: Traffic) -> KeyFacts:
    """Look into a key that is convicted; calls are asked for here, so that a healthy window asks for none."""
    rows = [traffic.rows[number] for number, _ in key.rows]
    order = None
    if key.direction is Direction.WRITE and key.level is KeyLevel.PARTITION and not is_single(key, traffic):
        order = sort_order(traffic, key.name.partition)
    burst = _burst_factor(key, traffic.window)
    shards = _shards(key, traffic, burst)
    reads, added = (None, None) if shards is None else _readers(key.name, shards, traffic)
    return KeyFacts(
        shape=_shape(key, rows, order, traffic),
        direction=key.direction,
        attribute=attribute_of(key.key),
        caller=rows[0].caller if rows else None,
        is_index=traffic.target.index is not None,
        is_strong=any(row.shape.consistent for row in rows),
        is_single=is_single(key, traffic),
        is_prefix=key.level is KeyLevel.PREFIX,
        order=order,
        effective_items=effective_items(key, traffic.keys),
        burst_factor=burst,
        shards=shards,
        reads_a_second=reads,
        added_read_units=added,
    )


def is_single(key: KeyHeat, traffic: Traffic) -> bool:
    """Whether it is one item: nothing is left to split."""
    is_one = key.level is KeyLevel.PARTITION and traffic.target.index is None and _has_items_alone(key, traffic)
    return key.level is KeyLevel.ITEM or is_one or (key.distinct_sorts is not None and key.distinct_sorts <= 1)


def _has_items_alone(key: KeyHeat, traffic: Traffic) -> bool:
    """Whether a table has no sort key: as it is described or declared, else as every call tells that has a whole key.

    Where sort keys were seen under the key, or somebody asks by Query, it has.
    """
    place = traffic.place
    if place.partition_key:
        return not place.sort_key
    if key.distinct_sorts is not None or any(one.level is KeyLevel.ITEM for one in traffic.keys):
        return False
    asked = [row.shape for row in traffic.rows if not row.secondary]
    whole = [shape for shape in asked if shape.operation in _OF_WHOLE_KEY and shape.key]
    is_queried = any(shape.operation == "Query" for shape in asked)
    return bool(whole) and not is_queried and all(len(shape.key) == 1 for shape in whole)


def _shape(key: KeyHeat, rows: Sequence[PatternTraffic], order: SortOrder | None, traffic: Traffic) -> str:
    """Name what kind of heat it is; advice follows from it. The first that fits speaks."""
    single = is_single(key, traffic)
    few = single or (key.distinct_sorts is not None and key.distinct_sorts <= FEW_ITEMS)
    told: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("time-bucket", lambda: _rotates(key, rows, traffic)),
        ("tenant", lambda: key.level is KeyLevel.PREFIX),
        ("counter", lambda: few and bool(rows) and is_added_to(rows[0])),
        ("single-item", lambda: single),
        ("backfill", lambda: _is_backfill(key, rows, traffic)),
        ("queue", lambda: _is_queue(key, rows, traffic)),
        ("constant", lambda: _is_constant(key, traffic)),
        ("sequential", lambda: order is not None and order.is_rolling),
        ("dashboard", lambda: _asks_the_same(key, rows, traffic)),
    )
    return next((shape for shape, holds in told if holds()), "tenant")


def _rotates(key: KeyHeat, rows: Sequence[PatternTraffic], traffic: Traffic) -> bool:
    """Whether the key tells the time, by its value or by what the contract calls it."""
    attribute = next(iter(key.key), "")
    return steady_name(key.name, traffic) is not None or names_time(_declared(rows, attribute))


def _is_backfill(key: KeyHeat, rows: Sequence[PatternTraffic], traffic: Traffic) -> bool:
    return key.direction is Direction.WRITE and bool(rows) and is_bulk(_of_caller(rows), traffic, _BATCHED)


def _is_constant(key: KeyHeat, traffic: Traffic) -> bool:
    """Whether the key has no variable, or no other was in use beside it."""
    texts = [str(template) for template in key.key_template.values()]
    is_alone = any(side.direction is key.direction and side.distinct <= 1 for side in traffic.key_sides)
    return is_alone or (bool(texts) and not any("<" in text for text in texts))


def is_added_to(row: PatternTraffic) -> bool:
    """Whether a row adds to a number."""
    return row.shape.update is not None and ("ADD " in row.shape.update or " + " in row.shape.update)


def steady_name(name: KeyName, traffic: Traffic) -> str | None:
    """Return the partition key without the time that it tells; None where it tells none."""
    return without_time(name.partition, traffic.window)


def subject_of(name: KeyName, direction: Direction | None, traffic: Traffic) -> str:
    """Return what makes the finding the same in every window: a key that rotates is one without its time."""
    steady = steady_name(name, traffic)
    sort = name.sort if steady is None else None
    return "\x1f".join((direction or "", name.level.name, steady or name.partition, sort or ""))


def _declared(rows: Sequence[PatternTraffic], attribute: str) -> list[str]:
    return [text for row in rows for one in row.shape.key if one.attribute == attribute for text in one.declared[:1]]


def _of_caller(rows: Sequence[PatternTraffic]) -> list[PatternTraffic]:
    """Return the rows of the caller that does most of it."""
    return [row for row in rows if row.caller == rows[0].caller and row.caller is not None] or list(rows[:1])


def _is_queue(key: KeyHeat, rows: Sequence[PatternTraffic], traffic: Traffic) -> bool:
    """Whether items wait under the key: its head is polled, and items are deleted or moved away."""
    place = traffic.place
    base = traffic.base or traffic
    attributes = (*place.partition_key, *place.sort_key) if traffic.target.index is not None else ()
    leaves = any(row.shape.operation == "DeleteItem" or is_move(row, attributes) for row in base.rows)
    asked = rows[:1] if key.direction is Direction.READ else traffic.rows
    return leaves and any(is_poll(row) and not row.secondary for row in asked)


def _asks_the_same(key: KeyHeat, rows: Sequence[PatternTraffic], traffic: Traffic) -> bool:
    """Whether nearly all reads ask one question again and again, as a page does that everybody has open."""
    if key.direction is Direction.WRITE or not rows or rows[0].shape.operation != "Query" or traffic.calls is None:
        return False
    at_key = [
        call.asked
        for call in traffic.calls.of(traffic.target)
        if call.key is not None and call.key.partition == key.name.partition and traffic.window.holds(call.time)
    ]
    if len(at_key) < _LEAST_QUESTIONS:
        return False
    return max(Counter(at_key).values()) >= _SAME_QUESTION * len(at_key)


def effective_items(key: KeyHeat, keys: Sequence[KeyHeat]) -> float | None:
    """Return over how many items the heat of a partition key spreads at least; None where none of them is known."""
    if key.level is not KeyLevel.PARTITION:
        return None
    under = [
        one.units.value
        for one in keys
        if one.level is KeyLevel.ITEM and one.direction is key.direction and one.name.partition == key.name.partition
    ]
    return spread(under, key.units.value)


def spread(units: Iterable[float], whole: float) -> float | None:
    """Return over how many items a whole spreads at least, as 1 ÷ the sum of squared shares; None where none is known.

    What is not listed weighs no more an item than the least that is. Of an item without units nothing is known: it was
    refused alone.
    """
    listed = [each for each in units if each > 0]
    if not listed:
        return None
    total = max(whole, sum(listed))
    rest = total - sum(listed)
    return 1 / (sum((each / total) ** 2 for each in listed) + rest / total * min(listed) / total)


def _minute_mean(series: Sequence[KeySlice], slices: int) -> float:
    """Return the units a second of the fullest so many slices together; an absent slice had nothing."""
    by_start = {part.start: (part.low + part.high) / 2 for part in series}
    sums = [sum(by_start.get(start + number * SLICE_MS, 0.0) for number in range(slices)) for start in by_start]
    return max(sums, default=0.0) / slices


def _burst_factor(key: KeyHeat, window: Window) -> float | None:
    """Return the fullest second ÷ the mean of the fullest minute, or of as much of one as the window has."""
    mean = _minute_mean(key.series, min(_MINUTE_SLICES, max(1, len(window.slices()))))
    return key.peak_second / mean if key.peak_second is not None and mean else None


def _shards(key: KeyHeat, traffic: Traffic, burst: float | None) -> Shards | None:
    """Reckon the parts that a written key needs, from its demand in the fullest second at the upper end."""
    if key.direction is not Direction.WRITE or key.level is KeyLevel.PREFIX:
        return None
    ceiling = ceiling_of(key.direction)
    units = max(key.heat.high * ceiling, key.peak_second or 0.0)
    if not units:
        return None
    each = _units_a_request(key, traffic)
    return shards_needed(units, units / each, burst_factor=burst or 1.0, ceiling=ceiling)


def _units_a_request(key: KeyHeat, traffic: Traffic) -> float:
    units = requests = 0.0
    for number, _ in key.rows:
        row = traffic.rows[number]
        if row.requests.value:
            units += row_units(row, key.direction).value
            requests += row.requests.value
    return max(units / requests, 0.5) if requests else 1.0


def _readers(name: KeyName, shards: Shards, traffic: Traffic) -> tuple[float, float]:
    """Return the reads a second that were seen at a key, and the read units a second that its shards add to them.

    What is not among the heaviest keys counts as none.
    """
    reads = 0.0
    for key in traffic.keys:
        if key.direction is Direction.READ and key.name == name:
            reads += key.units.value / _units_a_request(key, traffic)
    a_second = reads / traffic.window.rate_seconds
    return a_second, fan_out_units(a_second, shards.count)
