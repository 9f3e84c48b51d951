"""A made-up map of heat: a hot key, a rolling diagonal, a periodic burst, a jump of all rows, throttled cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.heatmap import HeatLabel, HeatMap, HeatMark, HeatRow, KeysFrom, LabelKind, RowKind
from analyzer.model.instant import SLICE_MS
from tests.support.page_report import AS_OF

if TYPE_CHECKING:
    from analyzer.model.target import Target

__all__ = ["made_map", "unseen_map"]

_CEILING = {Direction.READ: 3000.0, Direction.WRITE: 1000.0}
_CARTS, _EVENTS, _ORDERS, _USERS = 4, 12, 6, 8
_COLUMNS = 360
_JUMP = slice(120, 126)
_HOT = slice(334, None)


def made_map(
    target: Target, direction: Direction, end: int, step_ms: int = SLICE_MS, columns: int = _COLUMNS
) -> HeatMap:
    """Return the map of a target as it would be drawn at `end`."""
    rows, units = _rows(direction)
    units *= 1.0 if step_ms == SLICE_MS else 1.1
    units, ceiling = units[:, -columns:], _CEILING[direction]
    heat = units / ceiling * np.array([0.08 if row.kind is not RowKind.KEY else 1.0 for row in rows])[:, None]
    throttled = np.where(heat >= 1, np.rint((heat - 1) * ceiling * 1.3), 0.0)
    heat[3, 40:44] = np.nan
    start = end - columns * step_ms
    told = tuple(_with_units(row, units[at], units) for at, row in enumerate(rows))
    at = {"jump": start + 120 * step_ms, "hot": start + 334 * step_ms}
    return HeatMap(
        target=target,
        direction=direction,
        start=start,
        step_ms=step_ms,
        columns=columns,
        keys=KeysFrom.REQUEST_LOG,
        rows=told,
        heat=heat,
        low=heat * 0.97,
        high=heat * 1.03,
        units=units,
        throttled=throttled,
        top=units.sum(axis=0),
        ceiling=ceiling,
        limit=8000.0 if direction is Direction.READ else 3000.0,
        labels=_labels(at, start, end) if columns == _COLUMNS else (),
        marks=(
            HeatMark(AS_OF - 260_000, "deploy checkout-api 4.12.0"),
            HeatMark(AS_OF - 1_900_000, "capacity read 8000"),
        ),
    )


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


def _rows(direction: Direction) -> tuple[list[HeatRow], np.ndarray]:
    dice = np.random.default_rng(11)
    calm = 60.0 if direction is Direction.READ else 18.0
    names = [f"CART#{_token('k', number)}" for number in range(_CARTS)] + ["CART#"]
    names += [f"EVENT#{_token('d', number)}" for number in range(_EVENTS)]
    names += [f"ORDER#{_token('k', number)}" for number in range(_ORDERS)] + ["ORDER#"]
    names += [f"USER#{_token('k', number)}" for number in range(_USERS)] + ["USER#", ""]
    units = dice.gamma(8.0, calm / 8, (len(names), _COLUMNS))
    hot, burst, first = names.index(f"ORDER#{_token('k', 2)}"), names.index(f"USER#{_token('k', 1)}"), _CARTS + 1
    for number in range(_EVENTS):
        units[first + number] = dice.gamma(1.0, 2.0, _COLUMNS)
        units[first + number, number * 30 : (number + 1) * 30] = dice.gamma(60.0, calm * 12 / 60, 30)
    units[burst, ::30] = units[burst, 1::30] = calm * 30
    units[:, _JUMP] *= 3.5
    units[hot, _HOT] = dice.gamma(400.0, calm * 62 / 400, _COLUMNS - 334)
    for name in ("CART#", "ORDER#", "USER#", ""):
        units[names.index(name)] *= 6
    return [_row(name, units[at], at) for at, name in enumerate(names)], units


def _token(kind: str, number: int) -> str:
    """Return a token as the salt could have made it."""
    return f"~{kind}" + f"{number:08d}".translate(str.maketrans("0123456789", "abcdefghij"))


def _row(name: str, units: np.ndarray, at: int) -> HeatRow:
    kind = RowKind.REST if not name else RowKind.PREFIX if name.endswith("#") else RowKind.KEY
    template = name if kind is not RowKind.KEY else name.partition("#")[0] + ("#<n>" if "~d" in name else "#<id>")
    shown = f"{name}*" if kind is RowKind.PREFIX else name
    patterns = {"CART": "load-cart", "EVENT": "append-event", "ORDER": "get-order", "USER": "list-orders-of-user"}
    return HeatRow(
        kind=kind,
        key={"PK": shown},
        key_template={"PK": f"{template}*" if kind is RowKind.PREFIX else template},
        units=Estimate.exact(float(units.sum()) * 10),
        rank=at + 1 if kind is RowKind.KEY else None,
        members=0 if kind is RowKind.KEY else 1200 + at,
        pattern=patterns.get(name.partition("#")[0]),
        caller="checkout-api" if name else None,
    )


def _with_units(row: HeatRow, units: np.ndarray, every: np.ndarray) -> HeatRow:
    part = float(units.sum() / every.sum())
    estimate = Estimate(part, part * 0.96, part * 1.04)
    return HeatRow(
        **{
            name: getattr(row, name)
            for name in ("kind", "key", "key_template", "units", "rank", "members", "pattern", "caller")
        },
        share=estimate,
    )


def _labels(at: dict[str, int], start: int, end: int) -> tuple[HeatLabel, ...]:
    first, hot = _CARTS + 1, _CARTS + 1 + _EVENTS + 2
    return (
        HeatLabel(kind=LabelKind.HOT_BAND, start=at["hot"], end=end, row=hot, text="over 0.7 of the ceiling for 4 min"),
        HeatLabel(
            kind=LabelKind.ROLLING_DIAGONAL,
            start=start,
            end=end,
            row=first,
            text="12 keys of EVENT# take turns in the order of their names: a rolling key",
        ),
        HeatLabel(
            kind=LabelKind.PERIODIC_BURST,
            start=start,
            end=end,
            row=first + _EVENTS + _ORDERS + 2,
            text="bursts every 5 min: a timer or a cron",
        ),
        HeatLabel(
            kind=LabelKind.ALL_ROWS_JUMP,
            start=at["jump"],
            end=at["jump"] + 60_000,
            text="all rows rise together: client or network, not keys",
        ),
    )
