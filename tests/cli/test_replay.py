from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-4711"


def test_a_recording_is_judged_like_its_log(recording: Path, hot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["analyze", str(hot), "--format", "json"])
    analyzed = json.loads(capsys.readouterr().out)
    assert execute(["replay", str(recording), "--format", "json"]) == 1
    replayed = json.loads(capsys.readouterr().out)
    assert [f["id"] for f in replayed["findings"]] == [f["id"] for f in analyzed["findings"]]
    assert replayed["patterns"] == analyzed["patterns"]
    assert replayed["window"] == {"start": "2026-06-01T10:00:00.000Z", "end": "2026-06-01T10:03:00.000Z"}
    assert (replayed["region"], replayed["account"]) == ("us-east-1", "111122223333")


def test_standard_input_says_the_same(
    recording: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class FakeStdin:
        buffer = io.BytesIO(recording.read_bytes())

    execute(["replay", str(recording)])
    plain = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", FakeStdin)
    execute(["replay", "-"])
    assert capsys.readouterr().out == plain


def test_the_order_of_the_lines_does_not_matter(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["replay", str(recording), "--format", "json"])
    plain = json.loads(capsys.readouterr().out)
    header, *rest = recording.read_text().splitlines()
    recording.write_text("\n".join([header, *reversed(rest)]) + "\n")
    execute(["replay", str(recording), "--format", "json"])
    turned = json.loads(capsys.readouterr().out)
    assert [f["id"] for f in turned["findings"]] == [f["id"] for f in plain["findings"]]
    assert turned["patterns"] == plain["patterns"]


def test_the_recorded_contract_is_used_unless_another_is_given(
    recording: Path, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {"name": "cases", "partition_key": "PK", "sort_key": "SK"}
    pattern = {"id": "recorded", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}
    line = {"kind": "contract", "contract": {"version": 1, "tables": [{**table, "patterns": [pattern]}]}}
    recording.write_text(recording.read_text() + json.dumps(line) + "\n")
    for options, name in (((), "recorded"), (("--contract", str(contract)), "load-case")):
        execute(["replay", str(recording), "--format", "json", *options])
        assert {row["pattern"] for row in json.loads(capsys.readouterr().out)["patterns"]} == {name}


def test_a_faulty_recorded_contract_is_told(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording.write_text(recording.read_text() + '{"kind": "contract", "contract": {"tabels": []}}\n')
    assert execute(["replay", str(recording)]) == 2
    assert f"{recording} (contract)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            '{"kind": "counter", "v": 1, "counter": "dropped", "count": 7}',
            "7 records were dropped by samplers before they were written",
        ),
        (
            '{"kind": "request", "request": {"v": 1, "time": "x", "op": "Scan"}}',
            "1 line of the request log is no record: time is not RFC 3339",
        ),
        ('{"kind": "request", "request": ' + "[" * 5000, "1 line of the recording could not be read"),
        ('{"kind": "weather"}', "1 line is of a kind that this version does not know"),
    ],
)
def test_what_cannot_be_known_is_not_clean(
    tmp_path: Path, recording: Path, quiet: Path, line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    header = recording.read_text().partition("\n")[0]
    requests = [f'{{"kind": "request", "request": {record}}}' for record in quiet.read_text().splitlines()]
    path = tmp_path / "quiet-recording.jsonl"
    path.write_text("\n".join([header, *requests]))
    assert execute(["replay", str(path)]) == 0
    path.write_text("\n".join([header, *requests, line]))
    capsys.readouterr()
    assert execute(["replay", str(path), "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"]["state"], [gap["detail"] for gap in report["gaps"]]) == ("cannot-tell", [told])


def test_what_is_no_recording_is_refused(hot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["replay", str(hot)]) == 3
    assert capsys.readouterr().err.startswith(f"dynascope: {hot} is no recording\n  ")


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_a_canary_key_is_nowhere_unless_revealed(
    recording: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recording.write_text(recording.read_text() + f'{{"kind": "{CANARY}"}}\n{CANARY}\n')
    execute(["replay", str(recording), "--format", output])
    captured = capsys.readouterr()
    assert CANARY not in captured.out + captured.err
    execute(["replay", str(recording), "--format", output, "--reveal-keys"])
    assert CANARY in capsys.readouterr().out


def test_requests_beyond_the_recordings_stretch_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = {"kind": "recording", "v": 1, "start": "2026-06-01T10:00:00.000Z", "end": "2026-06-01T10:05:00.000Z"}
    requests = [
        {"kind": "request", "request": {"v": 1, "time": time, "op": "Scan", "table": "orders"}}
        for time in ("2026-06-01T10:01:00.000Z", "1970-01-01T00:00:07.000Z")
    ]
    file = tmp_path / "page.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *requests)))
    execute(["replay", str(file)])
    said = capsys.readouterr().out
    assert "2026-06-01 10:00:00–10:05:00 UTC" in said
    assert "1 request lies outside of it: 1970-01-01 00:00:00" in said
