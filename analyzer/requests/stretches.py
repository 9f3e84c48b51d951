"""Which stretches of time the requests of a log lie in, and which of them are those of a clock that was wrong.

A log of two days with a long rest between them is one whole. A request of 1970, or of 2099, among thousands is not part
of it: a stretch that reaches there would make every rate a lie.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.instant import DAY_MS, SLICE_MS, Instant
from analyzer.model.report import Outside
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.requests.digest import Digest

__all__ = ["APART_MS", "FEW", "FIRST", "Run", "Stretches", "core_of"]

APART_MS = DAY_MS
"""Requests closer than this to one another are of one stretch: tables rest for a night."""

FEW = 0.001
"""A share of the requests so small that it does not decide where a log begins and ends."""

_IMPOSSIBLE_MS = 3 * 366 * DAY_MS
"""No log reaches further: of two stretches so far from one another the smaller one is wrong, however many it holds."""

FIRST = 1_326_844_800_000
"""2012-01-18, when DynamoDB began."""

_SMALL = 12
"""Slices of a stretch whose requests are counted: two minutes. One that goes on longer is no stray record."""

_MOST_RUNS = 64
"""Beyond it a log is scattered all over, and no part of it is the core."""


class Run(Struct):
    """Requests that lie within a day of one another; `requests` is None where it is long, and they are not counted."""

    start: Instant
    end: Instant
    slices: int = 0
    requests: int | None = 0

    def gap(self, window: Window) -> int:
        """Return how far it lies from a window, in milliseconds."""
        return max(self.start - window.end, window.start - self.end, 0)


class Stretches:
    """Follows a digest while it reads: every slice has to be seen here before it is forgotten there."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._kept: dict[Instant, tuple[int, int | None]] = {}
        self._is_scattered = False

    def take(self, digest: Digest) -> None:
        """Look at the slices that the digest keeps; those that were added to since the last look are counted again."""
        if self._is_scattered:
            return
        changes = digest.changes()
        for start, times in changes.items():
            times_before, requests = self._kept.get(start, (0, 0))
            if times == times_before:
                continue
            run = self._run_at(start, is_new=not times_before)
            now = None
            if run.requests is not None and requests is not None and run.slices <= _SMALL:
                now = digest.requests(start)
                run.requests += now - requests
            else:
                run.requests = None
            self._kept[start] = times, now
        self._is_scattered = len(self._runs) > _MOST_RUNS

    def forget_before(self, instant: Instant) -> None:
        """Know that the digest forgets the slices that end by then: what comes to them later comes on top."""
        self._kept = {start: known for start, known in self._kept.items() if start + SLICE_MS > instant}

    def _run_at(self, start: Instant, *, is_new: bool) -> Run:
        """Return the run of a slice, which may be the first one of it, or what joins two."""
        end = start + SLICE_MS
        at = bisect_right(self._runs, start, key=lambda run: run.start)
        before = self._runs[at - 1] if at else None
        after = self._runs[at] if at < len(self._runs) else None
        if before is not None and start - before.end < APART_MS:
            run = before
        elif after is not None and after.start - end < APART_MS:
            run = after
        else:
            run = Run(start, end)
            self._runs.insert(at, run)
        run.start, run.end = min(run.start, start), max(run.end, end)
        run.slices = min(run.slices + is_new, (run.end - run.start) // SLICE_MS)  # a slice may come again and again
        if run is before and after is not None and after.start - run.end < APART_MS:
            run.end, run.slices = after.end, run.slices + after.slices
            run.requests = None if run.requests is None or after.requests is None else run.requests + after.requests
            self._runs.remove(after)
        return run

    def core(self, total: int) -> tuple[Window | None, tuple[Outside, ...]]:
        """Return the stretch of all but the strays, None where it is not known, and the strays."""
        if self._is_scattered or not self._runs:
            return None, ()
        return core_of(self._runs, total)

    def beyond(self, window: Window) -> tuple[Outside, ...]:
        """Return what lies wholly outside of a window that somebody gave."""
        return tuple(map(_outside, filter(lambda run: run.gap(window) > 0, self._runs)))


def core_of(runs: Sequence[Run], total: int) -> tuple[Window, tuple[Outside, ...]]:
    """Return the stretch around the heaviest run, grown by all that may belong to it, and what does not.

    `total` are the requests of all runs.
    """
    heaviest = max(runs, key=lambda run: (_weight(run, total), run.start >= FIRST, -run.start))
    core = Window(heaviest.start, heaviest.end)
    rest = [run for run in runs if run is not heaviest]
    strays: list[Run] = []
    while rest:
        nearest = min(rest, key=lambda run: (run.gap(core), run.start))
        rest.remove(nearest)
        if _is_stray(nearest, core, total):
            strays.append(nearest)
        else:
            core = Window(min(core.start, nearest.start), max(core.end, nearest.end))
    beyond = [run for run in strays if run.gap(core)]  # what came later may lie on both sides of one
    return core, tuple(map(_outside, sorted(beyond, key=lambda run: run.start)))


def _weight(run: Run, total: int) -> tuple[int, int]:
    return (total, run.slices) if run.requests is None else (run.requests, run.slices)


def _is_stray(run: Run, core: Window, total: int) -> bool:
    gap = run.gap(core)
    is_few = run.requests is not None and run.requests <= total * FEW
    return gap > _IMPOSSIBLE_MS or (is_few and gap >= max(APART_MS, core.end - core.start))


def _outside(run: Run) -> Outside:
    return Outside(run.start, run.end, run.requests)
