"""Maps where no request log tells the keys: Contributor Insights has them by the minute, metrics not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from analyzer.figures.labels import labels_of
from analyzer.figures.prefix_tree import tree_place
from analyzer.model.estimate import Estimate
from analyzer.model.heatmap import HeatMap, HeatRow, KeysFrom, RowKind
from analyzer.model.instant import MINUTE_MS, SLICE_MS
from analyzer.model.sight import Sight
from analyzer.model.window import Window
from analyzer.traffic.heat import ceiling_of
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.figures.heatmap import Around
    from analyzer.model.finding import Direction
    from analyzer.model.traffic import InsightKey, Traffic

__all__ = ["HOW_TO_SEE_KEYS", "draw_insights", "draw_unseen"]

_MOST_ROWS = 80
_MINUTE_SECONDS = MINUTE_MS // 1000
_ACCESSED, _THROTTLED = "PKC", "PKT"

HOW_TO_SEE_KEYS = (
    "keys not visible: metrics name none. Let the sampler write a request log (`request_log` in the configuration), or "
    "switch on Contributor Insights: `dynascope insights watch TABLE`"
)


def draw_insights(traffic: Traffic, direction: Direction, window: Window, around: Around) -> HeatMap:
    """Draw the keys that Contributor Insights lists, by the minute; it does not tell their reads and writes apart.

    A minute in which a key is not listed is not known: there are at most some hundred keys a minute. Neither are tries
    where no rule of throttled keys was read. A share is of what is listed, and so at most of all.
    """
    start = window.start // MINUTE_MS * MINUTE_MS
    columns = -(-(window.end - start) // MINUTE_MS)
    accessed = [key for key in traffic.insights if key.rule == _ACCESSED]
    refused = {key.name: key for key in traffic.insights if key.rule == _THROTTLED}
    listed = sorted(accessed, key=lambda key: (-key.share, key.name))[:_MOST_ROWS]
    ranks = {key.name: rank for rank, key in enumerate(listed, start=1)}
    first = {key.name.partition: key.minutes[0].start for key in listed if key.minutes}
    listed.sort(key=lambda key: tree_place(key.name.partition, first))
    ceiling = float(ceiling_of(direction))
    heat, low, high = (np.full((len(listed), columns), np.nan) for _ in range(3))
    is_throttle_told = bool(refused) or Sight.INSIGHTS_THROTTLED in traffic.sights
    tries = np.full((len(listed), columns), 0.0 if is_throttle_told else np.nan)
    for at, key in enumerate(listed):
        for minute in key.minutes:
            column = (minute.start - start) // MINUTE_MS
            if 0 <= column < columns and minute.low is not None and minute.high is not None:
                part = slice(column, column + max(1, key.period_seconds // _MINUTE_SECONDS))
                low[at, part], high[at, part] = minute.low, minute.high
                heat[at, part] = (minute.low + minute.high) / 2 if minute.is_mixed_known else minute.high
        for minute in refused[key.name].minutes if key.name in refused else ():
            column = (minute.start - start) // MINUTE_MS
            if 0 <= column < columns:
                tries[at, column] += minute.value
    units = heat * ceiling
    heat_map = HeatMap(
        target=traffic.target,
        direction=direction,
        start=start,
        step_ms=MINUTE_MS,
        columns=columns,
        keys=KeysFrom.CONTRIBUTOR_INSIGHTS,
        rows=tuple(
            _row(key, ranks[key.name], [float(np.nansum(rates[at])) * ceiling for rates in (heat, low, high)])
            for at, key in enumerate(listed)
        ),
        heat=heat,
        low=low,
        high=high,
        units=units,
        throttled=tries,
        top=_metric_units(traffic, direction, start, (columns, MINUTE_MS)),
        ceiling=ceiling,
        limit=around.limit,
        limits=around.limits,
        marks=around.marks,
    )
    return replace(heat_map, labels=labels_of(heat_map, [key.name.partition for key in listed]))


def draw_unseen(traffic: Traffic, direction: Direction, window: Window, around: Around) -> HeatMap:
    """Draw a map without rows: the units that metrics tell, and how keys would become visible."""
    columns = (window.end - window.start) // SLICE_MS
    none = np.zeros((0, columns))
    hint = HOW_TO_SEE_KEYS
    if Sight.REQUESTS in traffic.sights:
        hint = "the request log tells no keys: let its sampler write them as tokens (`keys: token`)"
    return HeatMap(
        target=traffic.target,
        direction=direction,
        start=window.start,
        step_ms=SLICE_MS,
        columns=columns,
        keys=KeysFrom.NOT_VISIBLE,
        rows=(),
        heat=none,
        low=none,
        high=none,
        units=none,
        throttled=none,
        top=_metric_units(traffic, direction, window.start, (columns, SLICE_MS)),
        ceiling=float(ceiling_of(direction)),
        limit=around.limit,
        limits=around.limits,
        marks=around.marks,
        hint=hint,
    )


def _row(key: InsightKey, rank: int, rates: Sequence[float]) -> HeatRow:
    """Return a row; `rates` are its units a second, summed over minutes, with their bounds."""
    return HeatRow(
        kind=RowKind.KEY,
        key=key.key,
        key_template=key.key_template,
        units=Estimate(*(rate * _MINUTE_SECONDS for rate in rates)),
        share=Estimate(key.share, 0.0, key.share),
        rank=rank,
    )


def _metric_units(traffic: Traffic, direction: Direction, start: int, size: Sequence[int]) -> np.ndarray:
    """Return the units a second that CloudWatch counted, by column; NaN where it has not told them."""
    columns, step_ms = size
    units = np.full(columns, np.nan)
    series = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
    for point in points(series, Window(start, start + columns * step_ms)):
        first, last = (point.start - start) // step_ms, -(-(point.end - start) // step_ms)
        units[max(0, first) : max(0, last)] = point.a_second
    return units
