"""A small request log: three minutes of a case table, one case far too hot, and a job that scans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.instant import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = parse_instant("2026-06-01T10:00:00.000Z")
CANARY = "canary-4711"

CONTRACT = """\
version: 1
tables:
  - name: cases
    partition_key: PK
    sort_key: SK
    patterns:
      - id: load-case
        title: One case
        operation: GetItem
        key: {PK: "CASE#<caseId>", SK: META}
        callers: [case-dashboard-api]
"""


def record(second: float, case: str, **fields: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "time": format_instant(START + round(second * 1000)),
        "op": "GetItem",
        "table": "cases",
        "region": "us-east-1",
        "account": "111122223333",
        "key": {"PK": {"S": f"CASE#{case}"}, "SK": {"S": "META"}},
        "consumed": {"total": 100.0, "read": 100.0, "table": 100.0},
        "latency_ms": 4.0,
        "attempts": 1,
        "caller": "case-dashboard-api",
        **fields,
    }


def throttled(second: float, case: str) -> dict[str, Any]:
    reason = "TableReadKeyRangeThroughputExceeded"
    arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
    error = {
        "code": "ThrottlingException",
        "message": "Throughput exceeds the current capacity",
        "reasons": [{"reason": reason, "resource": arn}],
    }
    tries = [{"at_ms": n * 50.0, "code": "ThrottlingException", "reason": reason} for n in range(3)]
    return record(second, case, error=error, tries=tries, attempts=3, consumed=None)


def hot_log() -> Iterator[dict[str, Any]]:
    for second in range(180):
        for n in range(29):
            yield record(second + n / 30, CANARY)
        yield throttled(second + 0.98, CANARY)
        yield record(second + 0.99, f"{second:04d}")


def quiet_log() -> Iterator[dict[str, Any]]:
    for second in range(180):
        yield record(second, f"{second:04d}", consumed={"total": 0.5, "read": 0.5, "table": 0.5})


def lines(records: Iterator[dict[str, Any]]) -> bytes:
    kept = ({name: value for name, value in one.items() if value is not None} for one in records)
    return "".join(json.dumps(one) + "\n" for one in kept).encode()


@pytest.fixture
def hot(tmp_path: Path) -> Path:
    path = tmp_path / "hot.jsonl"
    path.write_bytes(lines(hot_log()))
    return path


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    path = tmp_path / "quiet.jsonl"
    path.write_bytes(lines(quiet_log()))
    return path


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "contract.yaml"
    path.write_text(CONTRACT)
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    header = {
        "kind": "recording",
        "v": 1,
        "start": format_instant(START),
        "end": format_instant(START + 180_000),
        "region": "us-east-1",
        "account": "111122223333",
    }
    path = tmp_path / "recording.jsonl"
    requests = b"".join(b'{"kind": "request", "request": ' + line + b"}\n" for line in lines(hot_log()).splitlines())
    path.write_bytes(json.dumps(header).encode() + b"\n" + requests)
    return path
