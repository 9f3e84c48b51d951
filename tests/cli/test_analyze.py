from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from analyzer.cli.main import execute
from analyzer.cli.reading import read_blocks
from analyzer.model.instant import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Golden

CANARY = "canary-4711"


@pytest.fixture(autouse=True)
def no_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNASCOPE_SALT", raising=False)
    monkeypatch.delenv("DYNASCOPE_SALT_FILE", raising=False)


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.out)
        return report

    @property
    def requests(self) -> float:
        return float(sum(line["requests"] for line in self.report["patterns"]))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(*arguments: object) -> Ran:
        code = execute(["analyze", *map(str, arguments)])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


def test_what_is_printed_is_what_was_reviewed(
    run: Callable[..., Ran], hot: Path, contract: Path, golden: Golden
) -> None:
    ran = run(hot, "--contract", contract)
    assert (ran.code, ran.err) == (1, "")
    golden("cli/analyze.txt", ran.out)
    golden("cli/analyze.md", run(hot, "--contract", contract, "--format", "markdown").out)


def test_a_hot_case_is_found_and_shown_as_the_policy_allows(run: Callable[..., Ran], hot: Path, contract: Path) -> None:
    ran = run(hot, "--contract", contract, "--format", "json", "--reveal-keys")
    hottest = next(finding for finding in ran.report["findings"] if finding["detector"] == "hot-key")
    assert f"CASE#{CANARY}" in hottest["key"].values()
    assert ran.report["verdict"]["state"] == "fault"


def test_tokens_that_are_to_be_revealed_are_said_to_stay(run: Callable[..., Ran], hot: Path, contract: Path) -> None:
    hot.write_text(hot.read_text().replace(CANARY, "~kabcdefgh"))
    ran = run(hot, "--contract", contract, "--reveal-keys")
    assert "tokens of keys cannot be reversed; a suspect can be checked: dynascope key --is VALUE" in ran.err
    assert "cannot be reversed" not in run(hot, "--contract", contract).err


def test_a_quiet_log_is_clean(run: Callable[..., Ran], quiet: Path, contract: Path) -> None:
    ran = run(quiet, "--contract", contract, "--format", "json")
    assert (ran.code, ran.report["verdict"]["state"], ran.requests) == (0, "clean", 180)


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
@pytest.mark.parametrize("keys", ["template", "token", None])
def test_a_canary_key_is_nowhere_unless_revealed(
    run: Callable[..., Ran], hot: Path, contract: Path, output: str, keys: str | None
) -> None:
    with hot.open("a") as file:
        file.write(f'{{"v": 1, "time": "{CANARY}", "op": "GetItem"}}\n{CANARY}\n{{"v": "{CANARY}"}}\n')
    for option in ((), ("--contract", contract), ("--jobs", 2)):
        ran = run(hot, *option, "--format", output, *(("--keys", keys) if keys else ()))
        assert CANARY not in ran.out + ran.err
    assert CANARY in run(hot, "--format", output, "--reveal-keys").out


def test_the_salt_makes_the_same_tokens_every_time(run: Callable[..., Ran], hot: Path, tmp_path: Path) -> None:
    (tmp_path / "salt").write_text("a secret\n")
    salted = ("--format", "json", "--keys", "token", "--salt-file", tmp_path / "salt")
    assert run(hot, *salted).report["keys"] == run(hot, *salted).report["keys"]
    assert "~" in run(hot, *salted).out


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_log_says_the_same(run: Callable[..., Ran], hot: Path, pack: Callable[[bytes], bytes]) -> None:
    plain = run(hot, "--format", "json")
    hot.write_bytes(pack(hot.read_bytes()))
    assert run(hot, "--format", "json").out == plain.out


def test_standard_input_says_the_same(run: Callable[..., Ran], hot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeStdin:
        buffer = io.BufferedReader(io.BytesIO(hot.read_bytes()))

    plain = run(hot, "--format", "json")
    monkeypatch.setattr(sys, "stdin", FakeStdin)
    assert run("-", "--format", "json").out == plain.out


def test_several_logs_of_one_time_say_the_same_as_one(run: Callable[..., Ran], hot: Path, tmp_path: Path) -> None:
    plain = run(hot, "--format", "json").report
    parts = hot.read_bytes().splitlines(keepends=True)
    for n in range(3):
        (tmp_path / f"part-{n}.jsonl").write_bytes(b"".join(parts[n::3]))
    several = run(tmp_path / "part-*.jsonl", "--format", "json").report
    assert [f["id"] for f in several["findings"]] == [f["id"] for f in plain["findings"]]
    assert several["patterns"] == plain["patterns"]


def test_two_processes_say_the_same_as_one(run: Callable[..., Ran], hot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from analyzer.cli import parallel  # noqa: PLC0415 -- it imports the digest

    monkeypatch.setattr(parallel, "_SMALLEST_PART", 100_000)
    plain, parted = run(hot, "--format", "json").report, run(hot, "--jobs", 2, "--format", "json").report
    assert parted["patterns"] == plain["patterns"]
    assert [f["id"] for f in parted["findings"]] == [f["id"] for f in plain["findings"]]


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        (("--since", "2026-06-01T10:01:00Z"), 120),
        (("--until", "2026-06-01T10:01:00Z"), 60),
        (("--since", "30s"), 31),
        (("--since", "1m", "--until", "30s"), 30),
        (("--since", "2026-06-01T10:02:00Z", "--until", "2026-06-01T10:02:10+00:00"), 10),
    ],
)
def test_only_the_stretch_asked_for_is_looked_at(
    run: Callable[..., Ran], quiet: Path, options: tuple[str, ...], requests: int
) -> None:
    assert run(quiet, *options, "--format", "json").requests == requests


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing.jsonl",), "nothing.jsonl does not exist"),
        (("-", "--since", "30m"), "30m counts back from the end, which standard input has not"),
        (("-", "--jobs", "2"), "--jobs needs files"),
        (("{log}", "--since", "soon"), "--since soon: write a time"),
        (("{log}", "--window", "15s"), "command line: window: a window is made of whole slices"),
        (("{log}", "--salt-file", "none"), "salt_file: "),
        (("{log}", "--contract", "none.yaml"), "none.yaml: "),
        (("{log}", "--fail-on", "sometimes"), "Invalid value for '--fail-on'"),
        (("{log}", "--jobs", "0"), "Invalid value for '--jobs'"),
        ((), "Missing argument 'LOG...'"),
    ],
)
def test_what_cannot_work_is_usage(run: Callable[..., Ran], quiet: Path, arguments: tuple[str, ...], told: str) -> None:
    ran = run(*(argument.format(log=quiet) for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_thresholds_and_contract_come_from_the_configuration(
    run: Callable[..., Ran], hot: Path, contract: Path, tmp_path: Path
) -> None:
    config = tmp_path / "dynascope.yaml"
    config.write_text(f"contract: {contract.name}\nkeys: reveal\n")
    ran = run(hot, "--config", config, "--format", "json")
    assert {line["pattern"] for line in ran.report["patterns"]} == {"load-case"}
    assert CANARY in ran.out
    config.write_text("detectors: {hot-kee: {}}\n")
    ran = run(hot, "--config", config)
    assert (ran.code, ran.err) == (2, f"{config}:1: detectors.hot-kee: no such detector; did you mean hot-key?\n")


def test_a_recording_is_sent_to_replay(run: Callable[..., Ran], recording: Path) -> None:
    ran = run(recording)
    assert (ran.code, f"dynascope replay {recording}" in ran.err) == (2, True)


@pytest.mark.parametrize("content", [b"", b"\x00\xff\n", b"not a record\n{}\n"])
def test_a_log_without_a_record_says_so(run: Callable[..., Ran], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "junk.jsonl"
    path.write_bytes(content)
    ran = run(path, "--format", "json")
    assert (ran.code, ran.report["verdict"]["state"]) == (3, "cannot-tell")
    assert f"dynascope: {path} holds no request that could be read" in ran.err


def test_one_log_without_a_record_among_others_says_so_too(
    run: Callable[..., Ran], quiet: Path, tmp_path: Path
) -> None:
    (tmp_path / "junk.jsonl").write_bytes(b"junk\n")
    ran = run(quiet, tmp_path / "junk.jsonl", "--fail-on", "never")
    assert ran.code == 3
    assert ran.err.count("holds no request") == 1


def test_a_log_that_breaks_off_is_a_gap(run: Callable[..., Ran], quiet: Path) -> None:
    quiet.write_bytes(gzip.compress(quiet.read_bytes() * 20)[:-4])
    ran = run(quiet, "--format", "json")
    assert any("breaks off" in gap["detail"] for gap in ran.report["gaps"])
    assert ran.report["verdict"]["state"] == "cannot-tell"


def test_stopped_by_the_user_it_tells_what_it_has(
    run: Callable[..., Ran], quiet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*arguments: Any) -> Any:
        yield from read_blocks(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr("analyzer.cli.judging.read_blocks", stopped)
    ran = run(quiet, "--format", "json")
    assert ran.code == 130
    assert ran.report["gaps"][-1]["detail"] == "reading was stopped by the user"


PROGRAM = [sys.executable, "-c", "from analyzer.cli.main import main; main()", "analyze"]


def test_progress_goes_to_a_terminal_alone(quiet: Path) -> None:
    done = subprocess.run([*PROGRAM, quiet, "--format", "json"], capture_output=True, check=False)
    assert done.stderr == b""
    ours, theirs = os.openpty()
    seen = subprocess.run([*PROGRAM, quiet, "--format", "json"], stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(theirs)
    assert b"reading" in os.read(ours, 65_536)
    os.close(ours)
    assert seen.stdout == done.stdout


def test_what_samplers_dropped_is_a_gap(run: Callable[..., Ran], quiet: Path) -> None:
    counter = {"v": 1, "counter": "dropped", "count": 7, "start": "2026-06-01T10:00:00.000Z", "caller": "api"}
    with quiet.open("a") as file:
        file.write(json.dumps({**counter, "end": "2026-06-01T10:01:00.000Z"}) + "\n")
    assert run(quiet, "--format", "json").report["gaps"][0]["detail"] == (
        "7 records were dropped by samplers before they were written"
    )


def test_a_reader_that_leaves_is_no_error(quiet: Path) -> None:
    command = f"{sys.executable} -c 'from analyzer.cli.main import main; main()' analyze {quiet} --format json"
    done = subprocess.run(["bash", "-c", f"({command}; echo $? >&2) | head -c 1"], capture_output=True, check=True)
    assert done.stderr == b"0\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_stretch_beside_the_log_is_told_with_where_the_log_lies(
    run: Callable[..., Ran], quiet: Path, jobs: str
) -> None:
    ran = run(quiet, "--since", "2031-01-01T00:00:00Z", "--jobs", jobs)
    assert ran.code == 3
    assert "holds no request of the stretch that --since and --until leave: its own are from 2026-06-01T10:0" in ran.err


def test_a_log_beside_the_stretch_is_no_failure_where_another_lies_in_it(
    run: Callable[..., Ran], quiet: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text(quiet.read_text().replace("2026-06-01T", "2025-06-01T"))
    ran = run(quiet, old, "--since", "2026-01-01T00:00:00Z", "--fail-on", "never")
    assert (ran.code, ran.err) == (0, "")


def test_the_torn_last_line_of_a_log_that_is_being_written_is_told_beside_the_verdict(
    run: Callable[..., Ran], quiet: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "copy.jsonl"
    torn.write_bytes(quiet.read_bytes() + b'{"v":1,"time":"2026-06-01T1')
    whole, copied = run(quiet), run(torn)
    assert (copied.code, copied.out) == (whole.code, whole.out)
    assert f"the last line of {torn} is not whole, and is left out" in copied.err


def test_a_clock_that_was_wrong_does_not_make_the_stretch_absurd(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither does it close a finding of the end."""
    file = tmp_path / "requests.jsonl"
    call = {"v": 1, "op": "Scan", "table": "orders", "scanned": 100, "count": 1, "consumed": {"total": 50.0}}
    start = parse_instant("2026-06-01T10:00:00.000Z")
    times = [10, *range(start, start + 120_000, 60), parse_instant("2099-01-01T00:00:00.000Z")]
    file.write_text("".join(json.dumps(call | {"time": format_instant(time)}) + "\n" for time in times))
    assert execute(["analyze", str(file), "--fail-on", "never"]) == 0
    said = capsys.readouterr().out
    assert "2026-06-01 10:00:00–10:02:00 UTC" in said
    assert "2 requests lie outside of it: 1970-01-01 00:00:00, 2099-01-01 00:00:00" in said
    assert execute(["analyze", str(file), "--fail-on", "never", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["requests"] for one in told["outside"]] == [1, 1]
    assert sum(one["requests"] for one in told["patterns"]) == len(times)
    assert {one["status"] for one in told["findings"] if one["detector"] == "unexpected-scan"} == {"open"}
    assert execute(["analyze", str(file), "--fail-on", "never", "--format", "markdown"]) == 0
    assert "2 requests lie outside of it" in capsys.readouterr().out
