from __future__ import annotations

import json

from analyzer.exporters.verdicts import json_lines, text_lines
from analyzer.model.finding import Status
from tests.exporters.conftest import finding, report


def test_a_finding_that_opens_or_closes_is_one_line_for_eyes() -> None:
    events = report(
        finding(summary="one key takes 41% of reads"),
        finding(detector="throttling", index="GSI1", status=Status.CLOSED, summary="2% of requests\nare throttled"),
    )
    assert text_lines(events) == (
        "22:18:20 OPEN   high     hot-key            cases: one key takes 41% of reads\n"
        "22:18:20 CLOSED high     throttling         cases/GSI1: 2% of requests\\x0aare throttled\n"
    )


def test_one_that_closed_says_from_when_to_when_and_where_it_was() -> None:
    closed = finding(status=Status.CLOSED, first_seen=1_700_000_000_000, last_seen=1_700_000_060_000, summary="hot")
    assert text_lines(report(closed, finding(summary="warm", region="eu-west-1"))) == (
        "22:18:20 CLOSED high     hot-key            cases: hot (22:13:20–22:14:20)\n"
        "22:18:20 OPEN   high     hot-key            cases in eu-west-1: warm\n"
    )


def test_for_programs_it_is_one_object() -> None:
    line = json.loads(json_lines(report(finding())))
    assert (line["time"], line["event"], line["finding"]["detector"]) == ("2023-11-14T22:18:20.000Z", "open", "hot-key")
