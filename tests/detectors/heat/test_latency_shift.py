from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.latency_shift import LatencyShift
from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Latency
from analyzer.model.window import Window
from tests.support.evidence import GSI2, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.batch import MetricSeries
    from analyzer.model.traffic import Traffic

DAY_MS, MINUTE_MS = 86_400_000, 60_000
NOW = Window(3 * DAY_MS, 3 * DAY_MS + 5 * MINUTE_MS)


def days(metric: str, stat: str, before: float, now: tuple[float, ...], operation: str = "GetItem") -> MetricSeries:
    """A value at the same minutes of three past days, and those of now."""
    past = [series(metric, [before] * 5, stat=stat, start=day * DAY_MS, Operation=operation) for day in range(3)]
    last = series(metric, now, stat=stat, start=NOW.start, Operation=operation)
    joined = [*past, last]
    return type(last)(
        **{name: getattr(last, name) for name in last.__struct_fields__}
        | {
            "timestamps": tuple(time for one in joined for time in one.timestamps),
            "values": tuple(value for one in joined for value in one.values),
        }
    )


def slower(
    before: float = 10.0,
    now: tuple[float, ...] = (30.0,) * 5,
    *more: MetricSeries,
    requests: float = 60.0,
    operation: str = "GetItem",
    **fields: Any,
) -> Traffic:
    metrics = (
        days("SuccessfulRequestLatency", "p99", before, now, operation),
        days("SuccessfulRequestLatency", "SampleCount", requests, (requests,) * 5, operation),
        *more,
    )
    fields = dict[str, Any](metrics=metrics, window=NOW, rows=()) | fields
    return traffic(**fields)


def only(evidence: Traffic) -> Finding:
    (one,) = LatencyShift().detect(evidence)
    assert isinstance(one, Finding)
    return one


def silent(evidence: Traffic) -> bool:
    return list(LatencyShift().detect(evidence)) == []


def latency(ms: float, calls: int = 100) -> Latency:
    buckets = [0] * (len(LATENCY_BOUNDS_MS) + 1)
    buckets[next(i for i, bound in enumerate(LATENCY_BOUNDS_MS) if bound >= ms)] = calls
    return Latency(tuple(buckets), ms * calls, calls)


def test_twice_the_p99_of_past_days_is_told_as_the_service_s() -> None:
    one = only(slower())
    assert (one.severity, one.cause, one.direction) == (Severity.MEDIUM, "service", Direction.READ)
    assert (one.evidence["p99_ms"], one.evidence["usual_p99_ms"], one.evidence["days"]) == (30, 10, 3)
    assert one.evidence["ratio"] == 3
    assert [advice.action for advice in one.advice] == ["check-service-health"]


def test_past_days_that_are_known_by_the_hour_are_days() -> None:
    hours = series(
        "SuccessfulRequestLatency", [10.0] * 3, stat="p99", start=0, period_seconds=86_400, Operation="GetItem"
    )
    minutes = series("SuccessfulRequestLatency", [30.0] * 5, stat="p99", start=NOW.start, Operation="GetItem")
    calls = series("SuccessfulRequestLatency", [60.0] * 5, stat="SampleCount", start=NOW.start, Operation="GetItem")
    one = only(traffic(metrics=(minutes, hours, calls), window=NOW, rows=()))
    assert (one.evidence["usual_p99_ms"], one.evidence["days"]) == (10, 3)


def test_sums_of_items_by_calls_tell_bigger_answers_too() -> None:
    one = only(slower(10.0, (30.0,) * 5, days("ReturnedItemCount", "Sum", 1200.0, (6000.0,) * 5)))
    assert one.cause == "bigger-reads"
    assert "an answer has 100 items, usually 20" in one.summary


def test_bigger_answers_explain_it() -> None:
    one = only(slower(10.0, (30.0,) * 5, days("ReturnedItemCount", "Average", 20.0, (100.0,) * 5)))
    assert (one.cause, one.advice[0].action) == ("bigger-reads", "check-client")
    assert "an answer has 100 items, usually 20" in one.summary


@pytest.mark.parametrize(
    ("before", "now", "fires"),
    [(10.0, 20.0, True), (10.0, 19.9, False), (5.0, 10.0, True), (4.9, 9.8, False), (4.9, 9.9, True)],
)
def test_twice_as_long_and_five_milliseconds_more_are_slower(before: float, now: float, *, fires: bool) -> None:
    assert silent(slower(before, (now,) * 5)) is not fires


@pytest.mark.parametrize(("calls", "fires"), [(250.0, True), (249.0, False)])
def test_fifty_requests_a_minute_are_counted_by_whatever_period(calls: float, *, fires: bool) -> None:
    fives = series(
        "SuccessfulRequestLatency",
        [calls],
        stat="SampleCount",
        start=NOW.start,
        period_seconds=300,
        Operation="GetItem",
    )
    told = days("SuccessfulRequestLatency", "p99", 10.0, (30.0,) * 5)
    assert silent(traffic(metrics=(told, fives), window=NOW, rows=())) is not fires


@pytest.mark.parametrize(("requests", "fires"), [(50.0, True), (49.5, False)])
def test_fifty_requests_a_minute_are_enough(requests: float, *, fires: bool) -> None:
    assert silent(slower(requests=requests)) is not fires


@pytest.mark.parametrize(("before", "now"), [(20.0, 30.0), (0.5, 0.75)])
def test_answers_of_half_as_many_items_again_are_bigger(before: float, now: float) -> None:
    grown = days("ReturnedItemCount", "Average", before, (now,) * 5)
    assert only(slower(10.0, (30.0,) * 5, grown)).cause == "bigger-reads"


@pytest.mark.parametrize("before", [20.0, 0.0])
def test_answers_that_hardly_grew_or_came_from_nothing_do_not(before: float) -> None:
    grown = days("ReturnedItemCount", "Average", before, (29.0,) * 5)
    assert only(slower(10.0, (30.0,) * 5, grown)).cause == "service"


def test_retries_explain_it() -> None:
    assert only(slower(rows=(row(attempts_a_request=1.4),))).cause == "retries"
    of_two = only(slower(rows=(row(attempts_a_request=1.4), row(attempts_a_request=1.0), row(attempts_a_request=None))))
    assert of_two.summary.endswith("1.40 tries a call")


@pytest.mark.parametrize(("attempts", "cause"), [(1.05, "retries"), (1.04, "service")])
def test_one_call_in_twenty_that_is_tried_again_explains_it(attempts: float, cause: str) -> None:
    assert only(slower(rows=(row(attempts_a_request=attempts),))).cause == cause


@pytest.mark.parametrize(("now", "cause"), [(128.0, "client"), (128.1, "service")])
def test_a_client_that_waits_just_so_many_times_longer_explains_it(now: float, cause: str) -> None:
    """Callers see 512 ms: 384 more than 128, three times as much."""
    (one,) = LatencyShift(factor=3.0).detect(slower(10.0, (now,) * 5, rows=(row(latency=latency(512.0)),)))
    assert isinstance(one, Finding)
    assert one.cause == cause


def test_a_client_that_waits_far_longer_than_dynamodb_takes_explains_it() -> None:
    one = only(slower(rows=(row(latency=latency(500.0)),)))
    assert (one.cause, one.advice[0].action) == ("client", "check-client")
    assert (
        only(slower(rows=(row(latency=latency(50.0)), row(shape("Query"), latency=latency(900.0))))).cause == "service"
    )


def test_the_direction_is_the_operation_s() -> None:
    assert only(slower(operation="PutItem")).direction is Direction.WRITE
    assert only(slower(operation="ExecuteStatement")).direction is None


def test_without_three_past_days_it_is_skipped() -> None:
    young = slower(
        metrics=(series("SuccessfulRequestLatency", (30.0,), stat="p99", start=NOW.start, Operation="GetItem"),)
    )
    for detector in (LatencyShift(), LatencyShift(days=1)):
        (one,) = detector.detect(young)
        assert isinstance(one, Skipped)
        assert one.reason is SkipReason.NOT_COVERED


@pytest.mark.parametrize(
    "evidence",
    [
        slower(now=(19.0,) * 5),
        slower(now=(30.0, 10.0, 10.0, 10.0, 10.0)),
        slower(2.0, (6.0,) * 5),
        slower(requests=49.0),
        slower(now=()),
        slower(metrics=(days("SuccessfulRequestLatency", "p99", 10.0, (30.0,) * 5),)),
        traffic(GSI2),
    ],
    ids=[
        "less than double",
        "one minute",
        "milliseconds",
        "few requests",
        "nothing now",
        "requests unknown",
        "an index",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert silent(evidence)
