"""Each threshold of throttling just reached, and just missed; what its advice promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.throttling import Throttling
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Sight
from analyzer.model.traffic import Capacity, Hurt, KeyHeat, Place, Throttles
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.evidence import CASES, GSI2, WINDOW, exactly, key, limit, row, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.finding import Advice

ON_DEMAND = Place(capacity=Capacity("PAY_PER_REQUEST"))


def only(*throttles: Throttles, **fields: Any) -> Finding:
    (one,) = Throttling().detect(traffic(fields.pop("target", CASES), throttles=throttles, **fields))
    assert isinstance(one, Finding)
    return one


def measured(metric: str, *values: float, place: Place | None = None, calls: float = 0.0) -> Finding:
    metrics = [series(metric, values)]
    if calls:
        metrics.append(series("SuccessfulRequestLatency", (calls,), stat="SampleCount", Operation="Query"))
    place = place or Place()
    told = metric_throttles(tuple(metrics), place.capacity, WINDOW)
    sights = frozenset({Sight.METRICS})
    return only(sights=sights, rows=(), metrics=tuple(metrics), metric_throttles=told, place=place)


def callers(*failed: tuple[float, float]) -> Throttles:
    """Say how many calls of each caller failed, of how many."""
    hurt = tuple(Hurt(f"api-{number}", None, "GetItem", 10, bad, of) for number, (bad, of) in enumerate(failed))
    return limit(failed=sum(bad for bad, _ in failed), hurt=hurt)


@pytest.mark.parametrize(
    ("failed", "severity"),
    [
        ([(3, 60)], Severity.CRITICAL),
        ([(3, 61)], Severity.HIGH),
        ([(2, 10)], Severity.HIGH),
        ([(5, 100)], Severity.CRITICAL),
        ([(4, 100)], Severity.HIGH),
        ([(0, 100), (5, 100)], Severity.CRITICAL),
    ],
)
def test_one_caller_whose_calls_fail_is_critical(failed: list[tuple[float, float]], severity: Severity) -> None:
    assert only(callers(*failed)).severity is severity


@pytest.mark.parametrize(
    ("tries", "throttled", "severity"),
    [
        (10.0, 10.0, Severity.HIGH),
        (9.0, 10.0, Severity.MEDIUM),
        (10.0, 9.99, Severity.MEDIUM),
        (10.0, 1.0, Severity.MEDIUM),
        (10.0, 0.999, Severity.LOW),
    ],
)
def test_the_share_of_a_thousand_calls_and_the_number_of_tries(
    tries: float, throttled: float, severity: Severity
) -> None:
    assert only(limit("provisioned", tries=tries, throttled=throttled)).severity is severity


def test_the_limit_that_refused_more_comes_first_whatever_the_order() -> None:
    for first, second in ((20.0, 90.0), (90.0, 20.0)):
        told = Throttling().detect(
            traffic(throttles=(limit("provisioned", tries=first), limit("key-range", tries=second)))
        )
        assert [one.evidence["throttled_tries"] for one in told if isinstance(one, Finding)] == [90, 20]


@pytest.mark.parametrize(
    ("one", "confidence"),
    [
        (only(limit()), Confidence.CERTAIN),
        (only(limit(), place=ON_DEMAND), Confidence.CERTAIN),
        (only(limit("unknown")), Confidence.POSSIBLE),
        (measured("WriteKeyRangeThroughputThrottleEvents", 100), Confidence.CERTAIN),
        (measured("WriteKeyRangeThroughputThrottleEvents", 100, place=ON_DEMAND), Confidence.POSSIBLE),
        (measured("WriteProvisionedThroughputThrottleEvents", 100, place=ON_DEMAND), Confidence.CERTAIN),
    ],
    ids=["requests", "requests on demand", "no reason", "metrics", "may be a ramp", "another limit"],
)
def test_how_sure_the_cause_is(one: Finding, confidence: Confidence) -> None:
    assert one.confidence is confidence


def test_the_evidence_holds_what_was_counted() -> None:
    one = only(limit(failed=2.0))
    assert {name: one.evidence[name] for name in ("throttled_share", "throttled_tries", "failed_calls", "calls")} == {
        "throttled_share": 0.05,
        "throttled_tries": 100,
        "failed_calls": 2,
        "calls": 1000,
    }
    assert (one.evidence["throttle_events"], one.evidence["ramp_ratio"]) == (None, None)


def test_what_nobody_saw_is_unknown_in_the_evidence() -> None:
    one = measured("ReadProvisionedThroughputThrottleEvents", 100, calls=900)
    assert {name: one.evidence[name] for name in ("throttled_tries", "failed_calls", "throttle_events")} == {
        "throttled_tries": None,
        "failed_calls": None,
        "throttle_events": 100,
    }


def test_the_summary_says_how_many_of_what_failed_for_whom() -> None:
    assert only(limit(failed=2.0)).summary == (
        "5% of read requests to cases were throttled (100 tries, 2 calls failed) by the limit of one key range"
        " (3,000 read or 1,000 write units a second), mostly those of api"
    )
    nobody = only(limit("provisioned", hurt=()))
    assert (nobody.caller, nobody.pattern, nobody.victims) == (None, None, ())


def by_action(one: Finding) -> dict[str, Advice]:
    return {advice.action: advice for advice in one.advice}


def test_a_maximum_can_be_raised_and_taken_back() -> None:
    used = series("ConsumedReadCapacityUnits", (600_000,), target=GSI2)
    advice = by_action(only(limit("max-on-demand"), target=GSI2, metrics=(used,)))["raise-on-demand-maximum"]
    assert (advice.risk, advice.reversible) == (Risk.LOW, True)
    assert "update-table" in (advice.command or "")
    assert (advice.command or "").endswith("# changes production")


def test_a_maximum_that_nobody_told_is_not_said() -> None:
    advice = by_action(only(limit("max-on-demand")))["raise-on-demand-maximum"]
    assert advice.text == "Raise the on-demand maximum of cases"


def test_warmth_cannot_be_taken_back() -> None:
    even = tuple(key(values=(str(number),), share=exactly(0.01)) for number in range(5))
    risen = (series("ConsumedReadCapacityUnits", (600, 600_000), start=-60_000),)
    one = only(limit(), keys=even, metrics=risen, place=ON_DEMAND)
    assert (by_action(one)["prewarm"].risk, by_action(one)["prewarm"].reversible) == (Risk.LOW, False)
    assert (by_action(one)["prewarm"].command or "").endswith("# changes production")
    assert one.evidence["ramp_ratio"] == pytest.approx(1000, rel=0.5)


@pytest.mark.parametrize("direction", list(Direction))
def test_the_direction_is_that_of_the_limit(direction: Direction) -> None:
    assert only(limit("max-on-demand", direction)).direction is direction


def asked(tries: int, part: float) -> KeyHeat:
    """Say how many refused tries asked for a key, and which part of all they were."""
    return key((), tries=tries, tries_share=part)


@pytest.mark.parametrize(
    ("one", "is_named"), [(asked(5, 0.25), True), (asked(4, 0.25), False), (asked(5, 0.249), False)]
)
def test_five_refused_tries_and_a_quarter_of_all_name_a_key_of_which_no_units_are_told(
    one: KeyHeat, *, is_named: bool
) -> None:
    blind = (row(units_known=0.0),)
    assert (only(limit("unknown"), keys=(one,), rows=blind).key is not None) is is_named
