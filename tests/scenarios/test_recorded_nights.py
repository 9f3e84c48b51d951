"""What `diagnose` recorded beside a request log replays to the same first line and the same findings, anywhere."""

from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli import recording_to, thinning
from analyzer.cli.main import execute
from analyzer.model.instant import format_instant
from collectors.aws import rates
from tests.support.incidents import MINUTE_MS, WRITE_KEY_RANGE, WRITES_PROVISIONED, Night

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws

CANARY = "canary-7f31"
KEY = f"TENANT#{CANARY}"
THROTTLE = "ProvisionedThroughputExceededException"


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)  # nobody waits for a test
    emulator.limit("cloudtrail", "LookupEvents", None)
    return emulator


@pytest.fixture
def night(aws: LocalAws) -> Night:
    return Night(aws).table("orders", provisioned=(5000, 5000)).usual("orders", "PutItem", requests=5000)


class Log:
    """Lines of a request log of the last minutes of a night."""

    def __init__(self, night: Night) -> None:
        self.begin = night.end - 8 * MINUTE_MS
        self.lines: list[bytes] = []

    def call(self, op: str, at_ms: int, table: str = "orders", **fields: Any) -> None:
        time = format_instant(self.begin + at_ms)
        self.lines.append(json.dumps({"v": 1, "time": time, "op": op, "table": table, **fields}).encode())

    def hot(self, count: int = 1000) -> Log:
        """One key that is refused again and again, and some that are not; another table's requests between them."""
        tries = [{"at_ms": at, "code": THROTTLE, "reason": WRITE_KEY_RANGE} for at in (0, 9)]
        for n in range(count):
            key = {"PK": {"S": KEY}, "SK": {"S": f"{CANARY}-{n}"}}
            consumed: dict[str, Any] = {"consumed": {"total": 1.0, "table": 1.0}}
            self.call("PutItem", n * 400, key=key, caller="importer", attempts=3, tries=tries, **consumed)
            if n % 10 == 0:
                other = {"PK": {"S": f"OTHER#{n}"}, "SK": {"S": "META"}}
                self.call("PutItem", n * 400 + 5, key=other, caller="shop", attempts=1, **consumed)
                self.call("GetItem", n * 400 + 7, table="users", key={"PK": {"S": f"{CANARY}-user"}}, caller="shop")
        return self

    def scans(self, count: int = 400) -> Log:
        """A job that scans the table page by page."""
        for n in range(count):
            page: dict[str, Any] = {
                "count": 200,
                "scanned": 5000,
                "more": True,
                "resumed": n > 0,
                "latency_ms": 40.0,
                "attempts": 1,
            }
            page["consumed"] = {"total": 128.0, "table": 128.0}
            self.call("Scan", n * 900, caller="exporter", filter="#c = :c", names={"#c": CANARY[:6]}, **page)
        return self

    def written(self, path: Path) -> Path:
        text = b"\n".join(self.lines) + b"\n"
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        return path


class Nightly:
    """Asks `diagnose` to record, and replays what it wrote; both as JSON, and the bytes of the recording."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = folder / "page.jsonl"
        self._capsys = capsys
        self.told = ""

    def __call__(self, *arguments: str, again: tuple[str, ...] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
        shown = ("--format", "json", "--keys", "token")
        execute(["diagnose", "orders", "--record", str(self.file), *arguments, *shown])
        captured = self._capsys.readouterr()
        self.told = captured.err
        said = json.loads(captured.out)
        execute(["replay", str(self.file), *again, *shown])
        replayed = json.loads(self._capsys.readouterr().out)
        assert CANARY not in captured.out + captured.err
        assert CANARY.encode() not in self.file.read_bytes()
        return said, replayed

    def requests(self) -> list[str]:
        """The lines of requests."""
        return [line for line in self.file.read_text("utf-8").splitlines() if line.startswith('{"kind":"request"')]


@pytest.fixture
def nightly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Nightly:
    return Nightly(tmp_path, capsys)


def agree(said: dict[str, Any], replayed: dict[str, Any]) -> None:
    assert said["verdict"] == replayed["verdict"]
    assert said["findings"] == replayed["findings"]
    for name in ("window", "as_of", "patterns", "keys", "skipped", "coverage"):
        assert said[name] == replayed[name], name


def detectors(said: dict[str, Any]) -> set[str]:
    return {one["detector"] for one in said["findings"]}


def test_a_hot_key_of_the_log(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    log = Log(night).hot().written(tmp_path / "requests.jsonl")
    said, replayed = nightly("--log", str(log))
    agree(said, replayed)
    assert "hot-key" in detectors(said)
    assert said["diagnosis"]["who"].startswith("importer")
    assert {one["table"] for one in said["patterns"]} == {"orders"}
    assert "1,100 requests of the log, keys as tokens" in nightly.told
    assert "clear keys may tell more" in nightly.told
    assert "left out are 100 of other tables or places" in nightly.told


def test_a_hot_key_of_several_logs_one_of_them_packed(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    whole = Log(night).hot()
    names = []
    for part, name in enumerate(("a.jsonl", "b.jsonl.gz", "c.jsonl")):
        log = Log(night)
        log.lines = whole.lines[part::3]
        names += ["--log", str(log.written(tmp_path / name))]
    said, replayed = nightly(*names)
    agree(said, replayed)
    assert sum(one["requests"] for one in said["patterns"]) == 1100
    times = [json.loads(line)["request"]["time"] for line in nightly.requests()]
    assert times == sorted(times)


def test_a_scan_of_the_log(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.usual("orders", "Scan", requests=70, units=8500).done()
    log = Log(night).scans()
    log.lines.append(b'{"v":1,"counter":"dropped","count":7}')
    said, replayed = nightly("--log", str(log.written(tmp_path / "requests.jsonl.gz")))
    agree(said, replayed)
    assert "unexpected-scan" in detectors(said)
    assert "7 records were dropped by samplers before they were written" in [gap["detail"] for gap in said["gaps"]]


def test_throttling_by_metrics_alone(night: Night, nightly: Nightly) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITES_PROVISIONED]).done()
    said, replayed = nightly()
    agree(said, replayed)
    assert said["verdict"]["text"].startswith("orders: writes over provisioned 5,000 WCU since ")
    assert nightly.told == f"dynascope: {nightly.file} holds what AWS showed\n"


def test_the_contract_goes_with_it(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.usual("orders", "Scan", requests=70, units=8500).done()
    contract = tmp_path / "contract.yaml"
    contract.write_text(
        "tables:\n  - name: orders\n    partition_key: PK\n    sort_key: SK\n    patterns:\n"
        "      - {id: put-tenant, operation: PutItem, key: {PK: 'TENANT#<id>', SK: '<n>'}}\n"
        "      - {id: export, operation: Scan, purpose: export, callers: [exporter]}\n"
    )
    log = Log(night).scans().hot(300).written(tmp_path / "requests.jsonl")
    said, replayed = nightly("--log", str(log), "--contract", str(contract))
    agree(said, replayed)
    assert {one["pattern"] for one in replayed["patterns"]} >= {"put-tenant", "export"}


def test_a_contract_of_several_files_is_told_to_be_left_out(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.done()
    files = []
    for name in ("orders", "users"):
        file = tmp_path / f"{name}.yaml"
        file.write_text(f"tables: [{{name: {name}, partition_key: PK}}]\n")
        files += ["--contract", str(file)]
    agree(*nightly(*files, again=tuple(files)))
    assert "the contract is several files and not in it" in nightly.told


def test_standard_input_is_read_again_while_it_waits(
    night: Night, nightly: Nightly, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    text = b"\n".join(Log(night).scans(3).lines) + b"\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        night.aws.watch("orders")
        night.now("orders", "PutItem", requests=50_000, throttles=5000, reasons=[WRITE_KEY_RANGE], key=KEY, sort="META")
        night.done()

    monkeypatch.setattr("analyzer.cli.diagnosing.sleep", sleep)
    said, replayed = nightly("--log", "-", "--wait", "5m")
    assert slept == [60]
    agree(said, replayed)
    assert sum(one["requests"] for one in said["patterns"]) == 3
    assert "3 requests of the log" in nightly.told


def test_of_too_large_a_log_a_sample_stays_that_says_so(
    night: Night, nightly: Nightly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_to, "Thinned", lambda: thinning.Thinned(160_000))
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    log = Log(night).hot().written(tmp_path / "requests.jsonl")
    said, replayed = nightly("--log", str(log))
    agree(said, replayed)
    assert nightly.file.stat().st_size < 360_000
    assert " of 1,100 (1 in 4, to stay small) requests of the log" in nightly.told
    assert 900 < sum(one["requests"] for one in said["patterns"]) < 1300
    assert "hot-key" in detectors(said)


def test_whoever_may_see_keys_sees_them_while_the_recording_holds_tokens(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    log, file = Log(night).hot().written(tmp_path / "requests.jsonl"), tmp_path / "page.jsonl"
    assert execute(["diagnose", "orders", "--log", str(log), "--record", str(file), "--reveal-keys"]) == 0
    shown = capsys.readouterr()
    assert KEY in shown.out
    assert "keys as tokens; the verdict rests on clear keys, that of a replay on tokens" in shown.err
    assert CANARY not in file.read_text("utf-8")


def test_a_full_disk_takes_the_recording_and_not_the_verdict(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    night.done()
    monkeypatch.setattr(recording_to, "replace_file_by", full)
    file = tmp_path / "page.jsonl"
    assert execute(["diagnose", "orders", "--record", str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith("CLEAN")
    assert f"{file} could not be written: No space left on device; nothing is recorded" in shown.err
    assert execute(["diagnose", "--record", str(file)]) == 2
    assert capsys.readouterr().out.startswith("CLEAN")


def test_a_recording_is_packed_where_its_name_says_so(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    file = tmp_path / "page.jsonl.gz"
    assert execute(["diagnose", "orders", "--record", str(file)]) == 0
    assert gzip.decompress(file.read_bytes()).startswith(b'{"kind":"recording"')
    capsys.readouterr()
    assert execute(["replay", str(file)]) == 0
    assert capsys.readouterr().out.startswith("CLEAN")


def test_lines_that_cannot_be_read_are_told_in_both(night: Night, nightly: Nightly, tmp_path: Path) -> None:
    night.done()
    log = Log(night).scans(5)
    log.lines[2:2] = [f"{KEY} is no JSON".encode(), json.dumps({"v": 1, "time": KEY, "op": "Scan"}).encode()]
    said, replayed = nightly("--log", str(log.written(tmp_path / "requests.jsonl")))
    agree(said, replayed)
    assert "2 lines of the request log are no records" in said["verdict"]["text"]


def test_a_log_of_another_stretch_or_table_is_told(
    night: Night, nightly: Nightly, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    log = Log(night)
    log.call("GetItem", 10, table="users")
    log.call("GetItem", -86_400_000)
    log.call("GetItem", -log.begin)
    file = str(log.written(tmp_path / "requests.jsonl"))
    agree(*nightly("--log", file))
    assert "1 request lies at times that cannot be (1970-01-01 00:00:00)" in nightly.told
    assert execute(["diagnose", "orders", "--log", file]) == 0
    assert "the log has no request to the table in this stretch; left out are 1 of other tables" in nightly.told
    assert "1 request lies at times that cannot be" in capsys.readouterr().err


def test_a_sweep_without_a_suspect_holds_no_request(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    log, file = Log(night).scans(3).written(tmp_path / "requests.jsonl"), tmp_path / "page.jsonl"
    assert execute(["diagnose", "--log", str(log), "--record", str(file)]) == 0
    assert "holds what AWS showed, and no request" in capsys.readouterr().err
    assert execute(["diagnose", "--log", str(log)]) == 0
    assert "the request log was not read: no table is suspected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["orders", "--record", "/dev/null"], "this is no file"),
        (["orders", "--record", "nowhere/page.jsonl"], "there is no folder nowhere"),
        (["--from", "http://127.0.0.1:1", "--record", "page.jsonl"], "there is nothing to replay"),
        (["--from", "http://127.0.0.1:1", "--log", "requests.jsonl"], "--log is read beside AWS"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_is_asked(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["diagnose", *arguments]) == 2
    assert complaint in capsys.readouterr().err
