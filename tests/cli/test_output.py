from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.output import FailOn, Format, Keys, exit_code, print_report, so_many, write_unbuffered
from analyzer.model.finding import Confidence, Finding, Severity, Status
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence


def report(severities: Sequence[Severity] = (), state: VerdictState = VerdictState.CLEAN, **fields: Status) -> Report:
    return Report(
        window=Window(0, 60_000),
        as_of=60_000,
        region=None,
        account=None,
        verdict=Verdict(state, "words", Confidence.CERTAIN),
        findings=tuple(
            Finding(
                detector="hot-key",
                severity=severity,
                confidence=Confidence.CERTAIN,
                table="t",
                summary="{key} is hot",
                key={"PK": "CASE#canary-4711"},
                **fields,  # type: ignore[arg-type]
            )
            for severity in severities
        ),
    )


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        (Severity.HIGH, FailOn.HIGH, 1),
        (Severity.CRITICAL, FailOn.HIGH, 1),
        (Severity.MEDIUM, FailOn.HIGH, 0),
        (Severity.LOW, FailOn.LOW, 1),
        (Severity.CRITICAL, FailOn.NEVER, 0),
    ],
)
def test_findings_over_the_bound_end_with_one(severity: Severity, fail_on: FailOn, code: int) -> None:
    assert exit_code(report([severity]), fail_on) == code


def test_what_is_snoozed_fails_nothing_and_what_is_closed_does() -> None:
    assert exit_code(report([Severity.CRITICAL], status=Status.SNOOZED), FailOn.LOW) == 0
    assert exit_code(report([Severity.CRITICAL], status=Status.CLOSED), FailOn.LOW) == 1


def test_findings_come_before_what_could_not_be_seen() -> None:
    blind = VerdictState.CANNOT_TELL
    assert exit_code(report(state=blind), FailOn.HIGH) == 3
    assert exit_code(report([Severity.HIGH], state=blind), FailOn.HIGH) == 1
    assert exit_code(report(), FailOn.HIGH, source_failed=True) == 3
    assert exit_code(report([Severity.HIGH]), FailOn.NEVER, source_failed=True) == 3


@pytest.mark.parametrize("output", list(Format))
@pytest.mark.parametrize("keys", list(Keys))
def test_keys_are_printed_only_when_revealed(output: Format, keys: Keys, capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report([Severity.HIGH]), output, keys, None)
    captured = capsys.readouterr()
    assert ("canary-4711" in captured.out) == (keys is Keys.REVEAL)
    assert captured.err == ""


def test_what_is_written_past_the_buffer_arrives_and_a_reader_that_left_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    with open(writing, "w") as stdout:  # noqa: PTH123 -- a pipe has no path
        monkeypatch.setattr(sys, "stdout", stdout)
        write_unbuffered("an ä\n")
        assert os.read(reading, 100) == "an ä\n".encode()
        os.close(reading)
        write_unbuffered("to nobody\n")
        write_unbuffered("again\n")


def test_where_there_is_no_file_of_the_system_it_is_written_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = io.StringIO()
    monkeypatch.setattr(sys, "stdout", kept)
    write_unbuffered("kept")
    assert kept.getvalue() == "kept"
    monkeypatch.setattr(sys, "stdout", None)
    write_unbuffered("unheard")


def test_what_is_counted_has_its_plural() -> None:
    told = [
        so_many(number, word) for number, word in ((0, "fault"), (1, "entity"), (2, "entity"), (2, "index"), (2, "day"))
    ]
    assert told == ["no faults", "1 entity", "2 entities", "2 indexes", "2 days"]
