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
    assert (one.cause, one.advice[0].action) == ("bigger-reads", "follow-pages")
    assert "an answer has 100 items, usually 20" in one.summary


@pytest.mark.parametrize("before", [20.0, 0.0])
def test_answers_that_hardly_grew_or_came_from_nothing_do_not(before: float) -> None:
    grown = days("ReturnedItemCount", "Average", before, (29.0,) * 5)
    assert only(slower(10.0, (30.0,) * 5, grown)).cause == "service"


def test_retries_explain_it() -> None:
    assert only(slower(rows=(row(attempts_a_request=1.4),))).cause == "retries"


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
    (one,) = LatencyShift().detect(young)
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
