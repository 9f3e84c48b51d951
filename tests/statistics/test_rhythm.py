"""Bursts on a clock are found with their period; noise, humps, drifts and few spikes are not."""

from __future__ import annotations

import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.statistics.rhythm import rhythm_of


def bursts(every: int, count: int = 360, width: int = 2, offset: int = 3) -> np.ndarray:
    values = np.random.default_rng(1).gamma(20.0, 0.5, count)
    for begin in range(offset, count, every):
        values[begin : begin + width] += 100
    return values


@pytest.mark.parametrize("every", [6, 12, 30, 31, 60, 90])
def test_bursts_on_a_clock_have_its_period(every: int) -> None:
    assert rhythm_of(bursts(every)) == every


def test_long_bursts_have_it_too() -> None:
    assert rhythm_of(bursts(60, width=12)) == 60


def test_a_clock_that_is_not_a_whole_number_of_steps_is_found_nearly() -> None:
    values = np.ones(360)
    values[np.rint(np.arange(2, 358, 30.4)).astype(int)] = 100
    assert rhythm_of(values) in {30, 31}


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_period(seed: int) -> None:
    dice = np.random.default_rng(seed)
    assert rhythm_of(dice.gamma(0.3, 10.0, 360)) is None
    assert rhythm_of((dice.random(360) < 0.01) * 100.0) is None


def test_what_only_breathes_does_not_burst() -> None:
    assert rhythm_of(10 + np.sin(np.arange(360) / 5)) is None


def test_one_hump_is_no_rhythm() -> None:
    assert rhythm_of(np.exp(-(((np.arange(360) - 180) / 20.0) ** 2)) * 100) is None


def test_a_slow_rise_is_no_rhythm() -> None:
    assert rhythm_of(np.concatenate((np.ones(355), np.full(5, 99.0)))) is None
    assert rhythm_of(np.arange(360.0) ** 3) is None


def test_three_bursts_are_too_few() -> None:
    assert rhythm_of(bursts(120)) is None
    assert rhythm_of(bursts(110, count=330)) is None


def test_bursts_that_lose_the_clock_keep_no_period() -> None:
    values = bursts(30, count=200)
    for begin in (215, 227, 241, 249, 268, 277, 291, 300, 333, 341):
        values = np.concatenate((values, np.full(max(0, begin - len(values)), 10.0), [110.0]))
    assert rhythm_of(values) is None


@pytest.mark.parametrize("values", [np.zeros(360), np.ones(360), np.arange(20.0)], ids=["nothing", "flat", "short"])
def test_little_tells_nothing(values: np.ndarray) -> None:
    assert rhythm_of(values) is None


def spikes(*places: int, count: int = 120, height: float = 100.0, floor: float = 1.0) -> np.ndarray:
    values = np.full(count, floor)
    values[list(places)] = height
    return values


@pytest.mark.parametrize(("count", "period"), [(30, 6), (29, None)])
def test_thirty_values_are_enough(count: int, period: int | None) -> None:
    assert rhythm_of(spikes(2, 8, 14, 20, 26, count=count)) == period


def test_four_bursts_are_enough() -> None:
    assert rhythm_of(spikes(5, 35, 65, 95)) == 30
    assert rhythm_of(spikes(5, 35, 65)) is None


@pytest.mark.parametrize(("floor", "period"), [(50.0, 30), (50.1, None)])
def test_a_burst_is_twice_the_middle(floor: float, period: int | None) -> None:
    values = spikes(5, 6, 35, 36, 65, 66, 95, 96, floor=floor)
    assert rhythm_of(values) == period


def test_what_is_half_the_way_to_the_top_is_no_burst() -> None:
    """The middle is 2 and the top 100: 51 is not above the half, 52 is, and then there are bursts off the clock."""
    clock = range(5, 120, 12)
    beside = [place + 5 for place in clock]
    low, high = (spikes(*clock, floor=2.0) for _ in range(2))
    low[beside], high[beside] = 51.0, 52.0
    assert rhythm_of(low) == 12
    assert rhythm_of(high) is None


def test_a_burst_that_goes_on_is_one() -> None:
    assert rhythm_of(spikes(*(at + more for at in (5, 35, 65, 95) for more in range(4)))) == 30


def test_a_burst_at_the_very_first_step_is_one() -> None:
    assert rhythm_of(spikes(0, 30, 60, 90)) == 30


def test_a_beat_left_out_breaks_no_clock() -> None:
    assert rhythm_of(spikes(*(at for at in range(5, 360, 20) if at not in {85, 205}), count=360)) == 20


def test_nothing_but_spikes_over_nothing_is_a_rhythm() -> None:
    assert rhythm_of(spikes(5, 25, 45, 65, 85, 105, floor=0.0)) == 20


def like_itself_by_hand(series: list[float]) -> int | None:
    """Return the lag, by autocorrelations that are summed one by one."""
    many = len(series)
    variance = sum(one * one for one in series) / many
    longest = many // 3
    alike = [
        sum(one * other for one, other in zip(series, series[lag:], strict=False)) / (many - lag) / variance
        for lag in range(longest + 1)
    ]
    trough = next((lag for lag, one in enumerate(alike) if one <= 0.2), None)
    if trough is None or (best := max(alike[trough:])) < 0.6:
        return None
    lag = next(lag for lag in range(trough, longest + 1) if alike[lag] >= 0.9 * best)
    while lag < longest and alike[lag + 1] > alike[lag]:
        lag += 1
    return lag


def rhythm_by_hand(values: list[float]) -> int | None:
    """Say what the module says, in the plainest words."""
    many, middle, top = len(values), statistics.median(values), float(np.quantile(values, 0.99))
    if many < 30 or top <= 0 or top < 2 * middle:
        return None
    mean = statistics.fmean(values)
    padded = [0.0, *(one - mean for one in values), 0.0]
    smooth = [sum(padded[at : at + 3]) / 3 for at in range(many)]
    period = like_itself_by_hand(smooth)
    high = [False, *(one > (middle + top) / 2 for one in values)]
    begins = [at for at in range(many) if high[at + 1] and not high[at]]
    if period is None or len(begins) < 4:
        return None
    gaps = [later - earlier for earlier, later in pairwise(begins)]
    kept = [abs(gap - max(1, round(gap / period)) * period) <= max(1.0, 0.15 * period) for gap in gaps]
    return period if sum(kept) / len(kept) >= 0.8 else None


@settings(max_examples=200)
@given(
    st.integers(20, 130),
    st.integers(3, 40),
    st.lists(st.integers(-6, 6), min_size=30, max_size=30),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0]),
    st.floats(0.01, 30),
    st.integers(0, 999),
)
def test_it_says_what_the_formulas_say(
    many: int, every: int, jitter: list[int], width: int, unsteady: float, noise: float, seed: int
) -> None:
    values = np.abs(np.random.default_rng(seed).normal(10, noise, many))
    for begin, early in zip(range(3, many, every), jitter, strict=False):
        at = max(0, begin + round(unsteady * early))
        values[at : at + width] += 60
    assert rhythm_of(values) == rhythm_by_hand(values.tolist())


def test_four_gaps_of_five_on_time_are_enough() -> None:
    assert rhythm_of(spikes(5, 25, 45, 65, 85, 97, count=100)) == 20


def wide(begins: range | list[int], width: int, count: int) -> np.ndarray:
    """Bursts that go on for so many steps."""
    return spikes(*(begin + more for begin in begins for more in range(width) if begin + more < count), count=count)


@pytest.mark.parametrize(("late", "period"), [(9, 60), (10, None)])
def test_a_burst_may_be_late_by_three_twentieths_of_the_period(late: int, period: int | None) -> None:
    """One of seven is, so that two of six gaps are too long or too short."""
    begins = [5 + 60 * number + (late if number == 3 else 0) for number in range(7)]
    assert rhythm_of(wide(begins, 24, 400)) == period


def test_a_period_of_just_a_third_of_the_series_is_found() -> None:
    assert rhythm_of(wide(range(0, 181, 60), 28, 181)) == 60


@pytest.mark.parametrize(("rise", "period"), [(80, 12), (90, None)])
def test_bursts_on_a_rise_are_a_rhythm_as_long_as_it_falls_between_them(rise: float, period: int | None) -> None:
    """On a steeper one the series is like itself a little later whatever lies between."""
    assert rhythm_of(wide(range(8, 150, 12), 2, 150) + np.linspace(0, rise, 150)) == period


def test_a_rhythm_does_not_depend_on_the_unit() -> None:
    assert rhythm_of(spikes(5, 35, 65, 95) / 1000) == 30
