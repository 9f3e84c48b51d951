from __future__ import annotations

from analyzer.model.batch import Batch
from analyzer.model.window import Window
from analyzer.traffic.ticks import MOST_TICKS, metric_ends, metric_starts
from tests.support.told import MINUTE_MS, insight, series

WINDOW_MS = 5 * MINUTE_MS


def batch(minutes: int, **fields: object) -> Batch:
    return Batch(window=Window(0, minutes * MINUTE_MS), **fields)  # type: ignore[arg-type]


def test_windows_end_where_a_period_of_the_stretch_ends() -> None:
    told = batch(2, metrics=(series("ReadThrottleEvents", (0, 7, 9)),), insights=(insight("PKT", (3,), "A"),))
    assert metric_ends((told,), WINDOW_MS) == [MINUTE_MS, 2 * MINUTE_MS]


def test_points_before_the_stretch_are_baselines_and_end_no_window() -> None:
    told = Batch(
        window=Window(10 * MINUTE_MS, 11 * MINUTE_MS), metrics=(series("ConsumedReadCapacityUnits", (1,) * 11),)
    )
    assert metric_ends((told,), WINDOW_MS) == [11 * MINUTE_MS]


def test_of_a_long_stretch_minutes_with_refusals_stay_and_one_a_window_of_the_others() -> None:
    quiet = series("ConsumedReadCapacityUnits", (1,) * 1000)
    refused = series("ReadThrottleEvents", (0,) * 7 + (5,) + (0,) * 900)
    ends = metric_ends((batch(1000, metrics=(quiet, refused)),), WINDOW_MS)
    assert 8 * MINUTE_MS in ends
    assert len(ends) < MOST_TICKS


def test_there_is_a_bound_whatever_was_refused_and_the_end_is_kept() -> None:
    ends = metric_ends((batch(5000, metrics=(series("ReadThrottleEvents", (1,) * 5000),)),), WINDOW_MS)
    assert len(ends) <= MOST_TICKS + 1
    assert ends[-1] == 5000 * MINUTE_MS


def test_a_period_began_with_its_own_start_and_of_two_that_end_together_the_shorter_counts() -> None:
    minutes = series("ReadThrottleEvents", (1, 2, 3))
    of_three = series("SuccessfulRequestLatency", (4,), period_seconds=180)
    told = batch(3, metrics=(minutes, of_three), insights=(insight("PKT", (3,), "A", start=3 * MINUTE_MS),))
    ends = {MINUTE_MS: 0, 2 * MINUTE_MS: MINUTE_MS, 3 * MINUTE_MS: 2 * MINUTE_MS, 4 * MINUTE_MS: 3 * MINUTE_MS}
    assert metric_starts((told,)) == metric_starts((batch(3, metrics=(of_three, minutes), insights=told.insights),))
    assert metric_starts((told,)) == ends
