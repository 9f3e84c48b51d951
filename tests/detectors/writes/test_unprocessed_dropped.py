from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.unprocessed_dropped import UnprocessedDropped
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import row, shape, traffic

WRITE = shape("BatchWriteItem", "w", writes=True)
READ = shape("BatchGetItem", "r")


def batch(at: float, *names: str, of: Any = WRITE, back: int = 0, **fields: Any) -> Any:
    listed = tuple(
        CallPart(position=n, operation="Put", table="cases", key=item(name), is_handed_back=n < back)
        for n, name in enumerate(names)
    )
    return call(of.operation, at, of, **{"key": None, "trace": f"t{at}", "parts": listed, "unprocessed": back} | fields)


def outcomes(*calls: Any, **fields: Any) -> list[Finding | Skipped]:
    return list(UnprocessedDropped().detect(traffic(calls=book(*calls), window=Window(0, 900_000), **fields)))


def found(*calls: Any, **fields: Any) -> list[Finding]:
    return [one for one in outcomes(*calls, **fields) if isinstance(one, Finding)]


@pytest.mark.parametrize(
    ("of", "severity", "direction"),
    [(WRITE, Severity.CRITICAL, Direction.WRITE), (READ, Severity.HIGH, Direction.READ)],
)
def test_dropped_writes_are_critical_and_dropped_reads_high(of: Any, severity: Any, direction: Any) -> None:
    (one,) = found(batch(0, "a", "b", of=of, back=1), batch(5, "c", of=of, back=1), rows=(row(of),))
    assert (one.severity, one.direction, one.confidence) == (severity, direction, Confidence.CERTAIN)
    assert (one.caller, one.pattern, one.evidence["items_dropped"]) == ("api", "load-case", 2)
    assert [advice.action for advice in one.advice if advice.snippet is not None] == ["retry-unprocessed"]


def test_one_batch_may_be_a_process_that_was_stopped() -> None:
    (one,) = found(batch(0, "a", back=1), rows=())
    assert (one.confidence, one.because, one.pattern) == (Confidence.LIKELY, "it was seen once", None)


@pytest.mark.parametrize(("of", "severity"), [(WRITE, Severity.MEDIUM), (READ, Severity.LOW)])
def test_a_caller_that_sends_most_of_it_again_may_come_back_later(of: Any, severity: Severity) -> None:
    calls = [
        one
        for n in range(3)
        for one in (batch(n, f"k{n}", of=of, back=1), batch(n + 0.5, f"k{n}", of=of, trace=f"t{n}"))
    ]
    (one,) = found(*calls, batch(9, "last", of=of, back=1))
    assert (one.severity, one.confidence) == (severity, Confidence.LIKELY)
    assert one.evidence["left_share"] == 0.25


def test_what_was_sent_again_is_nothing() -> None:
    assert outcomes(batch(0, "a", "b", back=1, trace="t"), batch(1, "a", trace="t")) == []


def test_batches_that_nobody_can_follow_are_told_as_such() -> None:
    (one,) = outcomes(batch(0, "a", back=1, trace_whole=False))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.NOT_COVERED


def test_without_such_batches_or_calls_there_is_nothing() -> None:
    assert outcomes(batch(0, "a")) == []
    assert list(UnprocessedDropped().detect(traffic())) == []
