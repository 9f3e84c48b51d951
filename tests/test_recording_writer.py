from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.model.batch import Batch, InsightSeries, MetricSeries
from analyzer.model.finding import Change, Direction
from analyzer.model.instant import parse_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.table import ScalingActivity, ScalingLimits, ScheduledScaling, TableSnapshot, TimeToLive
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.recording import Recording, read_recording
from analyzer.recording_writer import recording_lines
from collectors.table_catalog.parse import parse_table

if TYPE_CHECKING:
    from pathlib import Path

START = parse_instant("2026-06-01T02:30:00.000Z")
WINDOW = Window(START, START + 1_800_000)
ORDERS = Target("123456789012", "us-east-1", "orders")
TABLE: dict[str, Any] = {
    "TableName": "orders",
    "CreationDateTime": datetime(2026, 1, 1, tzinfo=UTC),
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "ProvisionedThroughput": {
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 6,
        "LastIncreaseDateTime": datetime(2026, 5, 1),  # noqa: DTZ001 -- as some answers have it
    },
}
SNAPSHOT = TableSnapshot(target=ORDERS, table=parse_table(TABLE), ttl=TimeToLive("ENABLED", "expires"))
BATCH = Batch(
    window=WINDOW,
    metrics=(
        MetricSeries("WriteThrottleEvents", {"TableName": "orders"}, "Sum", 60, (START,), (3.5,), is_complete=True),
        MetricSeries("ReadThrottleEvents", {"TableName": "orders"}, "Sum", 60, (), (), is_complete=True),
    ),
    insights=(
        InsightSeries(ORDERS, "PKC", "THROTTLED_KEYS", 60, ("A#1",), (START,), (7.0,), ("PK",)),
        InsightSeries(ORDERS.at("by-day"), "PKT", "THROTTLED_KEYS", 60, (), (), ()),
    ),
    tables=(
        SNAPSHOT,
        TableSnapshot(target=ORDERS.at(None), table=msgspec.structs.replace(SNAPSHOT.table, name="gone")),
    ),
    scaling=(
        ScalingLimits(
            target=ORDERS,
            direction=Direction.WRITE,
            minimum=1,
            maximum=9,
            target_share=0.7,
            scheduled=(ScheduledScaling("cron(0 2 * * ? *)", 5),),
            activities=(
                ScalingActivity(START, START + 1000, "Successful", 8.0, "alarm"),
                ScalingActivity(START, None, "InProgress", None),
            ),
        ),
    ),
    changes=(Change(time=START, what="deploy", detail="1.4"),),
    quotas={"AccountMaxReadCapacityUnits": 80_000.0},
    gaps=(
        Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents", "grant it", start=START, end=WINDOW.end),
        Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, "a line"),
    ),
)
RECORDING = Recording(
    window=WINDOW,
    region="us-east-1",
    account="123456789012",
    contract={"version": 1, "tables": []},
    batch=BATCH,
    sources=frozenset(),
    is_ordered=True,
)


def written(recording: Recording, path: Path, conceal: Any = lambda _table, key: key) -> Recording:
    path.write_bytes(b"".join(recording_lines(recording, {"orders": TABLE}, conceal, WINDOW.end)))
    return read_recording(path)


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    again = written(RECORDING, tmp_path / "page.jsonl")
    assert (again.window, again.region, again.account, again.contract) == (
        WINDOW,
        "us-east-1",
        "123456789012",
        {"version": 1, "tables": []},
    )
    for name in ("metrics", "insights", "scaling", "changes", "quotas"):
        assert getattr(again.batch, name) == getattr(BATCH, name), name
    assert again.batch.tables[0] == SNAPSHOT
    assert BATCH.gaps[0] in again.batch.gaps
    assert BATCH.gaps[1] not in again.batch.gaps


def test_keys_are_written_as_they_may_be_kept(tmp_path: Path) -> None:
    again = written(RECORDING, tmp_path / "page.jsonl", lambda table, key: f"{table}~{len(key)}")
    assert again.batch.insights[0].keys == ("orders~3",)
    assert "A#1" not in (tmp_path / "page.jsonl").read_text("utf-8")


def test_a_series_that_is_not_whole_is_read_back_as_that(tmp_path: Path) -> None:
    half = msgspec.structs.replace(BATCH.metrics[0], is_complete=False)
    again = written(
        msgspec.structs.replace(RECORDING, contract=None, batch=Batch(window=WINDOW, metrics=(half,))),
        tmp_path / "page.jsonl",
    )
    assert again.batch.metrics == (half,)
    assert again.contract is None


def test_what_is_no_value_of_a_recording_is_a_bug() -> None:
    with pytest.raises(TypeError, match="a recording holds no object"):
        list(recording_lines(RECORDING, {"orders": {"x": object()}}, lambda _, key: key, START))
