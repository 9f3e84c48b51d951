from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.canary import _told
from analyzer.cli.main import execute
from analyzer.model.batch import LagProbe
from analyzer.traffic.gsi_lag import estimate_lag
from analyzer.traffic.lag_pairs import probe_pairs
from tests.support.evidence import GSI2

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws

PREFIX = "__dynascope_canary__"
PATIENCE_SECONDS = 60


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("orders", sort="SK", indexes={"by-status": ("status", "placed")})
    emulator.run()
    return emulator


def canary(tmp_path: Path, *arguments: str) -> int:
    return execute(["canary", *arguments, "--state", str(tmp_path / "state")])


def items(aws: LocalAws) -> int:
    return int(aws.client("dynamodb").scan(TableName="orders")["Count"])


def test_without_yes_it_says_what_it_would_do_and_writes_nothing(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert canary(tmp_path, "orders", "--index", "by-status") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("orders/by-status in us-east-1: 60 items, one after another, are written")
    assert PREFIX in told[1]
    assert told[-1] == "nothing was written: this is a dry run; --yes does it"
    assert ("dynamodb", "PutItem") not in aws.calls()


def test_that_few_probes_will_tell_nothing_is_said_before_they_are_made(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert canary(tmp_path, "orders", "--index", "by-status", "--probes", "10") == 0
    assert "CAREFUL: fewer than 20 writes tell no lag" in capsys.readouterr().out


def test_it_measures_and_leaves_nothing(aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--probes", "20", "--every", "100ms", "--yes")
    assert canary(tmp_path, "orders", "--index", "by-status", *arguments) == 0
    told = capsys.readouterr().out
    assert "20 writes were followed by " in told
    assert "half of the writes appeared within " in told
    assert "fewer than 300 writes do not tell the slowest hundredth" in told
    assert items(aws) == 0


def test_killed_it_leaves_a_note_and_clean_removes_its_item(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.fault("denied", service="dynamodb", operation="DeleteItem")
    assert canary(tmp_path, "orders", "--index", "by-status", "--yes") == 3
    assert "dynascope canary --clean" in capsys.readouterr().err
    assert items(aws) == 1
    assert canary(tmp_path, "--clean") == 3
    aws.forgive()
    assert canary(tmp_path, "--clean") == 0
    assert "removed what a run left in orders/by-status of us-east-1" in capsys.readouterr().out
    assert items(aws) == 0
    assert canary(tmp_path, "--clean") == 0
    assert "nothing is left to be removed" in capsys.readouterr().out


def test_who_stops_it_is_told_what_was_measured(aws: LocalAws, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from analyzer.cli.main import main; main()", "canary", "orders", "--index"]
    whole = [*command, "by-status", "--every", "100ms", "--probes", "9000", "--most-usd", "1", "--yes"]
    process = subprocess.Popen(
        [*whole, "--state", str(tmp_path / "state")], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "10 of 9000 writes were followed" in line:
            break
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "stopped after 1" in rest
    assert " of 9,000 writes\n" in rest
    assert "writes were followed by " in rest
    assert items(aws) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("orders",), "needs a TABLE and an --index"),
        (("orders", "--index", "by-status", "--probes", "0"), "from 1 to 10,000"),
        (("orders", "--index", "by-status", "--most-usd", "nan"), "--most-usd nan: a number of dollars"),
        (("orders", "--index", "by-status", "--most-usd=-1"), "--most-usd -1: a number of dollars"),
        (("orders", "--index", "by-status", "--every", "1ms"), "a tenth of a second at least"),
        (("orders", "--index", "by-status", "--every", "soon"), "--every"),
        (("orders", "--index", "by-status", "--every", "1d"), "60 probes 1d apart take 59.0 days: a day at most"),
    ],
)
def test_wrong_usage_is_told(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert canary(tmp_path, *arguments) == 2
    assert said in capsys.readouterr().err


def test_an_index_that_is_not_there_is_told(aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert canary(tmp_path, "orders", "--index", "by-shop") == 2
    assert "orders has no global index by-shop" in capsys.readouterr().err
    assert items(aws) == 0


def test_what_was_measured_is_told_with_its_bounds() -> None:

    ages = [float(age) for age in range(0, 30_000, 100)]
    slow = [LagProbe(GSI2, f"k{n}", 0, tuple((age, age, age >= 200) for age in ages)) for n in range(300)]
    never = [LagProbe(GSI2, f"k{n}", 0, ((900.0, 901.0, False),)) for n in range(40)]
    gone = LagProbe(GSI2, "k", 0, ((0.0, 1.0, True), (500.0, 501.0, False)))
    told = list(_told(estimate_lag(probe_pairs([*slow, gone]))))
    assert told[1].startswith("half of the writes appeared within 197 ms [")
    assert told[3].startswith("99% of the writes appeared within ")
    assert told[4] == "with fewer than 1,000 writes the slowest hundredth may be slower than its upper bound"
    assert told[5] == "1 writes were seen and then not; they are left out"
    assert "more than anybody waited [" in list(_told(estimate_lag(probe_pairs(never))))[1]
    few = list(_told(estimate_lag(probe_pairs(slow[:10]))))
    assert few[1:] == ["fewer than 20 writes tell no lag: 20 tell the half, 60 tell 95%, 300 tell 99% of them"]
    assert list(_told(None)) == ["nothing was measured: it was stopped before the first item was followed"]
