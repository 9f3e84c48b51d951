"""The bounds of a Scan that nobody declared, just reached and just missed; the numbers that convict it."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.reads.unexpected_scan import UnexpectedScan
from analyzer.model.finding import Confidence, Direction, Finding, Severity, Victim
from analyzer.model.sight import Sight
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Capacity, Declared, Hurt, PatternTraffic, Place, Traffic
from analyzer.model.window import Window
from tests.support.calls import book, call
from tests.support.evidence import DECLARED, GSI2, UNDECLARED, limit, row, shape, traffic
from tests.support.told import series

SCAN = shape("Scan", "scan", key=())
UNITS = 30_000.0
DOLLARS = cost_of(UNITS, traffic(), Direction.READ).dollars
"""What so many units cost a month."""


def scanning(read_units: float = UNITS, **fields: Any) -> PatternTraffic:
    fields = {"requests": 10, "scanned": 5000, "returned": 4000} | fields
    return row(SCAN, UNDECLARED, "report-job", read_units=read_units, **fields)


def found(evidence: Traffic, **thresholds: Any) -> list[Finding]:
    return [one for one in UnexpectedScan(**thresholds).detect(evidence) if isinstance(one, Finding)]


def only(*rows: PatternTraffic, thresholds: dict[str, Any] | None = None, **fields: Any) -> Finding:
    (one,) = found(traffic(rows=rows, **fields), **(thresholds or {}))
    return one


@pytest.mark.parametrize(
    ("high", "low", "others", "severity"),
    [
        (DOLLARS, 1.0, UNITS, Severity.HIGH),
        (DOLLARS, 1.0, UNITS + 1, Severity.MEDIUM),
        (DOLLARS + 0.01, 1.0, UNITS, Severity.MEDIUM),
        (99.0, DOLLARS, UNITS, Severity.MEDIUM),
        (99.0, DOLLARS + 0.01, UNITS, Severity.LOW),
    ],
    ids=["half and dear", "less than half", "less dear", "some money", "cheap"],
)
def test_money_and_share(high: float, low: float, others: float, severity: Severity) -> None:
    one = only(scanning(), row(read_units=others), thresholds={"high_dollars": high, "low_dollars": low})
    assert one.severity is severity


@pytest.mark.parametrize(("units", "severity"), [(18_300, Severity.HIGH), (18_200, Severity.MEDIUM)])
def test_twenty_dollars_a_month_are_dear(units: float, severity: Severity) -> None:
    assert only(scanning(units)).severity is severity


@pytest.mark.parametrize(("units", "severity"), [(300, Severity.HIGH), (299, Severity.LOW)])
def test_a_tenth_of_what_is_provisioned_is_dear_whatever_it_costs(units: float, severity: Severity) -> None:
    assert only(scanning(units), place=Place(capacity=Capacity("PROVISIONED", 10.0, 99.0))).severity is severity


HURT = limit("provisioned", hurt=(Hurt("api", "load-case", "GetItem", 9, 0, 100),))
OWN = limit("provisioned", hurt=(Hurt("report-job", None, "Scan", 9, 0, 100),))
WRITES = limit("provisioned", Direction.WRITE, hurt=(Hurt("api", "put", "PutItem", 9, 0, 100),))


@pytest.mark.parametrize(
    ("throttles", "others", "severity", "why"),
    [
        (HURT, 3 * UNITS, Severity.CRITICAL, "others are throttled while it takes 25% of the read units"),
        (HURT, 3 * UNITS + 1, Severity.MEDIUM, "nobody declared it"),
        (OWN, UNITS, Severity.HIGH, "reads are refused while it takes most of the read units"),
        (WRITES, UNITS, Severity.HIGH, "it takes 50% of the read units"),
    ],
    ids=["others", "less than a quarter", "its own", "writes"],
)
def test_whom_it_hurts(throttles: Any, others: float, severity: Severity, why: str) -> None:
    one = only(scanning(), row(read_units=others), throttles=(throttles,))
    assert (one.severity, one.because) == (severity, why)
    assert one.victims == ((Victim("api", "load-case"),) if severity is Severity.CRITICAL else ())


def test_one_that_is_throttled_itself_says_so() -> None:
    one = only(scanning(10, throttled=1), row(read_units=50_000))
    assert (one.severity, one.because) == (Severity.HIGH, "it is throttled itself")


def test_the_numbers_are_those_that_were_counted() -> None:
    one = only(scanning(), scanning(10_000, requests=5, scanned=100, returned=100), row(read_units=40_000))
    assert {name: one.evidence[name] for name in one.evidence if name != "price"} == {
        "requests": 15,
        "read_units": 40_000,
        "share_of_read_units": 0.5,
        "items_scanned": 5100,
        "items_returned": 4100,
        "filter_attributes": None,
        "operation": "Scan",
    }
    assert one.cost_per_month_usd == round(cost_of(40_000, traffic(), Direction.READ).dollars, 2)
    assert one.summary == ("report-job scans cases: 15 calls, 40,000 read units (50%), and no pattern declares it")


def test_one_row_of_a_scan_that_tells_units_is_enough() -> None:
    one = only(scanning(0, units_known=0.0), scanning())
    assert one.evidence["read_units"] == UNITS


def test_an_entry_of_an_index_is_no_scan() -> None:
    assert found(traffic(rows=(scanning(secondary=True),))) == []


@pytest.mark.parametrize(("requests", "failed", "many"), [(10, 10, 0), (10, 9, 1)])
def test_one_call_that_was_served_is_a_scan(requests: int, failed: int, many: int) -> None:
    assert len(found(traffic(rows=(scanning(requests=requests, failed=failed),)))) == many


@pytest.mark.parametrize(("items", "scanned", "tells"), [(1000, 5000, True), (1000, 4999, False), (999, 5000, False)])
def test_half_of_an_index_of_a_thousand_items_is_all_of_it(items: int, scanned: float, *, tells: bool) -> None:
    index = IndexDescription(name="GSI2", kind="gsi", items=items)
    place = Place(declared=True, table=TableDescription(name="cases", indexes=(index,)))
    queried = row(shape("Query", "all", index="GSI2"), UNDECLARED, requests=10, scanned=scanned, read_units=9_000)
    assert bool(found(traffic(GSI2, rows=(queried,), place=place))) is tells


def calls(*, every: int) -> Traffic:
    times = (*range(0, 600, 10), *range(600, 900, every))
    told = [call("Scan", at, of=SCAN, key=None, read_units=9.0) for at in times]
    return traffic(rows=(scanning(4_000),), calls=book(*told), window=Window(600_000, 900_000))


def test_a_rise_is_looked_for_only_where_it_may_wake_somebody() -> None:
    (one,) = found(calls(every=2), low_dollars=1.0, high_dollars=99.0)
    assert (one.severity, "driver" in one.evidence) == (Severity.MEDIUM, False)
    (one,) = found(calls(every=2), high_dollars=1.0)
    assert (one.severity, one.evidence["driver"]) == (Severity.HIGH, "calls")


METRICS = frozenset({Sight.METRICS, Sight.CONTRACT})


def counted(units: float | None = 60_000, throttled: float = 0, **fields: Any) -> Traffic:
    metrics = [
        series("SuccessfulRequestLatency", [40] * 5, stat="SampleCount", Operation="Scan"),
        series("ThrottledRequests", [throttled], Operation="Scan"),
        series("ReturnedItemCount", [1000] * 5, Operation="Scan"),
    ]
    if units is not None:
        metrics.append(series("ConsumedReadCapacityUnits", [units / 5] * 5))
    return traffic(**({"sights": METRICS, "rows": (), "metrics": tuple(metrics)} | fields))


def test_what_metrics_count_is_told() -> None:
    (one,) = found(counted(throttled=3))
    assert one.evidence == {
        "requests": 200,
        "throttled_requests": 3,
        "read_units_of_all": 60_000,
        "items_returned": 5000,
        "operation": "Scan",
    }
    assert (one.severity, one.because) == (
        Severity.HIGH,
        "it is throttled itself; metrics do not tell who scans, nor what",
    )


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_metrics_of_a_table_of_cents_are_low(less: float, severity: Severity) -> None:
    dollars = cost_of(60_000, traffic(), Direction.READ).dollars
    (one,) = found(counted(), low_dollars=dollars + less)
    assert one.severity is severity


def test_metrics_of_an_index_tell_of_no_scan() -> None:
    assert found(counted(target=GSI2)) == []


def test_a_declared_scan_in_the_log_silences_metrics_and_another_read_does_not() -> None:
    sights = METRICS | {Sight.REQUESTS}
    assert found(counted(sights=sights, rows=(row(SCAN, DECLARED),))) == []
    query = row(shape("Query", "q"), DECLARED)
    (one,) = found(counted(sights=sights, rows=(query,)))
    assert one.confidence is Confidence.CERTAIN


def test_requests_alone_tell_nothing_of_metrics() -> None:
    assert found(counted(sights=frozenset({Sight.REQUESTS}))) == []


@pytest.mark.parametrize(("schedule", "calls"), [("34 0 * * *", 160), ("35 0 * * *", 200)])
def test_less_than_half_an_hour_from_its_schedule_a_scan_is_the_declared_one(schedule: str, calls: float) -> None:
    """Of the five minutes from midnight on the last ends at 00:05."""
    nightly = Declared(id="nightly", operations=("Scan",), schedule=schedule)
    (one,) = found(counted(place=Place(declared=True, patterns={"nightly": nightly})))
    assert one.evidence["requests"] == calls


def test_what_is_no_scan_hides_none_behind_it() -> None:
    assert len(found(traffic(rows=(row(read_units=10), scanning())))) == 1


def test_of_several_callers_one_that_was_counted_served_or_throttled_is_enough() -> None:
    untold = scanning(10, requests=5, failed=5, counts_known=0.0, scanned=0, returned=0)
    one = only(scanning(10, throttled=1), untold, row(read_units=50_000))
    assert (one.severity, one.evidence["items_scanned"], one.evidence["requests"]) == (Severity.HIGH, 5000, 15)


def test_one_statement_shows_that_the_log_shows_conditions() -> None:
    told = row(shape("ExecuteStatement", "s", statement='SELECT * FROM "cases" WHERE PK = ?'), DECLARED)
    one = only(scanning(counts_known=0.0), told)
    assert one.evidence["filter_attributes"] == "none"


def test_a_query_that_reads_more_than_there_is_reads_all_of_it() -> None:
    index = IndexDescription(name="GSI2", kind="gsi", items=1000)
    place = Place(declared=True, table=TableDescription(name="cases", indexes=(index,)))
    queried = row(shape("Query", "all", index="GSI2"), UNDECLARED, requests=10, scanned=10_500, read_units=9_000)
    (one,) = found(traffic(GSI2, rows=(queried,), place=place))
    assert "queries 100% of the 1,000 items" in one.summary


def test_a_rise_that_metrics_count_is_told_without_a_call_book() -> None:
    scans = series(
        "SuccessfulRequestLatency", [10] * 60 + [40] * 5, stat="SampleCount", start=-3_600_000, Operation="Scan"
    )
    one = only(scanning(), metrics=(scans,))
    assert (one.evidence["driver"], one.evidence["calls_ratio"]) == ("calls", 4)
