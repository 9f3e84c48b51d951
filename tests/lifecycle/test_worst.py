from __future__ import annotations

import pytest

from analyzer.lifecycle.worst import of_worst_window
from analyzer.model.finding import Confidence, Finding, Severity

WINDOW_MS = 300_000
HALF_MS = 30_000


def caveat(
    first: int | None = 0,
    last: int | None = 600_000,
    *,
    detector: str = "throttling",
    before: str | None = None,
    window_ms: int = WINDOW_MS,
) -> str | None:
    fields = {"detector": detector, "severity": Severity.HIGH, "confidence": Confidence.CERTAIN, "table": "orders"}
    one = Finding(**fields, summary="", first_seen=first, last_seen=last, caveat=before)  # type: ignore[arg-type]
    return of_worst_window((one,), {"throttling"}, window_ms)[0].caveat


def test_what_lasted_two_windows_says_that_its_numbers_are_of_the_worst_one() -> None:
    assert caveat() == "its numbers are those of the worst 5 minutes"
    assert caveat(window_ms=HALF_MS) == "its numbers are those of the worst 30 seconds"
    assert caveat(before="sampled") == "sampled; its numbers are those of the worst 5 minutes"


@pytest.mark.parametrize(("first", "last"), [(0, 599_999), (None, 900_000), (0, None)])
def test_what_lasted_less_or_has_no_span_does_not(first: int | None, last: int | None) -> None:
    assert caveat(first, last) is None


def test_what_was_judged_over_the_whole_stretch_does_not() -> None:
    assert caveat(detector="pattern-drift") is None
