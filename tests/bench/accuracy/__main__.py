"""How often Dynascope is right: `python -m tests.bench.accuracy [--seeds N] [--first SEED] [--only PART]`.

Healthy days: what is said of them is a false alarm. Planted faults: what is not found is missed, and how late it is
found is its delay, in windows. Figures stand by sampling mode and rate, with 95 % bounds (Clopper and Pearson).
Precision is found ÷ (found + wrong): wrong is what is medium or worse, on a healthy day or beside a fault at any table,
and neither the fault nor true of that log. What no sampling can show is not measured, and says so.
Templates of keys, as `infer` learns them, are compared with the ones that the keys were made from.
Ends with 1 when a figure is missed; the last line sums up.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from scipy.stats import beta

from tests.bench.accuracy import drift
from tests.bench.accuracy.faults import FAULTS
from tests.bench.accuracy.judging import SAMPLINGS, judge_day, judge_fault, judge_quiet, judge_recorded
from tests.bench.accuracy.recorded import RECORDED
from tests.bench.accuracy.templates import judge_templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.bench.accuracy.judging import Found, Healthy

_MOST_MEDIUM = 3
_WITHIN_WINDOWS = 2
_METRICS = "metrics at 1"


class Tally:
    """What came of all tries of one sampling, and of its healthy days."""

    def __init__(self) -> None:
        self.tries = self.found = self.wrong = 0
        self.delays: list[float] = []

    def add(self, tries: Sequence[Found]) -> None:
        """Count the tries of one fault."""
        self.tries += len(tries)
        self.found += sum(one.is_found for one in tries)
        self.wrong += sum(len(one.wrong) for one in tries)
        self.delays += [one.windows for one in tries if one.windows is not None]


def upper_bound(hits: int, tries: int) -> float:
    """Return the 95 % upper bound of a share (one-sided, Clopper and Pearson)."""
    return 1.0 if hits >= tries else float(beta.ppf(0.95, hits + 1, tries - hits))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many draws of each (20)")
    parser.add_argument("--first", type=int, default=1, help="the first seed; another one gives other days (1)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", choices=("healthy", "faults", "templates"), help="one part alone")
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    began = time.monotonic()
    missed: list[str] = []
    tallies = {name: Tally() for name in (*map(_named, SAMPLINGS), _METRICS)}
    with ProcessPoolExecutor(chosen.workers, initializer=_collect_rarely) as pool:
        if chosen.only in {None, "healthy"}:
            missed += _healthy(pool, seeds, tallies)
        if chosen.only in {None, "faults"}:
            missed += _faults(pool, seeds, tallies)
            missed += _recorded(pool, seeds, tallies)
    if chosen.only in {None, "healthy", "faults"}:
        _say_rates(tallies)
    if chosen.only in {None, "templates"}:
        missed += judge_templates(seeds)
    if chosen.only is None and drift.tell(chosen.seeds):
        missed.append("drift of simulated weeks")
    took = (time.monotonic() - began) / 60
    for line in missed:
        print(f"MISSED {line}")
    verdict = f"{len(missed)} figures missed" if missed else "every figure is met"
    seen = f"{chosen.seeds} seeds from {chosen.first}"
    print(f"bench-accuracy: {verdict}; {seen}, {took:.1f} minutes, {_cpu_minutes():.1f} of CPU")
    return 1 if missed else 0


def _collect_rarely() -> None:
    """Let a worker look for cycles a hundred times less often: a sixth of its time, and nothing of its memory."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)


def _cpu_minutes() -> float:
    """Return what this process and those that it started have taken; two idle cores halve it."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, whose)) / 60


def _named(sampling: tuple[str, float]) -> str:
    mode, rate = sampling
    return f"{mode} at {rate:g}"


def _said(names: Iterable[str]) -> str:
    """Write what was said, the most frequent first."""
    return ", ".join(f"{name} {times} times" if times > 1 else name for name, times in Counter(names).most_common(4))


def _healthy(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    print(
        f"{'healthy days':22} {'days':>5} {'high':>6} {'bound':>7} {'medium a day':>13} {'worst':>6} {'wrong':>6}"
        "  what was said"
    )
    missed = []
    for sampling, days in zip(SAMPLINGS, zip(*pool.map(judge_day, seeds), strict=True), strict=True):
        missed += _tell_healthy(_named(sampling), days, tallies)
        sequences = sorted({said for day in days for said in day.sequences})
        if sampling == ("request", 0.01) and sequences:
            missed.append(f"{_named(sampling)}: findings of sequences that are not whole: {', '.join(sequences)}")
    return missed + _tell_healthy(_METRICS, list(pool.map(judge_quiet, seeds)), tallies)


def _tell_healthy(name: str, days: Sequence[Healthy], tallies: dict[str, Tally]) -> list[str]:
    """Print the line of the healthy days as one sampling saw them, and return what was missed."""
    with_high = sum(bool(day.high) for day in days)
    worst = max(len(day.medium) for day in days)
    mean = sum(len(day.medium) for day in days) / len(days)
    wrong = sum(len(day.wrong) for day in days)
    tallies[name].wrong += wrong
    print(
        f"  {name:20} {len(days):5} {with_high:6} {upper_bound(with_high, len(days)):7.3f} {mean:13.2f} {worst:6}"
        f" {wrong:6}  {_said(said for day in days for said in (*day.high, *day.medium))}",
        flush=True,
    )
    missed = [f"{name}: high findings on {with_high} of {len(days)} healthy days"] if with_high else []
    return missed + ([f"{name}: {worst} medium findings on one healthy day"] if worst > _MOST_MEDIUM else [])


def _faults(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    heads = f"{'tries':>5} {'found':>6} {'missed at most':>15} {'windows':>8} {'wrong':>6}"
    print(f"{'planted faults':22} {heads}  by sampling")
    missed = []
    for number, fault in enumerate(FAULTS):
        by_seed = list(pool.map(judge_fault, [number] * len(seeds), seeds))
        for sampling, tries in zip(fault.samplings, zip(*by_seed, strict=True), strict=True):
            missed += _tell_fault(fault.detector, _named(sampling), tries, tallies)
        unseen = [_named(sampling) for sampling in SAMPLINGS if sampling not in fault.samplings]
        if unseen:
            print(f"  {fault.detector:20} not measured: {', '.join(unseen)}")
    return missed


def _recorded(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    missed = []
    for number, fault in enumerate(RECORDED):
        tries = list(pool.map(judge_recorded, [number] * len(seeds), seeds))
        missed += _tell_fault(fault.detector, _METRICS, tries, tallies)
    return missed


def _tell_fault(detector: str, sampling: str, tries: Sequence[Found], tallies: dict[str, Tally]) -> list[str]:
    """Print the line of one fault as one sampling saw it, and return what was missed."""
    tallies[sampling].add(tries)
    found = sum(one.is_found for one in tries)
    slowest = max((one.windows for one in tries if one.windows is not None), default=0.0)
    bound = upper_bound(len(tries) - found, len(tries))
    names = [name for one in tries for name in one.wrong]
    wrong = f": {_said(names)}" if names else ""
    print(
        f"  {detector:20} {len(tries):5} {found:6} {bound:15.3f} {slowest:8.2f} {len(names):6}  {sampling}{wrong}",
        flush=True,
    )
    if found < len(tries):
        return [f"{detector}, {sampling}: found {found} of {len(tries)}"]
    if slowest > _WITHIN_WINDOWS:
        return [f"{detector}, {sampling}: found after {slowest:.1f} windows"]
    return []


def _say_rates(tallies: dict[str, Tally]) -> None:
    """Print recall, precision and delay by sampling, each share with the worst that 95 % leave possible."""
    shares = f"{'recall':>7} {'at least':>9} {'precision':>10} {'at least':>9}"
    print(f"{'by sampling':22} {shares} {'delay':>6} {'most':>6} {'wrong':>6}")
    for name, tally in tallies.items():
        print(f"  {name:20} {_rates(tally) if tally.tries else ' not measured'}", flush=True)


def _rates(tally: Tally) -> str:
    told = tally.found + tally.wrong
    precise = 1 - upper_bound(tally.wrong, told) if told else 0.0
    precision = f"{tally.found / told:10.3f} {precise:9.3f}" if told else f"{'-':>10} {'-':>9}"
    least = 1 - upper_bound(tally.tries - tally.found, tally.tries)
    mean = sum(tally.delays) / len(tally.delays) if tally.delays else 0.0
    late = f"{mean:6.2f} {max(tally.delays, default=0.0):6.2f}"
    return f"{tally.found / tally.tries:7.3f} {least:9.3f} {precision} {late} {tally.wrong:6}"


if __name__ == "__main__":
    sys.exit(main())
