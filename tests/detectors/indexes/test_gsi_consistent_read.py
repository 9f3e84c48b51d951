from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.gsi_consistent_read import GsiConsistentRead
from analyzer.model.finding import Confidence, Finding, Risk, Severity
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Place, Traffic
from tests.support.evidence import CASES, GSI2, refused, row, shape, traffic

SAID = "Consistent reads are not supported on global secondary indexes"
STRONG = shape("Query", index="GSI2", consistent=True)


def found(evidence: Traffic, **thresholds: Any) -> list[Finding]:
    return [one for one in GsiConsistentRead(**thresholds).detect(evidence) if isinstance(one, Finding)]


def refusing(calls: float = 12, message: str = SAID, **fields: Any) -> Traffic:
    rows = (row(STRONG, requests=calls, failed=calls),)
    return traffic(GSI2, rows=rows, refusals=(refused(message, calls),), **fields)


def test_refused_strong_reads_of_an_index_are_critical_where_they_are_most_of_what_a_caller_asks() -> None:
    (one,) = found(refusing())
    assert (one.severity, one.index, one.caller, one.confidence) == (
        Severity.CRITICAL,
        "GSI2",
        "api",
        Confidence.CERTAIN,
    )
    assert one.evidence["refused_calls"] == 12
    assert [advice.action for advice in one.advice] == [
        "fix-caller",
        "read-eventually",
        "read-base-table",
        "return-written-value",
    ]


@pytest.mark.parametrize(("calls", "severity"), [(50, Severity.CRITICAL), (49, Severity.HIGH)])
def test_five_percent_of_a_callers_calls_to_the_table_are_critical(calls: int, severity: Severity) -> None:
    base = traffic(CASES, rows=(row(requests=1000 - calls), row(caller="other", requests=9)))
    (one,) = found(refusing(calls, base=base))
    assert one.severity is severity


def test_the_caller_that_is_refused_most_is_named_and_the_others_are_victims() -> None:
    rows = (row(STRONG, caller="a", requests=3, failed=3), row(STRONG, caller="b", requests=9, failed=9))
    refusals = (refused(SAID, 3, of_row=0), refused(SAID, 9, of_row=1))
    (one,) = found(traffic(GSI2, rows=rows, refusals=refusals))
    assert (one.caller, [victim.caller for victim in one.victims]) == ("b", ["a"])
    assert one.summary.startswith("12 strong reads of cases/GSI2, above all by b, were refused")


def test_one_caller_of_whose_calls_a_twentieth_fail_is_enough() -> None:
    """The advice speaks of the caller that is named, the evidence of the one that suffers most."""
    rows = (
        row(STRONG, caller="a", requests=100, failed=100),
        row(STRONG, caller="b", requests=200, failed=200),
        row(shape("Query", "stale", index="GSI2"), caller="b", requests=300),
    )
    base = traffic(CASES, rows=(row(caller="a", requests=900), row(caller="b", requests=9500)))
    (one,) = found(traffic(GSI2, rows=rows, refusals=(refused(SAID, 100), refused(SAID, 200, of_row=1)), base=base))
    assert (one.severity, one.caller) == (Severity.CRITICAL, "b")
    assert one.evidence == {
        "refused_calls": 300,
        "index_reads": 600,
        "share_of_callers_calls": 0.1,
        "error": "ValidationException",
        "message": SAID,
    }
    assert "2% of its calls fail" in one.advice[0].text


def test_the_shape_that_is_told_is_the_named_caller_s_most_refused() -> None:
    asked = [("one", "a", 4), ("two", "a", 6), ("three", "b", 9), ("four", "a", 5)]
    rows = [row(shape("Query", of, index="GSI2"), caller=caller, requests=calls) for of, caller, calls in asked]
    refusals = [refused(SAID, calls, of_row=place) for place, (_, _, calls) in enumerate(asked)]
    (one,) = found(traffic(GSI2, rows=tuple(rows), refusals=tuple(refusals)))
    assert (one.caller, one.fingerprint) == ("a", "two")


@pytest.mark.parametrize(
    ("calls", "asked", "many"), [(1, {}, 1), (2, {"least_calls": 3}, 0), (3, {"least_calls": 3}, 1)]
)
def test_so_many_refusals_are_asked_for(calls: int, asked: dict[str, int], many: int) -> None:
    assert len(found(refusing(calls), **asked)) == many


def test_without_a_message_a_strong_read_that_was_always_refused_is_likely_it() -> None:
    (one,) = found(refusing(message=""))
    assert (one.confidence, one.evidence["message"]) == (Confidence.LIKELY, None)
    assert one.because == "the log has no message; the strong reads of this index were all refused"


def test_one_message_among_refusals_without_is_proof() -> None:
    rows = (row(STRONG, requests=20, failed=20),)
    (one,) = found(traffic(GSI2, rows=rows, refusals=(refused("", 12), refused(SAID, 8))))
    assert (one.confidence, one.because, one.evidence["message"]) == (Confidence.CERTAIN, None, SAID)


def test_reads_of_the_table_and_values_that_are_passed_on_can_be_taken_back() -> None:
    (one,) = found(refusing())
    assert [(advice.risk, advice.reversible) for advice in one.advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
        (Risk.LOW, True),
        (Risk.LOW, True),
    ]


@pytest.mark.parametrize(
    "evidence",
    [
        traffic(GSI2),
        refusing(message="Query condition missed key schema element"),
        traffic(GSI2, rows=(row(STRONG, requests=20, failed=12),), refusals=(refused("", 12),)),
        traffic(GSI2, rows=(row(shape("Query"), requests=12, failed=12),), refusals=(refused("", 12),)),
        traffic(CASES, refusals=(refused(SAID),)),
    ],
    ids=["nothing refused", "another message", "some served", "no strong read", "the table"],
)
def test_what_is_no_refused_strong_read_of_an_index_is_nothing(evidence: Traffic) -> None:
    assert found(evidence) == []


def test_a_local_index_may_be_read_strongly() -> None:
    local = TableDescription(name="cases", indexes=(IndexDescription(name="GSI2", kind="lsi"),))
    assert found(refusing(message="", place=Place(table=local))) == []
