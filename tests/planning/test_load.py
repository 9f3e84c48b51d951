from __future__ import annotations

import numpy as np
import pytest

from analyzer.model.batch import MetricSeries
from analyzer.model.counts import Cell, Counts
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS
from analyzer.model.shape import Shape
from analyzer.model.sight import SourceName
from analyzer.model.target import Target
from analyzer.model.traffic import Place, Traffic
from analyzer.model.window import Window
from analyzer.planning.load import Harvest, Load, load_of_metrics

TABLE = Target(None, None, "orders")
HOUR = Window(0, 60 * MINUTE_MS)


def load(*units: float, seconds: float | None = None, top: float | None = None) -> Load:
    return Load(
        start=0,
        units=units,
        seconds=len(units) * 60.0 if seconds is None else seconds,
        source=SourceName.REQUEST_LOG,
        top_units=top,
    )


def traffic(*series: MetricSeries, window: Window = HOUR) -> Traffic:
    return Traffic(target=TABLE, window=window, sights=frozenset(), place=Place(), metrics=series)


def consumed(*values: float, period: int = 60, at: int = 0, complete: bool = True) -> MetricSeries:
    times = tuple(at + number * period * 1000 for number in range(len(values)))
    return MetricSeries(
        "ConsumedWriteCapacityUnits", {"TableName": "orders"}, "Sum", period, times, values, is_complete=complete
    )


def counts(*cells: tuple[Target, float, list[tuple[int, int]]], start: int = 0) -> Counts:
    """Write cells as (target, sample rate, [(slice, write half-units)])."""
    slices = 1 + max(slot for _, _, told in cells for slot, _ in told)
    series = np.zeros((slices, len(cells), 3), dtype=np.int64)
    for number, (_, _, told) in enumerate(cells):
        for slot, halves in told:
            series[slot, number, 2] = halves
    shape = Shape(fingerprint="f", operation="PutItem", table="orders")
    return Counts(
        window=Window(start, start + slices * 10_000),
        cells=tuple(Cell(target, shape, None, rate) for target, rate, _ in cells),
        values=np.zeros((len(cells), 1), dtype=np.int64),
        series=series,
        latency=np.zeros((len(cells), 1), dtype=np.int64),
    )


def test_the_mean_weighs_a_last_minute_that_is_shorter() -> None:
    assert load(10, 40, seconds=90).mean == 20
    assert load(10, 40).mean == 25
    assert load(10, 40).month_units == 25 * 2_628_000


def test_its_fullest_stretch_is_the_finest_that_is_known() -> None:
    assert (load(1, 5).top, load(1, 5, top=30).top, load(1, 5, top=30).peak) == (5, 30, 5)


@pytest.mark.parametrize(
    ("units", "told"),
    [
        ([10] * 20, (False, True)),
        ([1] * 19 + [100], (True, False)),
        ([1, 10] * 10, (False, False)),
        ([10] * 19 + [12], (False, True)),
    ],
)
def test_spiky_and_steady_are_told_by_its_minutes(units: list[float], told: tuple[bool, bool]) -> None:
    assert (load(*units).is_spiky, load(*units).is_steady) == told


def test_so_many_times_the_demand_is_more_in_every_minute() -> None:
    assert load(1, 2, top=3).times(2) == load(2, 4, top=6)
    assert load(1, 2).times(2) == load(2, 4)


def test_cloudwatch_s_sums_become_units_a_second_and_a_minute_without_a_point_consumed_nothing() -> None:
    told = load_of_metrics(traffic(consumed(600, 1200, at=MINUTE_MS)), Direction.WRITE)
    assert told is not None
    assert (told.units[:4], len(told.units), told.unseen_minutes) == ((0, 10, 20, 0), 60, 0)


def test_missing_points_of_a_series_that_is_not_complete_are_counted() -> None:
    told = load_of_metrics(traffic(consumed(600, complete=False)), Direction.WRITE)
    assert told is not None
    assert told.unseen_minutes == 59


def test_nothing_is_told_by_a_coarser_period_or_by_no_series() -> None:
    assert load_of_metrics(traffic(consumed(600, period=300)), Direction.WRITE) is None
    assert load_of_metrics(traffic(consumed(600)), Direction.READ) is None
    assert load_of_metrics(traffic(consumed(600), window=Window(0, 30_000)), Direction.WRITE) is None


def test_slices_of_a_log_become_minutes_weighed_by_their_sample_rate() -> None:
    harvest = Harvest()
    harvest.take(counts((TABLE, 0.5, [(0, 120), (5, 120)])))
    harvest.take(counts((TABLE, 1.0, [(0, 60)]), start=MINUTE_MS))
    found = harvest.loads(Window(0, MINUTE_MS + 10_000), lambda target: target)
    told = found[TABLE, Direction.WRITE]
    assert (told.units, told.seconds, told.top_units) == ((4.0, 3.0), 70, 12.0)
    assert set(found) == {(TABLE, Direction.WRITE)}


def test_a_local_index_is_its_table_s_and_targets_find_their_home() -> None:
    at = Target("1", "eu-west-1", "orders")
    harvest = Harvest(frozenset({("orders", "by-date")}))
    harvest.take(counts((TABLE, 1.0, [(0, 120)]), (TABLE.at("by-date"), 1.0, [(0, 120)]), (at, 1.0, [(0, 120)])))
    found = harvest.loads(Window(0, 60_000), lambda target: Target("1", "eu-west-1", target.table, target.index))
    assert found[at, Direction.WRITE].units == (3.0,)
    assert harvest.loads(Window(60_000, 120_000), lambda target: target) == {}
