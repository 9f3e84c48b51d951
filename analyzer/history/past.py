"""What detectors know of the past: requests of each pattern by day, of this week and the one before, and spans."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analyzer.history.columns import Kind
from analyzer.history.merging import groups_of, starts_of
from analyzer.history.names import DAY_MS, HOUR_MS
from analyzer.model.history import EMPTY, History, PatternPast
from analyzer.model.target import Target
from analyzer.model.window import Window

if TYPE_CHECKING:
    from analyzer.history.dataset import Dataset
    from analyzer.model.instant import Instant

__all__ = ["FORTNIGHT_DAYS", "WEEKS", "Past", "load_past", "past_of", "read_past"]

WEEKS = 6
"""How far back weeks are read: five comparisons tell how a pattern wobbles."""
_DAYS = 7
FORTNIGHT_DAYS = 2 * _DAYS
"""What must have been looked at before anything is said: a week, and the one before."""
_FORTNIGHT = FORTNIGHT_DAYS * DAY_MS
_NEARLY_ALL = 0.99
"""A fortnight is covered although a restart or two took some minutes of it."""
_LEAST_COMPARISONS = 4
_ENOUGH_CALLS = 200
_ENOUGH_PATTERNS = 5
_HOLIDAY = 1.25
"""A day that is further from its weekday a week ago, for half of all patterns, is no ordinary one."""
_NEVER = 1e-9

_SUBJECT = ["account", "region", "table_name", "index_name", "pattern"]

_Days = dict[tuple[Target, str], list[float]]


class Past(NamedTuple):
    """What history tells as of a whole hour, and how many of the fourteen days before it anybody looked at.

    `torn` are the files that could not be read.
    """

    history: History
    end: Instant
    covered_days: float
    torn: tuple[str, ...] = ()


async def load_past(dataset: Dataset, now: Instant) -> History:
    """Read the weeks that end with the last whole hour; raises NewerHistoryError or HistoryError."""
    return (await read_past(dataset, now)).history


async def read_past(dataset: Dataset, now: Instant) -> Past:
    """Read like `load_past`, and say how much of the last two weeks is there."""
    end = now - now % HOUR_MS
    window = Window(end - WEEKS * _DAYS * DAY_MS, end)
    reading = await dataset.read_as_it_lies(Kind.HOURS, window, ["start", *_SUBJECT, "secondary", "requests"])
    seconds = _covered(reading.covered, Window(end - _FORTNIGHT, end))
    history = await asyncio.to_thread(past_of, reading.rows, reading.covered, end)
    return Past(history, end, seconds * 1000 / DAY_MS, reading.torn)


def past_of(rows: pa.Table, covered: tuple[Window, ...], end: Instant) -> History:
    """Make of rows of hours, or of minutes, what detectors ask for, as of `end`.

    Days are stretches of 24 hours before it. Both weeks must have been looked at nearly whole; else nothing is said.
    """
    seconds = [_covered(covered, Window(end - (n + 1) * DAY_MS, end - n * DAY_MS)) for n in range(WEEKS * _DAYS)]
    if min(seconds[: 2 * _DAYS], default=0.0) < _NEARLY_ALL * DAY_MS / 1000:
        return EMPTY
    days = _by_day(rows, end)
    weeks = [n for n in range(1, WEEKS) if min(seconds[n * _DAYS : (n + 1) * _DAYS]) >= _NEARLY_ALL * DAY_MS / 1000]
    wobbles = _wobbles(days, weeks)
    patterns: dict[Target, dict[str, PatternPast]] = defaultdict(dict)
    counts = np.array(list(days.values())).reshape(len(days), WEEKS * _DAYS)
    now, plain = counts[:, :_DAYS][:, ::-1], counts[:, _DAYS : 2 * _DAYS][:, ::-1]
    before = _with_holidays(plain, now)
    for number, (target, name) in enumerate(days):
        if now[number].sum() + before[number].sum() > 0:
            patterns[target][name] = PatternPast(
                before=tuple(before[number].tolist()),
                now=tuple(now[number].tolist()),
                wobble=wobbles.get((target, name), 0.0),
            )
    spans = {target: Window(end - _FORTNIGHT, end) for target in patterns}
    spans |= {target.base: Window(end - _FORTNIGHT, end) for target in patterns}
    return History(spans, dict(patterns))


def _covered(covered: tuple[Window, ...], day: Window) -> float:
    return sum(max(0, min(one.end, day.end) - max(one.start, day.start)) for one in covered) / 1000


def _by_day(rows: pa.Table, end: Instant) -> _Days:
    """Return the requests of each declared pattern in each of the last days, the newest first."""
    rows = rows.filter(pc.and_(pc.is_valid(rows["pattern"]), pc.invert(rows["secondary"])))
    ago = (end - 1 - starts_of(rows)) // DAY_MS
    is_near = (ago >= 0) & (ago < WEEKS * _DAYS)
    rows, ago = rows.filter(pa.array(is_near)), ago[is_near]
    groups = groups_of(rows, _SUBJECT, ago)
    sums = groups.sums(rows["requests"].to_numpy())
    told = rows.select(_SUBJECT).take(pa.array(groups.first)).to_pydict()
    days: _Days = {}
    for *place, pattern, day, requests in zip(*told.values(), ago[groups.first].tolist(), sums.tolist(), strict=True):
        days.setdefault((Target(*place), pattern), [0.0] * (WEEKS * _DAYS))[day] = requests
    return days


def _with_holidays(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Expect on a holiday of either week what all patterns share, of each pattern that fits better so.

    A day on which half of all go astray together is one; what runs by the clock goes on. Rows are patterns.
    """
    earlier, later = before.sum(axis=1), now.sum(axis=1)
    enough = (earlier > _ENOUGH_CALLS) & (later > 0)
    if enough.sum() < _ENOUGH_PATTERNS:
        return before
    weekly = np.divide(later, earlier, out=np.ones(len(before)), where=earlier > 0)[:, None]
    ratio = np.divide(now, before * weekly, out=np.ones_like(now), where=(before > 0) & (weekly > 0))
    shared = np.maximum(np.median(ratio[enough], axis=0), _NEVER)
    is_holiday = np.abs(np.log(shared)) > math.log(_HOLIDAY)
    shifted = before * np.where(is_holiday, shared / np.median(shared), 1.0)
    is_better = _scatter(shifted, now) < _scatter(before, now)
    return np.where(is_better[:, None], shifted, before)


def _scatter(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return how far pairs of days lie from the two weeks' ratio, a number a pattern."""
    together = before + now
    whole = np.maximum(together.sum(axis=1), 1.0)[:, None]
    parts = [(one, one.sum(axis=1)[:, None] * together / whole) for one in (before, now)]
    return np.asarray(
        sum(
            np.divide((seen - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0).sum(axis=1)
            for seen, expected in parts
        )
    )


def _wobbles(days: _Days, weeks: list[int]) -> dict[tuple[Target, str], float]:
    """Return the variance of the logarithm of a pattern's week, what all share left out; of enough weeks alone."""
    if len(weeks) <= _LEAST_COMPARISONS:
        return {}
    totals = {subject: [sum(counts[n * _DAYS : (n + 1) * _DAYS]) for n in weeks] for subject, counts in days.items()}
    known = {subject: [math.log(one) for one in of] for subject, of in totals.items() if min(of) > _ENOUGH_CALLS}
    shared = [median(of[n] - of[0] for of in known.values()) for n in range(len(weeks))] if known else []
    return {
        subject: float(np.var([one - all_of for one, all_of in zip(of, shared, strict=True)], ddof=1))
        for subject, of in known.items()
    }
