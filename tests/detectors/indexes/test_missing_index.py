from __future__ import annotations

import pytest

from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.model.finding import Finding, Severity
from analyzer.model.traffic import Place, Traffic
from tests.support.evidence import CASES, refused, row, shape, traffic

GSI9 = CASES.at("GSI9")
REFUSED = refused("The table does not have the specified index: GSI9", calls=12)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in MissingIndex().detect(evidence) if isinstance(one, Finding)]


def test_a_refusal_that_names_the_index_is_critical() -> None:
    rows = (row(shape("Query"), caller="api"),)
    (one,) = found(traffic(GSI9, rows=rows, refusals=(REFUSED,)))
    assert (one.severity, one.index, one.caller) == (Severity.CRITICAL, "GSI9", "api")
    assert one.evidence["refused_calls"] == 12


def test_another_refusal_says_nothing_of_an_index() -> None:
    assert found(traffic(GSI9, refusals=(refused("Query condition missed key schema element"),))) == []


@pytest.mark.parametrize("status", ["CREATING", "UPDATING"])
def test_an_index_that_is_being_built_is_not_missing(status: str) -> None:
    assert found(traffic(GSI9, refusals=(REFUSED,), place=Place(index_status=status))) == []


def test_the_base_table_misses_no_index() -> None:
    assert found(traffic(refusals=(REFUSED,))) == []


def test_no_refusal_no_finding() -> None:
    assert found(traffic(GSI9)) == []
