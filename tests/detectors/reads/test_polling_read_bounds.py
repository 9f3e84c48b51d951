"""The bounds of a clock, of its money and of its share just reached and just missed; whose calls count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.reads.polling_read import PollingRead
from analyzer.model.calls import CallTry
from analyzer.model.finding import Direction, Finding, Risk, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.traffic import Capacity, Declared, MetricThrottles, Place
from tests.support.calls import book, call, item
from tests.support.evidence import limit, row, shape, traffic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

SCAN = shape("Scan", "scan", key=())
GET = shape("GetItem", "get")
POLL = Attribution(AttributionKind.DECLARED, "poll")
CODE = "ProvisionedThroughputExceededException"
REFUSED = (limit("provisioned"),)


def at(times: Iterable[float], units: float | None = 100.0, **fields: Any) -> list[Call]:
    fields = dict[str, Any]({"of": SCAN, "key": None, "caller": "cron"}) | fields
    return [call("Scan", time, read_units=units, **fields) for time in times]


def polls(times: int = 30, every: float = 10.0, units: float | None = 100.0, **fields: Any) -> list[Call]:
    return at((every * number for number in range(times)), units, **fields)


def evidence(*calls: Call, others: float = 0, **fields: Any) -> Traffic:
    units = sum(one.read_units or 0.0 for one in calls)
    of = calls[0].shape if calls else SCAN
    mine: dict[str, Any] = {"calls": book(*calls), "rows": (row(of, POLL, "cron", read_units=units),)}
    told = mine | fields
    return traffic(**told | {"rows": (*told["rows"], row(read_units=others))})


def found(told: Traffic, **thresholds: Any) -> list[Finding]:
    return [one for one in PollingRead(**thresholds).detect(told) if isinstance(one, Finding)]


def only(told: Traffic, **thresholds: Any) -> Finding:
    (one,) = found(told, **thresholds)
    return one


# the clock


@pytest.mark.parametrize(("times", "many"), [(6, 1), (5, 0)])
def test_six_times_are_a_clock(times: int, many: int) -> None:
    assert len(found(evidence(*polls(times, units=1000.0)))) == many


@pytest.mark.parametrize(("early", "late", "many"), [(9.0, 11.0, 1), (8.9, 11.1, 0)])
def test_a_tick_may_be_a_tenth_of_the_period_early_or_late(early: float, late: float, many: int) -> None:
    gaps = (10.0, early, late, 10.0, early, late, 10.0, early)
    times = [sum(gaps[:number]) for number in range(len(gaps) + 1)]
    assert len(found(evidence(*at(times, 1000.0)))) == many


def test_what_came_twice_hides_no_clock_behind_it() -> None:
    assert len(found(evidence(*at((0, 1), of=GET, key=item()), *polls()))) == 1


@pytest.mark.parametrize(("share", "many"), [(1.0, 1), (0.99, 0)])
def test_calls_of_a_trace_are_all_there_only_in_a_whole_book(share: float, many: int) -> None:
    calls = polls(trace="t")
    assert len(found(evidence(*calls, calls=book(*calls, share=share)))) == many


def test_the_period_is_that_of_the_key_that_is_asked_most_often() -> None:
    often, seldom = polls(30, of=GET, key=item("A")), polls(8, every=20.0, of=GET, key=item("B"))
    assert only(evidence(*often, *seldom)).evidence["period_s"] == 10
    assert only(evidence(*seldom, *often)).evidence["period_s"] == 10


def test_other_calls_of_the_table_are_none_of_its() -> None:
    others = [
        *at((1, 2, 4), of=shape("Scan", "other", key=()), caller="cron"),
        *at((3, 5), caller="api"),
        *at((6,), of=GET, key=item(), caller="cron"),
    ]
    one = only(evidence(*polls(), *others))
    assert (one.evidence["calls"], one.evidence["read_units"]) == (30, 3000)


# what it takes


def test_a_dollar_a_month_is_worth_a_word() -> None:
    told = evidence(*polls(units=36.5))
    dollars = cost_of(30 * 36.5, told, Direction.READ).dollars
    assert 1 < dollars < 1.3
    assert only(told).severity is Severity.LOW
    assert len(found(told, least_dollars=dollars)) == 1
    assert found(told, least_dollars=dollars + 0.01) == []


@pytest.mark.parametrize(("less", "many"), [(0.0, 1), (0.01, 0)])
def test_what_costs_just_so_much_is_found_whatever_its_share(less: float, many: int) -> None:
    told = evidence(*polls(), others=1_000_000)
    dollars = cost_of(3000, told, Direction.READ).dollars
    assert [one.severity for one in found(told, medium_dollars=dollars + less)] == [Severity.MEDIUM] * many


def test_units_that_nobody_told_cost_nothing_that_is_known() -> None:
    assert found(evidence(*polls(units=None)), medium_dollars=1e-9) == []


@pytest.mark.parametrize(("others", "many"), [(270, 1), (271, 0)])
def test_while_reads_are_refused_a_tenth_of_them_is_enough(others: float, many: int) -> None:
    assert len(found(evidence(*polls(units=1.0), others=others, throttles=REFUSED))) == many


@pytest.mark.parametrize(("others", "severity"), [(30, Severity.HIGH), (31, Severity.MEDIUM)])
def test_half_of_the_reads_while_its_own_are_refused_is_high(others: float, severity: Severity) -> None:
    assert only(evidence(*polls(units=1.0, tries=(CallTry(3.0, CODE),)), others=others)).severity is severity


@pytest.mark.parametrize(
    ("since", "units"),
    [(None, 1500.0), (0, 1500.0), (150_000, 3000.0), (300_000, 1500.0), (299_999, 1500.0 * 300_000)],
)
def test_what_the_book_covers_stands_for_the_window(since: int | None, units: float) -> None:
    calls = polls(15)
    assert only(evidence(*calls, calls=book(*calls, since=since))).evidence["read_units"] == units


def test_one_call_of_its_own_that_fails_is_high() -> None:
    first, *others = polls(units=1.0)
    (failed,) = polls(1, units=1.0, error=CODE)
    assert only(evidence(failed, *others, others=1_000)).severity is Severity.HIGH
    assert found(evidence(first, *others, others=1_000)) == []


@pytest.mark.parametrize(("units", "severity"), [(100.0, Severity.MEDIUM), (99.9, Severity.LOW)])
def test_a_tenth_of_what_is_provisioned_is_medium(units: float, severity: Severity) -> None:
    place = Place(capacity=Capacity("PROVISIONED", 100.0, 10.0))
    assert only(evidence(*polls(units=units), place=place), least_dollars=0.5).severity is severity


# who, and what is declared


@pytest.mark.parametrize(("rate", "many"), [(30 / 290, 0), (30 / 291, 1)])
def test_what_is_asked_as_often_as_declared_is_declared(rate: float, many: int) -> None:
    place = Place(declared=True, patterns={"poll": Declared(id="poll", p95_rate=rate)})
    assert len(found(evidence(*polls(), place=place))) == many


@pytest.mark.parametrize("rates", [{}, {"p95_rate": 0.01}, {"peak_rate": 0.01}], ids=str)
def test_what_comes_once_in_twenty_seconds_is_declared_by_no_lower_rate(rates: dict[str, Any]) -> None:
    place = Place(declared=True, patterns={"poll": Declared(id="poll", **rates)})
    assert len(found(evidence(*polls(15, every=20.0, units=200.0), place=place))) == 1


def test_a_rate_is_of_the_time_from_the_first_to_the_last() -> None:
    place = Place(declared=True, patterns={"poll": Declared(id="poll", p95_rate=0.06)})
    assert len(found(evidence(*at(range(200, 300, 10), 300.0), place=place))) == 1


def test_what_it_filters_by_is_told() -> None:
    filtered = shape("Scan", "scan", key=(), filter="due < :0", filter_attributes=("due",))
    assert only(evidence(*polls(of=filtered))).evidence["filter_attributes"] == "due"
    assert only(evidence(*polls())).evidence["filter_attributes"] is None


def test_its_own_pattern_is_named() -> None:
    assert only(evidence(*polls())).pattern == "poll"


def test_one_refusal_that_metrics_told_names_them_as_a_source() -> None:
    counted = MetricThrottles(
        direction=Direction.READ,
        cause="account-limit",
        events=9.0,
        minutes=((0, 9.0),),
        period_seconds=60,
        is_reason_told=True,
    )
    one = only(evidence(*polls(), throttles=REFUSED, metric_throttles=(counted,)))
    assert one.sources == ("request-log", "cloudwatch-metrics")
    assert only(evidence(*polls(), throttles=REFUSED)).sources == ("request-log",)


@pytest.mark.parametrize(
    ("calls", "advice"),
    [
        (polls(), ["fix-caller", "make-index-sparse", "use-stream"]),
        (
            [call("GetItem", 10 * n, GET, caller="cron", read_units=100.0) for n in range(30)],
            ["fix-caller", "cache-item", "use-stream"],
        ),
    ],
    ids=["a Scan", "an item"],
)
def test_what_is_advised_can_be_taken_back(calls: list[Call], advice: list[str]) -> None:
    one = only(evidence(*calls))
    assert [each.action for each in one.advice] == advice
    assert [(each.risk, each.reversible) for each in one.advice[1:]] == [(Risk.LOW, True)] * 2
