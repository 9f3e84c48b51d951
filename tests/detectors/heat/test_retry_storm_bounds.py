"""Each threshold of a retry storm just reached, and just missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.retry_storm import RetryStorm
from analyzer.model.finding import Direction, Finding, Risk, Severity
from analyzer.model.traffic import Declared, PatternTraffic, Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
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


@pytest.mark.parametrize(
    ("storm", "fires"),
    [
        (puts(2.0), True),
        (puts(1.999), False),
        (puts(failed=50, throttled=0), True),
        (puts(failed=49.9, throttled=0), False),
        (puts(failed=0, throttled=50), True),
        (puts(failed=60, condition_failed=10, throttled=0), True),
        (puts(failed=60, condition_failed=11, throttled=0), False),
        (puts(requests=10, failed=1, throttled=0), True),
        (puts(requests=9, failed=1, throttled=0), False),
    ],
)
def test_two_tries_a_call_of_which_one_in_twenty_is_refused(storm: PatternTraffic, *, fires: bool) -> None:
    assert bool(found(traffic(rows=(storm,)))) is fires


@pytest.mark.parametrize(("others", "severity"), [(3000, Severity.CRITICAL), (3001, Severity.HIGH)])
def test_half_of_all_tries_is_most_of_the_traffic(others: float, severity: Severity) -> None:
    assert only(traffic(rows=(puts(), row(requests=others)))).severity is severity


@pytest.mark.parametrize(("failed", "severity"), [(1, Severity.CRITICAL), (0, Severity.MEDIUM)])
def test_most_of_the_traffic_is_critical_from_the_first_call_that_fails(failed: float, severity: Severity) -> None:
    assert only(traffic(rows=(puts(failed=failed),))).severity is severity


def test_other_tries_count_and_entries_of_an_index_do_not() -> None:
    other = row(requests=1000, attempts_a_request=2.0)
    secondary = row(requests=90_000, secondary=True)
    one = only(traffic(rows=(puts(), other, secondary)))
    assert (one.severity, one.evidence["share_of_tries"]) == (Severity.CRITICAL, 0.6)


def test_a_call_whose_tries_are_not_told_is_one() -> None:
    one = only(traffic(rows=(puts(), row(requests=1000, attempts_a_request=None))))
    assert one.evidence["share_of_tries"] == 0.75


def repeating(requests: int, calls: int = 40) -> Traffic:
    """Calls that come again while they fail, all but the first of so many; the row counts what was asked in all."""
    again = book(*(call("PutItem", at, error=THROTTLED) for at in range(calls)))
    return traffic(rows=(puts(1.0, requests=requests, failed=40, throttled=40),), calls=again)


@pytest.mark.parametrize(("requests", "fires"), [(78, True), (79, False)])
def test_repeats_that_double_what_was_asked_are_a_storm(requests: int, *, fires: bool) -> None:
    """39 of 78 calls repeat another: twice what was asked for once."""
    assert bool(found(repeating(requests))) is fires


@pytest.mark.parametrize(("requests", "factor"), [(41, 20.5), (40, 40.0), (39, 39.0)])
def test_where_nearly_all_repeat_they_stand_for_one_question(requests: int, factor: float) -> None:
    assert only(repeating(requests)).evidence["demand_factor"] == factor


@pytest.mark.parametrize(("times", "fires"), [(3, True), (2, False)])
def test_the_third_identical_call_is_no_chance(times: int, *, fires: bool) -> None:
    """Of twenty entries each is put so often, and refused every time."""
    again = book(
        *(
            call("PutItem", at, key=item(f"ENTRY#{number}"), error=THROTTLED)
            for number in range(20)
            for at in range(times)
        )
    )
    storm = puts(1.0, requests=20 * times, failed=20, throttled=20)
    assert bool(found(traffic(rows=(storm,), calls=again))) is fires


def peaking(attempts: float | None = 1.0, requests: float = 900, failed: float = 180, **fields: Any) -> Traffic:
    """Three calls a second where one is declared, a fifth of which fail."""
    place = Place(patterns={"load-case": Declared(id="load-case", peak_rate=1.0)})
    storm = puts(attempts, requests=requests, failed=failed, throttled=0)
    return traffic(rows=(storm,), place=place, **fields)


@pytest.mark.parametrize(
    ("evidence", "fires"),
    [
        (peaking(), True),
        (peaking(None), True),
        (peaking(requests=899), False),
        (peaking(failed=179), False),
        (peaking(1.5, requests=600, failed=120), True),
        (peaking(1.5, requests=599, failed=120), False),
    ],
)
def test_three_times_the_declared_peak_of_which_a_fifth_fails(evidence: Traffic, *, fires: bool) -> None:
    assert bool(found(evidence)) is fires


def test_less_than_a_second_is_judged_as_one() -> None:
    """30 calls of half a second are 30 a second, not 60: no rate is told of less."""
    place = Place(patterns={"load-case": Declared(id="load-case", peak_rate=6.0)})
    rows = (puts(1.0, requests=30, failed=15, throttled=0),)
    assert only(traffic(rows=rows, place=place, window=Window(0, 500))).evidence["demand_factor"] == 5
    assert only(traffic(rows=rows, place=place, window=Window(0, 1500))).evidence["demand_factor"] == 3.333


def test_how_far_it_is_over_its_peak_is_told() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", peak_rate=2.0)})
    one = only(traffic(rows=(puts(1.5, requests=1600, failed=320, throttled=0),), place=place))
    assert one.evidence["demand_factor"] == 4
    assert "4 times its declared peak" in one.summary


@pytest.mark.parametrize(
    ("tries", "mode"),
    [
        (2.0, None),
        (2.6, "standard or adaptive"),
        (3.0, "standard or adaptive"),
        (4.0, "standard or adaptive"),
        (5.0, "legacy"),
        (6.0, None),
        (9.0, None),
        (10.0, "legacy"),
        (11.0, "legacy"),
        (12.0, None),
    ],
)
def test_the_number_of_tries_tells_the_retry_mode_of_the_sdk(tries: float, mode: str | None) -> None:
    assert only(traffic(rows=(puts(tries),))).evidence["retry_mode"] == mode


def test_of_two_callers_that_insist_alike_the_first_is_named() -> None:
    assert only(traffic(rows=(puts(caller="one"), puts(caller="two")))).caller == "one"


def test_reads_are_reads_and_what_it_was_found_on_is_told() -> None:
    gets = row(shape("GetItem", "get"), requests=200, failed=40, throttled=70, attempts_a_request=2.5)
    one = only(traffic(rows=(gets, row(requests=4500))))
    assert (one.direction, one.severity) == (Direction.READ, Severity.HIGH)
    assert one.evidence == {
        "demand_factor": 2.5,
        "attempts_a_request": 2.5,
        "refused_share": 0.35,
        "repeated_calls": 0,
        "requests": 200,
        "share_of_tries": 0.1,
        "retry_mode": None,
    }


def test_slower_retries_can_be_taken_back() -> None:
    advice = only(traffic(rows=(puts(),))).advice[1]
    assert (advice.action, advice.risk, advice.reversible) == ("retry-with-jitter", Risk.LOW, True)
