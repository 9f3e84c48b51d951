"""A detector without its page does not pass, and a page that lags behind its detector does not either."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from analyzer.detectors import DETECTORS

PAGES = Path(__file__).parents[2] / "docs" / "detectors"
HEADINGS = [
    "What it finds",
    "Why it matters",
    "Evidence",
    "Configuration",
    "Example",
    "False positives",
    "Snooze",
    "Runbook",
]
STEPS = ["Is it real?", "How bad?", "Stop the bleeding.", "Find the cause.", "Fix for good.", "See that it worked."]
BY_NAME = {detector.name: detector for detector in DETECTORS}


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text("utf-8")


def test_every_page_has_a_detector_and_every_detector_a_page() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(BY_NAME)


def test_a_detectors_module_is_named_as_the_detector() -> None:
    for name, detector in BY_NAME.items():
        assert detector.__module__.rsplit(".", 1)[1] == name.replace("-", "_")


@pytest.mark.parametrize("name", BY_NAME)
def test_a_page_has_its_headings_in_order(name: str) -> None:
    assert re.findall(r"^## (.+)$", page(name), re.MULTILINE) == HEADINGS
    assert page(name).startswith(f"# {name}\n")


@pytest.mark.parametrize("name", BY_NAME)
def test_a_page_says_how_a_finding_is_silenced_for_a_time(name: str) -> None:
    section = page(name).split("## Snooze")[1].split("\n## ")[0]
    assert "dynascope snooze ID --until DATE --reason" in section


@pytest.mark.parametrize("name", BY_NAME)
def test_a_runbook_has_its_six_steps(name: str) -> None:
    assert re.findall(r"^\d\. \*\*(.+?)\*\*", page(name), re.MULTILINE) == STEPS


@pytest.mark.parametrize(("name", "detector"), BY_NAME.items())
def test_the_configuration_table_lists_every_threshold_with_its_default(name: str, detector: type) -> None:
    section = page(name).split("## Configuration")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| (\S+) \| \S", section, re.MULTILINE)
    assert listed == [(field.name, str(field.default)) for field in msgspec.structs.fields(detector)]
    assert f"`detectors.{name}`" in section or not listed
