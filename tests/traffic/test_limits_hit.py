from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.finding import Change, Direction
from analyzer.model.sight import Sight
from analyzer.model.traffic import Capacity, InsightKey, InsightMinute, Place, Traffic
from analyzer.traffic.limits_hit import LimitHit, limits_hit
from analyzer.traffic.metric_throttles import metric_throttles
from analyzer.traffic.ramp import ramp_of
from tests.support.evidence import ALL_REQUEST_SIGHTS, GSI2, WINDOW, exactly, key, limit, row, traffic
from tests.support.told import series, table

ON_DEMAND = Place(capacity=Capacity("PAY_PER_REQUEST"))
METRICS_ALONE = frozenset({Sight.METRICS})


def measured(*metrics: Any, place: Place = ON_DEMAND, **fields: Any) -> Traffic:
    fields = {"rows": (), "sights": METRICS_ALONE} | fields
    throttles = metric_throttles(metrics, place.capacity, WINDOW)
    return traffic(metrics=metrics, metric_throttles=throttles, place=place, **fields)


def only(one: Traffic) -> LimitHit:
    (hit,) = limits_hit(one)
    return hit


def test_the_log_speaks_of_requests_and_callers() -> None:
    hit = only(traffic(throttles=(limit(),)))
    assert (hit.cause, hit.is_sure, hit.because) == ("key-range", True, None)
    assert (hit.share, hit.tries, hit.sources) == (exactly(0.05), exactly(100.0), ("request-log",))
    assert hit.hurt[0].caller == "api"


def test_metrics_name_the_limit_that_the_log_left_out() -> None:
    metrics = (series("ReadProvisionedThroughputThrottleEvents", (80,)),)
    hit = only(measured(*metrics, throttles=(limit("unknown"),)))
    assert (hit.cause, hit.is_sure, hit.events) == ("provisioned", False, 80)
    assert hit.because == "metrics of the same minutes name this limit alone"
    assert hit.sources == ("request-log", "cloudwatch-metrics")


def test_the_code_of_the_account_s_quota_is_likely_until_metrics_name_it_too() -> None:
    by_code = limit("account-limit", reasons=("RequestLimitExceeded",))
    alone, beside = only(traffic(throttles=(by_code,))), series("ReadAccountLimitThrottleEvents", (80,))
    assert (alone.is_sure, alone.because is None) == (False, False)
    both = only(measured(beside, throttles=(by_code,)))
    assert (both.cause, both.is_sure, both.because) == ("account-limit", True, None)
    told = ("RequestLimitExceeded", "TableReadAccountLimitExceeded")
    assert only(traffic(throttles=(limit("account-limit", reasons=told),))).is_sure


def test_a_limit_that_nobody_names_stays_unknown() -> None:
    hit = only(traffic(throttles=(limit("unknown"),)))
    assert (hit.cause, hit.is_sure) == ("unknown", False)


def test_one_limit_told_twice_is_one() -> None:
    both = measured(series("ReadKeyRangeThroughputThrottleEvents", (80,)), throttles=(limit(),))
    assert only(both).sources == ("request-log", "cloudwatch-metrics")
    unnamed = measured(series("ReadThrottleEvents", (80,)), throttles=(limit(),))
    assert only(unnamed).cause == "key-range"


def test_a_limit_that_metrics_alone_saw_is_told_beside() -> None:
    metrics = (series("WriteMaxOnDemandThroughputThrottleEvents", (80,)),)
    first, second = limits_hit(measured(*metrics, throttles=(limit(),)))
    assert (first.cause, second.cause, second.direction) == ("key-range", "max-on-demand", Direction.WRITE)
    assert (second.tries, second.events) == (None, 80)


def test_a_share_is_counted_where_both_sides_are() -> None:
    hit = only(
        measured(
            series("ReadThrottleEvents", (4,)),
            series("ThrottledRequests", (3,), Operation="Query"),
            series("SuccessfulRequestLatency", (97,), stat="SampleCount", Operation="Query"),
        )
    )
    assert (hit.share, hit.operations) == (exactly(0.03), {"Query": 3})


@pytest.mark.parametrize(
    ("word", "least"),
    [("Read", 0.2), ("Write", 1 / 3)],  # 50 events beside 200 half-unit reads, or 100 one-unit writes
)
def test_without_counts_the_units_served_bound_the_share_from_below(word: str, least: float) -> None:
    metrics = (series(f"{word}ThrottleEvents", (50,)), series(f"Consumed{word}CapacityUnits", (100,)))
    share = only(measured(*metrics)).share
    assert share is not None
    assert share.value == pytest.approx(least)
    assert share.high == 1.0


def test_a_write_s_events_are_counted_once_for_each_index_at_most() -> None:
    place = Place(index_keys={"GSI1": ("a",)})
    metrics = (series("WriteThrottleEvents", (50,)), series("ConsumedWriteCapacityUnits", (75,)))
    share = only(measured(*metrics, place=place)).share
    assert share is not None
    assert share.low == pytest.approx(0.25)


def test_without_units_no_share_is_known() -> None:
    assert only(measured(series("ReadThrottleEvents", (50,)))).share is None


def test_use_at_capacity_is_a_reason_that_is_told() -> None:
    metrics = (series("ReadThrottleEvents", (50,)), series("ConsumedReadCapacityUnits", (3000,)))
    hit = only(measured(*metrics, place=Place(capacity=Capacity("PROVISIONED", 50, 50))))
    assert (hit.cause, hit.is_sure, hit.because) == ("provisioned", False, "its use stood at its provisioned capacity")


def ranged(**fields: Any) -> Traffic:
    """An on-demand table that is refused for key ranges, whose 1,000 reads are spread evenly."""
    fields = {"sights": ALL_REQUEST_SIGHTS | METRICS_ALONE, "rows": (row(),), "throttles": (limit(),)} | fields
    metrics = (
        series("ConsumedReadCapacityUnits", (60_000,), start=-600_000),
        series("ConsumedReadCapacityUnits", (600_000,)),
    )
    fields.setdefault("place", ON_DEMAND)
    return traffic(metrics=metrics[1:], **fields)


def test_a_steep_rise_of_even_keys_on_demand_is_a_ramp() -> None:
    place = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table(warm_read_units=4000, billing_mode="x"))
    hit = only(ranged(place=place))
    assert (hit.cause, hit.is_sure, hit.ramp.ratio) == ("on-demand-ramp", False, 2.5)


def test_a_rise_over_twice_the_earlier_peak_is_steep_too() -> None:
    history = series("ConsumedReadCapacityUnits", (60_000, 600_000), start=-60_000)
    ramp = ramp_of(traffic(metrics=(history,), place=ON_DEMAND), Direction.READ)
    assert (ramp.ratio, ramp.is_steep) == (5.0, True)


def test_a_skewed_key_is_no_ramp() -> None:
    place = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table(warm_read_units=4000))
    assert only(ranged(place=place, keys=(key(share=exactly(0.4)),))).cause == "key-range"


def test_even_keys_just_after_a_restore_mean_partitions_that_are_splitting() -> None:
    hit = only(ranged(changes=(Change(time=-1000, what="restore", table="cases"),)))
    assert (hit.cause, hit.is_sure) == ("partitions-splitting", False)
    assert only(ranged(changes=(Change(time=-9_000_000, what="restore", table="cases"),))).cause == "key-range"


def test_few_records_do_not_tell_whether_keys_are_even() -> None:
    assert ramp_of(ranged(rows=(row(requests=9),)), Direction.READ).is_uniform is None
    assert ramp_of(ranged(sights=METRICS_ALONE), Direction.READ).is_uniform is None


def test_how_steep_it_is_takes_a_peak_and_a_past() -> None:
    assert ramp_of(traffic(), Direction.READ).ratio is None
    assert ramp_of(ranged(), Direction.READ).ratio is None


def test_an_index_is_as_warm_as_itself() -> None:
    consumed = series("ConsumedWriteCapacityUnits", (60_000,), target=GSI2)
    place = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table("GSI2", warm_write_units=10))
    assert ramp_of(traffic(GSI2, metrics=(consumed,), place=place), Direction.WRITE).ratio is None
    unknown = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table())
    assert ramp_of(traffic(GSI2, metrics=(consumed,), place=unknown), Direction.WRITE).ratio is None


def throttled_keys(*shares: float, events: float = 50.0, rule: str = "PKT") -> tuple[InsightKey, ...]:
    return tuple(
        InsightKey(
            rule=rule,
            name=KeyName(KeyLevel.PARTITION, str(number)),
            key={},
            key_template={},
            period_seconds=60,
            minutes=(InsightMinute(0, events),),
            share=share,
        )
        for number, share in enumerate(shares)
    )


@pytest.mark.parametrize(
    ("keys", "cause"),
    [
        (throttled_keys(*[0.05] * 20), "on-demand-ramp"),
        (throttled_keys(0.5, *[0.05] * 10), "key-range"),
        (throttled_keys(*[0.05] * 20, events=1.0), "key-range"),
        (throttled_keys(*[0.05] * 20, rule="PKC"), "key-range"),
        ((), "key-range"),
    ],
    ids=["none leads", "one leads", "too few refusals", "by use alone", "none ranked"],
)
def test_what_contributor_insights_ranks_tells_a_ramp_from_a_hot_key(keys: tuple[InsightKey, ...], cause: str) -> None:
    place = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table(warm_read_units=4000))
    metrics = (series("ReadKeyRangeThroughputThrottleEvents", (80,)), series("ConsumedReadCapacityUnits", (600_000,)))
    assert only(measured(*metrics, place=place, insights=keys)).cause == cause


def test_a_ramp_that_the_log_concluded_is_not_told_again_as_what_metrics_call_it() -> None:
    place = Place(capacity=Capacity("PAY_PER_REQUEST"), table=table(warm_read_units=4000))
    metrics = (series("ReadKeyRangeThroughputThrottleEvents", (80,)), series("ConsumedReadCapacityUnits", (600_000,)))
    sights = ALL_REQUEST_SIGHTS | METRICS_ALONE
    hit = only(measured(*metrics, place=place, sights=sights, rows=(row(),), throttles=(limit(),)))
    assert (hit.cause, hit.sources) == ("on-demand-ramp", ("request-log", "cloudwatch-metrics"))
