from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.unexpected_scan import UnexpectedScan
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Capacity, Hurt, Place
from tests.support.evidence import (
    ALL_REQUEST_SIGHTS,
    DECLARED,
    UNDECLARED,
    limit,
    row,
    shape,
    traffic,
)

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

SCAN = shape("Scan", "scan", key=())


def scanning(read_units: float = 30_000, **fields: Any) -> PatternTraffic:
    return row(
        SCAN, UNDECLARED, "report-job", requests=10, read_units=read_units, scanned=5000, returned=5000, **fields
    )


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in UnexpectedScan().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def test_an_undeclared_scan_that_costs_over_five_dollars_a_month_is_medium() -> None:
    one = only(traffic(rows=(scanning(5_000), row(read_units=50_000))))
    assert (one.severity, one.caller, one.evidence["items_scanned"]) == (Severity.MEDIUM, "report-job", 5000)
    assert one.cost_per_month_usd == 5.47


def test_one_under_five_dollars_that_harms_nobody_is_low() -> None:
    assert only(traffic(rows=(scanning(4_500), row(read_units=50_000)))).severity is Severity.LOW


def test_one_that_takes_half_of_the_reads_and_twenty_dollars_is_high() -> None:
    assert only(traffic(rows=(scanning(30_000), row(read_units=30_000)))).severity is Severity.HIGH


def test_half_of_the_reads_of_a_table_with_much_more_provisioned_is_medium() -> None:
    place = Place(declared=True, capacity=Capacity("PROVISIONED", 1001.0, 10.0))
    assert only(traffic(rows=(scanning(30_000),), place=place)).severity is Severity.MEDIUM


def test_half_of_the_reads_and_a_tenth_of_what_is_provisioned_is_high() -> None:
    place = Place(declared=True, capacity=Capacity("PROVISIONED", 1000.0, 10.0))
    assert only(traffic(rows=(scanning(30_000),), place=place)).severity is Severity.HIGH


def test_one_that_is_throttled_itself_is_high() -> None:
    assert only(traffic(rows=(scanning(10, throttled=2), row(read_units=50_000)))).severity is Severity.HIGH


def test_one_that_throttles_others_is_critical_and_names_them() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 9, 0, 100),)
    one = only(traffic(rows=(scanning(), row(read_units=10)), throttles=(limit("provisioned", hurt=hurt),)))
    assert one.severity is Severity.CRITICAL
    assert [victim.caller for victim in one.victims] == ["api"]


def test_a_key_range_limit_is_not_what_a_scan_exhausts() -> None:
    rows = (scanning(), row(read_units=10))
    assert only(traffic(rows=rows, throttles=(limit("key-range"),))).severity is Severity.HIGH


def test_throttles_of_its_own_caller_hurt_nobody_else() -> None:
    hurt = (Hurt("report-job", "undeclared", "Scan", 9, 0, 100),)
    rows = (scanning(), row(read_units=50_000))
    assert only(traffic(rows=rows, throttles=(limit("provisioned", hurt=hurt),))).severity is Severity.MEDIUM


def test_a_declared_scan_is_no_surprise() -> None:
    assert found(traffic(rows=(row(SCAN, DECLARED),))) == []


def test_a_scan_that_two_declarations_may_claim_is_not_called_unexpected() -> None:
    either = Attribution(AttributionKind.AMBIGUOUS, None, ("a", "b"), "both fit")
    assert found(traffic(rows=(row(SCAN, either),))) == []


def test_without_a_contract_it_is_likely_and_offers_the_declaration() -> None:
    one = only(traffic(rows=(scanning(),), sights=ALL_REQUEST_SIGHTS - {Sight.CONTRACT}))
    assert one.confidence is Confidence.LIKELY
    assert "declare-pattern" in actions(one)


def test_a_scan_whose_units_nobody_told_has_no_cost() -> None:
    one = only(traffic(rows=(scanning(0, units_known=0.0, counts_known=0.0),)))
    assert (one.severity, one.cost_per_month_usd) == (Severity.MEDIUM, None)
    assert [one.evidence[name] for name in ("read_units", "items_scanned", "price")] == [None, None, None]
    assert "units unknown" in one.summary


def test_a_scan_that_was_always_refused_has_scanned_nothing() -> None:
    assert found(traffic(rows=(scanning(0, failed=10),))) == []


def test_one_that_was_refused_for_its_appetite_is_found() -> None:
    assert only(traffic(rows=(scanning(0, failed=10, throttled=10),))).severity is Severity.HIGH


def test_no_request_no_finding() -> None:
    assert found(traffic(rows=())) == []


def test_a_filtered_scan_is_sent_to_the_index_that_is_keyed_by_the_filter() -> None:
    filtered = row(shape("Scan", "s", key=(), filter_attributes=("status",)), UNDECLARED, None, read_units=9_000)
    place = Place(declared=True, index_keys={"by-status": ("status",), "other": ("x",)})
    one = only(traffic(rows=(filtered,), place=place))
    assert actions(one) == ["fix-caller", "query-instead-of-scan", "declare-pattern"]
    assert "by-status" in (one.advice[1].snippet or "")


def test_a_filtered_scan_without_such_an_index_gets_the_advice_to_add_one() -> None:
    filtered = row(shape("Scan", "s", key=(), filter_attributes=("status",)), UNDECLARED, read_units=9_000)
    assert actions(only(traffic(rows=(filtered,)))) == ["fix-caller", "add-index", "declare-pattern"]


def test_an_unfiltered_scan_gets_the_advice_to_export() -> None:
    assert actions(only(traffic(rows=(scanning(),)))) == ["fix-caller", "use-export", "declare-pattern"]


def test_two_callers_of_one_scan_are_one_finding_named_after_the_busier() -> None:
    other = row(SCAN, UNDECLARED, "other", requests=1, read_units=10)
    assert only(traffic(rows=(scanning(), other))).caller == "report-job"
