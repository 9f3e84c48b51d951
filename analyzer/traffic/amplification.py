"""What indexes make of a table's writes: units of an index beside units of its table.

An entry of an index is never larger than its item, so that a write costs an index no more than its table, but for one
that changes the entry's key: that is a delete and a put, and costs two. More units on the index than on the table are
therefore moves (Developer Guide, "Using Global Secondary Indexes in DynamoDB", read 2026-11-30).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.traffic import PatternTraffic
from analyzer.model.window import Window
from analyzer.traffic.measure import direction_units
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["Amplification", "amplification_of"]

_MOVES = 1.5
"""Units on the index ÷ on the table from which at least half of a shape's writes are moves. Of an entry of keys alone,
which is one unit, the same number of units a call says so."""


class Amplification(Struct, frozen=True, kw_only=True):
    """Write units of an index and of its table in the same stretch.

    `reached_units` are the table's units of the writes that reach the index, `moved_units` the index's units of writes
    that move entries; None where single writes are not known. `movers` are the rows of the latter, heaviest first.
    """

    index_units: float
    table_units: float
    seconds: float
    source: SourceName
    reached_units: float | None = None
    moved_units: float | None = None
    movers: tuple[PatternTraffic, ...] = ()
    writers: tuple[PatternTraffic, ...] = ()

    @property
    def ratio(self) -> float:
        """Index ÷ table write units, all writes of the table counted."""
        return self.index_units / self.table_units

    @property
    def factor(self) -> float | None:
        """What a write that reaches the index costs altogether, in units of the table."""
        return 1 + self.index_units / self.reached_units if self.reached_units else None

    @property
    def moved_share(self) -> float:
        """At least which part of the index's units went into moves."""
        if self.moved_units is not None:
            return self.moved_units / self.index_units
        return 2 * (1 - self.table_units / self.index_units) if self.ratio > 1 else 0.0


def amplification_of(traffic: Traffic) -> Amplification | None:
    """Return what an index makes of its table's writes, by the log, else by metrics; None where nothing is known."""
    base = traffic.base
    if base is None:
        return None
    return _by_requests(traffic, base) or _by_metrics(traffic, base)


def _by_requests(traffic: Traffic, base: Traffic) -> Amplification | None:
    written = [row for row in traffic.rows if row.secondary and row.write_units.value]
    at_table = {(row.shape.fingerprint, row.caller): row for row in base.rows}
    table_units = direction_units(base, Direction.WRITE)
    index_units = sum(row.write_units.value for row in written)
    if not written or not table_units or not traffic.window.seconds:
        return None
    pairs = [(row, at_table.get((row.shape.fingerprint, row.caller))) for row in written]
    pairs.sort(key=lambda pair: -pair[0].write_units.value)
    movers = tuple(row for row, beside in pairs if beside is not None and _moves(row, beside, traffic))
    return Amplification(
        index_units=index_units,
        table_units=table_units,
        seconds=traffic.window.seconds,
        source=SourceName.REQUEST_LOG,
        reached_units=sum(beside.write_units.value for _, beside in pairs if beside is not None),
        moved_units=sum(row.write_units.value for row in movers),
        movers=movers,
        writers=tuple(row for row, _ in pairs),
    )


def _moves(at_index: PatternTraffic, at_table: PatternTraffic, traffic: Traffic) -> bool:
    """Whether the writes of a shape move entries, by what they cost the index."""
    units = at_index.write_units.value
    if 0 < _MOVES * at_table.write_units.value <= units:
        return True
    table = traffic.place.table
    index = None if table is None else table.index(traffic.target.index)
    names = (*traffic.place.partition_key, *traffic.place.sort_key)
    sets_key = any(re.search(rf"\b{re.escape(name)}\b", at_table.shape.update or "") for name in names)
    is_keys_only = index is not None and index.projection == "keys_only"
    return is_keys_only and sets_key and units >= _MOVES * at_table.requests.value


def _by_metrics(traffic: Traffic, base: Traffic) -> Amplification | None:
    at_index = points(series_of(traffic.metrics, "ConsumedWriteCapacityUnits"), traffic.window)
    at_table = series_of(base.metrics, "ConsumedWriteCapacityUnits")
    pairs = [
        (point, sum(one.value for one in points(at_table, Window(point.start, point.end)) if one.start == point.start))
        for point in at_index
    ]
    both = [(point, units) for point, units in pairs if units > 0]
    index_units = sum(point.value for point, _ in both)
    if not index_units:
        return None
    return Amplification(
        index_units=index_units,
        table_units=sum(units for _, units in both),
        seconds=sum(point.seconds for point, _ in both),
        source=SourceName.CLOUDWATCH_METRICS,
    )
