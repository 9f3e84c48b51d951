from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from analyzer.model.finding import Change, Confidence, Finding, Severity, Status, Victim
from analyzer.model.report import Mode, VerdictState
from analyzer.model.window import Window
from analyzer.render.words import (
    before_words,
    compact,
    count,
    evidence_words,
    fold,
    head_words,
    key_words,
    milliseconds,
    pattern_name,
    place,
    share,
    skipped_words,
    stretch,
    stretch_words,
    verdict_words,
    who_words,
)
from tests.render.conftest import at

if TYPE_CHECKING:
    from analyzer.model.report import Report


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "?"),
        (float("nan"), "?"),
        (0, "0"),
        (1234567, "1,234,567"),
        (1234.5, "1,234"),
        (12.345, "12.3"),
        (0.0123, "0.012"),
        (0.00012, "0.00012"),
    ],
)
def test_numbers_are_written_as_people_do(number: float | None, words: str) -> None:
    assert count(number) == words


@pytest.mark.parametrize(
    ("number", "words"), [(None, "?"), (812, "812"), (1234, "1.23k"), (3.4e6, "3.4M"), (2e9, "2G"), (float("inf"), "?")]
)
def test_numbers_of_columns_are_short(number: float | None, words: str) -> None:
    assert compact(number) == words


@pytest.mark.parametrize(
    ("began", "words"),
    [
        (None, ""),
        (999_000, ""),
        (1_020_000, "20 s before"),
        (1_875_000, "14 min 35 s before"),
        (5_200_000, "1 h 10 min before"),
    ],
)
def test_how_long_before_a_fault_a_change_was_made_is_told(began: int | None, words: str) -> None:
    assert before_words(Change(time=1_000_000, what="deploy"), began) == words
    assert before_words(None, began) == ""


@pytest.mark.parametrize(
    ("part", "words"), [(None, "?"), (0, "0%"), (0.41, "41%"), (0.0004, "<0.1%"), (1, "100%"), (float("nan"), "?")]
)
def test_shares_are_percentages(part: float | None, words: str) -> None:
    assert share(part) == words


@pytest.mark.parametrize(("number", "words"), [(None, "?"), (4.2, "≤ 4.2 ms"), (12_500, "≤ 12.5 s")])
def test_latencies_carry_their_unit(number: float | None, words: str) -> None:
    assert milliseconds(number) == words


def test_a_place_without_a_table_is_everywhere() -> None:
    assert (place(None, None), place("t", None), place("t", "i")) == ("everywhere", "t", "t/i")
    assert place("", None) == "an unnamed table"


def test_a_window_over_midnight_names_both_days() -> None:
    assert stretch(Window(0, 60_000)) == "1970-01-01 00:00:00–00:01:00 UTC"
    assert stretch(Window(0, 90_000_000)) == "1970-01-01 00:00:00–1970-01-02 01:00:00 UTC"


def test_evidence_carries_its_bounds_and_units() -> None:
    evidence: dict[str, float | str | None] = {
        "share": 0.41,
        "share_low": 0.38,
        "share_high": 0.44,
        "heat": 1.0,
        "heat_low": 1.0,
        "heat_high": 1.0,
        "p99_ms": 12.0,
        "longest_seconds": 70.0,
        "cost_usd": 3.14159,
        "shape": "counter",
        "size": None,
    }
    assert evidence_words(evidence) == (
        "share 41% [38%–44%]",
        "heat 1",
        "p99 12 ms",
        "longest 70 s",
        "cost $3.14",
        "shape counter",
        "size not known",
    )


def test_a_key_of_one_attribute_is_its_value() -> None:
    assert key_words({"PK": "a\nb"}) == "a\\x0ab"
    assert key_words({"PK": "a", "SK": 1}) == "PK=a SK=1"
    assert key_words(None) == "(a key)"


def test_who_does_it_and_who_suffers(report: Report) -> None:
    scan = report.findings[0]
    assert who_words(scan) == "report-job"
    assert who_words(replace(scan, caller=None, pattern="p")) == "p"
    assert who_words(replace(scan, victims=(Victim("api", "load"),))) == "report-job; hurts api (load)"
    assert who_words(replace(scan, caller=None, victims=(Victim("api", None),))) == "not known; hurts api"
    assert who_words(replace(scan, caller=None, victims=(Victim(None, None),))) is None


def test_the_worst_comes_first_with_all_that_it_explains(report: Report) -> None:
    names = [(cause.detector, [effect.detector for effect in effects]) for cause, effects in fold(report.findings)]
    assert names == [("hot-key", ["throttling", "retry-storm"]), ("unexpected-scan", [])]


def test_a_mild_cause_stands_where_its_worst_effect_would(report: Report) -> None:
    scan, _, throttling, hot = report.findings
    findings = (replace(throttling, caused_by=None), replace(scan, id="mild"), replace(hot, caused_by="mild"))
    assert [cause.id for cause, _ in fold(findings)] == ["mild", throttling.id]


def test_a_cause_that_is_not_there_or_a_ring_leaves_findings_on_their_own(report: Report) -> None:
    scan, retries, throttling, _ = report.findings
    ring = (replace(throttling, caused_by=retries.id), retries, replace(scan, caused_by="gone"))
    assert sorted(cause.detector for cause, _ in fold(ring)) == ["retry-storm", "throttling", "unexpected-scan"]


def test_patterns_are_named_by_what_is_known(report: Report) -> None:
    declared, undeclared, ambiguous, other = report.patterns
    assert [pattern_name(line) for line in report.patterns] == [
        "load-case",
        "undeclared: Scan cases/GSI1 filter #0 = :0",
        "ambiguous: list-open or list-all",
        "(all others)",
    ]
    assert pattern_name(replace(declared, pattern=None)) == "?"
    assert pattern_name(replace(undeclared, text=None)) == "undeclared: 5ca95ca95ca95ca9"
    assert pattern_name(replace(ambiguous, candidates=())) == "ambiguous"
    assert pattern_name(other) == "(all others)"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clean: 9 requests to 1 table", "9 requests to 1 table"),
        ("clean at table level: 1 table", "at table level: 1 table"),
    ],
)
def test_the_state_is_not_said_twice(report: Report, text: str, told: str) -> None:
    verdict = replace(report.verdict, state=VerdictState.CLEAN, text=text)
    assert verdict_words(replace(report, verdict=verdict)) == ("CLEAN", told)


def test_skipped_detectors_of_one_reason_are_told_together(report: Report) -> None:
    many = tuple(replace(report.skipped[0], table=name) for name in "abcde")
    assert skipped_words(replace(report, skipped=many)) == (
        "unused-index on a/GSI1, b/GSI1, c/GSI1 and 2 more: needs 14 days of traffic",
    )


def test_a_daemon_that_observes_says_so_and_until_when(report: Report) -> None:
    until = replace(report, mode=Mode.OBSERVE, observing_until=at("12:00:00"))
    assert head_words(until)[-1] == "observing until 2026-06-01T12:00Z: nothing pages"
    assert head_words(replace(until, observing_until=None))[-1] == "observing: nothing pages"
    paging = replace(report, mode=Mode.PAGE)
    assert head_words(paging) == head_words(report)


@pytest.mark.parametrize(
    ("first", "last", "status", "words"),
    [
        ("10:00:00.000", "10:04:00.000", Status.OPEN, "from 10:00:00 to 10:04:00"),
        ("10:00:00.000", "10:04:00.000", Status.CLOSED, "from 10:00:00 to 10:04:00"),
        ("10:00:00.000", "10:04:00.000", Status.SNOOZED, "snoozed, from 10:00:00 to 10:04:00"),
        ("10:00:00.000", "10:00:00.000", Status.CLOSED, "at 10:00:00"),
        ("10:00:00.000", "10:00:00.000", Status.OPEN, "from 10:00:00 on"),
        (None, None, Status.OPEN, "open"),
    ],
)
def test_of_a_file_it_is_told_from_when_to_when(
    first: str | None, last: str | None, status: Status, words: str
) -> None:
    seen = {"first_seen": first and at(first), "last_seen": last and at(last)}
    one = Finding(
        detector="x", severity=Severity.LOW, confidence=Confidence.CERTAIN, table="t", summary="", status=status
    )
    assert stretch_words(replace(one, **seen)) == words
