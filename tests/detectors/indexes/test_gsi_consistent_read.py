from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.gsi_consistent_read import GsiConsistentRead
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Place, Traffic
from tests.support.evidence import CASES, GSI2, refused, row, shape, traffic

SAID = "Consistent reads are not supported on global secondary indexes"
STRONG = shape("Query", index="GSI2", consistent=True)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in GsiConsistentRead().detect(evidence) if isinstance(one, Finding)]


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
    assert [advice.action for advice in one.advice] == ["fix-caller", "read-base-table", "return-written-value"]


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


def test_without_a_message_a_strong_read_that_was_always_refused_is_likely_it() -> None:
    (one,) = found(refusing(message=""))
    assert one.confidence is Confidence.LIKELY


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
