from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from analyzer.render import pages

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "detectors"
    folder.mkdir()
    (folder / "hot-key.md").write_text("# hot-key\n\n**One key takes too much.**\n\n## Runbook\n")
    (folder / "throttling.md").write_text("# throttling\n")
    (folder / "README.md").write_text("# All\n")
    monkeypatch.setattr(pages, "_FOLDERS", (tmp_path / "not there", folder))
    return folder


def test_a_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert execute(["explain", "hot-key"]) == 0
    assert capsys.readouterr().out == (folder / "hot-key.md").read_text()


def test_all_are_listed_with_their_first_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain"]) == 0
    assert capsys.readouterr().out == "hot-key     One key takes too much.\nthrottling\n"


@pytest.mark.parametrize(
    ("name", "mend"),
    [("hot-kee", "did you mean hot-key?"), ("zzz", "`dynascope explain` lists all"), ("../x", "lists")],
)
def test_an_unknown_detector_is_usage(name: str, mend: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", name]) == 2
    assert mend in capsys.readouterr().err


def test_without_any_page_nothing_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "_FOLDERS", ())
    assert execute(["explain"]) == 0
    assert capsys.readouterr().out == ""
