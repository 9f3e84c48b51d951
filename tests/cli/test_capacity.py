from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.capacity import factor_of, target_of
from analyzer.cli.main import execute
from analyzer.errors import UsageError
from collectors.aws import rates
from tests.support.incidents import Night
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws


def day(**table: Any) -> Recorded:
    """Return an hour of the table `orders`, with its contract."""
    made = Recorded(minutes=60).table("PK", "SK", TableSizeBytes=2**30, **table)
    made.contract({"id": "get", "operation": "GetItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}, "item_bytes": 900})
    made.metric("ConsumedReadCapacityUnits", [60 * 70] * 60)
    return made.request("GetItem", 60, key={"PK": "C#1", "SK": "O#1"}, units=0.5, caller="shop")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "day.jsonl"
    path.write_text(day().text(), "utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = execute(["capacity", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_recording_is_planned_with_its_own_contract(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "orders", "--recording", recording, "--event", "5x", "--target", "60%")
    assert code == 0
    assert out.startswith("CAPACITY OF ORDERS\n2026-03-02 09:00:00–10:00:00 UTC · on demand · list price")
    for part in ("DEMAND", "WAYS TO PAY", "ARITHMETIC", "RULES OF THUMB", "COST BY PATTERN", "A PEAK OF 5 TIMES"):
        assert part in out
    assert "at 60%" in out
    assert " get " in out


def test_a_contract_that_is_given_goes_before_the_recorded_one(
    recording: Path, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "orders", "--recording", recording, "--contract", contract)
    assert "undeclared" in out
    assert "the contract does not declare orders: what its patterns should cost cannot be told" in " ".join(out.split())
    assert "does not declare" not in run(capsys, "orders", "--recording", recording)[1]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["order"], "did you mean order?"),
        (["a", "b"], "it declares a, b -"),
        (list("abcdefg"), "it declares a, b, c, d, e and others"),
        (["orders"], "it declares one of that name of another account or region"),
    ],
)
def test_a_contract_without_the_table_says_what_it_declares(
    names: list[str], told: str, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "contract.yaml"
    where = {"where": {"regions": ["eu-west-3"]}, "partition_key": "PK", "patterns": []}
    tables = [{"name": name} | where for name in names]
    path.write_text(json.dumps({"version": 1, "tables": tables}))
    _, out, _ = run(capsys, "orders", "--recording", recording, "--contract", path)
    assert told in " ".join(out.split())


def test_a_log_is_planned_as_far_as_it_tells(quiet: Path, contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "cases", "--log", quiet, "--contract", contract, "--since", "1m")
    assert code == 0
    assert "billing mode not known" in out
    assert "only 70 seconds were observed" in out


def test_json_tells_every_number(recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plan.json"
    code, out, _ = run(capsys, "orders", "--recording", recording, "-o", path)
    plan = json.loads(path.read_text("utf-8"))
    assert (code, out, plan["v"], plan["table"], plan["best"]) == (0, "", 1, "orders", "provisioned")
    assert plan["window"]["start"] == "2026-03-02T09:00:00.000Z"
    assert plan["thumb"]["break_even_share"] == 0.288889
    assert {one["name"] for one in plan["options"]} >= {"on-demand", "provisioned", "reserved", "standard-ia"}


def test_what_costs_nothing_by_configuration_is_said(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = dict.fromkeys(("read_million", "write_million", "write_unit_hour", "storage_gigabyte"), 0.1)
    regions = {"eu-central-1": {"standard": units | {"read_unit_hour": 0}}}
    config = tmp_path / "dynascope.yaml"
    config.write_text(json.dumps({"prices": {"as_of": "2026-11-01", "regions": regions}}))
    _, out, _ = run(capsys, "orders", "--recording", recording, "--config", config)
    told = " ".join(out.split())
    assert "configured price of eu-central-1, 2026-11-01 (with prices of $0)" in told
    assert "has 0 for read_unit_hour: what it pays for is counted as free" in told


@pytest.mark.parametrize(("name", "start"), [("a.html", "<!DOCTYPE html>"), ("a.md", "# Capacity of orders")])
def test_a_file_is_written_in_the_format_of_its_name(
    recording: Path, tmp_path: Path, name: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "orders", "--recording", recording, "-o", tmp_path / name)[0] == 0
    assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_nothing_consumed_cannot_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(Recorded(minutes=5).table("PK", "SK").text(), "utf-8")
    code, out, _ = run(capsys, "orders", "--recording", path)
    assert code == 3
    assert "What would be cheapest cannot be told" in out


def test_a_table_that_was_not_seen_is_told_with_those_that_were(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "order", "--recording", recording)
    assert code == 3
    assert err == "dynascope: nothing of order is in what was read: it holds orders\n  did you mean orders?\n"


@pytest.mark.parametrize("table", ["orders", "t"])
def test_a_log_that_holds_no_request_cannot_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    code, out, err = run(capsys, table, "--log", path)
    assert (code, out) == (3, "")
    assert f"{path}: no request can be read\n  `dynascope analyze` says what is wrong with it" in err


def test_a_table_in_two_regions_is_named_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    call = {"v": 1, "time": "2026-03-02T09:00:00Z", "op": "GetItem", "table": "t", "consumed": {"total": 1, "read": 1}}
    path.write_text("".join(json.dumps(call | {"region": name}) + "\n" for name in ("eu-west-1", "us-east-1")))
    code, _, err = run(capsys, "t", "--log", path)
    assert code == 2
    assert "t is in several places (? eu-west-1, ? us-east-1)" in err
    assert run(capsys, "t", "--log", path, "--region", "eu-west-1")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--recording", "RECORDING", "--since", "1d"), "--recording holds its own stretch"),
        (("--log", "RECORDING"), "is a recording; give it to --recording"),
        (("--since", "30d"), "CloudWatch has minutes of 10m to 14d"),
        (("--log", "-", "--since", "1h"), "which standard input has not"),
    ],
)
def test_what_cannot_work_is_said(
    words: tuple[str, ...],
    told: str,
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "empty.jsonl").write_text("no record\n")
    with (tmp_path / "empty.jsonl").open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        code, _, err = run(capsys, "orders", *(str(recording) if word == "RECORDING" else word for word in words))
    assert code == 2
    assert told in err


@pytest.mark.parametrize(("text", "factor"), [("5x", 5), ("2.5", 2.5), ("1.1X", 1.1), ("10000x", 10_000)])
def test_a_factor_is_read(text: str, factor: float) -> None:
    assert factor_of(text) == factor


@pytest.mark.parametrize("text", ["x", "0.5x", "1x", "five", "10001x", "99999x", "nan"])
def test_a_factor_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"from 1\.1x to 10,000x, such as 5x"):
        factor_of(text)


def test_a_target_lies_where_autoscaling_allows() -> None:
    assert (target_of("70%"), target_of("50"), target_of(None)) == (0.7, 0.5, None)
    for text in ("95%", "10", "most"):
        with pytest.raises(UsageError, match="between 20% and 90%"):
            target_of(text)


def test_aws_is_asked_where_nothing_is_given(
    emulator: LocalAws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: Path
) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)  # nobody waits for a test
    emulator.limit("cloudtrail", "LookupEvents", None)
    Night(emulator).table("orders", provisioned=(5000, 500)).usual("orders", "PutItem", requests=5000).done()
    code, out, _ = run(capsys, "orders", "--since", "2h", "--live", "--log", quiet)
    assert code == 0
    assert "write units of" in out
    assert "cloudwatch-metrics" in out
    code, _, err = run(capsys, "order")
    assert (code, "there is no table order in us-east-1; did you mean orders?" in err) == (2, True)
    emulator.fault("denied", service="monitoring", operation="GetMetricData", times=99)
    code, _, err = run(capsys, "orders", "--since", "2h")
    assert code == 3
    assert "CloudWatch shows no series of orders" in err
