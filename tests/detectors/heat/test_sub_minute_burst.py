from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.sub_minute_burst import SubMinuteBurst
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Capacity, MetricThrottles, Place
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.calls import book, call
from tests.support.evidence import WINDOW, limit, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.calls import CallBook
    from analyzer.model.traffic import Traffic

PLACE = Place(capacity=Capacity("PROVISIONED", 200.0, 50.0))
CONSUMED, REFUSED = "ConsumedReadCapacityUnits", "ReadProvisionedThroughputThrottleEvents"


def burst(units: float = 500.0, at: float = 61.0) -> CallBook:
    """One second of so many units."""
    return book(*(call(at=at, read_units=units / 10) for _ in range(10)))


def bursting(
    used: tuple[float, ...] = (11_900, 11_900),
    refused: tuple[float, ...] = (0, 600),
    calls: CallBook | None = None,
    place: Place = PLACE,
    **fields: Any,
) -> Traffic:
    metrics = (series(CONSUMED, used), series(REFUSED, refused))
    fields = {"rows": (row(read_units=20_000),)} | fields
    told = metric_throttles(metrics, place.capacity, WINDOW)
    return traffic(metrics=metrics, metric_throttles=told, place=place, calls=calls or burst(), **fields)


def only(evidence: Traffic) -> Finding:
    (one,) = SubMinuteBurst().detect(evidence)
    assert isinstance(one, Finding)
    return one


def silent(evidence: Traffic) -> bool:
    return list(SubMinuteBurst().detect(evidence)) == []


def test_a_second_over_the_limit_in_a_refused_minute_below_it_is_told() -> None:
    one = only(bursting())
    assert (one.severity, one.confidence, one.caller, one.direction) == (
        Severity.HIGH,
        Confidence.CERTAIN,
        "api",
        Direction.READ,
    )
    assert (one.evidence["fullest_second_units"], one.evidence["limit_units_a_second"]) == (500, 200)
    assert one.evidence["use_of_fullest_minute"] == "99.2%"
    assert [advice.action for advice in one.advice] == ["fix-caller", "smooth-traffic", "switch-to-on-demand"]


def test_few_refusals_of_many_requests_are_medium() -> None:
    assert only(bursting(used=(11_900, 11_900) * 2, refused=(0, 30))).severity is Severity.MEDIUM


def test_another_minute_at_its_limit_hides_nothing() -> None:
    assert only(bursting(used=(13_000, 6_000))).evidence["fullest_minute_units_a_second"] == 100


def test_a_second_of_a_minute_that_was_not_refused_convicts_nobody() -> None:
    assert silent(bursting(refused=(0, 300), calls=book(call(at=1, read_units=500), call(at=61, read_units=9))))


def test_the_capacity_of_that_minute_is_the_limit_where_metrics_tell_it() -> None:
    scaled = (series("ProvisionedReadCapacityUnits", (200, 600), stat="Average"),)
    one = bursting()
    assert silent(
        type(one)(**{f: getattr(one, f) for f in one.__struct_fields__} | {"metrics": (*one.metrics, *scaled)})
    )


def test_refusals_that_the_log_alone_saw_are_of_any_minute() -> None:
    one = only(bursting(refused=(), throttles=(limit("provisioned"),)))
    assert one.evidence["refused"] == 100


def test_a_book_that_is_a_part_makes_it_likely_and_a_sampled_log_possible() -> None:
    part = book(*(call(at=61, read_units=50) for _ in range(10)), share=0.5)
    assert only(bursting(calls=part)).confidence is Confidence.LIKELY
    assert only(bursting(calls=part, sampled=True)).confidence is Confidence.POSSIBLE
    assert only(bursting(calls=part)).because is not None


def test_without_a_call_of_those_seconds_it_is_skipped() -> None:
    (one,) = SubMinuteBurst().detect(bursting(calls=book(call())))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.TOO_LITTLE


@pytest.mark.parametrize(
    "evidence",
    [
        bursting(calls=burst(200)),
        bursting(refused=(0, 9)),
        bursting(refused=(0, 0)),
        bursting(used=(12_000, 12_000)),
        bursting(used=()),
        bursting(place=Place()),
        bursting(place=Place(capacity=Capacity("PAY_PER_REQUEST"))),
        bursting(throttles=(limit("key-range"),), refused=()),
        traffic(),
    ],
    ids=[
        "at the limit",
        "few",
        "no refusal",
        "full minutes",
        "use unknown",
        "limit unknown",
        "on demand",
        "hot",
        "none",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert silent(evidence)


@pytest.mark.parametrize(
    ("refused", "severity"),
    [(100, Severity.HIGH), (99, Severity.MEDIUM)],
)
def test_a_hundredth_of_the_calls_is_high(refused: float, severity: Severity) -> None:
    """Of ten thousand calls, as metrics count them."""
    calls = series("SuccessfulRequestLatency", (0, 10_000 - refused), stat="SampleCount", Operation="GetItem")
    throttled = series("ThrottledRequests", (0, refused), Operation="GetItem")
    metrics = (series(CONSUMED, (11_900, 11_900)), series(REFUSED, (0, refused)), calls, throttled)
    told = metric_throttles(metrics, PLACE.capacity, WINDOW)
    one = only(traffic(metrics=metrics, metric_throttles=told, place=PLACE, calls=burst(), rows=(row(),)))
    assert one.severity is severity


def test_ten_refusals_are_enough() -> None:
    assert only(bursting(refused=(0, 10))).evidence["refused"] == 10


def test_a_second_just_over_the_limit_is_over_it() -> None:
    assert only(bursting(calls=burst(200.1))).evidence["fullest_second_units"] == 200.1


def test_the_fullest_of_the_refused_minutes_speaks() -> None:
    one = only(bursting(used=(6_000, 9_000, 11_940), refused=(50, 50, 0)))
    assert one.evidence["fullest_minute_units_a_second"] == 150
    assert one.evidence["use_of_fullest_minute"] == "75%"


def test_a_minute_next_to_a_refused_one_was_not() -> None:
    before = bursting(used=(6_000, 6_000, 6_000), refused=(0, 600, 0), calls=burst(at=59.9))
    after = bursting(used=(6_000, 6_000, 6_000), refused=(0, 600, 0), calls=burst(at=120.0))
    for evidence in (before, after):
        (one,) = SubMinuteBurst().detect(evidence)
        assert isinstance(one, Skipped)
    within = bursting(used=(6_000, 6_000, 6_000), refused=(0, 600, 0), calls=burst(at=60.0))
    assert only(within).severity is Severity.HIGH


def test_writes_are_judged_by_their_own_limit() -> None:
    metrics = (
        series("ConsumedWriteCapacityUnits", (2_900,)),
        series("WriteProvisionedThroughputThrottleEvents", (40,)),
        series(CONSUMED, (2_900,)),
    )
    told = metric_throttles(metrics, PLACE.capacity, WINDOW)
    calls = book(*(call("PutItem", at=1, write_units=10) for _ in range(10)))
    rows = (row(shape("PutItem"), caller="batch", write_units=900), row(caller="api", read_units=9000))
    one = only(traffic(metrics=metrics, metric_throttles=told, place=PLACE, calls=calls, rows=rows))
    assert (one.direction, one.subject, one.caller, one.evidence["limit_units_a_second"]) == (
        Direction.WRITE,
        "write",
        "batch",
        50,
    )


def test_a_row_of_an_index_entry_names_no_caller() -> None:
    rows = (row(caller="shadow", read_units=90_000, secondary=True), row(caller="api", read_units=20))
    assert only(bursting(rows=rows)).caller == "api"


def test_all_limits_that_are_not_named_count_together() -> None:
    two = (limit("provisioned", tries=6.0), limit("unknown", tries=5.0))
    assert only(bursting(refused=(), throttles=two)).evidence["refused"] == 11


def test_advice_can_be_taken_back() -> None:
    smooth, on_demand = only(bursting()).advice[1:]
    assert [(one.risk, one.reversible) for one in (smooth, on_demand)] == [(Risk.LOW, True)] * 2


def test_a_table_on_demand_has_no_limit_of_a_second_though_it_had_one() -> None:
    """The metrics still tell what was provisioned before."""
    place = Place(capacity=Capacity("PAY_PER_REQUEST"))
    metrics = (series(CONSUMED, (11_900,)), series("ProvisionedReadCapacityUnits", (200,), stat="Average"))
    assert silent(traffic(metrics=metrics, place=place, calls=burst(at=1), throttles=(limit("unknown"),)))


def refused(
    minute: int = 0, direction: Direction = Direction.READ, cause: str = "provisioned", period: int = 60
) -> MetricThrottles:
    return MetricThrottles(
        direction=direction,
        cause=cause,
        events=50.0,
        minutes=((minute * 60_000, 50.0),),
        period_seconds=period,
        is_reason_told=True,
    )


@pytest.mark.parametrize("other", [refused(0, Direction.WRITE), refused(0, cause="key-range")])
def test_a_minute_that_another_limit_refused_convicts_nobody(other: MetricThrottles) -> None:
    metrics = (series(CONSUMED, (6_000, 6_000)),)
    told: dict[str, Any] = {"metrics": metrics, "place": PLACE, "calls": burst(at=1), "rows": (row(),)}
    (one,) = SubMinuteBurst().detect(traffic(metric_throttles=(refused(1), other), **told))
    assert isinstance(one, Skipped)
    assert only(traffic(metric_throttles=(refused(1), refused(0)), **told)).direction is Direction.READ


def test_a_period_of_five_minutes_was_refused_in_each_of_them() -> None:
    metrics = (series(CONSUMED, [6_000] * 5),)
    told = (refused(period=300),)
    evidence = traffic(metrics=metrics, metric_throttles=told, place=PLACE, calls=burst(at=200), rows=(row(),))
    assert only(evidence).evidence["fullest_second_units"] == 500


def test_the_greater_share_of_two_limits_tells_how_bad_it_is() -> None:
    two = (limit("provisioned", throttled=10.0), limit("unknown", throttled=1.0))
    assert only(bursting(refused=(), throttles=two)).severity is Severity.HIGH
