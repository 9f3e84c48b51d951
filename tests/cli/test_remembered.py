"""Logs beside the weeks before them: what detectors say of the past, and what is said where history is none."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from analyzer.cli.main import execute
from analyzer.cli.remembered import placed
from analyzer.history.names import DAY_MS
from analyzer.model.history import History, PatternPast
from analyzer.model.instant import format_instant, parse_instant
from analyzer.model.target import Target
from analyzer.model.window import Window
from tests.cli.conftest import record
from tests.support.history_days import write_days

if TYPE_CHECKING:
    from pathlib import Path

START = parse_instant("2026-06-01T10:00:00Z")
MIDNIGHT = parse_instant("2026-06-01T00:00:00Z")
TEN = parse_instant("2026-06-01T10:00:00Z")
DAYS = 16
"""The days that end ten hours into the log's own are fourteen of these and a part of one."""


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Sixteen days that end with that of the log; load-case comes four times as often in the last week."""
    counts = [1000.0 + day % 3 for day in range(DAYS - 7)] + [4000.0 + day % 3 for day in range(7)]
    write_days(tmp_path / "history", MIDNIGHT + DAY_MS, {"load-case": counts})
    return tmp_path / "history"


@pytest.fixture
def declared(contract: Path) -> Path:
    text = contract.read_text()
    unseen = '      - {id: load-file, operation: GetItem, key: {PK: "FILE#<id>"}, rate: {p95: 3, peak: 9}}\n'
    contract.write_text(text + unseen)
    return contract


def read(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    execute([*map(str, arguments), "--format", "json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def found(report: dict[str, Any]) -> set[tuple[str, str]]:
    names = {"pattern-drift", "unused-pattern"}
    return {(one["detector"], one["pattern"]) for one in report["findings"] if one["detector"] in names}


OUT = {("pattern-drift", "load-case"), ("unused-pattern", "load-file")}


def test_a_log_is_judged_beside_the_weeks_before_it(
    quiet: Path, declared: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert found(read(capsys, "analyze", quiet, "--contract", declared)) == set()
    report = read(capsys, "analyze", quiet, "--contract", declared, "--history", history)
    assert found(report) == OUT
    drift = next(one for one in report["findings"] if one["detector"] == "pattern-drift")
    assert "times its own past" in drift["summary"]
    assert [gap for gap in report["gaps"] if gap["source"] == "history"] == []


def test_one_clock_that_is_wrong_does_not_move_the_weeks_before(
    quiet: Path, declared: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = quiet.read_text("utf-8").splitlines()
    late = json.loads(lines[0]) | {"time": "2099-01-01T00:00:00.000Z"}
    quiet.write_text("\n".join([*lines, json.dumps(late)]) + "\n", "utf-8")
    assert found(read(capsys, "analyze", quiet, "--contract", declared, "--history", history)) == OUT


def test_standard_input_is_judged_beside_them_too(
    quiet: Path, declared: Path, history: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class FakeStdin:
        buffer = io.BufferedReader(io.BytesIO(quiet.read_bytes()))

    monkeypatch.setattr(sys, "stdin", FakeStdin)
    assert found(read(capsys, "analyze", "-", "--contract", declared, "--history", history)) == OUT


def test_a_recording_is_judged_beside_them_too(
    recording: Path, declared: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert found(read(capsys, "replay", recording, "--contract", declared, "--history", history)) == OUT


def test_a_log_that_names_neither_account_nor_region_is_judged_beside_the_one_table_that_it_may_be(
    tmp_path: Path, declared: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "bare.jsonl"
    bare = [record(second, "1", account=None, region=None) for second in range(60)]
    lines = ({name: value for name, value in one.items() if value is not None} for one in bare)
    log.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert found(read(capsys, "analyze", log, "--contract", declared, "--history", history)) == OUT


def test_history_that_does_not_cover_two_weeks_is_a_gap_that_hides_no_fault(
    quiet: Path, declared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_days(tmp_path / "young", MIDNIGHT + DAY_MS, {"load-case": [1000.0] * 6})
    report = read(capsys, "analyze", quiet, "--contract", declared, "--history", tmp_path / "young")
    (gap,) = (gap for gap in report["gaps"] if gap["source"] == "history")
    assert (gap["reason"], found(report), report["verdict"]["state"]) == ("low-coverage", set(), "clean")
    assert f"covers 5.4 of the 14 days before {format_instant(TEN)}" in gap["detail"]


def test_files_of_history_that_cannot_be_read_are_counted(
    quiet: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    next(history.rglob("*.parquet")).write_bytes(b"torn")
    sorted(history.rglob("*.parquet"))[-2].write_bytes(b"torn")
    report = read(capsys, "analyze", quiet, "--history", history)
    (gap,) = (gap for gap in report["gaps"] if gap["source"] == "history")
    assert "files of it cannot be read" in gap["detail"]


def test_an_empty_log_is_judged_beside_nothing(
    tmp_path: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert read(capsys, "analyze", tmp_path / "empty.jsonl", "--history", history)["findings"] == []


@pytest.mark.parametrize("command", ["analyze", "replay"])
@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("histori", "histori: there is no such folder; did you mean"),
        ("none/at/all", "there is no such folder"),
        ("hot.jsonl", "it is no folder"),
        (".", "it holds no history, which is in folders such as kind=hours; did you mean"),
        ("empty", "it is the folder that `history: {to: ...}` names"),
    ],
)
def test_a_place_that_is_no_history_is_wrong_usage_and_nothing_is_read(
    command: str, place: str, told: str, hot: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (history.parent / "empty").mkdir()
    assert execute([command, str(hot), "--history", str(history.parent / place)]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""


def test_a_bucket_without_a_name_is_wrong_usage(hot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["analyze", str(hot), "--history", "s3:///prefix"]) == 2
    assert "names no bucket" in capsys.readouterr().err


def test_history_of_a_newer_version_is_refused_by_name(
    hot: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = next(history.rglob("*.parquet"))
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({b"dynascope.history": b"99", b"dynascope.label": b"{}"}), file)
    assert execute(["analyze", str(hot), "--history", str(history)]) == 2
    assert "newer" in capsys.readouterr().err


def test_history_that_cannot_be_read_is_a_source_that_failed(
    hot: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert execute(["analyze", str(hot), "--history", "s3://bucket/prefix"]) == 3
    assert "s3:ListBucket" in capsys.readouterr().err


ONE, OTHER = Target("1", "eu-west-1", "t"), Target("2", "eu-west-1", "t")
SPAN = Window(0, 1)
PAST = {"p": PatternPast(before=(1.0,), now=(1.0,))}


def history_of(*targets: Target) -> History:
    return History(dict.fromkeys(targets, SPAN), dict.fromkeys(targets, PAST))


def test_a_place_is_taken_for_another_only_where_nothing_else_fits() -> None:
    bare = Target(None, "eu-west-1", "t")
    index = ONE.at("GSI1")
    assert placed(history_of(ONE, index), [bare.at("GSI1")]) == history_of(bare, bare.at("GSI1"))
    for known, seen in (
        ([ONE, OTHER], [bare]),  # it may be either
        ([ONE], [bare, Target(None, None, "t")]),  # either may be it
        ([ONE], [ONE, bare]),  # it is there itself
        ([ONE], [Target(None, "us-east-1", "t")]),  # it is elsewhere
    ):
        assert placed(history_of(*known), seen) == history_of(*known)
