"""Maps for the page, drawn from what the daemon keeps: read on the loop at once, drawn beside it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from analyzer.exporters.asked import LONGEST_MS, stretch_of
from analyzer.exporters.atlas import CallsOverTime
from analyzer.figures.heatmap import Around, draw_heat
from analyzer.figures.insight_map import draw_insights, draw_unseen
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

__all__ = ["Maps"]

_MOST_REMEMBERED = 64
_NO_PATTERN = frozenset(kind.value for kind in AttributionKind)


class Maps:
    """Draws from what the watch knows by now; it remembers which keys had rows, so that rows stay."""

    def __init__(self, watch: Callable[[], Watch], health: Callable[[], Health]) -> None:
        self._watch = watch
        self._health = health
        self._past = PastMinutes()
        self._own: dict[tuple[Target, Direction, int], frozenset[str]] = {}

    def note(self, report: Report) -> None:
        """Remember what is told of keys by polls that come and go."""
        self._past.note(report.traffic, report.as_of - LONGEST_MS)

    def health(self) -> Health | None:
        """Return how the daemon stands."""
        return self._health()

    async def heat_map(self, question: MapQuestion, report: Report) -> HeatMap | None:
        """Return the map that is wanted, None where there is no such target."""
        watch = self._watch()
        found = _place(question, report.traffic, watch.hour)
        if found is None:
            return None
        traffic, direction = found
        window = Window(*stretch_of(question, report.as_of))
        namer = watch.namer()
        own = traffic.target, direction, question.step_ms
        around = Around(
            limit=limit_of(traffic, direction),
            marks=marks_of(report, traffic.target, window),
            pattern_of=lambda cell: None if (name := namer(cell)) in _NO_PATTERN else name,
            before=self._own.get(own, frozenset()),
        )
        source = keys_from(traffic, direction)
        if source is not KeysFrom.REQUEST_LOG:
            draw = draw_insights if source is KeysFrom.CONTRIBUTOR_INSIGHTS else draw_unseen
            return await asyncio.to_thread(draw, self._past.recall(traffic), direction, window, around)
        slices = key_slices(watch.digest.kept(), traffic.target, direction, window)
        drawn = await asyncio.to_thread(draw_heat, slices, around, question.step_ms)
        if len(self._own) >= _MOST_REMEMBERED:
            self._own.clear()
        self._own[own] = drawn.own
        return drawn.heat_map

    async def calls(self, report: Report) -> CallsOverTime:
        """Return the calls of the last hour by the minute, of the rows that the report has."""
        watch = self._watch()
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
    if question.table is None:
        return True
    told = (question.account, target.account), (question.region, target.region)
    is_same = (target.table, target.index) == (question.table, question.index)
    return is_same and all(asked in (None, known) for asked, known in told)
