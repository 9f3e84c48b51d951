from __future__ import annotations

from typing import Any

from analyzer.model.batch import MetricSeries
from analyzer.model.sight import GapReason
from collectors.cloudwatch_metrics.usable import usable

MINUTE = 60_000


def units(stat: str, *values: float, **changes: Any) -> MetricSeries:
    told: dict[str, Any] = {
        "metric": "ConsumedReadCapacityUnits",
        "dimensions": {"TableName": "orders"},
        "stat": stat,
        "period_seconds": 60,
        "timestamps": tuple(place * MINUTE for place in range(len(values))),
        "values": values,
        "is_complete": True,
    }
    return MetricSeries(**told | changes)


def test_what_means_what_it_says_is_kept_as_it_is() -> None:
    given = (units("Sum", 600, 900), units("SampleCount", 30, 40))
    assert usable(given) == (given, ())


def test_an_average_of_units_alone_is_a_gap_and_no_use() -> None:
    kept, (gap,) = usable([units("Average", 0.5, 0.5)])
    assert kept == ()
    assert (gap.reason, gap.table) == (GapReason.MISUSED, "orders")
    assert "Average of ConsumedReadCapacityUnits is per request" in gap.detail


def test_an_average_beside_its_sample_count_is_a_sum() -> None:
    count = units("SampleCount", 1200, 800, timestamps=(0, 2 * MINUTE))
    kept, gaps = usable([units("Average", 0.5, 0.5, 0.5), count])
    assert kept == (count, units("Sum", 600, 400, timestamps=(0, 2 * MINUTE)))
    assert len(gaps) == 1


def test_a_sum_that_is_there_is_never_replaced() -> None:
    total = units("Sum", 601)
    kept, _ = usable([units("Average", 0.5), units("SampleCount", 1200), total])
    assert [one for one in kept if one.stat == "Sum"] == [total]


def test_half_of_a_product_is_not_whole() -> None:
    kept, _ = usable([units("Average", 0.5, is_complete=False), units("SampleCount", 2)])
    assert [one.is_complete for one in kept if one.stat == "Sum"] == [False]


def test_series_of_different_periods_or_places_are_not_multiplied() -> None:
    index = {"TableName": "orders", "GlobalSecondaryIndexName": "by-day"}
    average = units("Average", 0.5)
    for count in (units("SampleCount", 2, period_seconds=300), units("SampleCount", 2, dimensions=index)):
        assert usable([average, count])[0] == (count,)


def test_the_same_misuse_twice_is_one_gap() -> None:
    assert len(usable([units("Average", 0.5), units("Average", 0.6)])[1]) == 1


def test_what_nobody_knows_is_kept() -> None:
    unknown = units("Average", 1, metric="MetricOfTomorrow")
    assert usable([unknown]) == ((unknown,), ())
