"""What diff, capacity and document make of a week of history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute
from analyzer.cli.planned import Bench
from analyzer.cli.planned_history import observed_history
from analyzer.cli.settings import settings_and_contract
from analyzer.errors import CollectError
from analyzer.model.instant import parse_instant
from tests.support.history_days import write_days

if TYPE_CHECKING:
    from pathlib import Path


MONDAY = parse_instant("2026-06-01T00:00:00Z")
WEEK = "2026-W22"
REQUESTS = 86_400.0


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A week before MONDAY in which a case is loaded once a second, for two units."""
    units: dict[str, Any] = {"read_units": 2 * REQUESTS, "units_known": 1.0}
    write_days(tmp_path / "history", MONDAY, {"load-case": [REQUESTS] * 7}, **units)
    return tmp_path / "history"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = execute([*map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def after(contract: Path) -> Path:
    path = contract.with_name("after.yaml")
    path.write_text(
        contract.read_text().replace("operation: GetItem", "operation: GetItem\n        consistency: strong")
    )
    return path


def test_a_change_is_weighed_at_the_traffic_of_the_week(
    contract: Path, after: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("diff", contract, after, "--history", history, "--week", WEEK, "--format", "json")
    code, out, _ = run(capsys, *words)
    (table,) = json.loads(out)["tables"]
    (pattern,) = table["patterns"]
    assert code == 0
    assert (pattern["rate"], pattern["is_observed"]) == (1.0, True)
    assert (pattern["units_before"], pattern["units_after"]) == (2.0, 4.0)
    assert any("minutes of that week are gone" in note for note in json.loads(out)["notes"])


def test_capacity_is_planned_from_the_week(contract: Path, history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("capacity", "cases", "--contract", contract, "--history", history, "--week", WEEK, "--format", "json")
    code, out, _ = run(capsys, *words)
    (demand,) = json.loads(out)["demands"]
    assert (code, demand["mean_units"]) == (0, 2.0)


def test_a_document_has_the_week_beside_what_is_declared(
    contract: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "document", contract, "--observed", history, "--week", WEEK)
    assert (code, err) == (0, "")
    assert "observed 2026-05-25 00:00:00–2026-06-01 00:00:00 UTC in history" in out
    assert "1/s" in out


def test_history_without_a_declared_table_is_said(
    contract: Path, after: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (contract, after):
        path.write_text(path.read_text().replace("name: cases", "name: orders"))
    code, _, err = run(capsys, "document", contract, "--observed", history, "--week", WEEK)
    assert (code, err) == (3, "dynascope: history holds no request to a declared table\n")
    out = run(capsys, "diff", contract, after, "--history", history, "--week", WEEK)[1]
    assert "history holds no request to a table of" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("diff", "A", "A", "--week", WEEK), "--week names a week of --history; give one"),
        (("diff", "A", "A", "--history", "H", "--log", "x"), "leave out --log"),
        (("diff", "A", "A", "--history", "H", "--week", "W22"), "--week: 'W22' names no week"),
        (("capacity", "cases", "--history", "H", "--live", "--since", "1d"), "leave out --live, --since"),
        (("document", "A", "--observed", "A", "--week", WEEK), "--week names a week of --history; give one"),
        (("document", "A", "--observed", "H", "--observed", "A"), "takes one daemon, one history, or request logs"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(
    words: tuple[str, ...], told: str, contract: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"A": str(contract), "H": str(history)}
    code, out, err = run(capsys, *(places.get(word, word) for word in words))
    assert (code, out) == (2, "")
    assert told in err


def test_a_week_that_nobody_looked_at_cannot_be_told(
    contract: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "diff", contract, contract, "--history", history, "--week", "2025-W22")
    assert (code, out) == (3, "")
    assert "nobody looked at 2025-W22 (2025-05-26 to" in err
    assert "name a week that history covers, with --week" in err


def test_without_a_week_it_is_the_last_whole_one(contract: Path, history: Path) -> None:
    bench = Bench(*settings_and_contract(None, [contract]))
    (found,) = observed_history(bench, str(history), None, lambda: MONDAY + 3 * 86_400_000)
    assert found.window.seconds == 7 * 86_400
    with pytest.raises(CollectError, match="nobody looked at 2026-W23"):
        observed_history(bench, str(history), None, lambda: MONDAY + 7 * 86_400_000)


def test_holes_and_files_that_cannot_be_read_are_told(contract: Path, history: Path) -> None:
    first, second, *_ = sorted(history.rglob("*.parquet"))
    first.unlink()
    second.write_bytes(b"torn")
    bench = Bench(*settings_and_contract(None, [contract]))
    (found,) = observed_history(bench, str(history), WEEK)
    told = " ".join(found.complaints)
    assert "covers 5.0 days of 2026-W22" in told
    assert "1 file of history cannot be read" in told
