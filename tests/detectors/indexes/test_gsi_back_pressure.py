from __future__ import annotations

import pytest

from analyzer.detectors.indexes.gsi_back_pressure import GsiBackPressure
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.traffic import Capacity, Hurt, MetricThrottles, Place, Traffic
from analyzer.traffic.use import write_use
from tests.support.evidence import CASES, GSI2, limit, row, shape, traffic
from tests.support.told import scaling, series

WRITE = Direction.WRITE


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in GsiBackPressure().detect(evidence) if isinstance(one, Finding)]


def test_a_write_limit_of_an_index_is_high_and_names_the_tables_writers() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 0, 500), Hurt(None, "put-action", "PutItem", 20, 0, 500))
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, hurt=hurt),)))
    assert (one.severity, one.index, one.cause, one.caller) == (Severity.HIGH, "GSI2", "key-range", "writer")
    assert "writes to cases are refused because of index GSI2" in one.summary
    assert "writer, a caller not recorded" in one.summary


def test_five_percent_of_a_callers_writes_failing_is_critical() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 25, 500),)
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, failed=25.0, hurt=hurt),)))
    assert one.severity is Severity.CRITICAL


def test_just_below_five_percent_stays_high() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 24, 500),)
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, failed=24.0, hurt=hurt),)))
    assert one.severity is Severity.HIGH


def test_a_read_limit_of_an_index_pushes_nothing_back() -> None:
    assert found(traffic(GSI2, throttles=(limit(),))) == []


def test_a_write_limit_of_the_table_is_no_back_pressure() -> None:
    assert found(traffic(throttles=(limit(direction=WRITE),))) == []


def test_no_throttle_no_finding() -> None:
    assert found(traffic(GSI2)) == []


@pytest.mark.parametrize(
    ("cause", "actions"),
    [
        ("key-range", ["fix-caller", "change-key", "narrow-projection"]),
        ("provisioned", ["fix-caller", "raise-index-capacity"]),
        ("max-on-demand", ["fix-caller", "raise-on-demand-maximum"]),
        ("account-limit", ["fix-caller", "raise-account-quota"]),
        ("unknown", ["fix-caller"]),
    ],
)
def test_the_advice_is_for_the_index_and_never_for_the_table(cause: str, actions: list[str]) -> None:
    (one,) = found(traffic(GSI2, throttles=(limit(cause, WRITE, hurt=(), calls=0.0),)))
    assert [advice.action for advice in one.advice] == actions


def test_one_finding_an_index_by_the_limit_that_refused_most_and_has_a_name() -> None:
    limits = (limit("unknown", WRITE, tries=900.0), limit("provisioned", WRITE), limit("key-range", WRITE, tries=300.0))
    (one,) = found(traffic(GSI2, throttles=limits))
    assert (one.cause, one.subject) == ("key-range", "")


def test_from_metrics_alone_the_tables_throttled_operations_are_the_victims() -> None:
    refused = MetricThrottles(
        direction=WRITE,
        cause="provisioned",
        events=1900.0,
        minutes=((0, 1900.0),),
        period_seconds=60,
        is_reason_told=True,
    )
    told = (
        series("ThrottledRequests", [12], Operation="PutItem"),
        series("ThrottledRequests", [40], Operation="UpdateItem"),
    )
    (one,) = found(traffic(GSI2, rows=(), metric_throttles=(refused,), base=traffic(CASES, metrics=told)))
    assert one.evidence["hurt_operations"] == "UpdateItem, PutItem"
    assert "UpdateItem, PutItem" in one.summary
    (alone,) = found(traffic(GSI2, rows=(), metric_throttles=(refused,)))
    assert "metrics do not tell" in alone.summary


def used(*units: float, mode: str = "PROVISIONED", provisioned: float | None = 100.0, **fields: object) -> Traffic:
    metrics = (series("ConsumedWriteCapacityUnits", [each * 60 for each in units], target=GSI2),)
    place = Place(capacity=Capacity(mode, write_units=provisioned))
    return traffic(GSI2, **{"metrics": metrics, "place": place, "rows": ()} | fields)  # type: ignore[arg-type]


def test_nine_tenths_of_its_capacity_without_a_refusal_is_no_headroom() -> None:
    (one,) = found(used(90, 90, 90))
    assert (one.severity, one.evidence["used_share"], one.cause) == (Severity.LOW, 0.9, None)
    assert [advice.action for advice in one.advice] == ["collect-longer", "smooth-traffic", "raise-index-capacity"]
    (aimed,) = found(used(90, scaling=(scaling(500, WRITE, target=GSI2, target_share=0.9),)))
    assert aimed.because == "autoscaling aims at 90%"


@pytest.mark.parametrize(
    "evidence",
    [used(90, 89), used(90, mode="PAY_PER_REQUEST"), used(90, provisioned=None), used(metrics=())],
    ids=["just below", "on demand", "capacity unknown", "use unknown"],
)
def test_what_has_headroom_or_cannot_be_told_is_nothing(evidence: Traffic) -> None:
    assert found(evidence) == []


def test_the_log_tells_the_use_where_metrics_do_not() -> None:
    written = row(shape("PutItem"), requests=0, write_units=27_000.0, secondary=True)
    (one,) = found(used(metrics=(), rows=(written,)))
    assert one.evidence["write_units_a_second"] == 90.0


def test_what_was_provisioned_in_the_window_counts_rather_than_what_is_described() -> None:
    told = (
        series("ConsumedWriteCapacityUnits", [5400.0], target=GSI2),
        series("ProvisionedWriteCapacityUnits", [200.0], target=GSI2, stat="Average"),
    )
    use = write_use(used(metrics=told))
    assert use is not None
    assert use.share == pytest.approx(0.45)
