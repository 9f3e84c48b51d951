from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.errors import DeniedError
from analyzer.knowledge.bill import SERIES_A_TABLE, SERIES_AN_INDEX, SERIES_AN_OPERATION, metrics_month
from collectors.cloudwatch_metrics import collector
from collectors.cloudwatch_metrics.config import MetricTarget
from collectors.cloudwatch_metrics.facts import METRICS
from collectors.cloudwatch_metrics.series import Discovery, series_of_account, series_of_table
from tests.support.watched_metrics import Watched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.metric_world import MetricWorld

DENIED = DeniedError("GetMetricData: AccessDenied", hint="grant cloudwatch:GetMetricData")


async def test_what_can_be_read_says_so_with_its_delay(world: MetricWorld) -> None:
    world.table("orders").put("AccountMaxTableLevelReads", "Maximum", 40_000.0)
    checks = await Watched(world, MetricTarget("orders"), every_ms=300_000).collector.check()
    assert [(one.name, one.state) for one in checks] == [
        ("cloudwatch:GetMetricData", "ok"),
        ("cloudwatch:ListMetrics", "ok"),
    ]
    assert checks[0].message == "readable; points of five minutes are 300 s behind"


async def test_how_much_is_asked_for_is_known_before_the_first_poll(world: MetricWorld) -> None:
    world.table("orders")
    series, compared = Watched(world, MetricTarget("orders"), baselines=True).collector.asked()
    assert 0 < compared < series
    assert Watched(world, MetricTarget("orders")).collector.asked() == (series, 0)
    assert Watched(world, MetricTarget("orders"), most_series=5).collector.asked()[0] == 5


async def test_an_account_without_dynamodb_is_a_warning(world: MetricWorld) -> None:
    checks = await Watched(world, MetricTarget("orders")).collector.check()
    assert (checks[0].state, checks[0].hint) == ("warning", "check the region")


async def test_a_missing_permission_is_told_with_its_name(world: MetricWorld) -> None:
    watched = Watched(world, MetricTarget("orders"), answers={"GetMetricData": DENIED, "ListMetrics": DENIED})
    checks = await watched.collector.check()
    assert [(one.state, one.hint) for one in checks[:2]] == [
        ("error", "grant cloudwatch:GetMetricData"),
        ("warning", "grant cloudwatch:GetMetricData"),
    ]


def test_the_bill_reckons_with_as_many_series_as_are_asked_for() -> None:
    seen = Discovery(metrics=frozenset({"ConditionalCheckFailedRequests", "TransactionConflict"}) | METRICS.keys())

    def count(operations: Iterable[str] = (), indexes: tuple[str, ...] = ()) -> int:
        known = Discovery(metrics=seen.metrics - FAULTS, operations=frozenset({"Scan", *operations}))
        return len(series_of_table(MetricTarget("orders", indexes, is_provisioned=True), known))

    scan = SERIES_AN_OPERATION + 1
    assert count() == SERIES_A_TABLE + scan
    assert count(indexes=("one",)) - count() == SERIES_AN_INDEX
    assert count(operations=("GetItem",)) - count() == SERIES_AN_OPERATION


FAULTS = frozenset({"FaultInjectionServiceInducedErrors"})


@pytest.mark.parametrize(("tables", "indexes"), [(1, 0), (10, 2), (200, 2)])
def test_the_readme_tells_what_it_costs(tables: int, indexes: int) -> None:
    target = MetricTarget("orders", tuple(map(str, range(indexes))), is_provisioned=True)
    known = Discovery(
        operations=frozenset({"GetItem", "Query", "PutItem", "UpdateItem"}),
        metrics=frozenset({"ConditionalCheckFailedRequests"}),
    )
    series = [*series_of_account(), *series_of_table(target, known) * tables]
    compared = sum(one.is_compared for one in series)
    minutes = sum(one.period_seconds == 60 for one in series)
    calls = -(-minutes // 500) + -(-(len(series) - minutes) // 500)
    often, seldom = (metrics_month(len(series), every, compared).dollars for every in (60, 300))
    row = f"| {tables}, {indexes} | {len(series):,} | {calls} | {seldom:,.0f} dollars | {often:,.0f} dollars |"
    assert row in Path(collector.__file__).with_name("README.md").read_text("utf-8")
