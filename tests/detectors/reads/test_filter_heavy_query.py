from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.filter_heavy_query import FilterHeavyQuery
from analyzer.model.finding import Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.table import TimeToLive
from analyzer.model.traffic import Capacity, Declared, Place
from tests.support.evidence import UNDECLARED, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

FILTERED = shape("Query", "filtered", filter="#0 = :0", filter_attributes=("kind",))


def filtering(scanned: float = 1000, returned: float = 100, **fields: Any) -> PatternTraffic:
    fields = {"read_units": 125, "wasted_units": 112} | fields
    return row(FILTERED, requests=20, scanned=scanned, returned=returned, **fields)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in FilterHeavyQuery().detect(evidence) if isinstance(one, Finding)]


def test_a_query_that_throws_most_away_and_takes_much_of_the_reads_is_medium() -> None:
    (one,) = found(traffic(rows=(filtering(read_units=6_000, wasted_units=4_600), row(read_units=24_000))))
    assert (one.severity, one.caller, one.evidence["discarded_share"]) == (Severity.MEDIUM, "api", 0.9)
    assert "throws away 90% of the 1,000 items it reads, by a filter on kind" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "encode-filter-in-key", "make-index-sparse"]


def test_one_that_takes_little_of_the_reads_is_low() -> None:
    (one,) = found(traffic(rows=(filtering(read_units=6_000, wasted_units=4_600), row(read_units=150_000))))
    assert one.severity is Severity.LOW


def test_all_reads_of_a_table_that_costs_cents_are_low() -> None:
    (one,) = found(traffic(rows=(filtering(),)))
    assert one.severity is Severity.LOW


def test_a_tenth_of_what_is_provisioned_in_vain_is_medium_whatever_it_costs() -> None:
    place = Place(capacity=Capacity("PROVISIONED", 10.0, 10.0))
    (one,) = found(traffic(rows=(filtering(read_units=320, wasted_units=300), row(read_units=50_000)), place=place))
    assert one.severity is Severity.MEDIUM


def test_a_shape_without_counts_is_skipped_and_that_is_told() -> None:
    unknown = filtering(scanned=0, returned=0, counts_known=0.0)
    (skipped,) = FilterHeavyQuery().detect(traffic(rows=(unknown,)))
    assert isinstance(skipped, Skipped)
    assert skipped.reason is SkipReason.NOT_COVERED
    assert list(FilterHeavyQuery().detect(traffic(rows=(filtering(0, 0, counts_known=0.0, failed=20),)))) == []


def test_one_that_wastes_twenty_dollars_a_month_is_medium_whatever_its_share() -> None:
    (one,) = found(traffic(rows=(filtering(wasted_units=20_000, read_units=20_000), row(read_units=2_000_000))))
    assert one.severity is Severity.MEDIUM


def test_under_a_thousand_scanned_items_is_too_little_and_that_is_told() -> None:
    (skipped,) = FilterHeavyQuery().detect(traffic(rows=(filtering(scanned=999),)))
    assert isinstance(skipped, Skipped)
    assert skipped.reason is SkipReason.TOO_LITTLE


def test_a_filtered_query_that_read_nothing_discards_nothing() -> None:
    assert list(FilterHeavyQuery().detect(traffic(rows=(filtering(scanned=0, returned=0),)))) == []


def test_a_tenth_discarded_stays_just_below() -> None:
    assert found(traffic(rows=(filtering(returned=900),))) == []


def test_the_contract_may_allow_more() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", discards_at_most=0.9)})
    assert found(traffic(rows=(filtering(),), place=place)) == []


def test_the_contract_may_allow_less() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", discards_at_most=0.05)})
    assert len(found(traffic(rows=(filtering(returned=920),), place=place))) == 1


def test_a_pattern_that_says_nothing_of_filters_gets_the_default() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case")})
    assert len(found(traffic(rows=(filtering(),), place=place))) == 1


def test_a_filter_on_the_ttl_attribute_alone_hides_expired_items() -> None:
    expired = shape("Query", "ttl", filter="#0 > :0", filter_attributes=("expiresAt",))
    evidence = traffic(rows=(row(expired, scanned=5000, returned=1),), place=Place(ttl_attribute="expiresAt"))
    assert found(evidence) == []
    described = Place(time_to_live=TimeToLive("ENABLED", "expiresAt"))
    assert found(traffic(rows=(row(expired, scanned=5000, returned=1),), place=described)) == []


def test_a_filter_on_the_ttl_attribute_and_another_is_not_exempt() -> None:
    both = shape("Query", "both", filter="#0 > :0 AND #1 = :1", filter_attributes=("expiresAt", "kind"))
    evidence = traffic(rows=(row(both, scanned=5000, returned=1),), place=Place(ttl_attribute="expiresAt"))
    assert len(found(evidence)) == 1


def test_a_scans_filter_belongs_to_the_scan_detectors() -> None:
    scan = shape("Scan", "s", key=(), filter_attributes=("kind",))
    assert found(traffic(rows=(row(scan, UNDECLARED, scanned=5000, returned=1),))) == []


def test_units_that_nobody_told_are_unknown() -> None:
    (one,) = found(traffic(rows=(filtering(units_known=0.0),)))
    assert (one.severity, one.cost_per_month_usd) == (Severity.LOW, None)
    assert "units unknown" in one.summary
    assert one.evidence["read_units"] is None


def test_a_query_of_a_local_index_is_named_by_it() -> None:
    local = shape("Query", "l", index="by-day", filter="a = :0", filter_attributes=("a",))
    read = row(local, scanned=2000, returned=100)
    (one,) = found(traffic(rows=(read,)))
    assert (one.table, one.index) == ("cases", "by-day")
    assert "on cases/by-day throws away" in one.summary


def test_no_filter_no_finding() -> None:
    assert found(traffic(rows=(row(shape("Query"), scanned=5000, returned=5000),))) == []
