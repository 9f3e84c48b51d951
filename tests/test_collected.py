"""What the polls brought, ready to be judged."""

from __future__ import annotations

import pytest

from analyzer.collected import NOTHING, Collected
from analyzer.model.batch import Batch, InsightSeries, MetricSeries
from analyzer.model.finding import Change
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
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
