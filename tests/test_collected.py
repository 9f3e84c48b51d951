"""What the polls brought, ready to be judged."""

from __future__ import annotations

import msgspec
import pytest

from analyzer.collected import NOTHING, Collected
from analyzer.model.batch import Batch, InsightSeries, MetricSeries
from analyzer.model.finding import Change, Direction
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.table import ScalingLimits, TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.contributor_insights.parse import MODES
from tests.support.evidence import CASES

MINUTE = 60_000
POLL = Window(0, 10 * MINUTE)
METRICS, INSIGHTS = SourceName.CLOUDWATCH_METRICS, SourceName.CONTRIBUTOR_INSIGHTS
SERIES = MetricSeries("ReadThrottleEvents", {"TableName": "cases"}, "Sum", 60, (MINUTE,), (1.0,), is_complete=True)


def insights(mode: str = MODES[1]) -> InsightSeries:
    return InsightSeries(CASES, "PKT", mode, 60, ("~a",), (MINUTE,), (1.0,))


def covering(source: SourceName, end: int) -> Batch:
    return Batch(window=POLL, covers=(Covers(source, Window(0, end), "cases"),))


def seen(minutes: int, table: str) -> Covers:
    return Covers(METRICS, Window(0, minutes * MINUTE), table)


def test_tables_changes_and_gaps_hold_now_and_series_do_not() -> None:
    gap, change = Gap(METRICS, GapReason.LATE, "late"), Change(time=7, what="deploy")
    batch = Batch(window=POLL, metrics=(SERIES,), insights=(insights(),), gaps=(gap,), changes=(change,))
    (timeless,) = Collected((batch,)).timeless()
    assert (timeless.gaps, timeless.changes) == ((gap,), (change,))
    assert (timeless.metrics, timeless.insights) == ((), ())


def test_what_reports_cannot_show_is_judged_beside_the_metrics_of_another_batch() -> None:
    (gap,) = Collected((Batch(window=POLL, insights=(insights(),)),)).blind_spots()
    assert (gap.source, gap.reason) == (INSIGHTS, GapReason.NOT_ENABLED)
    partiql = MetricSeries(
        "SuccessfulRequestLatency",
        {"TableName": "cases", "Operation": "ExecuteStatement"},
        "SampleCount",
        60,
        (MINUTE,),
        (3.0,),
        is_complete=True,
    )
    both = (Batch(window=POLL, insights=(insights(MODES[0]),)), Batch(window=POLL, metrics=(partiql,)))
    assert [gap.reason for gap in Collected(both).blind_spots()] == [GapReason.UNSUPPORTED]


@pytest.mark.parametrize(
    ("batches", "end"),
    [
        ((covering(METRICS, 10 * MINUTE),), 10 * MINUTE),
        ((covering(METRICS, 10 * MINUTE + 59_999),), 10 * MINUTE),
        ((covering(METRICS, 8 * MINUTE), covering(METRICS, 9 * MINUTE), Batch(window=POLL)), 8 * MINUTE),
        ((covering(METRICS, 8 * MINUTE), covering(INSIGHTS, 12 * MINUTE)), 8 * MINUTE),
        ((covering(INSIGHTS, 12 * MINUTE),), 12 * MINUTE),
        ((Batch(window=POLL, covers=(seen(9, "orders"), seen(8, "cases"))),), 9 * MINUTE),
    ],
    ids=[
        "whole minutes",
        "a minute that has begun",
        "the place that is behind, but none that was not seen",
        "metrics before insights",
        "insights alone",
        "one late table",
    ],
)
def test_what_cloudwatch_covers_ends_with_the_newest_whole_minute_of_every_place(
    batches: tuple[Batch, ...], end: int
) -> None:
    assert Collected(batches).settled(5 * MINUTE) == Window(end - 5 * MINUTE, end)


def test_where_nobody_asks_cloudwatch_nothing_has_settled() -> None:
    assert NOTHING.settled(5 * MINUTE) is None
    assert Collected((covering(SourceName.CHANGES, MINUTE),)).settled(5 * MINUTE) is None


def consumed(table: str, minute: int) -> MetricSeries:
    times = tuple(range(0, minute * MINUTE, MINUTE))
    values = (1.0,) * len(times)
    return MetricSeries("ConsumedReadCapacityUnits", {"TableName": table}, "Sum", 60, times, values, is_complete=True)


def test_each_table_reaches_as_far_as_it_is_covered_and_one_that_came_in_part_as_far_as_its_points() -> None:
    covers = (seen(9, "cases"), seen(8, "cases"), msgspec.structs.replace(seen(3, "orders"), index="by-day"))
    told = (consumed("cases", 5), consumed("orders", 7), SERIES)
    batch = Batch(window=POLL, covers=covers, metrics=told, account="111122223333", region="us-east-1")
    failed = Batch(window=POLL, metrics=(consumed("users", 4),), region="eu-west-1")
    assert Collected((batch, failed)).reaches("444455556666") == {
        Target("111122223333", "us-east-1", "cases"): 9 * MINUTE,
        Target("111122223333", "us-east-1", "orders"): 7 * MINUTE,
        Target("444455556666", "eu-west-1", "users"): 4 * MINUTE,
    }


def test_what_says_nothing_of_a_table_reaches_nowhere() -> None:
    empty = MetricSeries("ReadThrottleEvents", {"TableName": "cases"}, "Sum", 60, (), (), is_complete=False)
    account = MetricSeries("AccountMaxReads", {}, "Maximum", 300, (0,), (7.0,), is_complete=True)
    covers = (Covers(SourceName.TABLE_CATALOG, POLL, "cases"), Covers(METRICS, POLL))
    assert Collected((Batch(window=POLL, covers=covers, metrics=(empty, account)),)).reaches() == {}


def test_batches_hold_some_tables_alone_or_all_but_their_metrics() -> None:
    orders = Target(None, None, "orders")
    gap, change = Gap(METRICS, GapReason.LATE, "late"), Change(time=7, what="deploy")
    table = TableSnapshot(target=CASES, table=TableDescription(name="cases"))
    told = Batch(
        window=POLL,
        metrics=(consumed("cases", 5), consumed("orders", 5)),
        insights=(insights(),),
        tables=(table,),
        scaling=(ScalingLimits(target=CASES, direction=Direction.READ, minimum=1, maximum=9),),
        gaps=(gap,),
        changes=(change,),
    )
    elsewhere = Batch(window=POLL, metrics=(consumed("cases", 5),), region="eu-north-1")
    collected = Collected((told, elsewhere))
    first, second = collected.only({CASES})
    assert [series.dimensions["TableName"] for series in first.metrics] == ["cases"]
    assert (first.insights, first.tables, first.scaling) == (told.insights, told.tables, told.scaling)
    assert (first.gaps, first.changes, second.metrics) == ((), (change,), ())
    (first, second) = collected.only({orders})
    assert (first.insights, first.tables, first.scaling) == ((), (), ())
    first, second = collected.without({CASES})
    assert [series.dimensions["TableName"] for series in first.metrics] == ["orders"]
    assert (first.tables, first.gaps, second) == (told.tables, told.gaps, elsewhere)
    assert collected.without(set()) is collected.batches
