"""The estimate of an index's lag, against stores whose lag is known."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.traffic import Place
from analyzer.traffic.gsi_lag import Lag, estimate_lag
from analyzer.traffic.lag_pairs import LagPair, lag_pairs
from tests.support.evidence import GSI2, traffic
from tests.support.lagging_store import logged, mostly_fast, truth

if TYPE_CHECKING:
    from analyzer.model.calls import CallBook
    from analyzer.model.estimate import Estimate

PLACE = Place(partition_key=("status",))
SEEDS = range(20)


def lag_of(calls: CallBook) -> Lag:
    found = estimate_lag(lag_pairs(traffic(GSI2, calls=calls, place=PLACE)))
    assert found is not None
    return found


def pair(age: float, *, fresh: bool, item: int = 0, write: int = 0) -> LagPair:
    return LagPair(KeyName(KeyLevel.PARTITION, f"I{item}"), write, age, age, fresh)


@pytest.fixture(scope="module")
def lags() -> list[Lag]:
    return [lag_of(logged(seed, latency_ms=4.0)) for seed in SEEDS]


@pytest.mark.parametrize(("name", "share"), [("p50", 0.5), ("p95", 0.95)])
def test_at_a_query_a_second_a_key_the_median_of_twenty_seeds_is_within_a_fifth(
    name: str, share: float, lags: list[Lag]
) -> None:
    (true,) = truth(mostly_fast, share)
    estimates: list[Estimate] = [getattr(lag, name) for lag in lags]
    assert median(one.value for one in estimates) == pytest.approx(true, rel=0.2)
    assert sum(one.low <= true <= one.high for one in estimates) >= 18


def test_the_lower_bound_of_the_slowest_hundredth_seldom_claims_too_much(lags: list[Lag]) -> None:
    (true,) = truth(mostly_fast, 0.99)
    assert sum(lag.p99 is not None and lag.p99.low > true for lag in lags) <= 1


def test_the_same_pairs_give_the_same_answer(lags: list[Lag]) -> None:
    assert lag_of(logged(SEEDS[0], latency_ms=4.0)) == lags[0]


def test_what_is_certain_bounds_each_write(lags: list[Lag]) -> None:
    assert all(low <= high for low, high in zip(lags[0].lows, lags[0].highs, strict=True))
    assert lags[0].regressions == 0


def test_stale_reads_a_second_later_are_few_in_a_store_that_is_mostly_fast(lags: list[Lag]) -> None:
    assert all(lag.stale_after_second is not None and lag.stale_after_second < 0.03 for lag in lags)


def test_a_store_that_is_behind_is_told_to_be(lags: list[Lag]) -> None:
    def slow(rng: np.random.Generator, count: int) -> np.ndarray:
        return rng.uniform(8, 12, count)

    lag = lag_of(logged(1, slow, items=40, writes=20, gap_seconds=30.0))
    assert lag.p50 is not None
    assert lag.p50.low > 5 > lags[0].lows[0]
    assert lag.p50.low <= 10 <= lag.p50.high


def test_where_nothing_was_ever_fresh_the_lag_is_longer_than_anybody_looked() -> None:
    lag = estimate_lag(pair(age, fresh=False, item=n % 7, write=n) for n, age in enumerate(np.linspace(1, 9, 40)))
    assert lag is not None
    assert lag.p50 is not None
    assert (lag.p50.value, lag.p50.high, lag.stale) == (math.inf, math.inf, 40)
    assert 7 < lag.p50.low <= 9
    assert (lag.p95, lag.p99) == (None, None)


def test_a_write_that_is_seen_and_then_not_is_counted_and_left_out() -> None:
    gone = [pair(0.1, fresh=True), pair(0.5, fresh=False)]
    lag = estimate_lag([*gone, pair(0.2, fresh=True, write=1)])
    assert lag is not None
    assert (lag.regressions, lag.writes, lag.stale, lag.p50, lag.stale_after_second) == (1, 1, 0, None, None)
    assert estimate_lag(gone) is None


def test_more_items_than_are_drawn_apart_are_drawn_together() -> None:
    lag = estimate_lag(pair(1.0 + n % 2, fresh=n % 2 == 1, item=n, write=n) for n in range(4200))
    assert lag is not None
    assert lag.p99 is not None
    assert (lag.items, lag.writes) == (4200, 4200)
    assert 1 < lag.p99.value <= 2


def test_without_pairs_there_is_no_estimate() -> None:
    assert estimate_lag([]) is None
