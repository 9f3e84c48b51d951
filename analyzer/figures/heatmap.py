"""The map of heat of one target and direction, drawn from the keys of each slice.

Keys that matter have rows of their own, in the order of their segments; the others stand together under their prefix. A
partition holds the keys of one hash, not of one prefix: the heat of such a row is that of the hottest key in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from analyzer.figures.labels import labels_of
from analyzer.figures.prefix_tree import LAST, buckets_of, tree_place
from analyzer.figures.uses import Uses
from analyzer.model.counts import Cell
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.heatmap import HeatLimit, HeatMap, HeatMark, HeatRow, KeysFrom, RowKind
from analyzer.model.instant import SLICE_MS
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from analyzer.figures.uses import Columns
    from analyzer.model.key_slices import KeySlices

__all__ = ["Around", "Drawn", "draw_heat"]

_MOST_ROWS = 80
"""Rows of one key each: what a screen shows at six pixels a row."""
_HALF = _MOST_ROWS // 2
_LEAST_SHARE = 0.002
_LEAST_HEAT = 0.05
_STAYS = 1.5
"""A key that had a row before keeps it until others are so many times heavier: rows must not flicker."""

_NAMELESS = "partition key"


class Around(Struct, frozen=True, kw_only=True):
    """What a map shows beside the keys: `limit` is what the target is provisioned for now, `marks` what happened.

    `limits` are what it was provisioned for from which time on.

    `pattern_of` names the pattern of a cell. `before` are the keys that had rows of their own last time.
    """

    limit: float | None = None
    limits: tuple[HeatLimit, ...] = ()
    marks: tuple[HeatMark, ...] = ()
    pattern_of: Callable[[Cell], str | None] = lambda _: None
    before: frozenset[str] = frozenset()


class Drawn(Struct, frozen=True):
    """A map, and the keys that have rows of their own in it: what `Around.before` wants next time."""

    heat_map: HeatMap
    own: frozenset[str]


def draw_heat(slices: KeySlices, around: Around, step_ms: int = SLICE_MS) -> Drawn:
    """Draw a map with columns of a slice, or of a second: those of keys whose seconds were kept alone are known."""
    ceiling = float(ceiling_of(slices.direction))
    uses = Uses(slices, ceiling, step_ms)
    own = _own_rows(uses, around.before)
    totals = {name: uses.total(name) for name in own}
    buckets = buckets_of(uses.prefix_totals, {name: total.value for name, total in totals.items()}, uses.every)
    rest = uses.rest(own, buckets)
    names = _ordered(uses, own, buckets)
    if rest.total("").value >= _LEAST_SHARE * uses.every > 0 or rest.members(""):
        names.append(("", RowKind.REST))
    ranked = sorted(own, key=lambda name: (-totals[name].value, name))
    ranks = {name: rank for rank, name in enumerate(ranked, start=1)}
    rows: list[HeatRow] = []
    parts: list[Columns] = []
    for name, kind in names:
        is_key = kind is RowKind.KEY
        row = _row(name, kind, slices, around)
        units = totals[name] if is_key else rest.total(name)
        members = 0 if is_key else rest.members(name)
        rows.append(replace(row, units=units, share=_share(units, uses.every), rank=ranks.get(name), members=members))
        parts.append(uses.of_key(name) if is_key else rest.of(name))
    heat, low, high, units_, tries = _stacked(parts, uses.columns)
    heat_map = HeatMap(
        target=slices.target,
        direction=slices.direction,
        start=slices.window.start,
        step_ms=step_ms,
        columns=uses.columns,
        keys=KeysFrom.REQUEST_LOG,
        rows=tuple(rows),
        heat=heat,
        low=low,
        high=high,
        units=units_,
        throttled=tries,
        top=uses.top,
        ceiling=ceiling,
        limit=around.limit,
        limits=around.limits,
        marks=around.marks,
    )
    labels = labels_of(heat_map, [name for name, _ in names])
    return Drawn(replace(heat_map, labels=labels), frozenset(own))


def _own_rows(uses: Uses, before: frozenset[str]) -> list[str]:
    """Return the keys that get rows of their own: the hottest, and the heaviest."""
    every = uses.every or 1.0
    heats = {name: uses.peak(name) * (_STAYS if name in before else 1.0) for name in uses.names}
    shares = {name: uses.total(name).value / every * (_STAYS if name in before else 1.0) for name in heats}
    wanted = [name for name in heats if shares[name] >= _LEAST_SHARE or heats[name] >= _LEAST_HEAT or uses.tries(name)]
    hottest = sorted(wanted, key=lambda name: (-heats[name], name))[:_HALF]
    heaviest = sorted(wanted, key=lambda name: (-shares[name], name))
    return list(dict.fromkeys(hottest + heaviest))[:_MOST_ROWS]


def _ordered(uses: Uses, own: list[str], buckets: tuple[str, ...]) -> list[tuple[str, RowKind]]:
    """Return the rows in the order of the tree, each prefix after its own keys."""
    first = {name: uses.first_seen(name) for name in own}
    keys = [(tree_place(name, first), name, RowKind.KEY) for name in own]
    others = [(tree_place(prefix + LAST, {}), prefix, RowKind.PREFIX) for prefix in buckets]
    return [(name, kind) for _, name, kind in sorted([*keys, *others], key=lambda one: one[:2])]


def _row(name: str, kind: RowKind, slices: KeySlices, around: Around) -> HeatRow:
    """Return a row without its numbers; a prefix is shown with a star for what follows."""
    attribute = slices.attributes[0] if slices.attributes else _NAMELESS
    star = "*" if kind is RowKind.PREFIX else ""
    cell = slices.cells.get(name)
    return HeatRow(
        kind=kind,
        key={attribute: name + star},
        key_template={attribute: slices.templates.get(name, name) + star},
        pattern=None if cell is None else around.pattern_of(cell),
        caller=None if cell is None else cell.caller,
    )


def _share(units: Estimate, every: float) -> Estimate:
    return Estimate(*(min(1.0, part / every) for part in units)) if every > 0 else ZERO


def _stacked(parts: list[Columns], columns: int) -> list[np.ndarray]:
    if not parts:
        return [np.zeros((0, columns)) for _ in range(5)]
    return [np.vstack(matrix) for matrix in zip(*parts, strict=True)]
