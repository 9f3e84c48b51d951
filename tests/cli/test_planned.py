from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.judging import Stretch
from analyzer.cli.main import execute
from analyzer.cli.planned import Bench, observed_logs, observed_recording, tables_in
from analyzer.cli.planned_logs import observed_in, stretch_of
from analyzer.cli.reading import LogFile
from analyzer.cli.shapes import Input
from analyzer.config import Settings
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.errors import UsageError
from analyzer.model.finding import Direction
from analyzer.model.instant import format_instant, parse_instant
from analyzer.planning.capacity import plan_capacity
from tests.support.planned import contract_of, planned
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

START = parse_instant("2026-03-02T09:00:00.000Z")
BENCH = Bench(Settings.model_validate({}), EMPTY_CONTRACT)
LSI = {"name": "L", "kind": "lsi", "partition_key": "PK", "sort_key": "SK2"}


def call(second: int, **fields: Any) -> str:
    time = format_instant(START + second * 1000)
    key = {"PK": {"S": f"C#{second % 7}"}, "SK": {"S": "O"}}
    record = {"v": 1, "time": time, "op": "PutItem", "table": "t", "key": key, "consumed": {"total": 1, "table": 1}}
    return json.dumps(record | fields) + "\n"


def log(path: Path, *lines: str) -> LogFile:
    path.write_text("".join(lines), "utf-8")
    return LogFile(path)


def test_a_long_log_is_summed_up_by_minute_as_it_is_read(tmp_path: Path) -> None:
    hours = [
        log(tmp_path / f"{hour}.jsonl", *(call(second) for second in range(3600 * hour, 3600 * (hour + 1), 5)))
        for hour in range(4)
    ]
    seen = tables_in(observed_logs(BENCH, hours, Stretch()), "t", None)
    (load,) = seen.logged.values()
    assert load.units == (0.2,) * 240
    assert load.top_units == 0.2
    assert sum(row.requests.value for row in seen.traffics[0].rows) == 2880


def test_a_log_with_a_hole_keeps_its_minutes_apart(tmp_path: Path) -> None:
    first = log(tmp_path / "a", *(call(second) for second in range(0, 60, 10)))
    second = log(tmp_path / "b", *(call(40_000 + second) for second in range(0, 60, 10)))
    (load,) = tables_in(observed_logs(BENCH, [first, second], Stretch()), "t", None).logged.values()
    assert len(load.units) == 668
    assert sum(load.units) * 60 == pytest.approx(12, rel=0.2)


def test_what_could_not_be_read_is_said(tmp_path: Path) -> None:
    counter = {"v": 1, "counter": "dropped", "count": 7, "start": format_instant(START), "end": format_instant(START)}
    file = log(tmp_path / "a", call(1), "no record\n", json.dumps(counter) + "\n")
    seen = tables_in(observed_logs(BENCH, [file], Stretch()), "t", None)
    assert seen.complaints == (
        "1 lines could not be read, and are not in the numbers",
        "7 requests were dropped by the sampler, and are not in the numbers",
    )


def test_a_local_index_that_is_declared_is_in_its_table_s_load(tmp_path: Path) -> None:
    contract = contract_of(name="t", indexes=[LSI])
    file = log(tmp_path / "a", call(1, consumed={"total": 2, "table": 1, "indexes": {"L": 1}}))
    seen = tables_in(observed_logs(Bench(BENCH.settings, contract), [file], Stretch()), "t", None)
    ((place, load),) = seen.logged.items()
    assert (place[0].index, place[1], load.mean) == (None, Direction.WRITE, 0.2)
    assert [one.place for one in plan_capacity(seen).demands] == ["t"]


def test_metrics_and_log_that_differ_by_the_ends_of_their_minutes_are_cut_to_the_shorter(tmp_path: Path) -> None:
    made = Recorded(minutes=10, start="2026-03-02T09:00:30.000Z").table("PK", "SK")
    made.metric("ConsumedReadCapacityUnits", [60] * 11, at=-30)
    for second in range(0, 600, 10):
        made.request("PutItem", second, key={"PK": "C#1", "SK": "O"}, units=1)
    plan = planned(made, tmp_path)
    assert [one.mean_units for one in plan.demands] == [1, pytest.approx(0.1)]


def test_a_recording_without_requests_tells_its_metrics(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_text(Recorded(minutes=2).table("PK", "SK", local={"L": ("PK", "SK2")}).text(), "utf-8")
    (seen,) = observed_recording(BENCH, path)
    assert (seen.logged, [one.target.table for one in seen.traffics]) == ({}, ["orders"])


def test_a_recording_may_stand_in_for_logs_and_brings_its_own_stretch(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    made = Recorded(minutes=2).request("GetItem", 5, key={"PK": "C#1", "SK": "O"}, units=1)
    path.write_text(made.text(), "utf-8")
    bench = Bench(BENCH.settings, contract_of())
    assert list(observed_in(bench, [str(path)], None, Input.AUTO, None)) == ["orders"]
    with pytest.raises(UsageError, match="holds its own stretch"):
        observed_in(bench, [str(path)], "1h", Input.AUTO, None)


def test_the_stretch_counts_back_from_the_end_or_from_a_time(tmp_path: Path) -> None:
    file = log(tmp_path / "a", call(0), call(600))
    assert stretch_of([file], None) == Stretch()
    assert stretch_of([file], "2026-03-02T09:05:00Z").since == START + 300_000
    since = stretch_of([file], "5m").since
    assert since is not None
    assert since >= START + 300_000


def test_logs_of_another_shape_are_read_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    event = {
        "eventVersion": "1.08",
        "eventSource": "dynamodb.amazonaws.com",
        "eventName": "GetItem",
        "eventTime": "2026-03-02T09:00:00Z",
        "awsRegion": "us-east-1",
        "requestParameters": {"tableName": "t", "key": {"PK": "C#1", "SK": "O"}},
    }
    path = tmp_path / "trail.jsonl"
    path.write_text(json.dumps(event) + "\n")
    contract = tmp_path / "contract.yaml"
    contract.write_text("version: 1\ntables:\n  - {name: t, partition_key: PK, sort_key: SK}\n")
    assert execute(["diff", str(contract), str(contract), "--log", str(path)]) == 0
    assert "CloudTrail" in capsys.readouterr().err
