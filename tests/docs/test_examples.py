"""Each page shows what its detector says of a recording of its own (tests/docs/README.md)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.judging import judge_recording
from analyzer.config import Settings
from analyzer.detectors import DETECTORS
from analyzer.recording import read_recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.recordings import Recorded

PAGES = Path(__file__).parents[2] / "docs" / "detectors"
RECORDINGS = PAGES / "recordings"
ROOMS = tuple(sorted(path.stem for path in (Path(__file__).parent / "examples").glob("*.py")))
LARGEST = 200_000
"""An example is to be looked through, and the repository is not for recordings."""

WITHOUT = frozenset[str]()
"""Detectors whose page has no example yet: this only ever shrinks."""


def makers() -> dict[str, Callable[[], Recorded]]:
    """Return what makes each recording, by the detector's name."""
    modules = [importlib.import_module(f"tests.docs.examples.{room}") for room in ROOMS]
    return {name.replace("_", "-"): getattr(module, name) for module in modules for name in module.__all__}


MAKERS = makers()


@pytest.mark.parametrize("name", MAKERS)
def test_a_page_s_recording_is_what_its_maker_makes(name: str, request: pytest.FixtureRequest) -> None:
    path, text = RECORDINGS / f"{name}.jsonl", MAKERS[name]().text()
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text
    assert len(text) <= LARGEST


@pytest.mark.parametrize("name", MAKERS)
def test_a_page_s_detector_finds_its_fault_in_its_recording(name: str) -> None:
    path = RECORDINGS / f"{name}.jsonl"
    report = judge_recording(path, read_recording(path), Settings.model_validate({}))
    assert name in {finding.detector for finding in report.findings}


def test_every_page_shows_its_example() -> None:
    lacking = set()
    for name in (detector.name for detector in DETECTORS):
        page = PAGES / f"{name}.md"
        text = page.read_text("utf-8") if page.exists() else ""
        section = text.partition("\n## Example\n")[2].partition("\n## ")[0]
        command = f"<!-- output of: dynascope replay docs/detectors/recordings/{name}.jsonl"
        if command not in section or name not in MAKERS:
            lacking.add(name)
    assert lacking == WITHOUT


def test_every_recording_belongs_to_a_page() -> None:
    assert {path.stem for path in RECORDINGS.glob("*.jsonl")} == set(MAKERS)
