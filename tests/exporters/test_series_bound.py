"""The largest account that is promised: how many series it makes, and that a counter names each bound that bites."""

from __future__ import annotations

import subprocess
import time

import numpy as np
from msgspec.structs import replace

from analyzer.exporters.assemble import Kept, Ledger, assemble, count_dropped
from analyzer.exporters.lags import LAG
from analyzer.exporters.metrics import DURATION_BUCKETS, METRICS, Kind, Metric
from analyzer.exporters.prometheus import render
from analyzer.exporters.series import Exemplar
from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Cell, Count, Counts, Refusal, ThrottleCount
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Change, Direction, Severity
from analyzer.model.report import Coverage, Report
from analyzer.model.shape import Shape
from analyzer.model.target import Target
from analyzer.model.traffic import Capacity, Place
from tests.exporters.conftest import WINDOW, finding, report
from tests.exporters.test_prometheus import HEALTH
from tests.support import evidence
from tests.support.tools import need

TABLES, INDEXES, PATTERNS = 500, 3, 200
MOST = 50_000
OPERATIONS = ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")
BITE = frozenset(
    {
        *(f"dynascope_{name}_total" for name in ("requests", "request_errors", "read_units", "write_units")),
        *(f"dynascope_{name}_total" for name in ("wasted_read_units", "items_scanned", "items_returned")),
        *(f"dynascope_key_heat_ratio{end}" for end in ("", "_low", "_high")),
        "dynascope_request_duration_seconds",
        LAG,
    }
)
"""Metrics that have more label sets in such an account than are published."""


def targets() -> list[Target]:
    tables = [Target("111122223333", "us-east-1", f"table-{number}") for number in range(TABLES)]
    return [one for table in tables for one in (table, *(table.at(f"GSI{place}") for place in range(INDEXES)))]


def many_counts() -> Counts:
    """Every table has every pattern, a quarter of them at each of its targets."""
    shapes = [
        Shape(fingerprint=f"{number:016x}", operation=OPERATIONS[number % 5], table="t", index=None)
        for number in range(PATTERNS)
    ]
    each = PATTERNS // (INDEXES + 1)
    cells = tuple(
        Cell(target, shapes[place % (INDEXES + 1) * each + number], "api", 1.0)
        for place, target in enumerate(targets())
        for number in range(each)
    )
    values = np.ones((len(cells), N_COUNTS), dtype=np.int64)
    latency = np.zeros((len(cells), len(LATENCY_BOUNDS_MS) + 1), dtype=np.int64)
    latency[:, 5] = values[:, Count.LATENCY_KNOWN]
    own = range(0, len(cells), each)
    return Counts(
        WINDOW,
        cells,
        values,
        np.zeros((0, len(cells), 3), dtype=np.int64),
        latency,
        refusals=tuple(Refusal(place, "ThrottlingException", "", 1) for place in range(0, len(cells), 10)),
        throttles=tuple(
            ThrottleCount(place, "TableReadKeyRangeThroughputExceeded", cells[place].target, Direction.READ, 5, 1)
            for place in own
        ),
    )


def many_report() -> Report:
    keys = tuple(
        evidence.key((100.0,), direction, heat=Estimate(rank / 10, rank / 20, rank / 5), values=(f"K#{rank}",))
        for direction in Direction
        for rank in range(1, 11)
    )
    place = Place(declared=True, owner="team", capacity=Capacity("PROVISIONED", 100.0, 100.0, "STANDARD"))
    one = evidence.traffic(keys=keys, place=place)
    traffic = tuple(replace(one, target=target) for target in targets())
    found = [
        finding(detector=name, severity=severity, table=target.table, index=target.index, id=f"{name}-{target}")
        for target in targets()
        for name, severity in (("hot-key", Severity.HIGH), ("throttling", Severity.MEDIUM))
    ]
    told = [(target, direction) for target in targets() for direction in Direction]
    return report(
        *found,
        traffic=traffic,
        coverage=tuple(Coverage(of.table, of.index, direction, 80, 100, 0.8) for of, direction in told),
        changes=tuple(
            Change(time=1000, what=what, table=of.table, index=of.index)
            for of in targets()
            for what in ("deploy", "capacity", "scaling")
        ),
    )


def test_the_largest_account_has_fewer_than_fifty_thousand_series_and_a_counter_says_what_is_folded() -> None:
    counts, about = many_counts(), many_report()
    exemplars = {(cell.target, cell.shape.operation): {3: Exemplar("ab" * 16, 0.004, 1.0)} for cell in counts.cells}
    lags: Kept = {
        LAG: {
            ("111122223333", "us-east-1", of.table, of.index, bound, "3"): 1.0
            for of in targets()
            if of.index is not None
            for bound in ("lower", "upper")
        }
    }
    began = time.process_time()
    table = assemble(HEALTH, counts, about, Ledger(kept=lags, exemplars=exemplars), lambda cell: cell.shape.fingerprint)
    kept = count_dropped(table, {}, is_analysis=True)
    exposition = render(table)
    seconds = time.process_time() - began
    lines = [line for line in exposition.text.splitlines() if not line.startswith(b"#")]
    print(f"{len(lines):,} series, {len(exposition.text):,} bytes, {seconds:.2f} s of CPU, {len(counts.cells):,} cells")
    assert len(lines) < MOST
    folded = {name for (name,) in kept["dynascope_series_dropped_total"]}
    assert folded >= BITE
    assert folded <= {metric.name for metric in METRICS}
    for (name,), dropped in kept["dynascope_series_dropped_total"].items():
        assert f'dynascope_series_dropped_total{{metric="{name}"}} {dropped:.1f}'.encode() in lines
    assert sum(table.values("dynascope_requests_total").values()) == len(counts.cells)
    _see_that_servers_read_it(exposition.text, exposition.openmetrics)


def test_not_even_all_bounds_together_let_more_series_through() -> None:
    assert sum(at_most(metric) for metric in METRICS if metric.of_target) < MOST


def at_most(metric: Metric) -> int:
    """Return how many series a metric of tables has when every bound of it is reached."""
    if metric.kind in {Kind.GAUGE, Kind.INFO}:
        return metric.most_series
    label_sets = metric.most_series + metric.most_series // 4 + 1
    return label_sets * (len(DURATION_BUCKETS) + 3 if metric.kind is Kind.HISTOGRAM else 1)


def _see_that_servers_read_it(text: bytes, openmetrics: bytes) -> None:
    """Both formats are clean, and the newer one has exemplars."""
    promtool = need("promtool", mend="install Debian's package prometheus")
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
    assert openmetrics.count(b'# {trace_id="') > 100
    assert openmetrics.endswith(b"# EOF\n")
