from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.detectors.reads.unexpected_scan import UnexpectedScan
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Capacity, Declared, Hurt, MetricThrottles, Place
from analyzer.model.window import Window
from tests.support.calls import book, call
from tests.support.evidence import (
    ALL_REQUEST_SIGHTS,
    DECLARED,
    GSI2,
    UNDECLARED,
    limit,
    row,
    shape,
    traffic,
)
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.shape import Shape
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


def refused_in_metrics(cause: str = "provisioned", **requests: float) -> MetricThrottles:
    return MetricThrottles(
        direction=Direction.READ,
        cause=cause,
        events=9,
        minutes=((0, 9.0),),
        period_seconds=60,
        is_reason_told=True,
        throttled_requests=requests,
    )


def test_other_operations_that_metrics_show_refused_make_it_critical() -> None:
    rows = (scanning(), row(read_units=10))
    one = only(traffic(rows=rows, metric_throttles=(refused_in_metrics(GetItem=9, Scan=2),)))
    assert one.severity is Severity.CRITICAL


def test_refusals_in_metrics_that_name_no_other_operation_make_it_high() -> None:
    rows = (scanning(1_000), row(read_units=10))
    one = only(traffic(rows=rows, metric_throttles=(refused_in_metrics(Scan=9),)))
    assert (one.severity, one.because) == (Severity.HIGH, "reads are refused while it takes most of the read units")
    for harmless in (refused_in_metrics("key-range", GetItem=9), refused_in_metrics(GetItem=0)):
        assert only(traffic(rows=rows, metric_throttles=(harmless,))).severity is not Severity.CRITICAL


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
    assert "units unknown (calls tell them that ask for ReturnConsumedCapacity)" in one.summary


COUNTED: dict[str, Any] = {"counts_known": 1.0, "scanned": 100.0}


@pytest.mark.parametrize(
    ("of_scan", "beside", "told"),
    [
        (COUNTED | {"returned": 100.0}, (), "none"),
        (COUNTED | {"returned": 9.0}, (), None),
        ({"counts_known": 0.0}, (), None),
        ({"counts_known": 0.0}, (shape("Query", "q"),), "none"),
        ({"counts_known": 0.0}, (shape("Query", "q", key=()),), None),
    ],
    ids=["nothing thrown away", "thrown away", "no counts", "a query shows its condition", "a query shows none"],
)
def test_that_a_scan_has_no_filter_is_said_only_where_the_log_would_show_one(
    of_scan: dict[str, Any], beside: tuple[Shape, ...], told: str | None
) -> None:
    scan = row(SCAN, UNDECLARED, read_units=5_000, **of_scan)
    one = only(traffic(rows=(scan, *(row(query) for query in beside))))
    assert one.evidence["filter_attributes"] == told


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


def test_a_declaration_that_has_ended_declares_nothing() -> None:
    ended = Place(declared=True, patterns={"load-case": Declared(id="load-case", ends="1969-12-31")})
    assert only(traffic(rows=(row(SCAN, DECLARED, read_units=5_000),), place=ended)).caller == "api"
    last_day = Place(declared=True, patterns={"load-case": Declared(id="load-case", ends="1970-01-01")})
    assert found(traffic(rows=(row(SCAN, DECLARED, read_units=5_000),), place=last_day)) == []


def test_under_five_dollars_a_tenth_of_what_is_provisioned_is_medium_all_the_same() -> None:
    place = Place(declared=True, capacity=Capacity("PROVISIONED", 100.0, 10.0))
    assert only(traffic(rows=(scanning(3_000), row(read_units=9_000)), place=place)).severity is Severity.MEDIUM
    assert only(traffic(rows=(scanning(2_990), row(read_units=9_000)), place=place)).severity is Severity.LOW


def test_a_statement_that_names_no_partition_key_is_a_scan() -> None:
    selected = shape("ExecuteStatement", "s", key=(), statement='SELECT * FROM "cases" WHERE SK = ?')
    place = Place(declared=True, partition_key=("PK",), sort_key=("SK",))
    one = only(traffic(rows=(row(selected, UNDECLARED, read_units=30_000),), place=place))
    assert "scans cases by ExecuteStatement, whose WHERE names no partition key" in one.summary
    assert one.evidence["filter_attributes"] == "SK"


OF_INDEX = shape("Query", "all-open", index="GSI2")


def of_index(items: int = 2000, scanned: float = 10_000) -> Traffic:
    index = IndexDescription(name="GSI2", kind="gsi", items=items)
    place = Place(declared=True, table=TableDescription(name="cases", indexes=(index,)))
    queried = row(OF_INDEX, UNDECLARED, requests=10, scanned=scanned, read_units=30_000)
    return traffic(GSI2, rows=(queried,), place=place)


def test_a_query_of_one_key_that_reads_half_of_an_index_amounts_to_a_scan() -> None:
    one = only(of_index())
    assert "queries 50% of the 2,000 items of GSI2 at a time" in one.summary
    assert (one.evidence["share_of_the_index"], one.evidence["index_items"], one.index) == (0.5, 2000, "GSI2")


def test_less_than_half_of_an_index_and_half_of_a_small_one_are_queries() -> None:
    assert found(of_index(scanned=9_990)) == []
    assert found(of_index(items=999, scanned=9_990)) == []


def test_a_declared_query_of_a_whole_index_is_meant() -> None:
    evidence = of_index()
    assert found(msgspec.structs.replace(evidence, rows=(row(OF_INDEX, DECLARED, scanned=2_000_000),))) == []


def test_a_sweep_of_expired_items_is_told_as_such() -> None:
    swept = shape("Scan", "sweep", key=(), filter="expiresAt < :0", filter_attributes=("expiresAt",))
    one = only(traffic(rows=(row(swept, UNDECLARED, read_units=30_000),)))
    assert one.summary.endswith("it sweeps expired items, which time to live does for nothing")
    assert actions(one) == ["fix-caller", "enable-ttl", "add-index", "declare-pattern"]
    assert "--time-to-live-specification Enabled=true,AttributeName=expiresAt" in (one.advice[1].command or "")


def test_a_rise_of_calls_is_driven_by_calls_and_their_answer_may_be_kept() -> None:
    calls = [call("Scan", at, of=SCAN, key=None, read_units=9.0) for at in (*range(0, 600, 10), *range(600, 900, 2))]
    one = only(traffic(rows=(scanning(30_000),), calls=book(*calls), window=Window(600_000, 900_000)))
    assert (one.evidence["driver"], one.evidence["calls_ratio"], one.evidence["size_ratio"]) == ("calls", 5, 1)
    assert "cache-item" in actions(one)


def test_without_a_rise_nothing_drives_it() -> None:
    calls = [call("Scan", at, of=SCAN, key=None, read_units=9.0) for at in range(0, 900, 10)]
    one = only(traffic(rows=(scanning(30_000),), calls=book(*calls), window=Window(600_000, 900_000)))
    assert "driver" not in one.evidence


METRICS = frozenset({Sight.METRICS, Sight.CONTRACT})


def counted(scans: float = 40, units: float = 60_000, throttled: float = 0, **fields: Any) -> Traffic:
    metrics = (
        series("SuccessfulRequestLatency", [scans] * 5, stat="SampleCount", Operation="Scan"),
        series("ThrottledRequests", [throttled] if throttled else [], Operation="Scan"),
        series("ConsumedReadCapacityUnits", [units / 5] * 5),
        series("ReturnedItemCount", [1000] * 5, Operation="Scan"),
    )
    mine: dict[str, Any] = {"sights": METRICS, "rows": (), "metrics": metrics}
    return traffic(**mine | fields)


def test_metrics_alone_tell_of_a_scan_without_a_caller() -> None:
    one = only(counted())
    assert (one.severity, one.confidence, one.caller) == (Severity.MEDIUM, Confidence.CERTAIN, None)
    assert (one.sources, one.evidence["requests"]) == (("cloudwatch-metrics",), 200)
    assert "somebody scanned cases: 200 Scan calls, and no pattern declares one; all reads together took" in one.summary


def test_metrics_of_a_table_that_costs_little_are_low() -> None:
    assert only(counted(units=4_000)).severity is Severity.LOW


def test_a_scan_that_metrics_show_throttled_is_high() -> None:
    assert only(counted(throttled=3)).severity is Severity.HIGH


def test_a_scan_beside_refused_reads_is_high_as_far_as_metrics_can_tell() -> None:
    one = only(counted(throttles=(limit("provisioned"),)))
    assert (one.severity, "reads are refused in the same minutes" in (one.because or "")) == (Severity.HIGH, True)


def test_without_a_contract_a_scan_in_metrics_may_be_meant() -> None:
    one = only(counted(sights=frozenset({Sight.METRICS})))
    assert (one.confidence, "so it may be meant" in (one.because or "")) == (Confidence.LIKELY, True)


def test_outside_the_schedule_of_a_declared_scan_it_is_likely_another() -> None:
    nightly = Declared(id="nightly", operations=("Scan",), schedule="0 12 * * *")
    one = only(counted(place=Place(declared=True, patterns={"nightly": nightly})))
    assert (one.confidence, "that is no time of nightly" in one.summary) == (Confidence.LIKELY, True)


def test_near_the_schedule_of_a_declared_scan_it_is_that() -> None:
    nightly = Declared(id="nightly", operations=("Scan",), schedule="20 0 * * *")
    assert found(counted(place=Place(declared=True, patterns={"nightly": nightly}))) == []


def test_units_that_metrics_do_not_tell_are_left_out() -> None:
    evidence = counted()
    one = only(msgspec.structs.replace(evidence, metrics=evidence.metrics[:1]))
    assert (one.severity, one.evidence["read_units_of_all"]) == (Severity.MEDIUM, None)
    assert one.summary.endswith("no pattern declares one")


def test_metrics_of_a_quiet_table_tell_of_no_scan() -> None:
    assert found(counted(scans=0)) == []


def test_where_requests_show_scans_they_tell_and_metrics_do_not() -> None:
    both = METRICS | ALL_REQUEST_SIGHTS
    assert found(counted(sights=both, rows=(row(SCAN, DECLARED),))) == []
    assert only(counted(sights=both, rows=(row(),))).sources == ("cloudwatch-metrics",)
