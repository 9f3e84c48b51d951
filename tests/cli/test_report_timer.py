"""What the timer and the CronJob call is a command that there is."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from analyzer.cli.main import execute

if TYPE_CHECKING:
    import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "systemd" / name)
    return parser


def options(capsys: pytest.CaptureFixture[str]) -> set[str]:
    assert execute(["report", "--help"]) == 0
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_the_service_calls_the_report_of_the_last_week(capsys: pytest.CaptureFixture[str]) -> None:
    command = unit("dynascope-report.service")["Service"]["ExecStart"].split()
    assert command[:2] == ["/opt/dynascope/.venv/bin/dynascope", "report"]
    assert set(re.findall(r"--[a-z-]+", " ".join(command))) <= options(capsys)
    assert "--week" not in command


def test_the_timer_and_the_cron_job_run_on_monday_and_make_up_for_a_monday_that_was_missed() -> None:
    timer = unit("dynascope-report.timer")["Timer"]
    assert (timer["OnCalendar"], timer["Persistent"]) == ("Mon *-*-* 06:00:00 UTC", "true")
    job = YAML(typ="safe").load(DEPLOY / "kubernetes" / "cronjob.yaml")["spec"]
    assert (job["schedule"], job["timeZone"], job["concurrencyPolicy"]) == ("0 6 * * 1", "Etc/UTC", "Forbid")


def test_the_cron_job_calls_the_report_and_may_do_little_else(capsys: pytest.CaptureFixture[str]) -> None:
    job = YAML(typ="safe").load(DEPLOY / "kubernetes" / "cronjob.yaml")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == ["dynascope", "report"]
    assert {one for one in container["args"] if one.startswith("--")} <= options(capsys)
    assert container["securityContext"]["readOnlyRootFilesystem"]
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}
