"""The first advice of a finding changes nothing, and no command leaves a word to be filled in but the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.cli.judging import judge_recording
from analyzer.config import Settings
from analyzer.detectors.advice import advise
from analyzer.model.finding import Advice, Confidence, Finding, Risk, Severity
from analyzer.recording import read_recording
from tests.support.advices import faults_of_advice

RECORDINGS = sorted((Path(__file__).parents[2] / "docs" / "detectors" / "recordings").glob("*.jsonl"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_the_advice_of_a_page_s_recording_is_safe_first_and_filled_in(path: Path) -> None:
    """What the scenarios find is looked at where they are replayed (tests/support/recordings.py)."""
    report = judge_recording(path, read_recording(path), Settings.model_validate({}))
    assert list(faults_of_advice(report.findings)) == []


def finding(*advice: Advice) -> Finding:
    return Finding(
        detector="hot-key",
        severity=Severity.HIGH,
        confidence=Confidence.CERTAIN,
        table="orders",
        summary="hot",
        advice=advice,
    )


SAFE = advise("check-client", "look", command="aws dynamodb list-tables  # read-only", takes="minutes")


@pytest.mark.parametrize(
    ("advice", "fault"),
    [
        (advise("shard-key", "split", risk=Risk.HIGH), "the first advice changes production"),
        (advise("fix-caller", "roll back", takes="a deploy"), "the first advice is a deploy"),
        (
            advise("prewarm", "warm", command="aws dynamodb update-table  # read-only"),
            "a command that does not only read has no risk",
        ),
        (
            advise("check-client", "look", command="aws dynamodb list-tables"),
            "the first command does not say that it reads only",
        ),
        (
            advise("check-client", "look", command="aws cloudwatch get-metric-data --start-time START  # read-only"),
            "a word of the command is left open",
        ),
    ],
    ids=["risk", "deploy", "not a look", "unsaid", "open"],
)
def test_what_is_wrong_with_an_advice_is_told(advice: Advice, fault: str) -> None:
    assert [told.partition(":")[0] for told in faults_of_advice([finding(advice)])] == [fault]
    assert list(faults_of_advice([finding(SAFE)])) == []
