from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.retry_storm import RetryStorm
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.traffic import Declared, PatternTraffic, Place
from tests.support.calls import book, call
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

THROTTLED = "ProvisionedThroughputExceededException"


def puts(attempts: float | None = 3.0, **fields: Any) -> PatternTraffic:
    """A thousand puts of which a tenth fails, three tries a call."""
    fields = {"failed": 100, "throttled": 400} | fields
    return row(shape("PutItem", "putitem"), attempts_a_request=attempts, **fields)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in RetryStorm().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def test_a_failing_shape_of_two_tries_a_call_or_more_is_a_storm() -> None:
    one = only(traffic(rows=(puts(), row(requests=9000))))
    assert (one.severity, one.caller, one.direction) == (Severity.HIGH, "api", Direction.WRITE)
    assert (one.evidence["demand_factor"], one.evidence["retry_mode"]) == (3.0, "standard or adaptive")
    assert [advice.action for advice in one.advice] == ["fix-caller", "retry-with-jitter", "back-off"]


def test_it_is_critical_where_it_is_most_of_the_traffic() -> None:
    assert only(traffic(rows=(puts(),))).severity is Severity.CRITICAL


def test_it_is_medium_where_every_call_succeeds_in_the_end() -> None:
    one = only(traffic(rows=(puts(failed=0),)))
    assert (one.severity, one.direction) == (Severity.MEDIUM, Direction.WRITE)


def test_ten_tries_are_the_legacy_mode_of_an_sdk() -> None:
    one = only(traffic(rows=(puts(10.0),)))
    assert "legacy" in one.advice[1].text
    assert only(traffic(rows=(puts(7.0),))).evidence["retry_mode"] is None


def test_calls_that_come_again_while_they_fail_are_a_storm_of_the_application() -> None:
    calls = book(*(call("PutItem", at, error=THROTTLED) for at in range(40)))
    one = only(traffic(rows=(puts(1.0, requests=60, failed=40, throttled=40),), calls=calls))
    assert (one.evidence["repeated_calls"], one.evidence["demand_factor"]) == (39, 2.857)
    assert "39 calls asked again" in one.summary


def test_a_few_of_them_are_what_retries_are_for() -> None:
    calls = book(*(call("PutItem", at, error=THROTTLED) for at in range(40)))
    assert found(traffic(rows=(puts(1.0, requests=90, failed=40, throttled=40),), calls=calls)) == []


@pytest.mark.parametrize(("peak", "failed", "fires"), [(1.0, 220, True), (1.2, 220, False), (1.0, 190, False)])
def test_three_times_the_declared_peak_with_a_fifth_failing_is_a_storm(
    peak: float, failed: int, *, fires: bool
) -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", peak_rate=peak)})
    storm = row(shape("PutItem"), requests=1000, failed=failed, attempts_a_request=None)
    assert bool(found(traffic(rows=(storm,), place=place))) is fires


def test_without_a_declared_peak_there_is_nothing_to_be_over() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case")})
    assert found(traffic(rows=(puts(1.0, failed=500),), place=place)) == []


def test_of_two_callers_of_one_shape_the_one_that_insists_more_is_named() -> None:
    one = only(traffic(rows=(puts(caller="small", requests=300), puts(), puts(caller="less", requests=400))))
    assert (one.caller, one.severity) == ("api", Severity.CRITICAL)


def test_a_sampled_log_makes_it_likely() -> None:
    assert only(traffic(rows=(puts(),), sampled=True)).confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    "evidence",
    [
        traffic(rows=(puts(1.9),)),
        traffic(rows=(puts(failed=49, throttled=49),)),
        traffic(rows=(puts(requests=9, failed=9, throttled=9),)),
        traffic(rows=(puts(secondary=True),)),
        traffic(rows=(puts(failed=900, condition_failed=900, throttled=0),)),
        traffic(),
        traffic(rows=()),
    ],
    ids=["under two tries", "few refused", "few calls", "an index's part", "locks", "healthy", "none"],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []
