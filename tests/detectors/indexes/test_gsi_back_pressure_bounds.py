"""The bounds of back-pressure just reached and just missed, the numbers that convict, and what advice promises."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.gsi_back_pressure import GsiBackPressure
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.traffic import Capacity, Hurt, MetricThrottles, Place, Throttles
from tests.support.evidence import CASES, GSI2, limit, traffic
from tests.support.told import scaling, series

WRITE = Direction.WRITE


def only(*throttles: Throttles, **fields: Any) -> Finding:
    (one,) = GsiBackPressure().detect(traffic(GSI2, throttles=throttles, **fields))
    assert isinstance(one, Finding)
    return one


def hurt(*failed: tuple[str, float, float]) -> Throttles:
    """Say of each caller how many of its calls failed, of how many."""
    told = tuple(Hurt(caller, None, "PutItem", 10, bad, of) for caller, bad, of in failed)
    return limit("provisioned", WRITE, failed=sum(bad for _, bad, _ in failed), hurt=told)


def metric(cause: str = "provisioned", events: float = 1900.0) -> MetricThrottles:
    return MetricThrottles(
        direction=WRITE,
        cause=cause,
        events=events,
        minutes=((0, events),),
        period_seconds=60,
        is_reason_told=True,
    )


@pytest.mark.parametrize(
    ("failed", "severity"),
    [
        ([("a", 5, 100)], Severity.CRITICAL),
        ([("a", 4.9, 100)], Severity.HIGH),
        ([("a", 0, 0)], Severity.HIGH),
        ([("a", 0, 100), ("b", 5, 100)], Severity.CRITICAL),
        ([], Severity.HIGH),
    ],
)
def test_one_writer_of_whose_calls_a_twentieth_fail_is_critical(
    failed: list[tuple[str, float, float]], severity: Severity
) -> None:
    assert only(hurt(*failed)).severity is severity


def test_the_numbers_are_those_that_were_counted() -> None:
    one = only(limit("provisioned", WRITE, failed=2.0))
    assert one.evidence == {
        "throttled_share": 0.05,
        "throttled_tries": 100,
        "failed_calls": 2,
        "table_writes": 1000,
        "throttle_events": None,
        "hurt_operations": None,
        "reason": "TableReadKeyRangeThroughputExceeded",
    }
    assert one.summary.endswith("5% of them (100 tries, 2 calls failed) from api")
    assert (one.victims, one.confidence) == ((Victim("api", "load-case"),), Confidence.CERTAIN)


def test_three_callers_are_named_and_all_are_victims() -> None:
    one = only(hurt(("a", 0, 9), ("b", 0, 9), ("c", 0, 9), ("d", 0, 9)))
    assert one.summary.endswith("from a, b, c")
    assert len(one.victims) == 4
    nobody = only(hurt())
    assert (nobody.caller, nobody.pattern) == (None, None)


def test_a_limit_that_nothing_names_is_told_as_likely() -> None:
    assert only(limit("unknown", WRITE)).confidence is Confidence.LIKELY


def test_of_metrics_and_requests_the_limit_that_refused_more_speaks() -> None:
    less = limit("key-range", WRITE, tries=100.0)
    assert only(less, metric_throttles=(metric(events=101.0),)).cause == "provisioned"
    assert only(less, metric_throttles=(metric(events=99.0),)).cause == "key-range"


def test_metrics_know_events_and_neither_tries_nor_calls_that_failed() -> None:
    told = (
        series("ThrottledRequests", [0], Operation="PutItem"),
        series("ThrottledRequests", [7], Operation="DeleteItem"),
    )
    one = only(metric_throttles=(metric(),), rows=(), base=traffic(CASES, metrics=told))
    assert one.evidence["hurt_operations"] == "DeleteItem"
    assert [one.evidence[name] for name in ("throttle_events", "throttled_tries", "failed_calls")] == [1900, None, None]
    assert "1,900 throttle events (DeleteItem)" in one.summary


@pytest.mark.parametrize(("units", "tells"), [(90.0, True), (89.9, False)])
def test_nine_tenths_of_what_is_provisioned_leave_no_headroom(units: float, *, tells: bool) -> None:
    fields: dict[str, Any] = {
        "metrics": (series("ConsumedWriteCapacityUnits", [units * 60] * 5, target=GSI2),),
        "place": Place(capacity=Capacity("PROVISIONED", write_units=100.0)),
        "rows": (),
    }
    assert bool(list(GsiBackPressure().detect(traffic(GSI2, **fields)))) is tells
    if tells:
        reads = scaling(500, Direction.READ, target=GSI2, target_share=0.5)
        one = only(**fields, scaling=(reads,))
        assert one.because == "autoscaling may aim there"
        assert (one.evidence["write_units_a_second"], one.evidence["provisioned_units"]) == (90, 100)
        assert "uses 90% of its 100 write units" in one.summary


def test_an_index_that_is_built_anew_is_a_risk_that_can_be_taken_back() -> None:
    advice = only(limit("key-range", WRITE)).advice[1:]
    assert [(one.risk, one.reversible) for one in advice] == [(Risk.HIGH, True)] * 2
