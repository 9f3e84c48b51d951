from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer.model.finding import Advice, Confidence
from analyzer.model.report import PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.sight import Gap, GapReason, Skipped, SkipReason, SourceName
from analyzer.model.window import Window
from analyzer.render.findings import render_findings
from analyzer.render.markdown import render_markdown
from analyzer.render.show import show
from analyzer.render.text import render_text

if TYPE_CHECKING:
    from tests.conftest import Golden


def clean(report: Report) -> Report:
    return Report(
        window=report.window,
        as_of=report.window.end,
        region=None,
        account=None,
        verdict=Verdict(VerdictState.CLEAN, "clean: 120 requests, nothing found", Confidence.CERTAIN),
        findings=(),
    )


def test_the_report_is_what_was_reviewed(report: Report, golden: Golden) -> None:
    golden("render/report.txt", render_text(show(report, "template")))


def test_keys_are_told_when_they_may_be(report: Report, golden: Golden) -> None:
    golden("render/report-revealed.txt", render_text(show(report, "reveal")))


def test_a_clean_report_is_short(report: Report, golden: Golden) -> None:
    golden("render/clean.txt", render_text(clean(report)))


def test_lines_stay_under_a_hundred_columns(report: Report) -> None:
    lines = render_text(show(report, "reveal")).splitlines()
    assert [line for line in lines if len(line) >= 100 and "$ " not in line] == []


def test_the_first_line_is_the_verdict(report: Report) -> None:
    assert render_text(show(report, "template")).startswith("FAULT        cases: one key, ")


def test_the_cause_comes_first_and_what_it_explains_is_folded_beneath(report: Report) -> None:
    text = render_text(show(report, "template"))
    order = [
        text.index(word) for word in ("  hot-key  ", "─ HIGH  throttling", "─ HIGH  retry-storm", "unexpected-scan")
    ]
    assert order == sorted(order)


def test_color_adds_nothing_but_color(report: Report) -> None:
    shown = show(report, "template")
    colored = render_text(shown, color=True)
    assert "\x1b[1;31mFAULT\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render_text(shown)


def test_of_many_regions_each_place_is_told_with_its_own(report: Report) -> None:
    found = tuple(
        replace(report.findings[0], id=name, index=None, region=name, account="111122223333", caused_by=None)
        for name in ("us-east-1", "eu-west-1")
    )
    skips = tuple(
        Skipped("hot-key", "cases", None, SkipReason.TOO_LITTLE, account="111122223333", region=one.region)
        for one in found
    )
    gap = Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents", account="111122223333", region="eu-west-1")
    verdict = replace(report.verdict, finding="eu-west-1")
    many = replace(report, findings=found, skipped=skips, gaps=(gap,), region=None, verdict=verdict)
    many = replace(many, account="111122223333")
    for text in (render_text(many), render_markdown(many), render_findings(many)):
        assert "(in eu-west-1)" in " ".join(text.split())
        assert "cases in us-east-1" in text
        assert "cases in eu-west-1" in text
        assert text.count("111122223333") == 1
    assert "changes in eu-west-1: denied" in render_text(many)
    assert "hot-key on cases in us-east-1, cases in eu-west-1: too little" in render_text(many)


def test_what_was_read_cannot_steer_the_terminal(report: Report) -> None:
    finding = replace(report.findings[0], caller="evil\x1b]0;owned\x07", summary="a\rb\x9b31m")
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", render_text(replace(report, findings=(finding,)))) is None


def test_an_advice_with_a_command_is_told_where_the_first_has_none(report: Report) -> None:
    text = render_text(show(report, "template"))
    assert "  or    read-eventually: read" in text
    assert "$ aws dynamodb get-item --table-name cases --key 'PK=CASE#<id> SK=META'" in text


def test_advice_that_is_not_told_is_named(report: Report) -> None:
    extra = tuple(Advice(action=action, text="") for action in ("shard-key", "back-off"))
    finding = replace(report.findings[3], advice=(*report.findings[3].advice, *extra))
    assert "  or    shard-key, back-off\n" in render_text(replace(report, findings=(finding,)))


def test_long_lists_are_cut_and_say_so(report: Report) -> None:
    row = PatternLine(
        kind=PatternKind.DECLARED,
        pattern="p",
        requests=1,
        requests_low=1,
        requests_high=1,
        units=2,
        waste_units=0,
        p99_ms=1,
    )
    gap = Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents")
    text = render_text(replace(report, patterns=(row,) * 20, gaps=(gap,) * 9, findings=()))
    assert "and 8 more with 16 units" in text
    assert "and 5 more: --format json lists them" in text


def test_units_that_nobody_told_have_no_share(report: Report) -> None:
    unknown = tuple(replace(line, units=None) for line in report.patterns)
    rows = render_text(replace(report, patterns=unknown, findings=(), keys=())).splitlines()
    assert [row.split()[:2] for row in rows if row.endswith(("load-case", "list-all"))] == [["?", "?"], ["?", "?"]]


def test_a_verdict_without_words_does_not_break(report: Report) -> None:
    assert render_text(replace(clean(report), verdict=Verdict(VerdictState.CANNOT_TELL, "", Confidence.POSSIBLE)))


def test_cold_keys_are_not_listed(report: Report) -> None:
    cold = replace(report.keys[0], heat=0.009)
    assert "  none over 1%\n" in render_text(replace(report, keys=(cold,)))
    unknown = replace(report.keys[0], peak_second=None)
    assert "  1.04     ?   540k  read" in render_text(replace(report, keys=(unknown, cold)))


def test_beyond_a_handful_findings_are_told_in_a_line(report: Report) -> None:
    many = tuple(replace(report.findings[0], id=str(n), table=f"t{n:02d}") for n in range(28))
    text = render_text(replace(report, findings=many))
    assert text.count("  who   report-job") == 6
    assert "also\n  MEDIUM    unexpected-scan t06/GSI1: report-job scans cases/GSI1" in text
    assert "  and 2 more: --format json tells them all\n" in text


def test_where_nothing_was_read_there_is_neither_window_nor_certainty(report: Report) -> None:
    verdict = Verdict(VerdictState.CANNOT_TELL, "cannot tell: no request was seen", Confidence.CERTAIN)
    blank = replace(report, window=Window(0, 0), as_of=0, verdict=verdict, findings=(), region=None)
    for text in (render_text(blank), render_markdown(blank)):
        assert "1970" not in text
        assert "certain" not in text
    alone = replace(blank, account=None, patterns=(), keys=(), gaps=(), skipped=())
    assert render_text(alone) == "CANNOT TELL  no request was seen\n"


def test_a_name_as_long_as_a_record_does_not_fill_the_screen(report: Report) -> None:
    long = "c" * 300_000
    finding = replace(report.findings[0], summary=f"{long} asks", because=long, caller=long)
    verdict = replace(report.verdict, text=f"{long} asks")
    gap = Gap(SourceName.REQUEST_LOG, GapReason.LATE, long, "wait")
    said = replace(report, findings=(finding,), verdict=verdict, gaps=(gap,))
    for text in (render_text(said), render_markdown(said)):
        assert len(text) < 25_000
        assert "…" in text
