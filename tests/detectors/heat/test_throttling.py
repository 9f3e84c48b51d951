from __future__ import annotations

import pytest

from analyzer.detectors.heat.throttling import Throttling
from analyzer.model.finding import Direction, Finding, Severity, Victim
from analyzer.model.traffic import Hurt, Throttles
from tests.support.evidence import GSI2, limit, traffic


def only(one: Throttles, *, index: bool = False) -> Finding:
    (finding,) = Throttling().detect(traffic(GSI2, throttles=(one,)) if index else traffic(throttles=(one,)))
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize(
    ("throttled", "severity"),
    [(0.5, Severity.LOW), (1.0, Severity.MEDIUM), (9.9, Severity.MEDIUM), (10.0, Severity.HIGH)],
)
def test_severity_follows_the_share_of_throttled_requests(throttled: float, severity: Severity) -> None:
    assert only(limit(throttled=throttled)).severity is severity


def test_any_failed_call_is_high() -> None:
    assert only(limit(throttled=0.5, failed=1.0)).severity is Severity.HIGH


def test_a_caller_with_five_percent_failed_calls_is_critical() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 10, 5, 100),)
    assert only(limit(failed=5.0, hurt=hurt)).severity is Severity.CRITICAL


def test_a_caller_just_below_five_percent_is_high() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 10, 4.9, 100),)
    assert only(limit(failed=4.9, hurt=hurt)).severity is Severity.HIGH


def test_no_throttle_no_finding() -> None:
    assert list(Throttling().detect(traffic())) == []


@pytest.mark.parametrize(
    ("cause", "index", "action"),
    [
        ("provisioned", False, "raise-capacity"),
        ("provisioned", True, "raise-index-capacity"),
        ("max-on-demand", False, "raise-on-demand-maximum"),
        ("account-limit", False, "raise-account-quota"),
    ],
)
def test_the_advice_raises_the_limit_that_refused(cause: str, *, index: bool, action: str) -> None:
    assert [advice.action for advice in only(limit(cause), index=index).advice] == ["back-off", action]


@pytest.mark.parametrize("cause", ["key-range", "unknown"])
def test_a_key_range_or_an_unknown_limit_gets_no_advice_to_raise_anything(cause: str) -> None:
    assert [advice.action for advice in only(limit(cause)).advice] == ["back-off"]


def test_the_provisioned_limit_of_writes_names_write_units() -> None:
    (_, raise_it) = only(limit("provisioned", Direction.WRITE)).advice
    assert "WriteCapacityUnits" in raise_it.text


def test_it_names_who_is_hurt_and_the_reason() -> None:
    one = only(limit())
    assert one.victims == (Victim("api", "load-case"),)
    assert one.evidence["reason"] == "TableReadKeyRangeThroughputExceeded"


def test_an_unknown_limit_is_told_as_possible() -> None:
    assert only(limit("unknown", reasons=(), hurt=(), calls=0.0)).confidence.value == "possible"
