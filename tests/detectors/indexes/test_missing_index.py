from __future__ import annotations

import pytest

from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Place, Traffic
from tests.support.evidence import CASES, refused, row, shape, traffic
from tests.support.told import series, table

GSI9 = CASES.at("GSI9")
REFUSED = refused("The table does not have the specified index: GSI9", calls=12)
WITHOUT = Place(table=table("GSI1", "GSI-9"))


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in MissingIndex().detect(evidence) if isinstance(one, Finding)]


def test_a_refusal_that_names_the_index_is_critical() -> None:
    rows = (row(shape("Query"), caller="api"),)
    (one,) = found(traffic(GSI9, rows=rows, refusals=(REFUSED,)))
    assert (one.severity, one.index, one.caller) == (Severity.CRITICAL, "GSI9", "api")
    assert one.evidence["refused_calls"] == 12
    assert one.confidence is Confidence.CERTAIN


def test_a_refusal_without_a_message_is_likely_it_where_the_table_is_described_without_the_index() -> None:
    (one,) = found(traffic(GSI9, refusals=(refused(""),), place=WITHOUT))
    assert (one.confidence, one.evidence["nearest_index"]) == (Confidence.LIKELY, "GSI-9")
    assert "GSI-9 is there" in one.advice[0].text


@pytest.mark.parametrize(
    "evidence",
    [
        traffic(GSI9, refusals=(refused("Query condition missed key schema element"),), place=WITHOUT),
        traffic(GSI9, refusals=(refused("", code="AccessDeniedException"),), place=WITHOUT),
        traffic(GSI9, refusals=(refused(""),)),
        traffic(GSI9, refusals=(refused(""),), place=Place(table=table("GSI9"))),
        traffic(GSI9, refusals=(refused(""),), place=Place(table=table(partition_key=()))),
        traffic(refusals=(REFUSED,)),
        traffic(GSI9),
    ],
    ids=["another message", "another error", "not described", "it is there", "keys not told", "the table", "nothing"],
)
def test_what_names_no_missing_index_is_nothing(evidence: Traffic) -> None:
    assert found(evidence) == []


def test_an_index_that_is_being_built_is_not_missing() -> None:
    assert found(traffic(GSI9, refusals=(REFUSED,), place=Place(index_status="CREATING"))) == []


def test_a_build_that_metrics_alone_tell_of_is_a_build_too() -> None:
    progress = series("OnlineIndexPercentageProgress", [10, 20, 30], target=GSI9, stat="Maximum")
    assert found(traffic(GSI9, refusals=(REFUSED,), metrics=(progress,))) == []
