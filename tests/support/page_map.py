"""A made-up map of heat: a hot key, a rolling diagonal, a periodic burst, a jump of all rows, throttled cells."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from analyzer.figures.labels import labels_of
from analyzer.figures.limits import limits_of
from analyzer.figures.marks import marks_of
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.heatmap import HeatMap, HeatRow, KeysFrom, RowKind
from analyzer.model.instant import SLICE_MS
from analyzer.model.window import Window
from tests.support.page_report import made_report

if TYPE_CHECKING:
    from analyzer.model.target import Target

__all__ = ["made_map", "unseen_map"]

_CEILING = {Direction.READ: 3000.0, Direction.WRITE: 1000.0}
_CARTS, _EVENTS, _ORDERS, _USERS = 4, 12, 6, 8
_COLUMNS = 360
_JUMP = slice(120, 126)
_HOT = slice(336, None)


@lru_cache(maxsize=16)
def made_map(
    target: Target, direction: Direction, end: int, step_ms: int = SLICE_MS, columns: int = _COLUMNS
) -> HeatMap:
    """Return the map of a target as it would be drawn at `end`: shapes and marks are found, not made up."""
    names, rows, units = _rows(direction)
    units *= 1.0 if step_ms == SLICE_MS else 1.1
    units, ceiling = units[:, -columns:], _CEILING[direction]
    heat = units / ceiling * np.array([0.08 if row.kind is not RowKind.KEY else 1.0 for row in rows])[:, None]
    throttled = np.where(heat >= 1, np.rint((heat - 1) * ceiling * 1.3), 0.0)
    heat[3, 40:44] = np.nan
    start = end - columns * step_ms
    report, limit = made_report(), 8000.0 if direction is Direction.READ else 3000.0
    found = HeatMap(
        target=target,
        direction=direction,
        start=start,
        step_ms=step_ms,
        columns=columns,
        keys=KeysFrom.REQUEST_LOG,
        rows=_with_shares(rows, units, step_ms),
        heat=heat,
        low=heat * 0.97,
        high=heat * 1.03,
        units=units,
        throttled=throttled,
        top=units.sum(axis=0),
        ceiling=ceiling,
        limit=limit,
        limits=limits_of(report.changes, target, direction, Window(start, end), limit),
        marks=marks_of(report, target, Window(start, end)),
    )
    return replace(found, labels=labels_of(found, names))


def unseen_map(target: Target, direction: Direction, end: int) -> HeatMap:
    """Return the map of a target of which only metrics are read."""
    none = np.zeros((0, _COLUMNS))
    return HeatMap(
        target=target,
        direction=direction,
        start=end - _COLUMNS * SLICE_MS,
        step_ms=SLICE_MS,
        columns=_COLUMNS,
        keys=KeysFrom.NOT_VISIBLE,
        rows=(),
        heat=none,
        low=none,
        high=none,
        units=none,
        throttled=none,
        top=np.full(_COLUMNS, 40.0),
        ceiling=_CEILING[direction],
        hint="keys are not visible in metrics: read a request log, or switch on Contributor Insights",
    )


def _rows(direction: Direction) -> tuple[list[str], list[HeatRow], np.ndarray]:
    dice = np.random.default_rng(11)
    calm = 60.0 if direction is Direction.READ else 18.0
    names = [f"CART#{_token('k', number)}" for number in range(_CARTS)] + ["CART#"]
    names += [f"EVENT#{_token('d', number)}" for number in range(_EVENTS)]
    names += [f"ORDER#{_token('k', number)}" for number in range(_ORDERS)] + ["ORDER#"]
    names += [f"USER#{_token('k', number)}" for number in range(_USERS)] + ["USER#", ""]
    units = dice.gamma(40.0, calm / 40, (len(names), _COLUMNS))
    hot, burst, first = names.index(f"ORDER#{_token('k', 2)}"), names.index(f"USER#{_token('k', 1)}"), _CARTS + 1
    for number in range(_EVENTS):
        units[first + number] = dice.gamma(20.0, 0.1, _COLUMNS)
        units[first + number, number * 30 : (number + 1) * 30] = dice.gamma(60.0, calm * 12 / 60, 30)
    units[burst, ::30] = units[burst, 1::30] = calm * 30
    units[:, _JUMP] *= 2.4
    units[hot, _HOT] = dice.gamma(1600.0, calm * 62 / 1600, _COLUMNS - 336)
    for name in ("CART#", "ORDER#", "USER#", ""):
        units[names.index(name)] *= 6
    return names, [_row(name, at) for at, name in enumerate(names)], units


def _token(kind: str, number: int) -> str:
    """Return a token as the salt could have made it."""
    return f"~{kind}" + f"{number:08d}".translate(str.maketrans("0123456789", "abcdefghij"))


def _row(name: str, at: int) -> HeatRow:
    kind = RowKind.REST if not name else RowKind.PREFIX if name.endswith("#") else RowKind.KEY
    template = name if kind is not RowKind.KEY else name.partition("#")[0] + ("#<n>" if "~d" in name else "#<id>")
    shown = f"{name}*" if kind is RowKind.PREFIX else name
    patterns = {"CART": "load-cart", "EVENT": "append-event", "ORDER": "get-order", "USER": "list-orders-of-user"}
    return HeatRow(
        kind=kind,
        key={"PK": shown},
        key_template={"PK": f"{template}*" if kind is RowKind.PREFIX else template},
        members=0 if kind is RowKind.KEY else 1200 + at,
        pattern=patterns.get(name.partition("#")[0]),
        caller="checkout-api" if name else None,
    )


def _with_shares(rows: list[HeatRow], units: np.ndarray, step_ms: int) -> tuple[HeatRow, ...]:
    """Return rows with what they took in the map's time, and the rank of each key by that."""
    sums = units.sum(axis=1) * step_ms / 1000
    keys = [at for at, row in enumerate(rows) if row.kind is RowKind.KEY]
    ranks = {at: rank for rank, at in enumerate(sorted(keys, key=lambda at: -sums[at]), start=1)}
    parts = sums / sums.sum()
    return tuple(
        replace(
            row,
            units=Estimate.exact(float(sums[at])),
            share=Estimate(parts[at], parts[at] * 0.96, parts[at] * 1.04),
            rank=ranks.get(at),
        )
        for at, row in enumerate(rows)
    )
