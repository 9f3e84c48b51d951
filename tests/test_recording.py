from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from analyzer.errors import MalformedError
from analyzer.model.batch import InsightSeries, MetricSeries
from analyzer.model.finding import Change, Direction
from analyzer.model.instant import parse_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.table import ScalingLimits, TableDescription, TimeToLive
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.recording import Recording, read_recording, read_requests
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {
    "kind": "recording",
    "v": 1,
    "start": "2026-06-01T10:00:00.000Z",
    "end": "2026-06-01T10:03:00.000Z",
    "region": "us-east-1",
    "account": "111122223333",
}
START = parse_instant("2026-06-01T10:00:00.000Z")
ORDERS = Target("111122223333", "us-east-1", "orders")


def request(second: int, **fields: Any) -> dict[str, Any]:
    record = {"v": 1, "time": f"2026-06-01T10:{second // 60:02d}:{second % 60:02d}.000Z", "op": "GetItem"}
    return {"kind": "request", "request": {**record, "table": "orders", **fields}}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> Recording:
    return read_recording(write(tmp_path / "r.jsonl", HEADER, *lines))


def count(path: Path) -> int:
    return len(list(read_requests(path, read_recording(path))))


def test_the_header_tells_window_and_place(tmp_path: Path) -> None:
    recording = read(tmp_path)
    assert recording.window == Window(START, START + 180_000)
    assert (recording.region, recording.account) == ("us-east-1", "111122223333")
    assert (recording.sources, recording.batch.gaps) == (frozenset(), ())


def test_the_contract_comes_as_its_own_structure(tmp_path: Path) -> None:
    assert read(tmp_path, {"kind": "contract", "contract": {"version": 1}}).contract == {"version": 1}


def test_a_table_carries_its_time_to_live(tmp_path: Path) -> None:
    description = {"TableName": "orders", "TableStatus": "ACTIVE"}
    recording = read(
        tmp_path,
        {"kind": "ttl", "table": "orders", "ttl": {"AttributeName": "expires"}},
        {"kind": "ttl", "table": "other", "ttl": {"AttributeName": "x"}},
        {"kind": "table", "table": description, "time": HEADER["start"]},
    )
    orders, other = recording.batch.tables
    assert (orders.target, orders.time) == (ORDERS, START)
    assert orders.table == TableDescription(name="orders", status="ACTIVE")
    assert orders.ttl == TimeToLive(attribute="expires")
    assert (other.target.table, other.table) == ("other", TableDescription(name="other"))
    assert other.ttl == TimeToLive(attribute="x")


def test_scaling_becomes_limits(tmp_path: Path) -> None:
    line = {"kind": "scaling", "table": "orders", "dimension": "read", "min": 1, "max": 500, "target": 70}
    assert read(tmp_path, line).batch.scaling == (
        ScalingLimits(target=ORDERS, direction=Direction.READ, minimum=1, maximum=500, target_share=0.7),
    )


def test_a_metric_is_put_in_the_order_of_time(tmp_path: Path) -> None:
    line = {
        "kind": "metric",
        "metric": "ConsumedReadCapacityUnits",
        "dimensions": {"TableName": "orders"},
        "stat": "Sum",
        "period": 60,
        "timestamps": ["2026-06-01T10:01:00.000Z", "2026-06-01T10:00:00.000Z"],
        "values": [2, 1],
        "status": "Complete",
    }
    recording = read(tmp_path, line, {**line, "timestamps": [], "values": [], "status": "PartialData"})
    full, partial = recording.batch.metrics
    dimensions = {"TableName": "orders"}
    assert full == MetricSeries(
        "ConsumedReadCapacityUnits", dimensions, "Sum", 60, (START, START + 60_000), (1.0, 2.0), is_complete=True
    )
    assert not partial.is_complete
    assert [covers.source for covers in recording.batch.covers] == [SourceName.CLOUDWATCH_METRICS]


def test_a_statistic_that_means_something_else_is_a_gap_and_no_sight(tmp_path: Path) -> None:
    line = {"kind": "metric", "metric": "ConsumedReadCapacityUnits", "dimensions": {"TableName": "orders"}}
    points = {"period": 60, "timestamps": [HEADER["start"]], "values": [0.5], "status": "Complete"}
    batch = read(tmp_path, {**line, "stat": "Average", **points}).batch
    assert (batch.metrics, batch.covers) == ((), ())
    assert [(gap.reason, gap.table) for gap in batch.gaps] == [(GapReason.MISUSED, "orders")]


def test_each_contributor_is_a_series_and_an_empty_report_is_told(tmp_path: Path) -> None:
    line = {"kind": "insights", "table": "orders", "rule": "PKC", "mode": "ACCESSED_AND_THROTTLED_KEYS", "period": 60}
    point = {"Timestamp": "2026-06-01T10:00:00.000Z", "ApproximateValue": 5}
    recording = read(
        tmp_path,
        {**line, "report": {"Contributors": [{"Keys": ["a"], "Datapoints": [point]}]}},
        {**line, "rule": "PKT", "report": {"Contributors": []}},
    )
    mode = "ACCESSED_AND_THROTTLED_KEYS"
    assert recording.batch.insights == (
        InsightSeries(ORDERS, "PKC", mode, 60, ("a",), (START,), (5.0,)),
        InsightSeries(ORDERS, "PKT", mode, 60, (), (), ()),
    )


def test_what_contributor_insights_cannot_show_is_told_of_a_recording_too(tmp_path: Path) -> None:
    line = {"kind": "insights", "table": "orders", "rule": "PKT", "mode": "THROTTLED_KEYS", "period": 60}
    recording = read(tmp_path, {**line, "report": {"KeyLabels": ["PartitionKey"], "Contributors": []}})
    (gap,) = recording.batch.gaps
    assert (gap.source, gap.reason) == (SourceName.CONTRIBUTOR_INSIGHTS, GapReason.NOT_ENABLED)
    assert recording.batch.insights[0].labels == ("PartitionKey",)


def test_a_series_that_is_not_whole_is_a_gap_of_the_metrics(tmp_path: Path) -> None:
    names = {"TableName": "orders", "GlobalSecondaryIndexName": "GSI1"}
    series = {"kind": "metric", "dimensions": names, "stat": "Sum", "period": 60, "timestamps": [], "values": []}
    complete = {**series, "metric": "ConsumedReadCapacityUnits", "status": "Complete"}
    (gap,) = read(tmp_path, complete, {**series, "metric": "ReadThrottleEvents", "status": "PartialData"}).batch.gaps
    assert (gap.source, gap.table, gap.index) == (SourceName.CLOUDWATCH_METRICS, "orders", "GSI1")
    assert gap.detail == "ReadThrottleEvents: status PartialData"


def test_changes_gaps_and_quotas_are_read(tmp_path: Path) -> None:
    recording = read(
        tmp_path,
        {"kind": "change", "time": HEADER["start"], "what": "deploy", "who": "ci", "detail": "2.4"},
        {"kind": "gap", "source": "changes", "reason": "denied", "detail": "LookupEvents", "start": HEADER["start"]},
        {"kind": "limits", "limits": {"AccountMaxReadCapacityUnits": 80000}},
    )
    assert recording.batch.changes == (Change(time=START, what="deploy", who="ci", detail="2.4"),)
    assert recording.batch.gaps == (Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents", start=START),)
    assert recording.sources == {SourceName.CHANGES}


def test_requests_take_the_place_of_the_recording_and_are_else_as_they_stand(tmp_path: Path) -> None:
    lines = [request(1), request(0, region="eu-west-1"), request(2, region=None, account="1")]
    path = write(tmp_path / "r.jsonl", HEADER, *lines, {"kind": "limits", "limits": {}})
    recording = read_recording(path)
    records = [json.loads(line) for line in read_requests(path, recording)]
    assert [(record["region"], record["account"]) for record in records] == [
        ("us-east-1", "111122223333"),
        ("eu-west-1", "111122223333"),
        ("us-east-1", "1"),
    ]
    assert [record["time"] for record in records] == [line["request"]["time"] for line in lines]
    assert (recording.is_ordered, recording.sources) == (True, frozenset({SourceName.REQUEST_LOG}))


def test_a_recording_without_a_place_adds_none(tmp_path: Path) -> None:
    header = {name: value for name, value in HEADER.items() if name not in {"region", "account"}}
    path = write(tmp_path / "r.jsonl", header, request(1))
    assert [json.loads(line) for line in read_requests(path, read_recording(path))] == [request(1)["request"]]


def test_requests_a_minute_apart_are_out_of_order(tmp_path: Path) -> None:
    assert read(tmp_path, request(59), request(0)).is_ordered
    assert not read(tmp_path, request(61), request(0)).is_ordered


def test_what_samplers_dropped_goes_to_the_digest_with_the_requests(tmp_path: Path) -> None:
    line = {"kind": "counter", "v": 1, "counter": "dropped", "count": 3}
    path = write(tmp_path / "r.jsonl", HEADER, line)
    recording = read_recording(path)
    (counter,) = read_requests(path, recording)
    assert json.loads(counter) == {"v": 1, "counter": "dropped", "count": 3}
    assert recording.sources == {SourceName.REQUEST_LOG}


def test_a_source_that_left_a_gap_was_asked_for(tmp_path: Path) -> None:
    gap = {"kind": "gap", "source": "cloudwatch-metrics", "reason": "denied", "detail": "GetMetricData"}
    assert read(tmp_path, gap).sources == {SourceName.CLOUDWATCH_METRICS}


def test_lines_of_unknown_kinds_are_told_without_their_names(tmp_path: Path) -> None:
    for lines, told in ((1, "1 line is of a kind"), (2, "2 lines are of kinds")):
        (gap,) = read(tmp_path, *[{"kind": "weather"}] * lines, "").batch.gaps
        assert (gap.reason, gap.detail) == (GapReason.MALFORMED, f"{told} that this version does not know")


@pytest.mark.parametrize(
    "line",
    [
        "\x01junk",
        '{"kind": "request", "request": {',
        {"no": "kind"},
        {"kind": "change", "time": "soon", "what": "deploy"},
        {
            "kind": "metric",
            "metric": "m",
            "dimensions": {},
            "stat": "Sum",
            "period": 60,
            "timestamps": [],
            "values": [1],
        },
        {"kind": "gap", "source": "astrology", "reason": "denied", "detail": ""},
        "[" * 5000,
        '{"kind": "weather", "x": ' + "[" * 5000,
        '{"kind": "request", "request": ' + "[" * 5000,
        '{"kind": "request", "request": {"v": 1, "x": ' + "[" * 5000,
    ],
)
def test_a_bad_line_is_told_as_a_gap_and_skipped_by_both_passes(tmp_path: Path, line: dict[str, Any] | str) -> None:
    path = write(tmp_path / "r.jsonl", HEADER, line, request(0))
    recording = read_recording(path)
    assert [gap.detail for gap in recording.batch.gaps] == ["1 line of the recording could not be read"]
    assert len(list(read_requests(path, recording))) == 1


@pytest.mark.parametrize(
    "bad",
    [
        request(0, v=2),
        {"kind": "request", "request": {"v": 1, "time": "yesterday", "op": "GetItem"}},
        {"kind": "request", "request": {}},
        '{"kind": "request", "request": 7}',
    ],
)
def test_a_request_that_is_no_record_is_left_to_the_digest(tmp_path: Path, bad: dict[str, Any] | str) -> None:
    path = write(tmp_path / "r.jsonl", HEADER, bad, request(0))
    recording = read_recording(path)
    digest = Digest(Lexicon())
    digest.update(b"\n".join(read_requests(path, recording)))
    assert (digest.read.read, digest.read.bad, recording.batch.gaps) == (1, 1, ())


@pytest.mark.parametrize("size", [17 << 20, 50 << 20])
def test_a_line_without_end_is_one_bad_line(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "r.jsonl", HEADER, "x" * size, request(0))
    recording = read_recording(path)
    assert recording.batch.gaps[0].detail == "1 line of the recording could not be read"
    assert len(list(read_requests(path, recording))) == 1


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_recordings_are_read_and_a_cut_is_told(tmp_path: Path, ending: str) -> None:
    lines = [json.dumps(line) + "\n" for line in (HEADER, *(request(n % 60, caller=f"{n * n}") for n in range(50_000)))]
    whole = "".join(lines).encode()
    packed = gzip.compress(whole) if ending == ".gz" else zstandard.compress(whole)
    path = tmp_path / f"r.jsonl{ending}"
    path.write_bytes(packed)
    assert count(path) == 50_000
    path.write_bytes(packed[: len(packed) // 2])
    assert 0 < count(path) < 50_000
    gaps = read_recording(path).batch.gaps
    assert any("breaks off" in gap.detail or "could not be read" in gap.detail for gap in gaps)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("", "is no recording"),
        ('{"v": 1, "time": "2026-06-01T10:00:00Z", "op": "GetItem"}', "is no recording"),
        (json.dumps({**HEADER, "v": 3}), "of version 3"),
        (json.dumps({**HEADER, "end": "2026-06-01T09:00:00Z"}), "ends before it starts"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_by_name(tmp_path: Path, first: str, told: str) -> None:
    path = write(tmp_path / "r.jsonl", first)
    with pytest.raises(MalformedError, match=told):
        read_recording(path)


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(HEADER) + "\n" + json.dumps(request(0)))
    assert (count(path), read_recording(path).batch.gaps) == (1, ())
    path.write_text(path.read_text() + "\n" + "x" * (17 << 20))
    assert (count(path), len(read_recording(path).batch.gaps)) == (1, 1)
