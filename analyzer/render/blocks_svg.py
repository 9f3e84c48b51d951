"""A map of heat as the parts of an SVG: one path a step of heat, so that a week of hours stays small."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from analyzer.render.blocks import HeatGrid

__all__ = ["Drawing", "Label", "Row", "drawn"]

_CELL, _HIGH, _BELOW = 5, 18, 22
"""Pixels: a step, a row, and room for the days."""
_LONGEST = 38
_LETTER, _MARGIN = 7.5, 16
"""Pixels: what a letter of 12 pixels takes at most in the mean, and what is left about names."""
_STEPS = (0.05, 0.2, 0.4, 0.7, 1.0)
"""Upper bounds of the calm steps; then warm from 0.7 and hot from the ceiling on, as on the daemon's page."""
_LEGEND = ("under 5%", "under 20%", "under 40%", "under 70%", "70% of the ceiling or more", "at the ceiling")


class Label(NamedTuple):
    """A text and where it stands."""

    x: int
    y: int
    name: str
    text: str


class Row(NamedTuple):
    """What is said of a row."""

    y: int
    height: int
    text: str


class Drawing(NamedTuple):
    """The parts of one map; `paths` and `legend` name the class of each step."""

    width: int
    height: int
    paths: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    texts: tuple[Label, ...]
    rows: tuple[Row, ...]
    legend: tuple[tuple[str, str], ...]


def drawn(grid: HeatGrid) -> Drawing:
    """Lay a map out; steps of the same heat that follow one another are one piece."""
    labels = [_short(text) for text in grid.labels]
    left = _MARGIN + round(_LETTER * max(map(len, labels), default=0))
    columns = max((len(row) for row in grid.cells), default=0)
    bottom = len(grid.labels) * _HIGH
    pieces: dict[int, list[str]] = {}
    for number, row in enumerate(grid.cells):
        for step, first, length in _runs(row):
            piece = f"M{left + first * _CELL} {number * _HIGH + 1}h{length * _CELL}v{_HIGH - 2}h-{length * _CELL}z"
            pieces.setdefault(step, []).append(piece)
    names = [Label(left - 8, number * _HIGH + 13, "row", text) for number, text in enumerate(labels)]
    days = [Label(left + column * _CELL + 3, bottom + 15, "day", text) for column, text in grid.ticks]
    return Drawing(
        width=left + columns * _CELL,
        height=bottom + _BELOW,
        paths=tuple((f"h{step}", "".join(pieces[step])) for step in sorted(pieces)),
        lines=tuple(f"M{left + column * _CELL} 0V{bottom + _BELOW}" for column, _ in grid.ticks),
        texts=(*names, *days),
        rows=tuple(Row(number * _HIGH, _HIGH, text) for number, text in enumerate(grid.notes)),
        legend=tuple((f"h{step}", text) for step, text in enumerate(_LEGEND)),
    )


def _step(heat: float | None) -> int | None:
    return None if heat is None else sum(heat >= bound for bound in _STEPS)


def _runs(row: tuple[float | None, ...]) -> list[tuple[int, int, int]]:
    """Return step, first column and length of each piece; what is not known is left open."""
    found: list[tuple[int, int, int]] = []
    for column, heat in enumerate(row):
        step = _step(heat)
        if step is None:
            continue
        if found and found[-1][0] == step and sum(found[-1][1:]) == column:
            found[-1] = (step, found[-1][1], found[-1][2] + 1)
        else:
            found.append((step, column, 1))
    return found


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
