"""The bounds of a filter that throws much away, just reached and just missed; the numbers that convict it."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.reads.filter_heavy_query import FilterHeavyQuery
from analyzer.model.finding import Direction, Finding, Risk, Severity
from analyzer.model.sight import Skipped
from analyzer.model.traffic import Capacity, Declared, PatternTraffic, Place
from tests.support.evidence import row, shape, traffic

FILTERED = shape("Query", "filtered", filter="#0 = :0", filter_attributes=("kind",))
IN_VAIN = 9_000.0
DOLLARS = cost_of(IN_VAIN, traffic(), Direction.READ).dollars
"""What so many units in vain cost a month."""


def filtering(scanned: float = 1000, returned: float = 100, **fields: Any) -> PatternTraffic:
    fields = {"read_units": 12_000, "wasted_units": IN_VAIN} | fields
    return row(FILTERED, requests=20, scanned=scanned, returned=returned, **fields)


def only(*rows: PatternTraffic, detector: FilterHeavyQuery | None = None, **fields: Any) -> Finding:
    (one,) = (detector or FilterHeavyQuery()).detect(traffic(rows=rows, **fields))
    assert isinstance(one, Finding)
    return one


def test_a_thousand_items_are_enough_and_just_over_a_tenth_is_too_much() -> None:
    assert only(filtering(scanned=1000, returned=899)).evidence["discarded_share"] == 0.101
    for scanned in (1000, 10):
        assert list(FilterHeavyQuery().detect(traffic(rows=(filtering(scanned, scanned * 0.9),)))) == []
    (skipped,) = FilterHeavyQuery().detect(traffic(rows=(filtering(scanned=999),)))
    assert isinstance(skipped, Skipped)


def test_callers_of_one_shape_are_judged_together() -> None:
    one = only(filtering(600, 600), filtering(400, 100, caller="batch", read_units=90_000))
    assert (one.caller, one.evidence["scanned"], one.evidence["returned"]) == ("batch", 1000, 700)
    assert one.evidence["discarded_share"] == 0.3


def test_one_caller_that_tells_counts_is_enough() -> None:
    assert only(filtering(), filtering(0, 0, counts_known=0.0)).evidence["scanned"] == 1000


def test_the_numbers_are_those_that_were_counted() -> None:
    one = only(filtering(), row(read_units=36_000))
    assert {name: one.evidence[name] for name in one.evidence if name != "price"} == {
        "scanned": 1000,
        "returned": 100,
        "read_units": 12_000,
        "wasted_units": 9_000,
        "discarded_share": 0.9,
        "allowed_share": 0.1,
        "share_of_read_units": 0.25,
        "filter_attributes": "kind",
    }
    assert one.cost_per_month_usd == round(DOLLARS, 2) == 9.86
    assert (one.pattern, one.fingerprint, one.subject) == ("load-case", "filtered", "filtered")


@pytest.mark.parametrize(
    ("medium", "low", "others", "severity"),
    [
        (DOLLARS, 99.0, 999_000.0, Severity.MEDIUM),
        (DOLLARS + 0.01, 99.0, 0.0, Severity.LOW),
        (99.0, DOLLARS, 228_000.0, Severity.MEDIUM),
        (99.0, DOLLARS, 228_001.0, Severity.LOW),
        (99.0, DOLLARS + 0.01, 228_000.0, Severity.LOW),
    ],
    ids=["dear", "less dear", "dear enough for its share", "less than its share", "cheap"],
)
def test_money_and_share(medium: float, low: float, others: float, severity: Severity) -> None:
    detector = FilterHeavyQuery(medium_dollars=medium, low_dollars=low)
    assert only(filtering(), row(read_units=others), detector=detector).severity is severity


@pytest.mark.parametrize(
    ("wasted", "others", "severity"),
    [
        (18_300, 999_000, Severity.MEDIUM),
        (18_200, 999_000, Severity.LOW),
        (4_600, 0, Severity.MEDIUM),
        (4_500, 0, Severity.LOW),
    ],
    ids=["twenty dollars", "less than twenty", "five dollars", "less than five"],
)
def test_twenty_dollars_a_month_or_five_of_much(wasted: float, others: float, severity: Severity) -> None:
    assert only(filtering(wasted_units=wasted), row(read_units=others)).severity is severity


@pytest.mark.parametrize(("wasted", "severity"), [(300, Severity.MEDIUM), (299, Severity.LOW)])
def test_a_tenth_of_what_is_provisioned_is_harm(wasted: float, severity: Severity) -> None:
    place = Place(capacity=Capacity("PROVISIONED", 10.0, 99.0))
    assert only(filtering(wasted_units=wasted), place=place).severity is severity


def test_a_better_key_and_a_sparse_index_can_both_be_taken_back() -> None:
    _, key, sparse = only(filtering()).advice
    assert [(one.risk, one.reversible) for one in (key, sparse)] == [(Risk.HIGH, True), (Risk.LOW, True)]


STRICT = Place(patterns={"load-case": Declared(id="load-case", discards_at_most=0.05)})


def test_a_contract_that_allows_less_is_judged_by_what_was_thrown_away() -> None:
    one = only(filtering(returned=920), place=STRICT)
    assert (one.evidence["discarded_share"], one.evidence["allowed_share"]) == (0.08, 0.05)
    assert list(FilterHeavyQuery().detect(traffic(rows=(filtering(0, 0),), place=STRICT))) == []


def test_each_shape_is_judged_whatever_the_one_before_it_did() -> None:
    """One that tells no counts, one that throws nothing away, and one that does."""
    untold, frugal = (shape("Query", name, filter_attributes=("kind",)) for name in ("untold", "frugal"))
    rows = (row(untold, counts_known=0.0), row(frugal, scanned=1000, returned=1000), filtering())
    told = list(FilterHeavyQuery().detect(traffic(rows=rows)))
    assert [type(one) for one in told] == [Skipped, Finding]


def test_one_caller_whose_calls_did_not_all_fail_has_counts_to_tell() -> None:
    failed, served = filtering(counts_known=0.0, failed=20), filtering(counts_known=0.0)
    assert len(list(FilterHeavyQuery().detect(traffic(rows=(failed, served))))) == 1


def test_one_caller_that_tells_units_is_enough() -> None:
    assert only(filtering(), filtering(units_known=0.0, read_units=0)).evidence["read_units"] == 12_000
