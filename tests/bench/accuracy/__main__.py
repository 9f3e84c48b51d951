"""How often Dynascope is right: `python -m tests.bench.accuracy [--seeds N] [--first SEED] [--only PART]`.

Healthy days: what is said of them is a false alarm. Planted faults: what is not found is missed, and how late it is
found is its delay, in windows. Figures stand by sampling mode and rate, with 95 % bounds (Clopper and Pearson).
Precision is found ÷ (found + alarms): an alarm is high or critical, on a healthy day or on a table without a fault.
Templates of keys, as `infer` learns them, are compared with the ones that the keys were made from.
Ends with 1 when a figure is missed; the last line sums up.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from scipy.stats import beta

from analyzer.contract.load import contract_from
from analyzer.detectors import DETECTORS
from analyzer.model.batch import Batch
from analyzer.model.finding import Severity
from analyzer.model.observations import Observations
from analyzer.model.sight import SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.pipeline import Walk
from analyzer.requests.digest import Digest
from collectors.table_catalog.parse import parse_table
from tests.bench.accuracy import drift
from tests.bench.accuracy.faults import FAULTS, LENGTH_MS, ONSET_MS, Fault
from tests.bench.accuracy.healthy import DAY_MS, START_MS, healthy_day
from tests.bench.accuracy.patterns import contract_document, table_documents
from tests.bench.accuracy.recorded import RECORDED
from tests.bench.accuracy.sampling import MODES, sampled
from tests.bench.accuracy.templates import judge_templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.report import Report
    from tests.bench.accuracy.healthy import Record

_WINDOW_MS = 300_000
_SEQUENCES = frozenset(
    {
        "limit-before-filter",
        "empty-page-stop",
        "missing-pagination",
        "n-plus-one",
        "unprocessed-dropped",
        "gsi-stale-read",
        "gsi-lag",
        "stuck-lock",
        "polling-read",
        "item-growth",
        "queue-like-table",
        "unconditional-write",
    }
)
_SAMPLINGS = (("request", 1.0), *((mode, rate) for rate in (0.1, 0.01) for mode in MODES))
_MOST_MEDIUM = 3
_WITHIN_WINDOWS = 2


class Healthy(NamedTuple):
    """What was said of a healthy day: findings that are high or worse, medium ones, and those of sequences."""

    high: tuple[str, ...]
    medium: tuple[str, ...]
    sequences: tuple[str, ...]


class Found(NamedTuple):
    """Whether a planted fault was found, how many windows after it began, and alarms on tables without a fault."""

    is_found: bool
    windows: float | None
    elsewhere: int = 0


class Tally:
    """What came of all tries of one sampling."""

    def __init__(self) -> None:
        self.tries = self.found = self.alarms = 0
        self.delays: list[float] = []

    def add(self, tries: Sequence[Found]) -> None:
        """Count the tries of one fault."""
        self.tries += len(tries)
        self.found += sum(one.is_found for one in tries)
        self.alarms += sum(one.elsewhere for one in tries)
        self.delays += [one.windows for one in tries if one.windows is not None]


def _report(records: Sequence[Record], length_ms: int) -> Report:
    stretch = Window(START_MS, START_MS + length_ms)
    tables = tuple(
        TableSnapshot(target=Target(None, None, document["TableName"]), table=parse_table(document))
        for document in table_documents()
    )
    batch = Batch(window=stretch, tables=tables)
    beside = Observations(
        window=stretch, batches=(batch,), sources=frozenset({SourceName.REQUEST_LOG, SourceName.TABLE_CATALOG})
    )
    contract = contract_from(contract_document(), "shop")
    digest = Digest(contract.lexicon())
    walk = Walk(contract, tuple(detector() for detector in DETECTORS), window_ms=_WINDOW_MS, beside=beside)
    lines = [msgspec.json.encode({k: v for k, v in record.items() if v is not None}) for record in records]
    for start in range(0, len(lines), 2000):
        digest.update(b"\n".join(lines[start : start + 2000]) + b"\n")
        span = digest.span()
        if span is not None:
            walk.advance(digest, span.end - 120_000)
    return walk.finish(digest, window=stretch)


def judge_day(seed: int) -> list[Healthy]:
    """Judge one healthy day as each sampling saw it."""
    records = healthy_day(seed)
    return [_said(_report(list(sampled(records, mode, rate, seed)), DAY_MS)) for mode, rate in _SAMPLINGS]


def _said(report: Report) -> Healthy:
    told = [(finding.severity, f"{finding.detector} on {finding.table}") for finding in report.findings]
    return Healthy(
        high=tuple(name for severity, name in told if severity.rank >= Severity.HIGH.rank),
        medium=tuple(name for severity, name in told if severity is Severity.MEDIUM),
        sequences=tuple(name for _, name in told if name.split()[0] in _SEQUENCES),
    )


def judge_fault(number: int, seed: int) -> list[Found]:
    """Judge ten minutes with a fault in their second half, as each sampling saw them that leaves it to be seen."""
    fault = FAULTS[number]
    records = fault.log(seed)
    reports = (_report(list(sampled(records, mode, rate, seed)), LENGTH_MS) for mode, rate in _samplings_of(fault))
    tables = (fault.table, *fault.also)
    return [_found(report, fault.detector, tables, ONSET_MS) for report in reports]


def _samplings_of(fault: Fault) -> list[tuple[str, float]]:
    return [("request", 1.0), *((mode, 0.1) for mode in fault.at_a_tenth)]


def judge_recorded(number: int, seed: int) -> Found:
    """Judge one draw of a fault that stands in metrics, or takes a contract or an index of its own."""
    fault = RECORDED[number]
    report, onset = fault.judged(seed)
    return _found(report, fault.detector, None, onset)


def _found(report: Report, detector: str, tables: tuple[str, ...] | None, onset: int) -> Found:
    hits = [f for f in report.findings if f.detector == detector and (tables is None or f.table == tables[0])]
    alarms = [f for f in report.findings if f.severity.rank >= Severity.HIGH.rank]
    elsewhere = 0 if tables is None else sum(f.table not in tables for f in alarms)
    if not hits:
        return Found(is_found=False, windows=None, elsewhere=elsewhere)
    seen = [f.last_seen if f.first_seen is None or f.first_seen < onset else f.first_seen for f in hits]
    first = min(time for time in seen if time is not None)
    return Found(is_found=True, windows=max(0.0, (first - onset) / _WINDOW_MS), elsewhere=elsewhere)


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
    tallies = {f"{mode} at {rate:g}": Tally() for mode, rate in (*_SAMPLINGS, ("metrics", 1.0))}
    with ProcessPoolExecutor(chosen.workers) as pool:
        if chosen.only in {None, "healthy"}:
            missed += _healthy(pool, seeds, tallies)
        if chosen.only in {None, "faults"}:
            missed += _faults(pool, seeds, tallies)
            missed += _recorded(pool, seeds, tallies)
    _say_rates(tallies)
    if chosen.only in {None, "templates"}:
        missed += judge_templates(seeds)
    if chosen.only is None and drift.tell(chosen.seeds):
        missed.append("drift of simulated weeks")
    minutes = (time.monotonic() - began) / 60
    for line in missed:
        print(f"MISSED {line}")
    verdict = f"{len(missed)} figures missed" if missed else "every figure is met"
    print(f"bench-accuracy: {verdict}; {chosen.seeds} seeds from {chosen.first}, {minutes:.1f} minutes")
    return 1 if missed else 0


def _healthy(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    print(f"{'healthy days':22} {'days':>5} {'high':>6} {'bound':>7} {'medium a day':>13} {'worst':>6}  what was said")
    missed = []
    by_seed = list(pool.map(judge_day, seeds))
    for (mode, rate), days in zip(_SAMPLINGS, zip(*by_seed, strict=True), strict=True):
        with_high = sum(bool(day.high) for day in days)
        worst = max(len(day.medium) for day in days)
        mean = sum(len(day.medium) for day in days) / len(days)
        said = sorted({name for day in days for name in (*day.high, *day.medium)})
        name = f"{mode} at {rate:g}"
        tallies[name].alarms += sum(len(day.high) for day in days)
        print(
            f"  {name:20} {len(days):5} {with_high:6} {upper_bound(with_high, len(days)):7.3f} {mean:13.2f} {worst:6}"
            f"  {', '.join(said[:4])}",
            flush=True,
        )
        if with_high:
            missed.append(f"{name}: high findings on {with_high} of {len(days)} healthy days")
        if worst > _MOST_MEDIUM:
            missed.append(f"{name}: {worst} medium findings on one healthy day")
        sequences = sorted({said for day in days for said in day.sequences})
        if (mode, rate) == ("request", 0.01) and sequences:
            missed.append(f"{name}: findings of sequences that are not whole: {', '.join(sequences)}")
    return missed


def _faults(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    print(f"{'planted faults':22} {'tries':>5} {'found':>6} {'missed at most':>15} {'windows':>8}  by sampling")
    missed = []
    for number, fault in enumerate(FAULTS):
        by_seed = list(pool.map(judge_fault, [number] * len(seeds), seeds))
        for (mode, rate), tries in zip(_samplings_of(fault), zip(*by_seed, strict=True), strict=True):
            missed += _tell_fault(fault.detector, f"{mode} at {rate:g}", tries, tallies)
    return missed


def _recorded(pool: ProcessPoolExecutor, seeds: range, tallies: dict[str, Tally]) -> list[str]:
    missed = []
    for number, fault in enumerate(RECORDED):
        tries = list(pool.map(judge_recorded, [number] * len(seeds), seeds))
        missed += _tell_fault(fault.detector, "metrics at 1", tries, tallies)
    return missed


def _tell_fault(detector: str, sampling: str, tries: Sequence[Found], tallies: dict[str, Tally]) -> list[str]:
    """Print the line of one fault as one sampling saw it, and return what was missed."""
    tallies[sampling].add(tries)
    found = sum(one.is_found for one in tries)
    slowest = max((one.windows for one in tries if one.windows is not None), default=0.0)
    bound = upper_bound(len(tries) - found, len(tries))
    print(f"  {detector:20} {len(tries):5} {found:6} {bound:15.3f} {slowest:8.2f}  {sampling}", flush=True)
    if found < len(tries):
        return [f"{detector}, {sampling}: found {found} of {len(tries)}"]
    if slowest > _WITHIN_WINDOWS:
        return [f"{detector}, {sampling}: found after {slowest:.1f} windows"]
    return []


def _say_rates(tallies: dict[str, Tally]) -> None:
    """Print recall, precision and delay by sampling, each share with the worst that 95 % leave possible."""
    shares = f"{'recall':>7} {'at least':>9} {'precision':>10} {'at least':>9}"
    print(f"{'by sampling':22} {shares} {'delay':>6} {'most':>6}")
    for name, tally in tallies.items():
        if tally.tries:
            told = tally.found + tally.alarms
            recall, precision = tally.found / tally.tries, tally.found / told if told else 1.0
            least = 1 - upper_bound(tally.tries - tally.found, tally.tries)
            precise = 1 - upper_bound(tally.alarms, told) if told else 0.0
            mean = sum(tally.delays) / len(tally.delays) if tally.delays else 0.0
            print(
                f"  {name:20} {recall:7.3f} {least:9.3f} {precision:10.3f} {precise:9.3f}"
                f" {mean:6.2f} {max(tally.delays, default=0.0):6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
