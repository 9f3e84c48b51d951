from __future__ import annotations

import pytest

from analyzer.model.window import Window
from analyzer.traffic.baseline import same_hour, yearly_growth
from tests.support.told import series

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
NOW = Window(3 * DAY_MS, 3 * DAY_MS + 300_000)


def hourly(*values: float) -> object:
    return series("SuccessfulRequestLatency", values, period_seconds=3600)


def test_each_past_day_gives_its_median_around_the_same_time() -> None:
    values = [5.0] * 24 + [7.0] * 24 + [9.0] * 24 + [50.0]
    assert same_hour(series("L", values, period_seconds=3600), NOW) == [9.0, 7.0, 5.0]


def test_a_day_without_a_point_is_left_out() -> None:
    late = series("L", [9.0] * 24, start=2 * DAY_MS, period_seconds=3600)
    assert same_hour(late, NOW) == [9.0]
    gap = series("L", [5.0] * 12, period_seconds=3600)
    assert same_hour(gap, NOW) == [5.0]


def test_without_a_series_there_is_no_past() -> None:
    assert same_hour(None, NOW) == []
    assert same_hour(series("L"), NOW) == []


def test_growth_of_a_tenth_a_week_goes_on_for_a_year() -> None:
    daily = series("C", [100.0] * 7 + [110.0] * 7, period_seconds=86_400)
    assert yearly_growth(daily) == pytest.approx(1.1**52)


def test_growth_over_more_weeks_is_spread_over_them() -> None:
    daily = series("C", [100.0] * 7 + [150.0] * 14 + [200.0] * 7, period_seconds=86_400)
    assert yearly_growth(daily) == pytest.approx(2 ** (52 / 3))


@pytest.mark.parametrize(
    "known",
    [None, series("C"), series("C", [1.0] * 13, period_seconds=86_400), series("C", [0.0] * 14, period_seconds=86_400)],
)
def test_growth_is_unknown_without_two_weeks_or_from_nothing(known: object) -> None:
    assert yearly_growth(known) is None  # type: ignore[arg-type]
