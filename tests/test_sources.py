"""One source of each kind for every account and region, as the configuration asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.config import Settings
from analyzer.errors import ThrottledError
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.setup import build_setup
from analyzer.sources import open_sources
from collectors.aws.session import Place
from tests.support.scripted_aws import ScriptedAws, absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.config_aws import SourcesConfig
    from analyzer.polling import Poll

NOW = 1_760_000_000_000
WINDOW = Window(NOW - 900_000, NOW)
HERE = Place(None, "us-east-1")
EVERY_SOURCE = ("table-catalog", "cloudwatch-metrics", "contributor-insights", "changes")
TABLE = {
    "TableName": "cases",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingModeSummary": {"BillingMode": "PROVISIONED"},
    "Replicas": [{"RegionName": "eu-west-1"}],
    "GlobalSecondaryIndexes": [
        {"IndexName": "by-day", "IndexStatus": "ACTIVE", "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}]},
        {"IndexName": "new", "IndexStatus": "CREATING", "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}]},
    ],
    "LocalSecondaryIndexes": [{"IndexName": "local", "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}],
}
EMPTY = {
    "ListTables": {"TableNames": ["cases"]},
    "DescribeTable": {"Table": TABLE},
    "DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
    "DescribeScalableTargets": {"ScalableTargets": []},
    "DescribeScalingPolicies": {"ScalingPolicies": []},
    "DescribeScheduledActions": {"ScheduledActions": []},
    "DescribeScalingActivities": {"ScalingActivities": []},
    "DescribeLimits": {},
    "ListMetrics": {"Metrics": []},
    "GetMetricData": {"MetricDataResults": []},
    "ListContributorInsights": {"ContributorInsightsSummaries": []},
}


class Aws:
    """A scripted AWS that has places."""

    def __init__(self, *places: Place, **answers: Any) -> None:
        self.script = ScriptedAws({**EMPTY, **answers})
        self._places = places or (HERE,)

    def places(self) -> tuple[Place, ...]:
        return self._places

    async def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        return await self.script.call(service, operation, **params)


def config(*collect: str, **settings: object) -> SourcesConfig:
    told = build_setup(Settings.model_validate({"aws": {"collect": collect}, **settings})).collected
    assert told is not None
    return told


def opened(aws: Aws, *collect: str, own: str | None = None, **settings: object) -> tuple[Poll, ...]:
    return open_sources(config(*collect, **settings), aws, lambda _t, _a, value: f"~{value}", lambda: NOW, own)  # type: ignore[arg-type] # an Aws has more


def names(polls: Sequence[Poll]) -> list[str]:
    return [poll.source.name for poll in polls]


def test_each_source_is_asked_in_every_place_as_often_as_it_is_told() -> None:
    aws = Aws(HERE, Place("111122223333", "eu-west-1"))
    polls = opened(aws, *EVERY_SOURCE, own="999988887777", changes={"every": "7m"})
    assert names(polls) == [*EVERY_SOURCE, *EVERY_SOURCE]
    assert {(poll.region, poll.account) for poll in polls} == {
        ("us-east-1", "999988887777"),
        ("eu-west-1", "111122223333"),
    }
    assert [poll.every_ms for poll in polls[:4]] == [300_000, 300_000, 60_000, 420_000]


@pytest.mark.parametrize("source", EVERY_SOURCE)
def test_what_nobody_asks_for_is_not_opened(source: str) -> None:
    assert names(opened(Aws(), source)) == [source]


async def test_calls_go_where_the_place_is() -> None:
    aws = Aws(Place("111122223333", "eu-west-1"))
    for poll in opened(aws, *EVERY_SOURCE):
        await poll.source.collect(WINDOW)
    assert aws.script.places == {("eu-west-1", "111122223333")}


async def test_metrics_are_asked_of_the_tables_and_indexes_that_were_described() -> None:
    aws = Aws()
    catalog, metrics = (poll.source for poll in opened(aws, "table-catalog", "cloudwatch-metrics"))
    await metrics.collect(WINDOW)
    before = asked_series(aws)
    await catalog.collect(WINDOW)
    await metrics.collect(msgspec.structs.replace(WINDOW))
    after = asked_series(aws) - before
    assert ("ConsumedReadCapacityUnits", "cases", None) not in before
    assert {("ConsumedReadCapacityUnits", "cases", index) for index in (None, "by-day", "new")} <= after
    assert ("ProvisionedReadCapacityUnits", "cases", None) in after
    assert not any(index == "local" for _, _, index in after)
    assert any(metric == "ReplicationLatency" for metric, _, _ in after)
    assert {index for metric, _, index in after if metric.startswith("OnlineIndex")} == {"new"}


def asked_series(aws: Aws) -> set[tuple[str, str | None, str | None]]:
    stats = [
        query["MetricStat"]["Metric"]
        for asked in aws.script.asked("GetMetricData")
        for query in asked["MetricDataQueries"]
    ]
    found = set()
    for metric in stats:
        dimensions = {one["Name"]: one["Value"] for one in metric.get("Dimensions", ())}
        place = dimensions.get("TableName"), dimensions.get("GlobalSecondaryIndexName")
        found.add((metric["MetricName"], *place))
    return found


async def test_tables_and_indexes_without_contributor_insights_are_told_once_they_are_known() -> None:
    polls = opened(Aws(), "table-catalog", "contributor-insights")
    catalog, insights = (poll.source for poll in polls)
    assert (await insights.collect(WINDOW)).gaps == ()
    await catalog.collect(WINDOW)
    later = Window(NOW + 3_600_000, NOW + 4_500_000)
    told = {(gap.table, gap.index) for gap in (await insights.collect(later)).gaps if gap.reason == "not-enabled"}
    assert told == {("cases", None), ("cases", "by-day"), ("cases", "new")}


async def test_without_a_catalog_no_table_is_missed() -> None:
    aws = Aws(
        ListMetrics={
            "Metrics": [
                {"MetricName": "ConsumedReadCapacityUnits", "Dimensions": [{"Name": "TableName", "Value": "orders"}]}
            ]
        }
    )
    metrics, insights = (poll.source for poll in opened(aws, "cloudwatch-metrics", "contributor-insights"))
    await metrics.collect(WINDOW)
    assert ("ConsumedReadCapacityUnits", "orders", None) in asked_series(aws)
    assert (await insights.collect(WINDOW)).gaps == ()


THROTTLED = ThrottledError("DescribeTable: ThrottlingException", hint="look less often")


@pytest.mark.parametrize("failing", ["DescribeTable", "ListTables"])
async def test_what_was_described_stays_known_while_the_catalog_fails(failing: str) -> None:
    aws = Aws(**{name: [EMPTY[name], THROTTLED] for name in {failing, "DescribeTable"}})
    catalog, metrics = (poll.source for poll in opened(aws, "table-catalog", "cloudwatch-metrics"))
    await catalog.collect(WINDOW)
    assert (await catalog.collect(WINDOW)).tables == ()
    await metrics.collect(WINDOW)
    assert ("ConsumedReadCapacityUnits", "cases", None) in asked_series(aws)


async def test_of_many_tables_the_one_that_could_not_be_described_now_is_asked_for_too() -> None:
    asked = 0

    def describe(params: dict[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        if asked > 2 and params["TableName"] == "cases":
            raise THROTTLED
        return {"Table": {**TABLE, "TableName": params["TableName"]}}

    aws = Aws(ListTables={"TableNames": ["cases", "orders"]}, DescribeTable=describe)
    catalog, metrics = (poll.source for poll in opened(aws, "table-catalog", "cloudwatch-metrics"))
    await catalog.collect(WINDOW)
    assert [one.table.name for one in (await catalog.collect(WINDOW)).tables] == ["orders"]
    await metrics.collect(WINDOW)
    assert {"cases", "orders"} <= {table for _, table, _ in asked_series(aws)}


async def test_a_table_that_was_deleted_is_asked_for_no_more_be_it_the_last() -> None:
    aws = Aws(DescribeTable=[{"Table": TABLE}, absent({})])
    catalog, metrics = (poll.source for poll in opened(aws, "table-catalog", "cloudwatch-metrics"))
    await catalog.collect(WINDOW)
    await catalog.collect(WINDOW)
    await metrics.collect(WINDOW)
    assert {table for _, table, _ in asked_series(aws)} == {None}


async def test_a_check_of_the_catalog_is_the_catalog_s() -> None:
    (poll,) = opened(Aws(), "table-catalog")
    assert any(check.name == "table-catalog: DescribeTable" for check in await poll.source.check())
    assert poll.source.name is SourceName.TABLE_CATALOG


def test_a_canary_is_polled_where_its_indexes_are() -> None:
    canary = {"indexes": [{"table": "cases", "index": "by-day", "region": "eu-west-1"}], "every": "10m"}
    there = Aws(HERE, Place(None, "eu-west-1"))
    (poll,) = opened(there, canary=canary)
    assert (poll.source.name, poll.region, poll.every_ms) == ("canary", "eu-west-1", 600_000)
