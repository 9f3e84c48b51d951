from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.finding import Status
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.render.findings import render_findings
from analyzer.render.show import show
from tests.render.conftest import HOT

if TYPE_CHECKING:
    from analyzer.model.report import Report


def test_every_finding_has_its_id_and_effects_stand_beneath_their_cause(report: Report) -> None:
    lines = render_findings(show(report, "template")).splitlines()
    heads = [line for line in lines if line[:1] not in {" ", ""}][1:]
    assert {line.split()[0] for line in heads} == {finding.id for finding in report.findings}
    assert lines[0].startswith("FAULT        cases: one key, PK=CASE#<id> SK=META, ")
    assert heads[0].startswith(f"{HOT.id}      CRITICAL  hot-key  cases  key-range  ongoing since ")
    assert heads[1].split()[1] == "└─"
    assert all(len(line) <= 110 for line in lines)


def test_of_a_snoozed_one_the_reason_is_said(report: Report) -> None:
    quiet = msgspec.structs.replace(HOT, status=Status.SNOOZED, because="snoozed until then: known", caused_by=None)
    text = render_findings(msgspec.structs.replace(report, findings=(quiet,)))
    assert "  snoozed since " in text
    assert "              snoozed until then: known\n" in text


def test_that_an_allowance_has_ended_is_said(report: Report) -> None:
    ended = "the allowance of hot-key on load-case ended on 2026-01-31"
    text = render_findings(msgspec.structs.replace(report, findings=(msgspec.structs.replace(HOT, because=ended),)))
    assert f"              {ended}\n" in text


def test_a_reason_that_ends_the_sentence_is_not_said_again(report: Report) -> None:
    why = "DynamoDB refused its requests for the key range"
    told = msgspec.structs.replace(HOT, summary=f"one key is hot: {why}", because=why, caused_by=None)
    text = render_findings(msgspec.structs.replace(report, findings=(told,)))
    assert text.endswith(f"\n              one key is hot: {why}\n")
    assert text.count(f"              {why}") == 0


def test_a_finding_without_times_cause_or_reason_is_told_all_the_same(report: Report) -> None:
    bare = msgspec.structs.replace(HOT, status=Status.SNOOZED, because=None, cause=None, first_seen=None)
    text = render_findings(msgspec.structs.replace(report, findings=(bare,)))
    assert "hot-key  cases  snoozed\n" in text


def test_without_findings_there_is_the_verdict_alone(report: Report) -> None:
    assert len(render_findings(msgspec.structs.replace(report, findings=())).splitlines()) == 3


def test_that_snoozes_are_lost_is_said_and_no_other_gap(report: Report) -> None:
    lost = Gap(SourceName.HISTORY, GapReason.MALFORMED, "snoozes are lost", "snooze anew")
    other = Gap(SourceName.HISTORY, GapReason.LATE, "the disk is full")
    lines = render_findings(msgspec.structs.replace(report, gaps=(other, lost), findings=())).splitlines()
    assert [line for line in lines if line.startswith("NOT SEEN")] == [
        "NOT SEEN     history: malformed, snoozes are lost; snooze anew"
    ]
