"""Files of history are read for ever: nobody removes a file from this folder."""

from __future__ import annotations

from pathlib import Path

from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.files import decode
from analyzer.history.merging import latency_matrix
from analyzer.model.instant import parse_instant

HERE = Path(__file__).parent
T = parse_instant("2026-11-30T09:00:00Z")


def test_minutes_of_version_1_are_read() -> None:
    rows, label = decode(Kind.REQUESTS, (HERE / "history-requests-v1.parquet").read_bytes(), "v1")
    counted, estimated = rows.to_pylist()
    assert (label.daemon, label.minutes, label.replaces) == ("d1", (T,), ("20261130T0900-d2.parquet",))
    assert (counted["table_name"], counted["pattern"], counted["requests"]) == ("cases", "load-case", 100)
    assert (estimated["index_name"], estimated["requests_low"], estimated["observed"]) == ("GSI2", 80, 10)
    assert latency_matrix(rows).sum() == 100
    assert rows.schema.names == SCHEMAS[Kind.REQUESTS].names


def test_hours_and_keys_of_version_1_are_read() -> None:
    hours, _ = decode(Kind.HOURS, (HERE / "history-hours-v1.parquet").read_bytes(), "v1")
    assert (hours["minutes"].to_pylist(), hours["peak_requests"].to_pylist()) == ([1], [100])
    keys, _ = decode(Kind.KEYS, (HERE / "history-keys-v1.parquet").read_bytes(), "v1")
    (key,) = keys.to_pylist()
    assert (key["partition"], key["template"], key["units_low"], key["peak_second"]) == (
        "CASE#~k1",
        "CASE#<id>",
        300,
        20,
    )
