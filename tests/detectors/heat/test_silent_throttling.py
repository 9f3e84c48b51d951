from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.detectors.heat.silent_throttling import SilentThrottling
from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Sight
from analyzer.model.traffic import Latency, MetricThrottles
from tests.support.evidence import limit, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

READ, WRITE = Direction.READ, Direction.WRITE
METRICS_ALONE = frozenset({Sight.METRICS})


def only(evidence: Traffic) -> Finding:
    (one,) = SilentThrottling().detect(evidence)
    assert isinstance(one, Finding)
    return one


def silent(evidence: Traffic) -> bool:
    return list(SilentThrottling().detect(evidence)) == []


def retried(attempts: float | None = 1.2, **fields: Any) -> Traffic:
    """A hundred refused tries of fifty calls of a thousand; none failed, each took more tries."""
    hurt = row(throttled=50, throttled_tries=100, attempts_a_request=attempts, **fields)
    return traffic(throttles=(limit(),), rows=(hurt,))


def latency(**calls: int) -> Latency:
    """Latencies by milliseconds: `_2=900, _256=10`."""
    buckets = [0] * (len(LATENCY_BOUNDS_MS) + 1)
    for name, count in calls.items():
        buckets[next(i for i, bound in enumerate(LATENCY_BOUNDS_MS) if bound >= float(name[1:]))] += count
    return Latency(tuple(buckets), 0.0, sum(buckets))


def counted(count: float, throttled: float, served: float, cause: str = "provisioned") -> MetricThrottles:
    """Throttle events of one limit, and the puts that it refused and that were served."""
    return MetricThrottles(
        direction=WRITE,
        cause=cause,
        events=count,
        minutes=((0, count),),
        period_seconds=60,
        is_reason_told=True,
        throttled_requests={"PutItem": throttled},
        served_requests={"PutItem": served},
    )


def events(count: float, throttled: float, served: float) -> Traffic:
    """Throttle events that metrics alone tell of."""
    return traffic(sights=METRICS_ALONE, rows=(), metric_throttles=(counted(count, throttled, served),))


def test_tries_that_are_refused_and_succeed_later_are_told_by_the_tries_a_call() -> None:
    one = only(retried())
    assert (one.severity, one.confidence, one.direction, one.caller) == (
        Severity.MEDIUM,
        Confidence.CERTAIN,
        READ,
        "api",
    )
    assert (one.evidence["throttled_tries"], one.evidence["attempts_a_request"]) == (100, 1.2)
    assert [advice.action for advice in one.advice] == ["back-off", "smooth-traffic"]


def test_where_tries_are_not_told_latency_shows_it() -> None:
    slow = retried(None, latency=latency(_4=900, _512=50))
    assert "beside a median of 4 ms" in only(slow).summary
    assert only(slow).evidence["attempts_a_request"] is None


@pytest.mark.parametrize("waits", [latency(_4=900, _8=50), Latency((), 0.0, 0)], ids=["quick", "not known"])
def test_where_nothing_shows_that_anybody_waited_it_is_silent(waits: Latency) -> None:
    assert silent(retried(None, latency=waits))
    assert silent(retried(1.04, latency=waits))


def test_only_the_shapes_that_were_refused_are_looked_at() -> None:
    batch = row(shape("Query", "f1"), caller="batch", requests=10, attempts_a_request=3.0)
    hurt = row(throttled=50, attempts_a_request=1.01)
    assert silent(traffic(throttles=(limit(),), rows=(hurt, batch)))


def test_refusals_that_metrics_alone_saw_are_laid_to_the_log_s_slow_calls() -> None:
    told = events(400, 400, 10_000).metric_throttles
    puts = row(shape("PutItem"), attempts_a_request=1.4)
    one = only(traffic(rows=(puts,), metric_throttles=told))
    assert (one.confidence, one.sources) == (Confidence.LIKELY, ("request-log", "cloudwatch-metrics"))
    assert one.because is not None
    assert "the SDK absorbed them" in one.because


def test_metrics_alone_make_it_possible_where_few_of_many_are_refused() -> None:
    one = only(events(80, 60, 4000))
    assert (one.confidence, one.direction, one.caller) == (Confidence.POSSIBLE, WRITE, None)
    assert "at most 1% of its requests" in one.summary


@pytest.mark.parametrize(
    "evidence",
    [events(9, 9, 4000), events(80, 60, 60_000), events(500, 500, 1000), events(80, 0, 0)],
    ids=["few", "one in a thousand", "a third", "share unknown"],
)
def test_metrics_alone_say_nothing_otherwise(evidence: Traffic) -> None:
    assert silent(evidence)


def test_a_failed_condition_is_no_error_of_the_throttle() -> None:
    assert only(retried(failed=500, condition_failed=500)).severity is Severity.MEDIUM


@pytest.mark.parametrize(
    "evidence",
    [
        retried(failed=20),
        traffic(throttles=(limit(failed=2.0),), rows=(row(throttled=50, attempts_a_request=2.0),)),
        traffic(throttles=(limit(tries=9.0),), rows=(row(throttled=9, attempts_a_request=2.0),)),
        traffic(throttles=(limit(tries=90.0),), rows=(row(requests=100_000, throttled=90, attempts_a_request=2.0),)),
        traffic(throttles=(limit(),), rows=()),
        traffic(),
    ],
    ids=["calls fail", "tries fail in the end", "few", "one in a thousand", "nobody seen", "none"],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert silent(evidence)


def tried(
    tries: float = 100.0, attempts: float = 1.2, requests: float = 1000, failed: float = 0, ended: float = 0
) -> Traffic:
    """Tries refused of so many requests; `failed` is what failed at all, `ended` what failed of the limit."""
    hurt = row(requests=requests, throttled=50, failed=failed, attempts_a_request=attempts)
    return traffic(throttles=(limit(tries=tries, failed=ended),), rows=(hurt,))


@pytest.mark.parametrize(
    ("evidence", "is_silent"),
    [
        (tried(10), False),
        (tried(9), True),
        (tried(100, requests=100_000), False),
        (tried(99, requests=100_000), True),
        (tried(attempts=1.05), False),
        (tried(attempts=1.049), True),
        (tried(failed=10), False),
        (tried(failed=10.1), True),
        (tried(ended=1), False),
        (tried(ended=1.01), True),
    ],
)
def test_ten_tries_of_a_thousandth_that_nearly_all_succeed_in_the_end(evidence: Traffic, *, is_silent: bool) -> None:
    assert silent(evidence) is is_silent


@pytest.mark.parametrize(("waits", "is_silent"), [(latency(_4=900, _22=50), False), (latency(_4=900, _16=50), True)])
def test_the_slowest_takes_surely_three_times_the_median(waits: Latency, *, is_silent: bool) -> None:
    """Half of the calls take 4 ms or less; the slowest more than 16, or perhaps no more than 11."""
    assert silent(retried(None, latency=waits)) is is_silent


def test_a_slowest_call_of_just_so_many_times_the_median_is_slow() -> None:
    found = list(SilentThrottling(slow_factor=4.0).detect(retried(None, latency=latency(_4=900, _22=50))))
    assert len(found) == 1


def test_the_median_is_told_however_many_calls_are_slow() -> None:
    one = only(retried(None, latency=latency(_4=600, _256=400)))
    assert (one.evidence["median_ms"], one.evidence["p99_ms"]) == (4, 256)


@pytest.mark.parametrize(
    ("evidence", "is_silent"),
    [
        (events(10, 10, 990), False),
        (events(100, 100, 900), False),
        (events(101, 101, 899), True),
        (events(10, 10, 9990), False),
        (events(10, 10, 9991), True),
    ],
)
def test_from_metrics_a_thousandth_to_a_tenth_is_hidden(evidence: Traffic, *, is_silent: bool) -> None:
    assert silent(evidence) is is_silent


def test_of_two_limits_that_metrics_tell_of_the_one_that_refuses_more_decides() -> None:
    few, many = counted(20, 20, 980), counted(500, 500, 500, "account-limit")
    for told in ((few, many), (many, few)):
        assert silent(traffic(sights=METRICS_ALONE, rows=(), metric_throttles=told))
    both = traffic(sights=METRICS_ALONE, rows=(), metric_throttles=(few, counted(50, 50, 950, "account-limit")))
    assert (only(both).evidence["throttle_events"], only(both).evidence["refused_share_high"]) == (70, 0.05)


def test_where_a_log_tells_of_refusals_metrics_alone_do_not_judge() -> None:
    told = (counted(20, 20, 980),)
    assert silent(traffic(rows=(), throttles=(limit("account-limit", WRITE),), metric_throttles=told))


@pytest.mark.parametrize(
    "other", [row(throttled=50, attempts_a_request=3.0), row(shape("PutItem"), attempts_a_request=3.0, secondary=True)]
)
def test_calls_of_the_other_direction_and_entries_of_an_index_show_nothing(other: PatternTraffic) -> None:
    puts = row(shape("PutItem"), throttled=50, attempts_a_request=1.0)
    assert silent(traffic(throttles=(limit(direction=WRITE),), rows=(puts, other)))


def test_of_no_request_nothing_is_told() -> None:
    assert silent(retried(None, requests=0, latency=latency(_4=900, _512=50)))


@pytest.mark.parametrize(("within", "is_silent"), [(9, True), (10, False)])
def test_a_minute_that_reaches_over_the_window_is_not_laid_to_the_log(within: float, *, is_silent: bool) -> None:
    puts = row(shape("PutItem"), attempts_a_request=1.4)
    end = traffic().window.end
    told = msgspec.structs.replace(counted(400, 400, 9_000), minutes=((0, within), (end - 10_000, 400 - within)))
    assert silent(traffic(rows=(puts,), metric_throttles=(told,))) is is_silent
