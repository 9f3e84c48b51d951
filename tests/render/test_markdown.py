from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer.render.markdown import render_markdown
from analyzer.render.show import show

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from tests.conftest import Golden


def test_the_report_is_what_was_reviewed(report: Report, golden: Golden) -> None:
    golden("render/report.md", render_markdown(show(report, "template")))


def test_nothing_read_becomes_markup_or_calls_people(report: Report) -> None:
    finding = replace(
        report.findings[0],
        summary="[x](http://evil) <script> *b* @channel |",
        caller="`a`",
        table="t`able",
        advice=(replace(report.findings[0].advice[0], command="a `b`"),),
    )
    text = render_markdown(replace(report, findings=(finding,)))
    assert "\\[x\\](http://evil) \\<script\\> \\*b\\* @\u200bchannel \\|" in text
    assert "\\`a\\`" in text
    assert "``t`able/GSI1``" in text
    assert "`` a `b` ``" in text


def test_long_tables_are_cut_and_say_so(report: Report) -> None:
    text = render_markdown(replace(report, patterns=report.patterns * 5, findings=(), gaps=(), skipped=(), keys=()))
    assert text.endswith("\nand 8 more\n")


def test_a_report_with_nothing_in_it_is_its_verdict(report: Report) -> None:
    bare = replace(report, findings=(), patterns=(), keys=(), gaps=(), skipped=())
    assert len(render_markdown(bare).splitlines()) == 3
