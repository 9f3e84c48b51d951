from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from analyzer.contract.lint import lint
from analyzer.contract.load import load_contract, read_text

if TYPE_CHECKING:
    from pathlib import Path


def line(second: float, **fields: object) -> str:
    at = f"2026-06-01T10:{int(second // 60):02}:{second % 60:06.3f}Z"
    return json.dumps({"v": 1, "time": at, "table": "cases", "caller": "web"} | fields)


def value(text: str) -> dict[str, str]:
    return {"S": text}


def lines() -> list[str]:
    """Two minutes of clear keys: reads of cases and of their audit, and a scan."""
    listed = []
    for n in range(240):
        key = {"PK": value(f"CASE#{n}x"), "SK": value("META")}
        listed.append(line(n / 2, op="GetItem", key=key))
        listed.append(
            line(
                n / 2,
                op="Query",
                key={"PK": value(f"CASE#{n}x")},
                key_condition="#p = :p AND begins_with(SK, :s)",
                names={"#p": "PK"},
                values={":p": value(f"CASE#{n}x"), ":s": value("AUDIT#")},
                limit=25,
                forward=False,
            )
        )
    return [*listed, line(3, op="Scan", caller="report")]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*lines(), "junk", '{"v": 1}']) + "\n")
    return path


def test_a_contract_is_drafted_from_a_log(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "contract.yaml"
    assert execute(["infer", str(log), "-o", str(output)]) == 0
    assert f"{output}: 2 patterns; set aside: 1. Next: dynascope check {output}" in capsys.readouterr().out
    contract = load_contract(output)
    (table,) = contract.tables
    keys = {p.id: {k.attribute: k.template.text for k in p.keys[0]} for p in table.patterns}
    assert keys == {
        "get-case-meta": {"PK": "CASE#<id>", "SK": "META"},
        "list-case-audit": {"PK": "CASE#<id>", "SK": "begins_with AUDIT#"},
    }
    listed = table.pattern("list-case-audit")
    assert listed is not None
    assert (listed.order, listed.callers, listed.rate.peak) == ("descending", ("web",), 2)
    assert [remark for remark in lint(contract) if remark.severity == "fail"] == []


def test_without_a_file_it_is_printed_and_no_key_is_in_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["infer", str(log)]) == 0
    text = capsys.readouterr().out
    assert len(read_text(text, "c.yaml").contract.tables[0].patterns) == 2
    assert "17x" not in text
    assert "#       - id: scan-cases" in text


def test_a_contract_is_never_overwritten(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["infer", str(log), "-o", str(log)]) == 2
    assert "infer never overwrites a contract" in capsys.readouterr().err


def test_logs_without_requests_are_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "log.jsonl"
    empty.write_text("junk\n")
    assert execute(["infer", str(empty)]) == 2
    assert "hold no request that can be read" in capsys.readouterr().err
    assert execute(["infer", str(tmp_path / "gone.jsonl")]) == 2


def test_a_log_that_breaks_off_is_drafted_from_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = tmp_path / "log.jsonl.gz"
    torn.write_bytes(gzip.compress("\n".join(lines()).encode())[:-20])
    assert execute(["infer", str(torn)]) == 3
    told = capsys.readouterr()
    assert "breaks off" in told.err
    assert "get-case-meta" in told.out


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("gone/contract.yaml", "there is no folder"),
        ("contract.json", "infer writes YAML; name the file"),
        ("locked/contract.yaml", "is not yours to write in"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, place: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda folder, _: not str(folder).endswith("locked"))
    log = tmp_path / "log.jsonl"
    log.write_text("junk\n")
    assert execute(["infer", str(log), "-o", str(tmp_path / place)]) == 2
    assert told in capsys.readouterr().err
