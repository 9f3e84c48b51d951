from __future__ import annotations

import numpy as np
import pytest

from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Cell, Count, Counts, Refusal, ThrottleCount
from analyzer.model.finding import Confidence, Direction, Finding, Severity, Status
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.shape import Shape
from analyzer.model.target import Target
from analyzer.model.window import Window

CASES = Target("111122223333", "us-east-1", "cases")
WINDOW = Window(1_700_000_000_000, 1_700_000_300_000)


def cell(
    operation: str = "GetItem", sample_rate: float = 1.0, *, secondary: bool = False, target: Target = CASES
) -> Cell:
    shape = Shape(fingerprint=f"f-{operation}", operation=operation, table=target.table, index=target.index)
    return Cell(target, shape, "api", sample_rate, secondary)


def counts(*cells: tuple[Cell, dict[Count, int]], **fields: object) -> Counts:
    values = np.zeros((len(cells), N_COUNTS), dtype=np.int64)
    latency = np.zeros((len(cells), len(LATENCY_BOUNDS_MS) + 1), dtype=np.int64)
    for place, (_, columns) in enumerate(cells):
        for column, value in columns.items():
            values[place, column] = value
        latency[place, 5] = columns.get(Count.LATENCY_KNOWN, 0)
    series = np.zeros((0, len(cells), 3), dtype=np.int64)
    return Counts(WINDOW, tuple(one for one, _ in cells), values, series, latency, **fields)  # type: ignore[arg-type]


def finding(**fields: object) -> Finding:
    defaults: dict[str, object] = {
        "detector": "hot-key",
        "severity": Severity.HIGH,
        "confidence": Confidence.CERTAIN,
        "table": "cases",
        "summary": "one key, {key}, takes 41% of reads",
        "key": {"PK": "CASE#canary-4711"},
        "key_template": {"PK": "CASE#<id>"},
        "cause": "single-item",
        "status": Status.OPEN,
        "id": "abc",
    }
    return Finding(**{**defaults, **fields})  # type: ignore[arg-type]


def report(*findings: Finding, **fields: object) -> Report:
    verdict = Verdict(VerdictState.FAULT, "one key, {key}, takes 41% of reads", Confidence.CERTAIN, "abc")
    defaults: dict[str, object] = {
        "window": WINDOW,
        "as_of": WINDOW.end,
        "region": "us-east-1",
        "account": "111122223333",
        "verdict": verdict,
        "findings": findings,
    }
    return Report(**{**defaults, **fields})  # type: ignore[arg-type]


@pytest.fixture
def busy() -> Counts:
    read = cell("Query", 0.5)
    write = cell("PutItem")
    index = cell("PutItem", target=CASES.at("GSI1"), secondary=True)
    return counts(
        (
            read,
            {
                Count.REQUESTS: 10,
                Count.READ_HALF_UNITS: 30,
                Count.SCANNED: 100,
                Count.RETURNED: 40,
                Count.WASTED_HALF_UNITS: 18,
                Count.LATENCY_KNOWN: 10,
                Count.LATENCY_US: 30_000,
            },
        ),
        (write, {Count.REQUESTS: 3, Count.WRITE_HALF_UNITS: 6}),
        (index, {Count.WRITE_HALF_UNITS: 4}),
        throttles=(
            ThrottleCount(1, "IndexWriteProvisionedThroughputExceeded", CASES.at("GSI1"), Direction.WRITE, 7, 1),
            ThrottleCount(0, "", None, Direction.READ, 2, 0),
        ),
        refusals=(Refusal(1, "ConditionalCheckFailedException", "", 2), Refusal(1, "canary 4711!", "", 1)),
    )
