"""Shapes on a map of heat, computed and not drawn by eye. No text names a key: rows do.

A band that stays hot, keys that take turns (a rolling key), bursts on a clock, and a jump of all rows at once, which no
key explains (Key Visualizer's patterns: horizontal band, diagonal, alternation, vertical band).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.figures.prefix_tree import is_concealed, parent_of
from analyzer.model.heatmap import HeatLabel, LabelKind, RowKind
from analyzer.model.instant import MINUTE_MS, format_instant
from analyzer.statistics.kendall import tau
from analyzer.statistics.rhythm import rhythm_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.heatmap import HeatMap
    from analyzer.model.instant import Instant

__all__ = ["HOT", "labels_of"]

HOT = 0.7
"""Of the ceiling: from here on a burst inside the ten seconds may well have been over it."""

_BAND_MS = 3 * MINUTE_MS
_MOST_BANDS = 8

_LEAST_KEYS = 5
"""Fewer keys take turns by chance: five in order do in one of sixty."""
_TURN_PART = 0.5
_TURNS_OF = 0.8
"""A key that takes turns does this part of its units in that part of the time, or less."""
_LEADS = 0.5
"""The part of the units of all that the one whose turn it is has, on average."""
_RISES = 0.8

_LEAST_BURST_HEAT = 0.02
"""A burst within ten seconds is ten times as hot where it lasts one; below that nobody need look."""
_MOST_BURSTS = 5

_BEFORE_MS = 2 * MINUTE_MS
_LEAST_ROWS = 5
_ROWS_PART = 0.8
_UP, _DOWN = 1.8, 0.4
"""Times what the two minutes before had; a row of a few calls scatters as much, four rows in five do not at once."""
_SOMETHING = 0.05
"""Less is as good as nothing."""
_MOST_JUMPS = 3

_NOW_COLUMNS = 3
"""A band that ends no further from the map's end still goes on: the newest slices may not be known yet."""


class _Jump(NamedTuple):
    """How most rows changed at once: by which factor, and how many of those that did anything did so."""

    factor: float
    rows: int
    of: int


def labels_of(heat_map: HeatMap, names: Sequence[str]) -> tuple[HeatLabel, ...]:
    """Return the shapes of a map, the most harmful first; `names` are the keys and prefixes of its rows, in order.

    Bands come before all else, those that still go on before those that are over; the rest by the heat that they hold.
    """
    if not heat_map.rows:
        return ()
    others = [*_diagonals(heat_map, names), *_bursts(heat_map), *_jumps(heat_map)]
    others.sort(key=lambda label: -_heat_in(heat_map, label))
    return (*_bands(heat_map), *others)


def _heat_in(heat_map: HeatMap, label: HeatLabel) -> float:
    """Return the hottest cell of a shape; 0 where nothing of it is known."""
    first, last = ((at - heat_map.start) // heat_map.step_ms for at in (label.start, label.end))
    rows = slice(None) if label.row is None else slice(label.row, label.row + 1)
    return float(np.nan_to_num(heat_map.heat[rows, first:last]).max(initial=0.0))


def _bands(heat_map: HeatMap) -> list[HeatLabel]:
    """Return the stretches in which one key stayed hot; what is not known neither ends nor begins one."""
    least = -(-_BAND_MS // heat_map.step_ms)
    found: list[tuple[bool, float, HeatLabel]] = []
    for at, row in enumerate(heat_map.rows):
        if row.kind is not RowKind.KEY:
            continue
        heat = _filled(heat_map.heat[at])
        for begin, end in _runs(heat >= HOT):
            if end - begin >= least:
                worst = float(np.nanmax(heat_map.heat[at, begin:end]))
                now = float(heat[end - _NOW_COLUMNS : end].mean())
                is_over = end < heat_map.columns - _NOW_COLUMNS
                text = _band_words(heat_map, (begin, end), worst, None if is_over else now)
                found.append((is_over, -worst, _label(heat_map, LabelKind.HOT_BAND, (begin, end), text, at)))
    found.sort(key=lambda one: one[:2])
    return [label for _, _, label in found[:_MOST_BANDS]]


def _band_words(heat_map: HeatMap, columns: tuple[int, int], worst: float, now: float | None) -> str:
    """Say how hot a band is and since when; `now` None: it is over."""
    start, end = (_clock(heat_map.start + column * heat_map.step_ms) for column in columns)
    if now is None:
        return f"demand up to {worst:.2f} × the ceiling, {start}–{end}"
    most = f", up to {worst:.2f}" if f"{worst:.2f}" != f"{now:.2f}" else ""
    return f"demand {now:.2f} × the ceiling now, over {HOT:g} since {start}{most}"


def _clock(instant: Instant) -> str:
    """Write the time of day in UTC."""
    return format_instant(instant)[11:19]


def _filled(values: np.ndarray) -> np.ndarray:
    """Return a row in which what is not known is as it was before; at the start cold."""
    places = np.where(np.isfinite(values), np.arange(len(values)), -1)
    last = np.maximum.accumulate(places)
    filled: np.ndarray = np.where(last >= 0, values[last], 0.0)
    return filled


def _runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield start and end of each stretch of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _diagonals(heat_map: HeatMap, names: Sequence[str]) -> Iterator[HeatLabel]:
    """Yield the groups of keys under one prefix of which one after the other has its time."""
    groups: dict[str, list[int]] = {}
    for at, row in enumerate(heat_map.rows):
        if row.kind is RowKind.KEY:
            groups.setdefault(parent_of(names[at]), []).append(at)
    for rows in groups.values():
        turns = [at for at in rows if _has_its_turn(heat_map.units[at])]
        if len(turns) < _LEAST_KEYS:
            continue
        units = np.nan_to_num(heat_map.units[turns])
        steps = np.arange(heat_map.columns)
        middles = (units * steps).sum(axis=1) / units.sum(axis=1)
        sums = units.sum(axis=0)
        leads = (units.max(axis=0)[sums > 0] / sums[sums > 0]).mean()
        rises = tau([int(round(middle * 1000)) for middle in middles])  # noqa: RUF046 -- of a numpy number
        if abs(rises) < _RISES or leads < _LEADS:
            continue
        active = np.flatnonzero(sums > 0)
        span = (int(active[0]), int(active[-1]) + 1)
        each = (span[1] - span[0]) * heat_map.step_ms / len(turns) / MINUTE_MS
        order = "one after the other" if is_concealed(names[turns[0]]) else "in the order of their names"
        text = f"{len(turns)} keys of one prefix take turns {order}, each for about {each:.1f} min: no split helps"
        yield _label(heat_map, LabelKind.ROLLING_DIAGONAL, span, text, turns[0])


def _has_its_turn(units: np.ndarray) -> bool:
    """Whether a row does most of what it does in a part of the time that lies together."""
    known = np.nan_to_num(units)
    total = known.sum()
    if total <= 0:
        return False
    done = np.cumsum(known) / total
    edge = (1 - _TURNS_OF) / 2
    first, last = np.searchsorted(done, edge), np.searchsorted(done, 1 - edge)
    return bool(last - first < _TURN_PART * len(known))


def _bursts(heat_map: HeatMap) -> Iterator[HeatLabel]:
    """Yield the rows that burst on a clock, the greatest first; many rows with one clock are one shape."""
    found: dict[int, list[int]] = {}
    periods: dict[int, float] = {}
    order = sorted(range(len(heat_map.rows)), key=lambda at: -heat_map.rows[at].units.value)
    for at in order:
        if float(np.nanmax(heat_map.heat[at], initial=0.0)) < _LEAST_BURST_HEAT:
            continue
        period = rhythm_of(np.nan_to_num(heat_map.units[at]))
        if period is not None:
            found.setdefault(period, []).append(at)
            periods[period] = period * heat_map.step_ms / 1000
    for period, rows in list(found.items())[:_MOST_BURSTS]:
        beside = "" if len(rows) == 1 else f", as do {len(rows) - 1} other rows"
        text = f"bursts every {_seconds(periods[period])}{beside}: a timer, a cron or a batch"
        yield _label(heat_map, LabelKind.PERIODIC_BURST, (0, heat_map.columns), text, rows[0])


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min".replace(".0 ", " ")  # noqa: PLR2004 -- two minutes


def _jumps(heat_map: HeatMap) -> Iterator[HeatLabel]:
    """Yield the times at which most rows rose or fell together, and no row alone explains it."""
    before = max(3, _BEFORE_MS // heat_map.step_ms)
    units = heat_map.units
    column, times = before, 0
    while column < heat_map.columns and times < _MOST_JUMPS:
        usual = np.median(units[:, column - before : column], axis=1)
        jump = _jump(usual, units[:, column])
        if jump is None:
            column += 1
            continue
        end = _back_at(np.nan_to_num(units).sum(axis=0), column, float(usual[np.isfinite(usual)].sum()), jump.factor)
        how = f"{'rise' if jump.factor > 1 else 'fall'} together, {jump.factor:.1f} times what it was"
        who = "all rows" if jump.rows == jump.of else f"{jump.rows} of {jump.of} rows"
        text = f"{who} {how if jump.factor >= _SOMETHING else 'stop together'}: client or network, not keys"
        yield _label(heat_map, LabelKind.ALL_ROWS_JUMP, (column, end), text, None)
        times += 1
        column = end + before  # what follows is compared with what is usual again


def _jump(usual: np.ndarray, now: np.ndarray) -> _Jump | None:
    """Return how most rows changed together, without the one that changed most; None where they did not."""
    is_active = np.isfinite(usual) & np.isfinite(now) & (usual > 0)
    if is_active.sum() < _LEAST_ROWS:
        return None
    old, new = usual[is_active], now[is_active]
    others = np.arange(len(old)) != np.abs(new - old).argmax()  # one row alone does not make all of them jump
    whole = float(new[others].sum() / old[others].sum())
    factors = new / old
    is_up = whole >= _UP
    moved = int((factors >= _UP).sum() if is_up else (factors <= _DOWN).sum())
    is_jump = (is_up or whole <= _DOWN) and moved >= _ROWS_PART * len(factors)
    return _Jump(whole, moved, len(factors)) if is_jump else None


def _back_at(totals: np.ndarray, column: int, usual: float, jump: float) -> int:
    """Return the first column at which the whole is nearer to what was usual than to what it became."""
    edge = usual * max(jump, _SOMETHING) ** 0.5
    for at in range(column + 1, len(totals)):
        if (totals[at] < edge) == (jump > 1):
            return at
    return len(totals)


def _label(heat_map: HeatMap, kind: LabelKind, columns: tuple[int, int], text: str, row: int | None) -> HeatLabel:
    start, end = (heat_map.start + column * heat_map.step_ms for column in columns)
    return HeatLabel(kind=kind, start=start, end=end, text=text, row=row)
