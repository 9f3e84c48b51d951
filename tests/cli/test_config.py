from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from analyzer.cli.main import execute
from analyzer.config import json_schema, load_settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.conftest import Golden


def test_the_defaults_are_what_was_reviewed(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DYNASCOPE_SALT", raising=False)
    monkeypatch.delenv("DYNASCOPE_SALT_FILE", raising=False)
    assert execute(["config"]) == 0
    golden("cli/config.yaml", capsys.readouterr().out)


def test_what_is_printed_says_the_same_in_both_formats(capsys: pytest.CaptureFixture[str]) -> None:
    execute(["config"])
    as_yaml = YAML(typ="safe").load(capsys.readouterr().out)
    execute(["config", "--format", "json"])
    assert json.loads(capsys.readouterr().out) == as_yaml


def test_the_file_stands_over_the_defaults_and_the_salt_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("window: 20s\nsalt: canary-salt\n")
    assert execute(["config", "--config", str(file)]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"{file}: request_log.files: nothing to read; `dynascope run` needs some\n"
    told = printed.out
    assert "window: 20s\n" in told
    assert "salt: set\n" in told
    assert "canary-salt" not in told


def test_what_reads_aws_alone_reads_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("aws: {regions: [us-east-1]}\n")
    assert execute(["config", "--config", str(file)]) == 0
    assert capsys.readouterr().err == ""


def test_faults_are_told_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("windw: 20s\nkeys: x\n")
    assert execute(["config", "--config", str(file)]) == 2
    assert [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()] == [f"{file}:1", f"{file}:2"]


def test_what_run_would_refuse_is_refused_with_every_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("windw: 20s\ncontract: none.yaml\ndetectors: {hot-keys: {}}\nlimits: {heavy: 0}\nsalt_file: none\n")
    assert execute(["config", "--config", str(file)]) == 2
    told = [line.split(": ")[:2] for line in capsys.readouterr().err.splitlines()]
    assert [(place.removeprefix(f"{tmp_path}/"), field) for place, field in told] == [
        ("d.yaml:1", "windw"),
        ("d.yaml:3", "detectors.hot-keys"),
        ("d.yaml:4", "limits.heavy"),
        ("d.yaml:5", "salt_file"),
        ("none.yaml", "it cannot be read"),
    ]


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["config", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_the_printed_configuration_can_be_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["config"])
    file = tmp_path / "d.yaml"
    printed = capsys.readouterr().out
    file.write_text(
        "".join(line for line in printed.splitlines(keepends=True) if not line.startswith(("salt: ", "token: ")))
    )
    assert load_settings(file, {}).window_ms == 300_000
