from __future__ import annotations

import pytest

from analyzer.model.traffic import Place, Refused, Traffic
from analyzer.traffic.index_refusals import is_of_index
from tests.support.evidence import CASES, GSI2, refused, row, shape, traffic
from tests.support.told import table

STRONG = (row(shape("Query", consistent=True), requests=10, failed=10),)
BUILT = Place(index_status="CREATING", table=table("GSI2"))


@pytest.mark.parametrize(
    ("one", "evidence"),
    [
        (refused("The table does not have the specified index: GSI2"), traffic(GSI2)),
        (refused(""), traffic(GSI2, place=Place(table=table("GSI1")))),
        (refused("Consistent reads are not supported on global secondary indexes"), traffic(GSI2)),
        (refused(""), traffic(GSI2, rows=STRONG)),
        (refused("Cannot read from backfilling global secondary index: GSI2"), traffic(GSI2, place=BUILT)),
        (refused(""), traffic(GSI2, place=BUILT)),
    ],
    ids=["missing", "not described", "strong", "always refused", "backfilling", "being built"],
)
def test_a_refusal_that_an_index_explains_is_of_the_index(one: Refused, evidence: Traffic) -> None:
    assert is_of_index(one, evidence)


@pytest.mark.parametrize(
    ("one", "evidence"),
    [
        (refused("The table does not have the specified index: GSI2"), traffic(CASES)),
        (refused("Query condition missed key schema element"), traffic(GSI2, place=BUILT)),
        (refused("", code="AccessDeniedException"), traffic(GSI2, place=BUILT)),
        (refused(""), traffic(GSI2, place=Place(table=table("GSI2")))),
    ],
    ids=["of the table", "another message", "another error", "it is there"],
)
def test_any_other_refusal_is_not(one: Refused, evidence: Traffic) -> None:
    assert not is_of_index(one, evidence)
