from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dynascope_sampler.schema import Schema, load_schema

from analyzer.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.emulator import LocalAws

ROOT = Path(__file__).parents[2]
GOOD = (
    "tables:\n  - name: cases\n    partition_key: PK\n    sort_key: SK\n    owner: team\n    patterns:\n"
    "      - {id: get, operation: GetItem, key: {PK: CASE#<id>, SK: META}, rate: {peak: 5}}\n"
)
SCAN = "- {id: all, query_type: scan}\n"
DECLARED_SCAN = (
    "- {id: all, query_type: scan, callers: [x], purpose: export, schedule: '0 2 * * *', max_units_per_second: 9}\n"
)


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    return tmp_path / "contract.yaml"


def check(*arguments: str | Path) -> int:
    return execute(["check", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (GOOD, [], 0),
        ("", [], 0),
        ("# nothing yet\n", [], 0),
        ("tables: []\n", [], 0),
        (SCAN, [], 1),
        (DECLARED_SCAN, [], 0),
        (DECLARED_SCAN, ["--strict"], 1),
        ("tabels: []\n", [], 1),
        ("tables: [\n", [], 1),
        ("- {id: a, index: GSI1, query_type: query, filter: 'x = :y'}\n", ["--strict"], 0),
        ("- {id: a, query_type: query}\n", [], 1),
        ("- {id: a, pk: x}\n", [], 1),
        (GOOD, ["--nope"], 2),
        (GOOD, ["--format", "xml"], 2),
    ],
)
def test_the_exit_code_says_clean_faults_or_usage(
    contract: Path, text: str, options: Sequence[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    contract.write_text(text)
    assert check(contract, *options) == code
    assert "bug" not in capsys.readouterr().err


def test_a_path_that_is_not_there_is_wrong_usage(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(contract) == 2
    assert "there is no such file or folder" in capsys.readouterr().err
    assert check() == 2
    assert "check needs a PATH" in capsys.readouterr().err


def test_an_empty_folder_declares_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path) == 0
    assert capsys.readouterr().out == "nothing is declared: no files looked at, and no pattern in them\n"
    (tmp_path / "docker-compose.yaml").write_text("services: {}\n")
    assert check(tmp_path) == 0
    assert capsys.readouterr().out == "nothing is declared: 1 file looked at, and no pattern in them\n"


def test_without_a_fault_that_is_said_in_one_line(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract.write_text(GOOD)
    assert check(contract) == 0
    assert capsys.readouterr().out == "no faults, no warnings: 1 pattern of 1 table in 1 file\n"


def test_what_the_sampler_needs_is_written_as_json(
    contract: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.json"
    contract.write_text(GOOD)
    assert check(contract, "--sampler-schema", schema) == 0
    assert "schema.json is written: give it to the sampler" in capsys.readouterr().err
    table = Schema(load_schema(schema)).table("cases")
    assert (table.key, table.partition, sorted(table.literals)) == (("PK", "SK"), ("PK",), ["CASE", "META"])
    schema.unlink()
    contract.write_text(GOOD.replace("sort_key", "sort_kye"))
    assert check(contract, "--sampler-schema", schema) == 1
    assert not schema.exists()
    assert "mend the faults of form first" in capsys.readouterr().err
    contract.write_text(GOOD)
    assert check(contract, "--sampler-schema", tmp_path / "gone" / "schema.json") == 2
    assert "schema.json: no such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tables:\n  - name: cases\n   partition_key: PK\n", "the indentation does not fit the lines above"),
        ("tables:\n\t- name: cases\n", "a tab stands here"),
        ("tables:\n  - name: a: b\n", "a second colon in one line"),
        ("a: 1\na: 2\n", "a key stands twice"),
        ("tables: [\n", "a bracket, brace or quote is not closed"),
        ("- {id: a, operation: Query, key: {PK: @a}}\n", "a value begins with a sign that means something to YAML"),
    ],
)
def test_broken_yaml_is_told_as_a_person_would(
    contract: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    contract.write_text(text)
    assert check(contract) == 1
    assert told in capsys.readouterr().out


def test_a_request_log_is_no_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "requests.jsonl"
    log.write_text('{"v": 1, "time": "2026-06-01T10:00:00Z", "op": "GetItem", "table": "cases"}\n' * 2)
    assert check(log) == 1
    assert "dynascope infer" in capsys.readouterr().out


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(SCAN + "- {id: b, pk: x, query_type: gte}\n")
    (tmp_path / "b.md").write_text(
        "| pattern | served by |\n| --- | --- |\n| list all | base table Scan |\n| x | y |\n"
    )
    assert check(tmp_path) == 1
    told = [line.removeprefix(f"{tmp_path}/") for line in capsys.readouterr().out.splitlines() if ": fail " in line]
    assert [": ".join(line.split(": ")[:2]) for line in told] == [
        "a.yaml:1: fail scan-pattern",
        "a.yaml:2: fail form",
        "b.md:3: fail scan-pattern",
        "b.md:4: fail form",
    ]


def test_text_gives_place_rule_and_mend_and_counts(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract.write_text(GOOD.replace(", SK: META", ""))
    assert check(contract) == 0
    assert capsys.readouterr().out == (
        f"{contract}:7: warn no-sort-key: get: its GetItem names no sort key, and cases has one: SK\n"
        "    mend: add SK to its key, or make it a Query\n"
        "no faults, 1 warning: 1 pattern of 1 table in 1 file\n"
    )


def test_a_terminal_sees_colors(
    contract: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract.write_text(SCAN)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert check(contract) == 1
    assert "\x1b[31;1mfail\x1b[0m scan-pattern" in capsys.readouterr().out


def test_json_is_for_programs(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract.write_text(SCAN)
    assert check(contract, "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["v"], told["files"], told["tables"], told["patterns"]) == (1, [str(contract)], 1, 1)
    assert [(f["rule"], f["line"], f["field"], f["severity"]) for f in told["faults"]] == [
        ("scan-pattern", 1, "all", "fail")
    ]
    assert {w["rule"] for w in told["warnings"]} == {"no-owner"}


def test_quotas_can_be_raised(contract: Path) -> None:
    indexes = ", ".join(f"{{name: G{n}, partition_key: k{n}, sort_key: s}}" for n in range(21))
    contract.write_text(GOOD.replace("    patterns:", f"    indexes: [{indexes}]\n    patterns:"))
    assert check(contract) == 1
    assert check(contract, "--max-gsis", "25") == 0


def test_tables_are_compared(contract: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract.write_text(GOOD)
    tables = tmp_path / "tables.json"
    tables.write_text('{"Table": {"TableName": "cases", "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}}')
    assert check(contract, "--tables", tables) == 1
    assert "fail differs-from-table: cases: it is declared with key PK, SK, and has PK" in capsys.readouterr().out
    tables.write_text("no")
    assert check(contract, "--tables", tables) == 2
    assert check(contract, "--tables", tmp_path) == 2
    assert check(contract, "--tables", tmp_path / "gone.json") == 2


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--schema") == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Dynascope contract, version 1"


def test_check_starts_light() -> None:
    program = (
        "import sys; from analyzer.cli.main import execute; execute(['check', sys.argv[1]]); "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'plotly', 'scipy', 'aiohttp', 'boto3', 'lark'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, str(ROOT / "docs" / "reference")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), ("", 0), (DECLARED_SCAN, 1)])
def test_verify_is_check_and_strict(contract: Path, text: str, code: int) -> None:
    contract.write_text(text)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    verify = str(ROOT / "deploy" / "verify.sh")
    done = subprocess.run([verify, str(contract)], capture_output=True, text=True, check=False, env={"PATH": path})
    assert done.returncode == code, done.stderr
    missing = subprocess.run([verify, f"{contract}.gone"], capture_output=True, check=False, env={"PATH": path})
    assert missing.returncode == 2


def test_verify_says_what_to_do_without_dynascope(contract: Path, tmp_path: Path) -> None:
    lone = tmp_path / "deploy" / "verify.sh"
    lone.parent.mkdir()
    lone.write_text((ROOT / "deploy" / "verify.sh").read_text())
    done = subprocess.run(
        ["/bin/sh", str(lone), str(contract)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stderr) == (2, "verify.sh: dynascope is not installed; run 'make install' first\n")


def test_allowances_are_judged_by_day_and_by_detector(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = "- {id: a, op: get, pk: 'x#<id>', allow: [{detector: hot-ky, until: 2020-03-31, reason: x}]}\n"
    contract.write_text(row, encoding="utf-8")
    assert check(contract) == 1
    told = capsys.readouterr().out
    assert "'hot-ky' is no detector\n    mend: did you mean hot-key?" in told
    assert "warn day-is-over" in told


def test_what_is_passed_over_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "contract.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "other.yaml").write_text("a: 1\n", encoding="utf-8")
    assert check(tmp_path) == 0
    assert capsys.readouterr().err == f"dynascope: passed over {tmp_path}/other.yaml: it declares no access pattern\n"
    check(tmp_path, "--format", "json")
    assert capsys.readouterr().err == ""


CONFIGURATION = "contract: [contract.yaml]\nwindow: 5m\nrequest_log: {files: [x.jsonl]}\n"


def test_a_configuration_is_told_from_a_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dynascope.yaml"
    path.write_text(CONFIGURATION)
    assert check(path, "--format", "json") == 1
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault["message"] == "this is a configuration of dynascope, not a contract"
    assert f"dynascope config --config {path}" in fault["mend"]


def test_in_a_folder_it_is_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "contract.yaml").write_text(GOOD)
    (tmp_path / "dynascope.yaml").write_text(CONFIGURATION)
    assert check(tmp_path, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["patterns"], told["ignored"]) == (1, [str(tmp_path / "dynascope.yaml")])


def test_a_contract_with_a_key_of_a_configuration_is_still_one(contract: Path) -> None:
    contract.write_text(f"{GOOD}window: 5m\n")
    assert check(contract) == 1


def test_tables_are_compared_with_those_that_aws_has(
    contract: Path, emulator: LocalAws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    contract.write_text(GOOD)
    assert check(contract, "--tables", "live") == 0
    assert "warn differs-from-table: cases: there is no such table" in capsys.readouterr().out
    emulator.create_table("cases")
    assert check(contract, "--tables", "live", "--region", "us-east-1") == 1
    assert "it is declared with key PK, SK, and has PK" in capsys.readouterr().out
    emulator.fault("denied", service="dynamodb", operation="DescribeTable")
    assert check(contract, "--tables", "live") == 3
    assert "grant dynamodb:DescribeTable" in capsys.readouterr().err
