from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer.model.report import Mode
from analyzer.model.window import Window
from analyzer.render.json import render_json, report_object
from analyzer.render.show import show

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from tests.conftest import Golden


def test_the_report_is_what_was_reviewed(report: Report, golden: Golden) -> None:
    golden("render/report.json", render_json(show(report, "template")))


def test_the_parts_are_those_of_the_format(report: Report) -> None:
    parts = "v window as_of region account verdict findings skipped gaps sight changes patterns keys coverage"
    assert list(report_object(report)) == parts.split()
    observing = replace(report, mode=Mode.OBSERVE, observing_until=1_780_308_000_000)
    assert list(report_object(observing)) == [*parts.split(), "mode", "observing_until"]
    assert report_object(observing)["observing_until"] == "2026-06-01T10:00:00.000Z"


def test_what_lives_in_the_process_is_not_printed(report: Report) -> None:
    text = render_json(replace(report, traffic=()))
    assert "subject" not in text
    assert "traffic" not in json.loads(text)


def test_times_are_texts_and_evidence_is_left_alone(report: Report) -> None:
    finding = replace(report.findings[0], evidence={"start": 5.0, "since": "x"})
    (shown,) = report_object(replace(report, findings=(finding,)))["findings"]
    assert shown["evidence"] == {"start": 5, "since": "x"}
    assert shown["first_seen"] == "2026-06-01T10:01:00.000Z"


def test_numbers_are_short_and_honest(report: Report) -> None:
    evidence = {"whole": 180_000.0, "share": 0.1 + 0.2, "tiny": 1e-9, "nan": float("nan"), "inf": float("inf")}
    finding = replace(report.findings[0], evidence=evidence)
    (shown,) = report_object(replace(report, findings=(finding,)))["findings"]
    assert shown["evidence"] == {"whole": 180_000, "share": 0.3, "tiny": 1e-9, "nan": None, "inf": None}


def test_unknown_is_null(report: Report) -> None:
    finding = report_object(report)["findings"][2]
    assert (finding["caller"], finding["index"], finding["self_heals"]) == (None, None, None)


def test_where_nothing_was_read_there_is_no_window(report: Report) -> None:
    told = report_object(replace(report, window=Window(0, 0), as_of=0))
    assert (told["window"], told["as_of"]) == (None, None)
