from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from analyzer.detectors.heat.hot_key import HotKey
from analyzer.model.counts import Count, HeavyKey, HeavyKeys, KeyLevel, KeyName
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.sight import Skipped
from analyzer.traffic.heat import heat_of, is_coarse
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import KeyHeat, Traffic

SLICES = 30
SEEDS = range(20)


def sampled(heat: float, rate: float, seed: int) -> KeyHeat:
    """A key written at an even pace, a unit a write, of which a sampler kept some; a second is what the ring saw."""
    seconds = np.random.default_rng(seed).binomial(round(heat * 1000), rate, SLICES * 10).tolist()
    kept = [sum(seconds[first : first + 10]) for first in range(0, len(seconds), 10)]
    halves = [round(2 * records / rate) for records in kept]
    one = HeavyKey(
        KeyName(KeyLevel.PARTITION, "CASE#7"),
        sum(halves),
        sum(halves),
        tuple((number * 10_000, weight, weight) for number, weight in enumerate(halves) if weight),
        by_cell=((0, sum(halves)),),
        peak_second=round(2 * max(seconds) / rate),
        seconds_over=sum(1 for records in seconds if records / rate >= 1000),
        sampled=sum(kept),
        requests=round(sum(kept) / rate),
        templates=("CASE#<id>",),
    )
    heavy = HeavyKeys(CASES, Direction.WRITE, sum(halves) * 20, 0, (one,), 1, ("PK",))
    (found,) = heat_of(heavy, counts((cell(rate=rate), {Count.REQUESTS: sum(kept)})), {0: (CASES, 0)})
    return found


def evidence(key: KeyHeat) -> Traffic:
    puts = row(shape("PutItem"), write_units=key.units.value)
    return traffic(keys=(key,), rows=(puts,), sampled=True)


def worst(key: KeyHeat) -> Severity | None:
    found = [one for one in HotKey().detect(evidence(key)) if isinstance(one, Finding)]
    return max((one.severity for one in found), key=lambda severity: severity.rank, default=None)


@pytest.mark.parametrize(("heat", "rate"), [(0.05, 0.001), (0.4, 0.001), (0.4, 0.01), (0.6, 0.01), (0.6, 0.1)])
def test_no_key_below_its_ceiling_is_convicted_however_thin_the_sample(heat: float, rate: float) -> None:
    assert {worst(sampled(heat, rate, seed)) for seed in SEEDS} == {None}


@pytest.mark.parametrize("rate", [0.1, 0.01])
def test_a_key_at_its_ceiling_is_found_in_a_sample_of_a_tenth_and_of_a_hundredth(rate: float) -> None:
    assert {worst(sampled(1.0, rate, seed)) for seed in SEEDS} == {Severity.HIGH}


@pytest.mark.parametrize(("heat", "rate"), [(0.1, 0.001), (0.3, 0.01), (0.9, 0.1)])
def test_the_bounds_of_the_hottest_slice_hold_though_it_was_picked_as_the_hottest(heat: float, rate: float) -> None:
    outside = [seed for seed in SEEDS if not (low := sampled(heat, rate, seed).admitted).low <= heat <= low.high]
    assert len(outside) <= 2
    assert sampled(heat, 1.0, 1).admitted.is_exact


def test_of_seconds_a_thin_sample_tells_nothing() -> None:
    thin, fine = sampled(0.5, 0.01, 1), sampled(0.5, 0.1, 1)
    assert (thin.peak_second, thin.seconds_over) == (None, None)
    assert fine.peak_second is not None


def test_a_record_that_stands_for_a_tenth_of_a_slice_is_coarse() -> None:
    assert [rate for rate in (0.001, 0.0011, 0.01, 1.0) if is_coarse(sampled(0.5, rate, 1))] == [0.001]


def test_heat_that_rests_on_a_few_records_is_told_as_too_little_to_judge() -> None:
    (skipped,) = HotKey().detect(evidence(sampled(0.9, 0.001, 1)))
    assert isinstance(skipped, Skipped)
    assert skipped.needs[0].startswith("a higher sample rate: one kept record stands for a tenth or more")
