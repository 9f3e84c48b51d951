"""How often drift is right on simulated weeks: two hundred patterns whose counts come in crowds, and grow together.

Counts of a day are negative binomial (they scatter by 3 to 15 percent beside Poisson's law), every pattern wobbles by
5 percent from week to week, all grow by 8.
Eight of them change in the last week, four to twice and four to two fifths of what they were. What is told of others
is a false flag: the bound is one in ten weeks. `python -m tests.bench.accuracy.drift [--seeds N]`
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.history.columns import IDENTITY, SCHEMAS, Kind
from analyzer.history.merging import latency_maps
from analyzer.model.window import Window
from analyzer.reports.drift import drift
from analyzer.reports.frame import Frame, frame_of

__all__ = ["LEAST_POWER", "MOST_FALSE", "Outcome", "judge_weeks", "simulated", "tell"]

MOST_FALSE, LEAST_POWER = 0.1, 0.95
_PATTERNS, _CHANGED = 200, 8
_GROWTH = 1.08
_WEEK_WOBBLE, _PAST = 0.05, 6
_DAY_MS, _WEEK_MS = 86_400_000, 604_800_000
_START = 1_759_708_800_000  # a Monday


class Outcome(NamedTuple):
    """Of one seed: patterns told that had not changed, and of the changed ones those told, of so many."""

    false: int
    doubled: int
    shrunk: int
    each: int


def simulated(seed: int, patterns: int = _PATTERNS) -> tuple[list[Frame], np.ndarray]:
    """Return the weeks, the last one last, and by which factor each pattern changed in it."""
    rng = np.random.default_rng(seed)
    daily = rng.lognormal(math.log(2000), 1.8, patterns).clip(60)
    factor = np.ones(patterns)
    factor[: _CHANGED // 2], factor[_CHANGED // 2 : _CHANGED] = 2.0, 0.4
    daily[:_CHANGED] = daily[:_CHANGED].clip(500)
    crowd = rng.uniform(0.03, 0.15, patterns) ** 2
    weekday = np.array([1.0, 1.05, 1.0, 0.98, 0.95, 0.6, 0.55])
    units = rng.choice([0.5, 1.0, 2.5, 8.0], patterns)
    frames = []
    for week in range(_PAST + 1):
        is_last = week == _PAST
        expected = daily * rng.lognormal(0, _WEEK_WOBBLE, patterns) * (_GROWTH**week)
        expected = expected * factor if is_last else expected
        mean = expected[:, None] * weekday[None, :]
        counts = rng.poisson(mean * rng.gamma(1 / crowd[:, None], crowd[:, None], mean.shape))
        frames.append(_frame(week, counts, units, rng))
    return frames, factor


def _frame(week: int, counts: np.ndarray, units: np.ndarray, rng: np.random.Generator) -> Frame:
    start = _START + week * _WEEK_MS
    pattern, day = np.nonzero(counts)
    requests = counts[pattern, day].astype(float)
    many = len(requests)
    schema = SCHEMAS[Kind.HOURS]
    columns = {name: pa.array(np.zeros(many)) for name in schema.names if name not in IDENTITY}
    names = [f"pattern-{number}" for number in pattern.tolist()]
    place = (None, None, "orders", None, "declared", names, names, "GetItem", "api", False)
    columns |= {
        name: pa.array(value if isinstance(value, list) else [value] * many)
        for name, value in zip(IDENTITY, place, strict=True)
    }
    columns |= {name: pa.nulls(many) for name in ("requests_low", "requests_high", "observed")}
    columns["start"] = pa.array(start + day * _DAY_MS)
    columns["requests"] = pa.array(requests)
    columns["read_units"] = pa.array(requests * units[pattern] * rng.lognormal(0, 0.02, many))
    columns["latency_ms"] = latency_maps(np.zeros((many, 1), dtype=np.int64))
    rows = pa.table({name: columns[name] for name in schema.names}).cast(schema)
    window = Window(start, start + _WEEK_MS)
    return frame_of(window, {Kind.HOURS: rows}, (window,))


def judge_weeks(seed: int) -> Outcome:
    """Judge one simulated week beside its past."""
    frames, factor = simulated(seed)
    found = drift(frames[-1], tuple(frames[:-1]), EMPTY_CONTRACT)
    told = {int(one.subject.name.removeprefix("pattern-")) for one in found.drifted}
    changed = {number: value for number, value in enumerate(factor.tolist()) if value != 1.0}
    doubled = sum(number in told for number, value in changed.items() if value > 1)
    shrunk = sum(number in told for number, value in changed.items() if value < 1)
    return Outcome(len(told - changed.keys()), doubled, shrunk, len(changed) // 2)


def tell(seeds: int) -> bool:
    """Print what so many seeds give, and return whether a figure is missed."""
    found = [judge_weeks(seed) for seed in range(seeds)]
    tries = sum(one.each for one in found)
    false = sum(one.false for one in found) / seeds
    doubled, shrunk = sum(one.doubled for one in found) / tries, sum(one.shrunk for one in found) / tries
    is_missed = false > MOST_FALSE or min(doubled, shrunk) < LEAST_POWER
    state = "MISSED" if is_missed else "ok    "
    print(
        f"{state}  drift of {_PATTERNS} patterns in {seeds} simulated weeks: {false:.2f} false flags a week"
        f" (wanted: ≤ {MOST_FALSE}), power {doubled:.1%} for twice, {shrunk:.1%} for two fifths"
        f" (wanted: ≥ {LEAST_POWER:.0%})"
    )
    return is_missed


def main() -> int:
    """Run the simulated weeks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="simulated weeks (20)")
    return int(tell(parser.parse_args().seeds))


if __name__ == "__main__":
    raise SystemExit(main())
