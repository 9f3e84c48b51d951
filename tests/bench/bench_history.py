"""What history takes: ten thousand rows a minute for seven days, two of them as minutes and five as hours.

`python -m tests.bench.bench_history` writes an hour of rows as the daemon does, minute by minute, then as one hour, and
exits 1 where seven days of such hours take more than 2 GB. Rows are of 200 tables, 2,000 shapes and 5 callers; requests
a minute are log-normal about 12 with crowds, latencies log-normal, bytes and sums of latency different in every row.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtr

from analyzer.history.columns import IDENTITY, LATENCY_KEYS, SCHEMAS, Kind
from analyzer.history.files import Label, encode
from analyzer.history.merging import latency_maps, merged, rolled_up

ROWS, MINUTES = 10_000, 60
MOST_BYTES = 2_000_000_000
_START = 1_764_500_400_000
_DAYS_AS_MINUTES, _DAYS_AS_HOURS = 2, 5


def minutes(rows: int = ROWS, many: int = MINUTES) -> list[pa.Table]:
    """Return the rows of so many minutes."""
    rng = np.random.default_rng(1)
    number = np.arange(rows)
    fingerprints = [f"{value:016x}" for value in rng.integers(2**63, size=rows // 5 + 1).tolist()]
    shapes, callers = number // 5, number % 5
    names: dict[str, Any] = {
        "account": ["111122223333"] * rows,
        "region": ["us-east-1"] * rows,
        "table_name": [f"table-{n // 50}" for n in number.tolist()],
        "index_name": [None] * rows,
        "kind_of_pattern": ["declared"] * rows,
        "pattern": [f"pattern-{n}" for n in shapes.tolist()],
        "fingerprint": [fingerprints[n] for n in shapes.tolist()],
        "operation": ["Query" if n % 3 else "PutItem" for n in shapes.tolist()],
        "caller": [f"service-{n}" for n in callers.tolist()],
        "secondary": [False] * rows,
    }
    rates, middles = rng.lognormal(2.5, 1.8, rows), rng.normal(np.log(5), 0.5, rows)
    z = (np.log(np.array(LATENCY_KEYS[:-1]))[None, :] - middles[:, None]) / 0.35
    chances = np.diff(np.concatenate([np.zeros((rows, 1)), ndtr(z), np.ones((rows, 1))], axis=1), axis=1)
    chances /= chances.sum(axis=1, keepdims=True)
    return [_minute(_START + n * 60_000, names, rates, middles, chances, rng) for n in range(many)]


def _minute(
    start: int,
    names: dict[str, Any],
    rates: np.ndarray,
    middles: np.ndarray,
    chances: np.ndarray,
    rng: np.random.Generator,
) -> pa.Table:
    rows = len(rates)
    requests = rng.poisson(rates * rng.gamma(5, 0.2, rows))
    writes = np.arange(rows) // 5 % 3 == 0
    schema = SCHEMAS[Kind.REQUESTS]
    values: dict[str, Any] = {name: np.zeros(rows) for name in schema.names if name not in IDENTITY}
    values |= {name: pa.array(of) for name, of in names.items()}
    values |= {"start": np.full(rows, start), "requests": requests, "read_units": requests * ~writes * 0.5}
    values |= {"write_units": requests * writes, "failed": rng.binomial(requests, 5e-4)}
    values |= {"throttled": rng.binomial(requests, 1e-4), "scanned": requests * ~writes * 2.0}
    values |= {
        "returned": requests * ~writes * 2.0,
        "returned_bytes": np.rint(requests * 800 * rng.normal(1, 0.02, rows)),
    }
    values |= {"latency_sum_ms": requests * np.exp(middles) * rng.normal(1, 0.1, rows)}
    values |= {"units_known": np.ones(rows), "counts_known": np.ones(rows), "attempts_a_request": np.ones(rows)}
    values |= {name: pa.nulls(rows, pa.float64()) for name in ("requests_low", "requests_high", "observed")}
    values["latency_ms"] = latency_maps(rng.multinomial(requests, chances))
    return pa.table({name: values[name] for name in schema.names}).cast(schema)


def main() -> int:
    """Write, measure, print; return the exit code."""
    made = minutes()
    began = time.process_time()
    alone = sum(len(encode(Kind.REQUESTS, rows, Label("d1", (_START,)))) for rows in made) / (ROWS * MINUTES)
    spent = (time.process_time() - began) / MINUTES
    hour = merged(pa.concat_tables(made))
    united = len(encode(Kind.REQUESTS, hour, Label("d1", (_START,)))) / len(hour)
    rolled = rolled_up(hour)
    by_hour = len(encode(Kind.HOURS, rolled, Label("d1", (_START,)))) / len(rolled)
    a_day = ROWS * 1440
    whole = a_day * (_DAYS_AS_MINUTES * alone + _DAYS_AS_HOURS * united) + _DAYS_AS_HOURS * ROWS * 24 * by_hour
    state = "ok    " if whole <= MOST_BYTES else "MISSED"
    print(
        f"{state}  history of {ROWS:,} rows a minute for 7 days: {whole / 1e9:.2f} GB (wanted: ≤ 2 GB);"
        f" bytes a row: {alone:.1f} as minutes, {united:.1f} in files of hours, {by_hour:.0f} a row an hour;"
        f" {spent * 1000:.0f} ms of CPU to write a minute"
    )
    return int(whole > MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main())
