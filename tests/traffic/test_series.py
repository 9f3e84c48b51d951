from __future__ import annotations

from analyzer.model.window import Window
from analyzer.traffic.series import Point, mean_a_second, points, series_of, total
from tests.support.told import MINUTE_MS, series

READS = series("ConsumedReadCapacityUnits", (60, 120, 180))
FIRST_TWO = Window(0, 2 * MINUTE_MS)


def test_a_series_is_found_by_metric_statistic_and_what_it_bears_beside_its_place() -> None:
    of_scan = series("SuccessfulRequestLatency", (3,), stat="SampleCount", Operation="Scan")
    metrics = (READS, of_scan)
    assert series_of(metrics, "ConsumedReadCapacityUnits") is READS
    assert series_of(metrics, "SuccessfulRequestLatency", "SampleCount", Operation="Scan") is of_scan
    assert series_of(metrics, "SuccessfulRequestLatency", "SampleCount") is None
    assert series_of(metrics, "ConsumedReadCapacityUnits", "Average") is None


def test_the_finest_of_several_series_is_taken() -> None:
    coarse = series("ConsumedReadCapacityUnits", (300,), period_seconds=300)
    assert series_of((coarse, READS), "ConsumedReadCapacityUnits") is READS


def test_points_are_those_whose_periods_touch_the_window() -> None:
    found = points(READS, Window(MINUTE_MS + 1, 2 * MINUTE_MS))
    assert found == [Point(MINUTE_MS, 120, 60)]
    assert (found[0].end, found[0].a_second) == (2 * MINUTE_MS, 2.0)
    assert points(None, FIRST_TWO) == []


def test_a_complete_series_without_points_sums_to_zero_and_any_other_to_nothing_known() -> None:
    assert total(READS, FIRST_TWO) == 180
    assert total(series("ReadThrottleEvents"), FIRST_TWO) == 0
    assert total(series("ReadThrottleEvents", is_complete=False), FIRST_TWO) is None
    assert total(None, FIRST_TWO) is None


def test_a_mean_is_taken_over_the_periods_that_have_a_point() -> None:
    assert mean_a_second(READS, FIRST_TWO) == 1.5
    assert mean_a_second(series("ConsumedReadCapacityUnits"), FIRST_TWO) is None
