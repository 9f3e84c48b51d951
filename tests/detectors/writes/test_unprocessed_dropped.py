from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.unprocessed_dropped import UnprocessedDropped
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import UNDECLARED, row, shape, traffic

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
    assert one.summary.startswith("api never sent again what")
    assert "of 2 batches to cases: 2 items were not" in one.summary


def test_writes_are_sent_again_and_slowed_and_reads_are_sent_again() -> None:
    (write,) = found(batch(0, "a", back=1))
    assert [(one.action, one.reversible) for one in write.advice] == [
        ("fix-caller", None),
        ("retry-unprocessed", True),
        ("pace-writes", True),
    ]
    assert "UnprocessedItems" in write.advice[1].text
    assert "run its input again" in write.advice[1].text
    (read,) = found(batch(0, "a", of=READ, back=1))
    assert [(one.action, one.reversible) for one in read.advice] == [("fix-caller", None), ("retry-unprocessed", True)]
    assert "UnprocessedKeys" in read.advice[1].text
    assert "run its input again" not in read.advice[1].text


def test_it_is_one_fault_a_caller_and_operation() -> None:
    told = found(batch(0, "a", back=1), batch(1, "b", of=READ, back=1), batch(2, "c", back=1, caller=None))
    assert {one.subject for one in told} == {"BatchWriteItem\x1fapi", "BatchGetItem\x1fapi", "BatchWriteItem\x1f"}


def test_the_pattern_is_that_of_the_batch_that_was_left() -> None:
    others = (
        row(shape("BatchWriteItem", "other"), UNDECLARED, requests=9000),
        row(WRITE, UNDECLARED, caller="importer"),
    )
    (one,) = found(batch(0, "a", back=1), rows=(*others, row(WRITE, requests=1)))
    assert (one.fingerprint, one.pattern) == ("w", "load-case")


def test_one_batch_may_be_a_process_that_was_stopped() -> None:
    (one,) = found(batch(0, "a", back=1), rows=())
    assert (one.confidence, one.because, one.pattern) == (Confidence.LIKELY, "it was seen once", None)
    assert "handed back of a batch to cases: 1 item was not written" in one.summary


def sent_again(many: int, of: Any = WRITE) -> list[Any]:
    return [
        one
        for n in range(many)
        for one in (batch(n, f"k{n}", of=of, back=1), batch(n + 0.5, f"k{n}", of=of, trace=f"t{n}"))
    ]


@pytest.mark.parametrize(("of", "severity"), [(WRITE, Severity.MEDIUM), (READ, Severity.LOW)])
def test_a_caller_that_sends_most_of_it_again_may_come_back_later(of: Any, severity: Severity) -> None:
    (one,) = found(*sent_again(3, of), batch(9, "last", of=of, back=1))
    assert (one.severity, one.confidence) == (severity, Confidence.LIKELY)
    assert one.evidence["left_share"] == 0.25
    assert (one.because or "").startswith("it sends most again and gave up on 25%: ")


@pytest.mark.parametrize(
    ("again", "severity", "confidence"),
    [(2, Severity.CRITICAL, Confidence.CERTAIN), (3, Severity.MEDIUM, Confidence.LIKELY)],
)
def test_who_leaves_half_of_it_does_so_by_habit(again: int, severity: Severity, confidence: Confidence) -> None:
    (one,) = found(*sent_again(again), batch(8, "x", back=1), batch(9, "y", back=1))
    assert (one.severity, one.confidence) == (severity, confidence)


def test_what_was_sent_again_is_nothing() -> None:
    assert outcomes(batch(0, "a", "b", back=1, trace="t"), batch(1, "a", trace="t")) == []


def test_batches_that_nobody_can_follow_are_told_as_such() -> None:
    (one,) = outcomes(batch(0, "a", back=1, trace_whole=False), batch(1, "b", trace_whole=False))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.NOT_COVERED


def test_without_such_batches_or_calls_there_is_nothing() -> None:
    assert outcomes(batch(0, "a")) == []
    assert list(UnprocessedDropped().detect(traffic())) == []
