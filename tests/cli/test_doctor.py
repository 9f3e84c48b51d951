"""`dynascope doctor` at a local AWS."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute
from analyzer.knowledge.iam import Tier, actions_of, features_of
from collectors.aws.errors import permission_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.emulator import LocalAws

EVERYTHING = ["table-catalog", "cloudwatch-metrics", "contributor-insights", "changes"]


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("orders", sort="SK", indexes={"by-day": ("day", "SK")})
    emulator.watch("orders")
    return emulator


def configured(folder: Path, **settings: Any) -> Path:
    path = folder / "d.yaml"
    path.write_text(json.dumps({"aws": {"collect": EVERYTHING}, "listen": "127.0.0.1:0", **settings}))
    return path


def examined(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code, and the checks by group and name."""
    code = execute(["doctor", "--config", str(path), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert told["v"] == 1
    return code, {group["title"]: {one["name"]: one for one in group["checks"]} for group in told["groups"]}


def test_an_account_that_is_well_is_ok_and_its_bill_is_told(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, groups = examined(configured(tmp_path), capsys)
    assert code == 0
    assert list(groups) == ["configuration", "us-east-1", "what it costs, at list price"]
    place = groups["us-east-1"]
    assert {one["state"] for one in place.values()} <= {"ok", "warning"}
    assert place["table-catalog: tables"]["message"] == "1 table, 1 GSI"
    assert "4 rules" in groups["what it costs, at list price"]["contributor-insights"]["message"]
    assert not [name for _, name in aws.calls() if name.startswith(("Update", "Delete", "Put"))]
    assert not (tmp_path / "dynascope-state").exists()


def test_what_it_calls_is_what_the_policy_of_its_tier_allows(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = aws.calls()
    logs = {"s3": [{"bucket": "gone"}], "cloudwatch_logs": [{"group": "/gone"}], "xray": [{}]}
    examined(configured(tmp_path, request_log=logs), capsys)
    names = {"monitoring": "cloudwatch"}
    called = {permission_of(names.get(service, service), name) for service, name in aws.calls() - before}
    assert len(called) > 15
    assert called - {"sts:GetCallerIdentity"} <= actions_of(features_of(Tier.KEYS))


def test_a_permission_that_is_missing_is_an_error_with_its_name(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.fault("denied", service="cloudtrail")
    code, groups = examined(configured(tmp_path), capsys)
    assert code == 3
    check = groups["us-east-1"]["changes: LookupEvents"]
    assert (check["state"], check["mend"]) == ("error", "grant cloudtrail:LookupEvents")
    assert groups["us-east-1"]["cloudwatch:GetMetricData"]["state"] != "error"


def test_a_region_that_is_denied_hides_nothing_of_another(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.fault("denied", region="eu-west-1")
    config = configured(tmp_path, aws={"collect": EVERYTHING, "regions": ["eu-west-1", "us-east-1"]})
    code, groups = examined(config, capsys)
    assert code == 3
    assert groups["eu-west-1"]["identity"]["state"] == "error"
    assert groups["eu-west-1"]["changes"]["state"] == "unchecked"
    assert groups["us-east-1"]["table-catalog: tables"]["state"] == "ok"


def test_logs_that_lie_with_aws_are_tried(aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aws.client("s3").create_bucket(Bucket="logs")
    logs = {"s3": [{"bucket": "logs"}, {"bucket": "gone"}], "cloudwatch_logs": [{"group": "/gone"}], "xray": [{}]}
    path = tmp_path / "d.yaml"
    path.write_text(json.dumps({"request_log": logs, "listen": "127.0.0.1:0"}))
    code, groups = examined(path, capsys)
    assert code == 3
    assert {name: one["state"] for name, one in groups["request log"].items()} == {
        "s3://logs/: ListObjectsV2": "ok",
        "s3://logs/: GetObject": "unchecked",
        "s3://gone/: ListObjectsV2": "error",
        "logs:///gone: FilterLogEvents": "error",
        "xray:///: GetTraceSummaries": "ok",
        "xray:///: BatchGetTraces": "ok",
    }


def test_without_aws_only_what_is_here_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(json.dumps({"request_log": {"files": ["log"]}, "listen": "127.0.0.1:0"}))
    code, groups = examined(path, capsys)
    assert (code, list(groups)) == (0, ["configuration", "request log"])


def test_faults_of_the_configuration_are_told_with_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("aws: {regin: x}\nwindow: 7\n")
    code, groups = examined(path, capsys)
    assert code == 2
    assert set(groups["configuration"]) == {f"{path}:1", f"{path}:2"}
    assert groups["configuration"][f"{path}:1"]["mend"] == "did you mean regions?"


def test_text_says_first_what_and_then_the_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("window: 7\n")
    assert execute(["doctor", "--config", str(path)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "configuration"
    assert told[1].startswith("  error     ")
    assert any(line.startswith("            → ") for line in told)
    assert any("nothing to read" in line for line in told)
    assert told[-1] == "2 error, 0 warning, 0 unchecked, 0 ok: mend the errors, then run it again"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    execute(["doctor", "--config", str(path)])
    assert "\033[31merror" in capsys.readouterr().out


def test_progress_is_for_eyes(
    aws: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert execute(["doctor", "--config", str(configured(tmp_path))]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.endswith("it can be started; read the warnings\n")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    execute(["doctor", "--config", str(configured(tmp_path))])
    assert capsys.readouterr().err == "looked in us-east-1\n"
    assert aws.calls()
