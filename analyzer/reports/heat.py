"""The heat of tracked keys: hour by hour in the week, and where it leads if it goes on."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from msgspec.structs import replace

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.target import Target
from analyzer.reports.week_values import KeyForecast, KeyRow, WeekMap
from analyzer.statistics.student import t_quantile
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.reports.frame import Frame, Frames

__all__ = ["MOST_ROWS", "forecasts_of", "map_of"]

MOST_ROWS = 24
"""As many rows as a page shows without scrolling."""
_COLD = 0.01
"""Heat below which a key is not worth a row."""
_HOUR_MS = 3_600_000
_DAY_MS = 86_400_000
_HOURS = 168
_LEAST_DAYS = 14
_LEAST_HEAT = 0.02
"""A key at a fiftieth of its ceiling doubles five times before it is hot: its trend is not worth a line."""
_HORIZON_DAYS = 365.0
_NEAR_DAYS = 28.0
_WEEKDAYS = 7
_KEY = ["account", "region", "table_name", "index_name", "direction", "partition"]

Identity = tuple[Any, ...]


def map_of(week: Frame, *, with_tokens: bool = False) -> WeekMap | None:
    """Return the map of a week's hottest keys; None where no key was tracked."""
    rows = _partitions(week)
    if not len(rows):
        return None
    names = _Names(with_tokens=with_tokens)
    found = []
    for identity, part in _by_key(rows):
        heat, is_second = _heat(part, _direction(identity))
        columns = (part["start"].to_numpy(dtype=np.int64) - week.window.start) // _HOUR_MS
        cells = np.full(_HOURS, np.nan)
        cells[columns] = heat
        hottest = int(np.nanargmax(cells))
        if cells[hottest] >= _COLD:
            found.append((identity, part, cells, hottest, is_second))
    found.sort(key=lambda one: (-one[2][one[3]], one[0][2], str(one[0][5])))
    kept = found[:MOST_ROWS]
    made = [
        KeyRow(
            label=names.label(identity, _template(part)),
            table=identity[2],
            index=identity[3],
            direction=_direction(identity),
            heat=tuple(None if math.isnan(cell) else round(float(cell), 4) for cell in cells),
            hottest=float(cells[hottest]),
            hottest_at=week.window.start + hottest * _HOUR_MS,
            units=float(part["units"].sum()),
            is_second=is_second,
        )
        for identity, part, cells, hottest, is_second in kept
    ]
    return WeekMap(
        start=week.window.start, step_ms=_HOUR_MS, columns=_HOURS, rows=tuple(made), left_out=len(found) - len(kept)
    )


def forecasts_of(week: Frame, past: Frames, *, with_tokens: bool = False) -> tuple[KeyForecast, ...] | None:
    """Return the keys that grow and reach their ceiling within a year, the nearest first; None without two weeks.

    A line through the logarithms of daily peaks, weekdays apart; its slope's interval is widened by how days go on
    from one another. A key is told where the slope is surely upward.
    """
    frames = [_partitions(frame) for frame in (*past, week)]
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return None
    rows = pd.concat([frame.astype(dict.fromkeys(_KEY, object)) for frame in frames], ignore_index=True)
    if (rows["start"] // _DAY_MS).nunique() < _LEAST_DAYS:
        return None
    names = _Names(with_tokens=with_tokens)
    found = []
    for identity, part in _by_key(rows):
        one = _forecast(identity, part, week.window.end)
        if one is not None:
            found.append((one.days, identity, _template(part), one))
    found.sort(key=lambda one: (one[0], str(one[1])))
    return tuple(replace(one, label=names.label(identity, template)) for _, identity, template, one in found)


class _Names:
    """Labels of keys: the template, with a number where several keys have it; or the token."""

    def __init__(self, *, with_tokens: bool) -> None:
        self._with_tokens = with_tokens
        self._used: Counter[tuple[object, ...]] = Counter()

    def label(self, identity: Identity, template: str) -> str:
        """Name a key."""
        if self._with_tokens:
            return str(identity[5])
        place = (*identity[:5], template)
        self._used[place] += 1
        return template if self._used[place] == 1 else f"{template} ({self._used[place]})"


def _partitions(frame: Frame) -> pd.DataFrame:
    """Return the rows of whole partition keys: that is what one partition has to serve."""
    return frame.keys[frame.keys["level"] == "partition"] if len(frame.keys) else frame.keys


def _by_key(rows: pd.DataFrame) -> Iterable[tuple[Identity, pd.DataFrame]]:
    plain = rows.astype(dict.fromkeys(_KEY, object))
    for identity, part in plain.groupby(_KEY, dropna=False, sort=False):
        yield tuple(None if isinstance(value, float) else value for value in identity), part


def _direction(identity: Identity) -> Direction:
    return Direction(identity[4])


def _template(part: pd.DataFrame) -> str:
    told = part["template"].dropna()
    return str(told.iloc[-1]) if len(told) else "a key"


def _heat(part: pd.DataFrame, direction: Direction) -> tuple[np.ndarray, bool]:
    """Return the share of the ceiling: of the fullest second where it was kept, else of the mean."""
    ceiling = ceiling_of(direction)
    peaks = part["peak_second"].to_numpy(dtype=float)
    minutes = np.maximum(part["minutes"].to_numpy(dtype=float), 1)
    mean = part["units"].to_numpy(dtype=float) / (minutes * 60)
    known = ~np.isnan(peaks)
    return np.where(known, np.maximum(peaks, mean), mean) / ceiling, bool(known.mean() > 1 / 2)


def _forecast(identity: Identity, part: pd.DataFrame, end: int) -> KeyForecast | None:
    heat, _ = _heat(part, _direction(identity))
    days = part["start"].to_numpy(dtype=np.int64) // _DAY_MS
    numbers, of = np.unique(days, return_inverse=True)
    peaks = np.zeros(len(numbers))
    np.maximum.at(peaks, of, heat)
    is_there = peaks > 0
    numbers, peaks = numbers[is_there], peaks[is_there]
    last = end / _DAY_MS
    if len(numbers) < _LEAST_DAYS or peaks[-_WEEKDAYS:].max() < _LEAST_HEAT or numbers[-1] < last - _WEEKDAYS:
        return None
    line = _line(numbers, np.log(peaks), last)
    if line is None:
        return None
    slope, level = line
    top = math.log(1.0)
    if slope.low <= 0 or level >= top:
        return None
    days_left, soonest, latest = ((top - level) / one for one in (slope.value, slope.high, slope.low))
    if days_left > _HORIZON_DAYS:
        return None
    target = Target(*identity[:4])
    return KeyForecast(
        label="",
        table=target.table,
        index=target.index,
        direction=_direction(identity),
        heat=round(math.exp(level), 4),
        growth_a_week=Estimate(*(round(math.exp(_WEEKDAYS * one), 4) for one in slope)),
        days=round(days_left, 1),
        days_low=round(soonest, 1),
        days_high=round(latest, 1) if latest < 10 * _HORIZON_DAYS else None,
        is_near=soonest <= _NEAR_DAYS,
        days_fitted=len(numbers),
    )


def _line(numbers: np.ndarray, logs: np.ndarray, last: float) -> tuple[Estimate, float] | None:
    """Fit weekdays and a slope; return the slope a day, and the level of the fullest weekday at the end."""
    weekdays = numbers % _WEEKDAYS
    there = np.unique(weekdays)
    matrix = np.column_stack([*(weekdays == one for one in there), numbers - last]).astype(float)
    freedom = len(numbers) - matrix.shape[1]
    if freedom < _WEEKDAYS:
        return None
    found, *_ = np.linalg.lstsq(matrix, logs, rcond=None)
    rest = logs - matrix @ found
    variance = float(rest @ rest) / freedom
    follows = float(np.clip(rest[1:] @ rest[:-1] / max(float(rest @ rest), 1e-12), 0.0, 0.9))
    inverse = np.linalg.pinv(matrix.T @ matrix)
    spread = math.sqrt(variance * inverse[-1, -1] * (1 + follows) / (1 - follows))
    reach = t_quantile(0.025, freedom) * spread
    slope = float(found[-1])
    return Estimate(slope, slope - reach, slope + reach), float(found[:-1].max())
