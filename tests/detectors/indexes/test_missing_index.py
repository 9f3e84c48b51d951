from __future__ import annotations

import pytest

from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.model.finding import Confidence, Finding, Risk, Severity, Victim
from analyzer.model.traffic import Place, Traffic
from tests.support.evidence import CASES, refused, row, shape, traffic
from tests.support.told import series, table

GSI9 = CASES.at("GSI9")
REFUSED = refused("The table does not have the specified index: GSI9", calls=12)
WITHOUT = Place(table=table("GSI1", "GSI-9"))


def found(evidence: Traffic, **thresholds: int) -> list[Finding]:
    return [one for one in MissingIndex(**thresholds).detect(evidence) if isinstance(one, Finding)]


def test_a_refusal_that_names_the_index_is_critical() -> None:
    rows = (row(shape("Query"), caller="api"),)
    (one,) = found(traffic(GSI9, rows=rows, refusals=(REFUSED,)))
    assert (one.severity, one.index, one.caller) == (Severity.CRITICAL, "GSI9", "api")
    assert one.evidence["refused_calls"] == 12
    assert (one.confidence, one.because, one.victims) == (Confidence.CERTAIN, None, ())
    assert one.summary == "12 calls of api asked cases for index GSI9, which it has not: every one was refused"


def test_one_refusal_is_enough() -> None:
    (one,) = found(traffic(GSI9, refusals=(refused(REFUSED.message, calls=1),)))
    assert one.summary.startswith("1 call of api asked")


@pytest.mark.parametrize(("least", "many"), [(12, 1), (13, 0)])
def test_so_many_refusals_are_asked_for(least: int, many: int) -> None:
    assert len(found(traffic(GSI9, refusals=(REFUSED,)), least_calls=least)) == many


def test_the_caller_of_the_most_refused_calls_is_named_and_the_others_are_victims() -> None:
    rows = tuple(row(shape("Query", of), caller=caller) for of, caller in (("f1", "a"), ("f2", "b"), ("f3", "c")))
    refusals = [refused(REFUSED.message, calls, of_row=place) for place, calls in enumerate((3, 9, 5))]
    (one,) = found(traffic(GSI9, rows=rows, refusals=tuple(refusals)))
    assert (one.caller, one.fingerprint, one.victims) == ("b", "f2", (Victim("a", None), Victim("c", None)))
    assert one.summary.startswith("17 calls, above all of b, asked cases")


def test_one_message_among_refusals_without_is_proof() -> None:
    (one,) = found(traffic(GSI9, refusals=(refused("", 20), REFUSED), place=WITHOUT))
    assert (one.confidence, one.evidence["message"]) == (Confidence.CERTAIN, REFUSED.message)
    assert one.sources == ("request-log",)


def test_a_refusal_without_a_message_is_likely_it_where_the_table_is_described_without_the_index() -> None:
    (one,) = found(traffic(GSI9, refusals=(refused(""),), place=WITHOUT))
    assert (one.confidence, one.evidence["nearest_index"]) == (Confidence.LIKELY, "GSI-9")
    assert (one.evidence["message"], one.sources) == (None, ("request-log", "table-catalog"))
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


def test_an_index_can_be_created_and_deleted_again() -> None:
    (one,) = found(traffic(GSI9, refusals=(REFUSED,)))
    assert [(advice.action, advice.risk, advice.reversible) for advice in one.advice] == [
        ("check-client", Risk.NONE, None),
        ("fix-caller", Risk.LOW, True),
        ("create-index", Risk.LOW, True),
    ]
