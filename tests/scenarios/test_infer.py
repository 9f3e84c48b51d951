"""A contract drafted from the demo's log declares all of it, and reads as a contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from tests.support.demo_log import LOG

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Draft a contract from the demo's log, by the command."""
    path = tmp_path_factory.mktemp("inferred") / "contract.yaml"
    assert execute(["infer", str(LOG), "-o", str(path)]) == 0
    return path


def test_nothing_of_the_log_is_undeclared(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    execute(["analyze", str(LOG), "--contract", str(contract), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert {pattern["kind"] for pattern in report["patterns"]} == {"declared"}
    assert "undeclared-pattern" not in {finding["detector"] for finding in report["findings"]}


def test_it_has_no_fault_of_form_and_its_one_fault_of_design_is_the_scan(
    contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    execute(["check", str(contract), "--format", "json"])
    remarks = json.loads(capsys.readouterr().out)["faults"]
    assert [remark["rule"] for remark in remarks] == ["scan-pattern"]


def test_what_is_declared_already_is_not_added_again(contract: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contract.read_bytes()
    assert execute(["infer", str(LOG), "--into", str(contract)]) == 0
    assert "declares all that was asked" in capsys.readouterr().out
    assert contract.read_bytes() == before
