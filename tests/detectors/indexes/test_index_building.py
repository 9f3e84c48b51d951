from __future__ import annotations

import pytest

from analyzer.detectors.indexes.index_building import IndexBuilding
from analyzer.model.finding import Finding, Severity
from analyzer.model.table import IndexDescription, Provisioning, TableDescription
from analyzer.model.traffic import Capacity, Place, Traffic
from tests.support.evidence import CASES, GSI2, traffic
from tests.support.told import series


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in IndexBuilding().detect(evidence) if isinstance(one, Finding)]


def progress(*values: float, stat: str = "Maximum") -> Traffic:
    return traffic(GSI2, metrics=(series("OnlineIndexPercentageProgress", values, target=GSI2, stat=stat),))


def test_an_index_that_is_being_created_is_told_as_low() -> None:
    (one,) = found(traffic(GSI2, place=Place(index_status="CREATING")))
    assert (one.severity, one.index, one.evidence["status"]) == (Severity.LOW, "GSI2", "CREATING")
    assert one.self_heals is not None
    assert [advice.action for advice in one.advice] == ["fix-caller"]


def test_an_index_that_is_backfilling_is_being_built_whatever_its_status() -> None:
    filling = IndexDescription(name="GSI2", kind="gsi", status="ACTIVE", is_backfilling=True)
    place = Place(index_status="ACTIVE", table=TableDescription(name="cases", indexes=(filling,)))
    assert len(found(traffic(GSI2, place=place))) == 1


@pytest.mark.parametrize("stat", ["Maximum", "Average"])
def test_metrics_tell_how_far_the_build_is(stat: str) -> None:
    (one,) = found(progress(10, 40, stat=stat))
    assert one.evidence["progress_share"] == 0.4
    assert "(40%)" in one.summary


def test_a_build_that_ended_is_no_build() -> None:
    assert found(progress(40, 100)) == []


def test_refusals_of_the_build_ask_for_capacity_of_a_provisioned_index() -> None:
    refused = series("OnlineIndexThrottleEvents", [5], target=GSI2)
    place = Place(index_status="CREATING", capacity=Capacity(billing_mode="PROVISIONED"))
    (one,) = found(traffic(GSI2, place=place, metrics=(refused,)))
    assert one.evidence["build_throttle_events"] == 5
    assert [advice.action for advice in one.advice] == ["fix-caller", "raise-index-capacity"]


def test_a_build_of_which_nothing_else_was_seen_is_told_with_its_table() -> None:
    described = IndexDescription(name="GSI7", kind="gsi", status="CREATING", provisioning=Provisioning(write_units=5.0))
    place = Place(table=TableDescription(name="cases", indexes=(described,)))
    (one,) = found(traffic(CASES, place=place))
    assert one.index == "GSI7"


@pytest.mark.parametrize("evidence", [traffic(), traffic(GSI2, place=Place(index_status="ACTIVE")), traffic(GSI2)])
def test_what_stands_is_not_being_built(evidence: Traffic) -> None:
    assert found(evidence) == []


@pytest.mark.parametrize(
    ("mode", "events", "is_advised"),
    [("PROVISIONED", 5, True), ("PROVISIONED", 0, False), ("PAY_PER_REQUEST", 5, False)],
)
def test_only_refusals_of_a_provisioned_index_ask_for_capacity(mode: str, events: float, *, is_advised: bool) -> None:
    refused = series("OnlineIndexThrottleEvents", [events], target=GSI2)
    place = Place(index_status="CREATING", capacity=Capacity(mode, 5.0, 5.0))
    (one,) = found(traffic(GSI2, place=place, metrics=(refused,)))
    assert ("raise-index-capacity" in {advice.action for advice in one.advice}) is is_advised
