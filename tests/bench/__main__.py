"""Speed and memory of the digest as ratios in one run: `python -m tests.bench [--quick]`; exits 1 for a figure missed.

Results are compared before any time counts. Times are CPU seconds of one process each; candidates run interleaved, in
random order, and a first round is thrown away. Memory and shape churn are measured last. `--only plain`, `--only hard`,
`--only churn` and `--only history` run a part.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import declared
from tests.bench.measure import Interval, interval_of, run

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".bench"
PYTHON = sys.executable
DYNASCOPE = [PYTHON, "-c", "from analyzer.cli.main import main; main()"]

MEASURED = (
    "measured: CPU seconds from bytes on disk to the printed report, in processes of their own, against a typed decode"
    " of the same fields (decision 0007) and DuckDB; {records:,} records a log, {rounds} rounds"
)
LEAST_RATIO = 0.25
MOST_MEBIBYTES = 128
MOST_GROWTH_MEBIBYTES = 4
MOST_TWO_WORKERS = 1.15
MOST_DISTINCT_MEBIBYTES = 128


class Log(NamedTuple):
    """A file of the bench with its contract."""

    name: str
    path: Path
    contract: Path
    is_hard: bool


class Figures:
    """The figures of a run; `is_missed` once one of them is."""

    def __init__(self) -> None:
        self.is_missed = False

    def judge(self, name: str, value: str, *, is_met: bool, wanted: str) -> None:
        """Print a figure and whether it is met."""
        self.is_missed |= not is_met
        print(f"{'ok    ' if is_met else 'MISSED'}  {name}: {value} (wanted: {wanted})", flush=True)


def prepare(records: int, only: str | None) -> list[Log]:
    """Write the logs that are asked for and not there yet; their names tell the version of what writes them."""
    FOLDER.mkdir(exist_ok=True)
    sources = [(ROOT / "tests/bench" / name).read_bytes() for name in ("workload.py", "generate.py")]
    version = blake2b(b"".join(sources), digest_size=4).hexdigest()
    logs = []
    for name, hard in (("plain", False), ("hard", True)):
        if only not in {None, name}:
            continue
        path = FOLDER / f"{name}-{records}-{version}.jsonl"
        contract = FOLDER / f"{name}-contract.json"
        contract.write_text(json.dumps(declared.contract(hard=hard)))
        if not path.exists():
            print(f"writing {path.name}", flush=True)
            part = path.with_suffix(".part")
            options = [str(records), "--output", str(part), *(["--hard"] if hard else [])]
            run([PYTHON, "-m", "tests.bench.generate", *options])
            part.rename(path)
        logs.append(Log(name, path, contract, hard))
    return logs


def analyze(log: Log, *options: str, source: str | None = None) -> list[str]:
    """Return the command that makes a report of a log."""
    file = str(log.path) if source is None else source
    return [*DYNASCOPE, "analyze", file, "--contract", str(log.contract), "--format", "json", *options]


def compare(log: Log, records: int, figures: Figures) -> None:
    """Compare the digest's answer with DuckDB's, and what the report adds up to."""
    wanted = json.loads(run([PYTHON, "-m", "tests.bench.duck", str(log.path)]).output)
    found = json.loads(run([PYTHON, "-m", "tests.bench.digested", str(log.path), str(log.contract)]).output)
    same = wanted["counts"] == found["counts"]
    figures.judge(f"{log.name}: minute × pattern counts", "equal" if same else "differ", is_met=same, wanted="equal")
    bounds = {(table, part): (low, high) for table, part, low, high in found["keys"]}
    top = [(table, part, units) for table, part, units in wanted["keys"][:10]]
    held = [low <= units <= high for table, part, units in top for low, high in [bounds.get((table, part), (0, -1))]]
    value = f"{sum(held)} of {len(top)} within their bounds"
    figures.judge(f"{log.name}: top keys", value, is_met=all(held), wanted="all")
    report = json.loads(run(analyze(log)).output)
    total = round(sum(_value(pattern["requests"]) for pattern in report["patterns"]))
    figures.judge(f"{log.name}: requests of the report", f"{total:,}", is_met=total == records, wanted=f"{records:,}")


def _value(estimate: Any) -> float:
    return float(estimate[0] if isinstance(estimate, list) else estimate)


def speed(logs: list[Log], rounds: int, figures: Figures) -> None:
    """Time floor, DuckDB and the whole way from bytes to report, interleaved."""
    commands = {
        (log.name, candidate): command
        for log in logs
        for candidate, command in (
            ("floor", [PYTHON, "-m", "tests.bench.floor", str(log.path)]),
            ("duckdb", [PYTHON, "-m", "tests.bench.duck", str(log.path)]),
            ("dynascope", analyze(log)),
            ("two workers", analyze(log, "--jobs", "2")),
        )
    }
    shuffle = random.Random(1)
    seconds: dict[tuple[str, str], list[float]] = {name: [] for name in commands}
    peaks: dict[str, float] = {}
    for number in range(rounds + 1):
        order = list(commands)
        shuffle.shuffle(order)
        for name in order:
            cost = run(commands[name])
            if number:
                seconds[name].append(cost.cpu_seconds)
            if name[1] == "dynascope":
                peaks[name[0]] = max(peaks.get(name[0], 0.0), cost.peak_mebibytes)
            print(f"  {name[0]}, {name[1]}: {cost.cpu_seconds:.2f} s, {cost.peak_mebibytes:.0f} MB", flush=True)
        print(f"round {number} of {rounds}{' (warm-up)' if not number else ''}", flush=True)
    for log in logs:
        floor = seconds[log.name, "floor"]
        ratios = {candidate: _ratio(floor, seconds[log.name, candidate]) for candidate in ("dynascope", "duckdb")}
        print(f"        {log.name}: floor {interval_of(floor)} s, DuckDB's ratio {ratios['duckdb']}")
        ratio = ratios["dynascope"]
        wanted = f"lower end ≥ {LEAST_RATIO}"
        figures.judge(f"{log.name}: floor ÷ dynascope", str(ratio), is_met=ratio.low >= LEAST_RATIO, wanted=wanted)
        peak = peaks[log.name]
        figures.judge(
            f"{log.name}: peak memory", f"{peak:.0f} MB", is_met=peak <= MOST_MEBIBYTES, wanted=f"≤ {MOST_MEBIBYTES} MB"
        )
        two = _ratio(seconds[log.name, "two workers"], seconds[log.name, "dynascope"])
        is_met = two.median <= MOST_TWO_WORKERS
        figures.judge(f"{log.name}: CPU of two workers", f"{two} ×", is_met=is_met, wanted=f"≤ {MOST_TWO_WORKERS} ×")


def _ratio(one: list[float], other: list[float]) -> Interval:
    return interval_of([a / b for a, b in zip(one, other, strict=True)])


def growth(log: Log, records: int, figures: Figures) -> None:
    """Measure how peak memory grows from so many records to five times as many, made as they are read."""
    peaks = []
    for count in (records, 5 * records):
        source = [PYTHON, "-m", "tests.bench.generate", str(count), *(["--hard"] if log.is_hard else [])]
        peaks.append(run(analyze(log, source="-"), source).peak_mebibytes)
    grown = peaks[1] - peaks[0]
    figures.judge(
        f"{log.name}: growth from {records:,} to {5 * records:,} records",
        f"{grown:.1f} MB",
        is_met=grown <= MOST_GROWTH_MEBIBYTES,
        wanted=f"≤ {MOST_GROWTH_MEBIBYTES} MB",
    )


def distinct_keys(count: int, figures: Figures) -> None:
    """Measure memory under keys that never come back."""
    peak = int(run([PYTHON, "-m", "tests.bench.distinct_keys", str(count)]).output) / 1024**2
    is_met = peak <= MOST_DISTINCT_MEBIBYTES
    wanted = f"≤ {MOST_DISTINCT_MEBIBYTES} MB"
    figures.judge(f"peak memory under {count:,} distinct keys", f"{peak:.0f} MB", is_met=is_met, wanted=wanted)


def shape_churn(figures: Figures) -> None:
    """Run the bench of shape churn, which judges for itself."""
    cost = run([PYTHON, "-m", "tests.bench.bench_shape_churn"])
    print(cost.output, end="")
    figures.judge("shape churn", f"exit {cost.exit_code}", is_met=cost.exit_code == 0, wanted="exit 0")


def history(figures: Figures) -> None:
    """Run the bench of history, which judges for itself."""
    cost = run([PYTHON, "-m", "tests.bench.bench_history"])
    print(cost.output, end="")
    figures.judge("history", f"exit {cost.exit_code}", is_met=cost.exit_code == 0, wanted="exit 0")


def main() -> int:
    """Run everything; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, five rounds")
    parser.add_argument("--records", type=int, help="records of a log (2,000,000)")
    parser.add_argument("--rounds", type=int, help="rounds that count (15)")
    parser.add_argument("--only", choices=("plain", "hard", "churn", "history"), help="one part alone")
    options = parser.parse_args()
    records = options.records or (200_000 if options.quick else 2_000_000)
    rounds = options.rounds or (5 if options.quick else 15)
    print(MEASURED.format(records=records, rounds=rounds), flush=True)
    figures = Figures()
    if options.only == "churn":
        shape_churn(figures)
        return int(figures.is_missed)
    if options.only == "history":
        history(figures)
        return int(figures.is_missed)
    logs = prepare(records, options.only)
    for log in logs:
        print(f"comparing results on the {log.name} log", flush=True)
        compare(log, records, figures)
    if figures.is_missed:
        print("results differ: times would mean nothing")
        return 1
    speed(logs, rounds, figures)
    for log in logs:
        print(f"measuring memory on the {log.name} log", flush=True)
        growth(log, records, figures)
    if options.only is None:
        distinct_keys(5 * records, figures)
        shape_churn(figures)
        history(figures)
    return int(figures.is_missed)


if __name__ == "__main__":
    raise SystemExit(main())
