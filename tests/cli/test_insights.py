from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws

BOTH, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"
PATIENCE_SECONDS = 60


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("cases", sort="SK", indexes={"GSI1": ("GSI1PK", None)})
    emulator.settings(enabling_seconds=0)
    return emulator


def stands(aws: LocalAws, **place: str) -> tuple[str, str | None]:
    told = aws.client("dynamodb").describe_contributor_insights(TableName="cases", **place)
    return told["ContributorInsightsStatus"], told.get("ContributorInsightsMode")


def insights(tmp_path: Path, *arguments: str) -> int:
    return execute(["insights", *arguments, "--state", str(tmp_path / "state")])


def start(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a watch in a process of its own, and return when it has switched over."""
    command = [sys.executable, "-c", "from analyzer.cli.main import main; main()"]
    whole = [*command, "insights", *arguments, "--state", str(tmp_path / "state")]
    process = subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    for line in process.stdout:
        if "are being ranked" in line:
            return process
    raise AssertionError(process.communicate()[1])


def end(process: subprocess.Popen[str], number: int) -> int:
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode


def test_without_yes_it_says_what_it_would_do_and_changes_nothing(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.watch("cases", mode=THROTTLED)
    minute = time.time_ns() // 1_000_000 - 20 * 60_000
    aws.plant("cases", at=minute, minutes=10, key="A", sort="1", reads=600, requests=360)
    assert insights(tmp_path, "watch", "cases") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "cases in us-east-1: Contributor Insights is on, mode THROTTLED_KEYS"
    assert told[1] == "it would rank the most accessed keys for 30 minutes, and then be on, mode THROTTLED_KEYS again"
    assert told[2].startswith("it adds 2 rules; the account has ")
    assert "requests a second, the last hour's mean" in told[3]
    assert told[4] == "nothing was changed: this is a dry run; --yes does it"
    assert stands(aws) == ("ENABLED", THROTTLED)
    assert ("dynamodb", "UpdateContributorInsights") not in aws.calls()


def test_what_ranks_already_is_left_alone(aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aws.watch("cases", "GSI1")
    assert insights(tmp_path, "watch", "cases", "--index", "GSI1", "--yes") == 0
    assert "there is nothing to do" in capsys.readouterr().out
    assert stands(aws, IndexName="GSI1") == ("ENABLED", BOTH)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_stops_it_has_it_switched_back(aws: LocalAws, tmp_path: Path, number: int) -> None:
    aws.watch("cases", mode=THROTTLED)
    process = start(tmp_path, "watch", "cases", "--yes")
    assert stands(aws) == ("ENABLED", BOTH)
    assert end(process, number) == 0
    assert stands(aws) == ("ENABLED", THROTTLED)


def test_killed_it_leaves_its_intent_and_restore_undoes_it(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = start(tmp_path, "watch", "cases", "--yes")
    assert end(process, signal.SIGKILL) == -signal.SIGKILL
    assert stands(aws)[0] == "ENABLED"
    assert insights(tmp_path, "watch", "cases", "--index", "GSI1") == 0
    told = capsys.readouterr().out
    assert (
        "left by a process that died, `dynascope insights restore` undoes it: cases in us-east-1: back to off" in told
    )
    assert stands(aws)[0] == "ENABLED"
    assert insights(tmp_path, "restore") == 0
    assert "switched back: cases in us-east-1: back to off" in capsys.readouterr().out
    assert stands(aws)[0] == "DISABLED"
    assert insights(tmp_path, "restore") == 0
    assert "nothing is left to be undone" in capsys.readouterr().out


def test_killed_it_is_undone_when_it_is_started_again(aws: LocalAws, tmp_path: Path) -> None:
    aws.watch("cases", mode=THROTTLED)
    end(start(tmp_path, "watch", "cases", "--yes"), signal.SIGKILL)
    assert stands(aws) == ("ENABLED", BOTH)
    again = start(tmp_path, "watch", "cases", "--index", "GSI1", "--yes")
    assert stands(aws) == ("ENABLED", THROTTLED)
    assert end(again, signal.SIGTERM) == 0
    assert stands(aws, IndexName="GSI1")[0] == "DISABLED"


def test_a_running_watch_is_not_undone_by_another(aws: LocalAws, tmp_path: Path) -> None:
    process = start(tmp_path, "watch", "cases", "--yes")
    assert insights(tmp_path, "restore") == 0
    assert stands(aws)[0] == "ENABLED"
    assert end(process, signal.SIGTERM) == 0
    assert stands(aws)[0] == "DISABLED"


def test_what_aws_refuses_is_told_with_its_mend(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.fault("denied", service="dynamodb", operation="UpdateContributorInsights")
    assert insights(tmp_path, "watch", "cases", "--yes") == 3
    assert "grant dynamodb:UpdateContributorInsights" in capsys.readouterr().err
    assert insights(tmp_path, "restore") == 0


@pytest.mark.parametrize("named", [("orders",), ("cases", "--index", "by-shop")], ids=["a table", "an index"])
def test_what_is_not_there_was_mistyped(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str], named: tuple[str, ...]
) -> None:
    assert insights(tmp_path, "watch", *named) == 2
    assert capsys.readouterr().err
    assert stands(aws)[0] == "DISABLED"


def test_what_cannot_be_undone_is_a_failure(aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "state" / "insights-watch"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text("torn")
    assert insights(tmp_path, "restore") == 3
    told = capsys.readouterr().err
    assert told.count("is no intent of a watch") == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["watch"], "watch needs a TABLE"),
        (["watch", "cases", "--for", "soon"], "--for: 'soon' is not a duration"),
        (["watch", "cases", "--for", "30s"], "a watch lasts from 1m to 1d"),
        (["watch", "cases", "--for", "2d"], "a watch lasts from 1m to 1d"),
    ],
)
def test_a_watch_without_bound_or_place_is_wrong_usage(
    tmp_path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert insights(tmp_path, *arguments) == 2
    assert told in capsys.readouterr().err


def test_the_state_folder_is_the_configured_one(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[Any]
) -> None:
    config = tmp_path / "dynascope.yaml"
    config.write_text("state: kept\n")
    assert execute(["insights", "restore", "--config", str(config)]) == 0
    assert str(tmp_path / "kept") in capsys.readouterr().out
