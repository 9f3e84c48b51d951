"""Maps for the page, drawn from what the daemon keeps: read in the turn of who keeps it, drawn beside that."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from analyzer.exporters.asked import LONGEST_MS, stretch_of
from analyzer.exporters.atlas import CallsOverTime
from analyzer.figures.heatmap import Around, Drawn, draw_heat
from analyzer.figures.insight_map import draw_insights, draw_unseen
from analyzer.figures.limits import limits_of
from analyzer.figures.marks import marks_of
from analyzer.figures.past_minutes import PastMinutes
from analyzer.figures.targets import hottest_places, keys_from, limit_of
from analyzer.model.finding import Direction
from analyzer.model.heatmap import HeatMap, KeysFrom
from analyzer.model.instant import MINUTE_MS, SLICE_MS
from analyzer.model.shape import AttributionKind
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.requests.digest_key_slices import calls_over_time, is_place, key_slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.exporters.asked import MapQuestion
    from analyzer.exporters.assemble import Health
    from analyzer.exporters.atlas import Subject
    from analyzer.model.report import PatternLine, Report
    from analyzer.model.traffic import Traffic
    from analyzer.watch import Watch

__all__ = ["Ask", "Maps"]

_MOST_REMEMBERED = 64
_NO_PATTERN = frozenset(kind.value for kind in AttributionKind)


T = TypeVar("T")

_Own = tuple[Target, Direction, int]
"""A place, a direction and a step: what rows are remembered of."""


class Ask(Protocol):
    """Asks the watch in the thread that it belongs to; what it answers does not change with it."""

    async def __call__(self, question: Callable[[Watch], T]) -> T:
        """Return the answer."""
        ...


class Maps:
    """Draws from what the watch knows by now; it remembers which keys had rows, so that rows stay."""

    def __init__(self, ask: Ask, health: Callable[[], Health | None]) -> None:
        self._ask = ask
        self._health = health
        self._past = PastMinutes()
        self._own: dict[_Own, frozenset[str]] = {}

    def note(self, report: Report) -> None:
        """Remember what is told of keys by polls that come and go; in the thread of the watch."""
        self._past.note(report.traffic, report.as_of - LONGEST_MS)

    def health(self) -> Health | None:
        """Return how the daemon stood when it rendered its metrics last."""
        return self._health()

    async def heat_map(self, question: MapQuestion, report: Report) -> HeatMap | None:
        """Return the map that is wanted, None where there is no such target."""
        found = await self._ask(lambda watch: self._drawing(watch, question, report))
        if found is None:
            return None
        own, draw = found
        drawn = await asyncio.to_thread(draw)
        if isinstance(drawn, HeatMap):
            return drawn
        if len(self._own) >= _MOST_REMEMBERED:
            self._own.clear()
        self._own[own] = drawn.own
        return drawn.heat_map

    def _drawing(
        self, watch: Watch, question: MapQuestion, report: Report
    ) -> tuple[_Own, Callable[[], HeatMap | Drawn]] | None:
        """Return what draws the map from what is known now, whatever is read meanwhile."""
        found = _place(question, report.traffic, watch.hour)
        if found is None:
            return None
        traffic, direction = found
        window = Window(*stretch_of(question, report.as_of))
        namer = watch.namer()
        own = traffic.target, direction, question.step_ms
        limit = limit_of(traffic, direction)
        around = Around(
            limit=limit,
            limits=limits_of(report.changes, traffic.target, direction, window, limit),
            marks=marks_of(report, traffic.target, window),
            pattern_of=lambda cell: None if (name := namer(cell)) in _NO_PATTERN else name,
            before=self._own.get(own, frozenset()),
        )
        source = keys_from(traffic, direction)
        if source is not KeysFrom.REQUEST_LOG:
            draw = draw_insights if source is KeysFrom.CONTRIBUTOR_INSIGHTS else draw_unseen
            return own, partial(draw, self._past.recall(traffic), direction, window, around)
        slices = key_slices(watch.digest.kept(), traffic.target, direction, window)
        return own, partial(draw_heat, slices, around, question.step_ms)

    async def calls(self, report: Report) -> CallsOverTime:
        """Return the calls of the last hour by the minute, of the rows that the report has."""
        return await self._ask(lambda watch: _calls(watch, report))


def _calls(watch: Watch, report: Report) -> CallsOverTime:
    end = report.as_of // MINUTE_MS * MINUTE_MS
    window = Window(end - LONGEST_MS, end)
    cells, sums = calls_over_time(watch.digest.kept(), window, MINUTE_MS // SLICE_MS)
    span = watch.digest.span()
    known_from = window.end if span is None else span.start
    namer = watch.namer()
    wanted = _Wanted(report.patterns)
    found: dict[Subject, np.ndarray] = {}
    for at, cell in enumerate(cells):
        name = namer(cell)
        subject = wanted.row_of(cell.target, cell.shape.fingerprint if name in _NO_PATTERN else name)
        if subject is not None:
            rate = sums[:, at] / cell.sample_rate * 1000 / MINUTE_MS
            found[subject] = found[subject] + rate if subject in found else rate
    starts = window.start + np.arange(len(sums)) * MINUTE_MS
    is_known = (starts + MINUTE_MS > known_from).tolist()
    series = {
        subject: tuple(rate if known else None for rate, known in zip(rates.tolist(), is_known, strict=True))
        for subject, rates in found.items()
    }
    return CallsOverTime(window.start, series)


class _Wanted:
    """The rows of the patterns table, found by what a log tells of their place."""

    def __init__(self, lines: Iterable[PatternLine]) -> None:
        self._rows: dict[tuple[str, str | None, str], list[Subject]] = {}
        for line in lines:
            name = line.pattern or line.fingerprint or ""
            target = Target(line.account, line.region, line.table or "", line.index)
            self._rows.setdefault((target.table, target.index, name), []).append((target, name))

    def row_of(self, target: Target, name: str) -> Subject | None:
        """Return the row of a pattern at a place; None where there is none, or where it may be one of several."""
        rows = self._rows.get((target.table, target.index, name), [])
        if (target, name) in rows:
            return target, name
        fitting = [row for row in rows if is_place(target, row[0])]
        return fitting[0] if len(fitting) == 1 else None


def _place(question: MapQuestion, *traffics: Iterable[Traffic]) -> tuple[Traffic, Direction] | None:
    """Return the target that is asked for, the hottest where none is named; a quiet one is known by its last hour."""
    for known in traffics:
        matching = [one for one in known if _is_asked(one.target, question)]
        hottest = hottest_places(matching)
        ways = [place for place in hottest if question.direction in (None, place.direction)]
        if ways:
            found = next(one for one in matching if one.target == ways[0].target)
            return found, ways[0].direction
        if matching:
            return matching[0], question.direction or Direction.READ
    return None


def _is_asked(target: Target, question: MapQuestion) -> bool:
    told = (question.account, target.account), (question.region, target.region)
    is_same = question.table is None or (target.table, target.index) == (question.table, question.index)
    return is_same and all(asked in (None, known) for asked, known in told)
