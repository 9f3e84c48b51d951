"""The page on the weekly report shows what is said of eight weeks, and names every line of the checklist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.render.blocks_text import render_text_page
from analyzer.reports.page import week_page
from analyzer.reports.readiness import LINES
from analyzer.reports.week import report_week
from tests.support.history_weeks import eight_weeks

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "report.md"
SHOWN = re.compile(r"(<!-- page of: [^\n]+ -->\n\n```text\n)(.*?)(```)", re.DOTALL)


def test_the_report_shown_is_what_is_said_of_the_eight_weeks(request: pytest.FixtureRequest) -> None:
    weeks = eight_weeks()
    text = render_text_page(week_page(report_week(*weeks.week_and_past(), weeks.contract)))
    text = text[: text.index("\nUNDECLARED")]
    page = PAGE.read_text("utf-8")
    if request.config.getoption("--rewrite-golden"):
        page = SHOWN.sub(lambda found: found[1] + text + found[3], page)
        PAGE.write_text(page, "utf-8")
    found = SHOWN.search(page)
    assert found is not None
    assert found[2] == text


def test_every_line_of_the_checklist_is_explained() -> None:
    page = PAGE.read_text("utf-8")
    assert [name for name, _ in LINES if f"| {name} |" not in page] == []
