from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.contract.undeclared_pattern import UndeclaredPattern
from analyzer.detectors.money import dollars_of
from analyzer.model.finding import Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from tests.support.calls import book, call
from tests.support.evidence import UNDECLARED, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

NEW = shape(
    "Query",
    "new",
    index="GSI1",
    key=(KeyPredicate("GSI1PK", "=", "TEAM#<id>"), KeyPredicate("GSI1SK", "begins_with", "")),
    filter_attributes=("kind",),
)


def undeclared(requests: float = 100, read_units: float = 50, **fields: Any) -> PatternTraffic:
    return row(NEW, UNDECLARED, "api", requests=requests, read_units=read_units, **fields)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in UndeclaredPattern().detect(evidence) if isinstance(one, Finding)]


def test_five_percent_of_the_units_is_medium_and_proposes_the_declaration() -> None:
    (one,) = found(traffic(rows=(undeclared(read_units=5000), row(read_units=95_000))))
    assert (one.severity, one.fingerprint, one.caller) == (Severity.MEDIUM, "new", "api")
    assert one.cost_per_month_usd == 5.47
    assert one.advice[1].snippet == (
        "- id: name-it\n"
        "  operation: Query\n"
        "  index: GSI1\n"
        "  key:\n"
        '    GSI1PK: "TEAM#<id>"\n'
        '    GSI1SK: "begins_with <unknown>"\n'
        "  filter: {discards_at_most: 10%}\n"
        "  callers: [api]"
    )


def test_at_the_dollars_that_count_it_is_medium() -> None:
    rows = (undeclared(read_units=5000), row(read_units=95_000))
    evidence = traffic(rows=rows)
    (one,) = UndeclaredPattern(low_dollars=dollars_of(rows[:1], evidence) or 0.0).detect(evidence)
    assert isinstance(one, Finding)
    assert one.severity is Severity.MEDIUM


def test_under_five_dollars_a_month_it_is_worth_knowing_and_no_more() -> None:
    (one,) = found(traffic(rows=(undeclared(), row(read_units=950))))
    assert one.severity is Severity.LOW


def test_a_share_of_enough_requests_counts_however_few_are_undeclared() -> None:
    (one,) = found(traffic(rows=(undeclared(3, read_units=500), row(requests=17, read_units=500))))
    assert one.severity is Severity.LOW
    assert found(traffic(rows=(undeclared(3, read_units=500), row(requests=16, read_units=500)))) == []


def test_one_call_is_a_large_share_by_chance_alone() -> None:
    assert found(traffic(rows=(undeclared(1, read_units=30), row(requests=99, read_units=70)))) == []
    assert len(found(traffic(rows=(undeclared(1, read_units=90), row(requests=99, read_units=10))))) == 1


@pytest.mark.parametrize(("read_units", "count"), [(100, 0), (200, 1)])
def test_of_a_few_calls_the_least_share_that_they_may_be_counts(read_units: float, count: int) -> None:
    """Three calls may be chance: one of them is sure."""
    rows = (undeclared(3, read_units=read_units), row(requests=97, read_units=1000 - read_units))
    assert len(found(traffic(rows=rows))) == count


def test_twenty_requests_are_more_than_a_few() -> None:
    rows = (undeclared(20, read_units=50), row(read_units=950))
    assert len(found(traffic(rows=rows))) == 1


def test_what_comes_once_a_minute_is_known_from_the_book() -> None:
    rows = (undeclared(5, read_units=1), row(read_units=999))
    calls = [call("Query", 60 * number, NEW) for number in range(20)]
    (one,) = found(traffic(rows=rows, hours={"new": 2}, calls=book(*calls)))
    assert one.severity is Severity.LOW
    assert found(traffic(rows=rows, hours={"new": 2}, calls=book(*calls[:19]))) == []
    assert found(traffic(rows=rows, hours={"new": 1}, calls=book(*calls))) == []
    assert found(traffic(rows=rows, hours={"new": 2})) == []


def test_a_shape_of_which_no_hour_is_known_was_in_none() -> None:
    evidence = traffic(rows=(undeclared(read_units=1), row(read_units=999)))
    assert list(UndeclaredPattern(least_hours=1).detect(evidence)) == []


def test_just_below_five_percent_is_ad_hoc() -> None:
    assert found(traffic(rows=(undeclared(read_units=49), row(read_units=951)))) == []


def test_a_shape_seen_in_two_hours_is_low() -> None:
    (one,) = found(traffic(rows=(undeclared(read_units=1), row(read_units=999)), hours={"new": 2}))
    assert one.severity is Severity.LOW


@pytest.mark.parametrize(("requests", "count"), [(500, 1), (499.9, 0)])
def test_a_burst_counts_at_its_rate_a_ten_minutes(requests: float, count: int) -> None:
    assert len(found(traffic(rows=(undeclared(requests, read_units=1), row(read_units=999))))) == count


@pytest.mark.parametrize(("requests", "count"), [(1000, 1), (999, 0)])
def test_a_thousand_requests_are_a_burst_however_long_they_took(requests: float, count: int) -> None:
    rows = (undeclared(requests, read_units=1), row(read_units=999))
    assert len(found(traffic(rows=rows, window=Window(0, 3_600_000)))) == count


def test_fewer_than_twenty_requests_are_ad_hoc_whatever_their_share() -> None:
    assert found(traffic(rows=(undeclared(requests=19),))) == []


def test_calls_that_are_all_refused_are_no_pattern() -> None:
    assert found(traffic(rows=(undeclared(failed=100),))) == []


def test_refusals_of_one_caller_or_shape_hide_no_other() -> None:
    refused = row(NEW, UNDECLARED, "old", requests=100, failed=100)
    (one,) = found(traffic(rows=(refused, undeclared())))
    assert one.evidence["requests"] == 200
    (other,) = found(traffic(rows=(refused, row(shape("GetItem", "get"), UNDECLARED, read_units=50))))
    assert other.fingerprint == "get"


def test_a_table_of_a_known_library_says_so() -> None:
    (one,) = found(traffic(rows=(undeclared(),), place=Place(declared=True, library="Terraform")))
    (other,) = found(traffic(rows=(undeclared(),)))
    assert (one.evidence["library"], "library" in other.evidence) == ("Terraform", False)


def test_where_no_units_are_known_requests_decide() -> None:
    assert found(traffic(rows=(undeclared(read_units=0),))) == []


def test_a_plain_shape_is_declared_with_what_it_has() -> None:
    plain = shape("PutItem", "put", key=())
    (one,) = found(traffic(rows=(row(plain, UNDECLARED, None, write_units=1000),)))
    assert one.advice[1].snippet == "- id: name-it\n  operation: PutItem"


@pytest.mark.parametrize("kind", [AttributionKind.DECLARED, AttributionKind.AMBIGUOUS, AttributionKind.UNPARSED])
def test_only_undeclared_traffic_is_judged(kind: AttributionKind) -> None:
    assert found(traffic(rows=(row(NEW, Attribution(kind), read_units=1000),))) == []


def test_scans_have_a_detector_of_their_own() -> None:
    assert found(traffic(rows=(row(shape("Scan"), UNDECLARED, read_units=1000),))) == []


def test_what_a_write_costs_an_index_is_no_request() -> None:
    assert found(traffic(rows=(row(NEW, UNDECLARED, write_units=1000, secondary=True),))) == []
