from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.cli import daemon_report
from analyzer.cli.main import execute
from analyzer.model.finding import Confidence
from analyzer.model.report import PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.window import Window
from analyzer.render.json import render_json

DEMO = Path(__file__).parents[2] / "deploy/demo/contract.yaml"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = execute(["document", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_contract_alone_is_written_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, DEMO)
    assert code == 0
    assert out.startswith("# Design of cases\n\nowner case-platform · source of truth\n")
    for part in ("## Access patterns", "## Key design", "### Index GSI1", "## Hot partitions", "## Capacity and cost"):
        assert f"\n{part}\n" in out
    assert "| Load one case (load-case) | Case | PK=CASE\\#\\<caseId\\>, SK=META | read | p95 10/s, peak 60/s |" in out
    assert "At the declared rates, all month long and on demand" in out


def test_html_is_one_file_and_json_has_every_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, DEMO, "-o", tmp_path / "design.html")[0] == 0
    assert "<h1>Design of cases</h1>" in (tmp_path / "design.html").read_text("utf-8")
    told = json.loads(run(capsys, DEMO, "--format", "json")[1])
    assert [table["table"] for table in told["tables"]] == ["cases"]


def test_several_tables_are_one_document_and_what_nobody_declared_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "  - {{name: {}, partition_key: PK, source_of_truth: {}}}\n"
    path = tmp_path / "contract.yaml"
    path.write_text("version: 1\ntables:\n" + table.format("a", "true") + table.format("b", "false"))
    _, out, _ = run(capsys, path)
    assert out.count("## Design of") == 2
    assert "projection" in out
    for text in ("No access pattern is declared.", "No entity is declared.", "No partition key is declared."):
        assert out.count(text) == 2


def test_what_check_fails_stands_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "contract.yaml"
    pattern = "{id: get, operation: GetItem, key: {PK: CONFIG}, rate: {peak: 9000}}"
    path.write_text(f"version: 1\ntables:\n  - {{name: t, partition_key: PK, patterns: [{pattern}]}}\n")
    _, out, _ = run(capsys, path)
    assert "dynascope check\\` finds 1 fault" in out
    assert "at peak heat is 1.5" in out


def test_a_log_stands_beside_the_declaration(
    quiet: Path, contract: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, contract, "--observed", quiet)
    assert code == 0
    assert "| 1/s | base table GetItem |" in out
    assert "in a request log" in out
    other = tmp_path / "other.yaml"
    other.write_text(contract.read_text().replace("name: cases", "name: users"))
    code, out, err = run(capsys, other, "--observed", quiet)
    assert code == 3
    assert "the logs hold no request to a declared table" in err
    assert "observed" not in out.partition("## Hot")[0]


def test_a_daemon_stands_beside_it_too(
    contract: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = PatternLine(
        kind=PatternKind.DECLARED,
        pattern="load-case",
        table="cases",
        requests=120,
        requests_low=120,
        requests_high=120,
        units=None,
        waste_units=None,
        p99_ms=None,
    )
    verdict = Verdict(VerdictState.CLEAN, "clean", Confidence.CERTAIN)
    report = Report(
        window=Window(0, 60_000), as_of=0, region=None, account=None, verdict=verdict, findings=(), patterns=(line,)
    )
    told = [
        render_json(report),
        render_json(Report(window=Window(0, 60_000), as_of=0, region=None, account=None, verdict=verdict, findings=())),
    ]
    monkeypatch.setattr(daemon_report, "call_daemon", lambda _: told.pop(0).encode())
    _, out, _ = run(capsys, contract, "--observed", "http://127.0.0.1:8642")
    assert "| 2/s | base table GetItem |" in out
    assert "in a daemon" in out
    _, _, err = run(capsys, contract, "--observed", "http://127.0.0.1:8642")
    assert "saw none of the declared tables" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("gone.yaml",), "gone.yaml: there is no such file or folder"),
        (("EMPTY",), "nothing is declared"),
        (("DEMO", "--observed", "http://a", "--observed", "b"), "one daemon, one history, or request logs"),
        (("DEMO", "-o", "/gone/a.md"), "there is no folder"),
    ],
)
def test_what_cannot_work_is_said(
    words: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.yaml").write_text("")
    places = {"EMPTY": str(tmp_path / "empty.yaml"), "DEMO": str(DEMO)}
    code, _, err = run(capsys, *(places.get(word, word) for word in words))
    assert code == 2
    assert told in err
