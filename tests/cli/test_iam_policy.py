from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert execute(["iam-policy", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    return {statement["Sid"]: statement for statement in document["Statement"]}


def configured(folder: Path, **settings: Any) -> str:
    path = folder / "d.yaml"
    path.write_text(json.dumps(settings))
    return str(path)


def test_without_a_word_it_is_the_tier_that_bears_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == printed(capsys, "--tier", "metrics")
    assert "ContributorInsights" not in printed(capsys)
    assert "ContributorInsights" in printed(capsys, "--tier", "keys")


def test_a_configuration_needs_what_it_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path, aws={"collect": ["changes", "contributor-insights"], "tables": {"include": ["a*"]}})
    assert set(printed(capsys, "--config", config)) == {
        "Changes",
        "ContributorInsights",
        "ContributorInsightsTables",
        "ContributorInsightsReports",
    }
    assert set(printed(capsys, "--config", config, "--tier", "metrics")) == {"Changes"}
    assert "InsightsWatch" in printed(capsys, "--config", config, "--tier", "writes")


@pytest.mark.parametrize(("lease", "has_statement"), [("s3://b/k", True), ("file:/var/lease", False)])
def test_a_lease_in_a_bucket_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lease: str, *, has_statement: bool
) -> None:
    found = printed(capsys, "--config", configured(tmp_path, aws={}), "--standby", lease)
    assert ("Lease" in found) == has_statement
    if has_statement:
        assert found["Lease"]["Resource"] == ["arn:aws:s3:::b/k"]
        assert printed(capsys, "--standby", lease)["Lease"]["Resource"] == ["arn:aws:s3:::b/k"]


def test_where_nothing_is_read_no_policy_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path, request_log={"files": ["log"]})
    assert execute(["iam-policy", "--config", config]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "dynascope: nothing is read from AWS: no policy is needed\n")


@pytest.mark.parametrize("place", ["s3://", "s3://bucket", "bucket/lease"])
def test_a_lease_that_lies_nowhere_is_usage(capsys: pytest.CaptureFixture[str], place: str) -> None:
    assert execute(["iam-policy", "--standby", place]) == 2
    assert "write file:/path/lease or s3://bucket/key" in capsys.readouterr().err


def test_a_lease_in_a_file_needs_no_permission(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "--standby", "file:/shared/lease") == printed(capsys)


def test_a_tier_that_is_none_is_told_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["iam-policy", "--tier", "nonsense"]) == 2
    assert "Invalid value for '--tier': 'nonsense' is not one of 'metrics', 'keys'" in capsys.readouterr().err


TOPIC = "arn:aws:sns:eu-west-1:111122223333:weekly"


def test_what_a_weekly_report_is_sent_to_is_allowed_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path, aws={"collect": ["changes"]}, history={"to": "s3://past/h"})
    assert not {"ReportObjects", "ReportTopics"} & set(printed(capsys, "--config", config))
    found = printed(capsys, "--config", config, "--to", "s3://b/reports/", "--to", f"sns:{TOPIC}")
    assert (found["ReportObjects"]["Action"], found["ReportObjects"]["Resource"]) == (
        ["s3:PutObject"],
        ["arn:aws:s3:::b/reports/dynascope-*"],
    )
    assert (found["ReportTopics"]["Action"], found["ReportTopics"]["Resource"]) == (["sns:Publish"], [TOPIC])
    assert found["HistoryObjects"]["Resource"] == ["arn:aws:s3:::past/h/*"]
    assert found["HistoryBucket"]["Action"] == ["s3:ListBucket"]
    monkeypatch.setenv("DYNASCOPE_REPORT_TO", "s3://b/now.html https://chat.example.com/x")
    assert printed(capsys, "--config", config)["ReportObjects"]["Resource"] == ["arn:aws:s3:::b/now.html"]
    assert printed(capsys, "--tier", "metrics")["ReportObjects"]["Resource"] == ["arn:aws:s3:::b/now.html"]
    assert execute(["iam-policy", "--to", "ftp://b"]) == 2
