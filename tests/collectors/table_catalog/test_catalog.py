from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import DeniedError, MalformedError
from analyzer.model.sight import GapReason, SourceName
from analyzer.model.table import Provisioning, TimeToLive
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.asking import Spot
from collectors.table_catalog.collector import TableCatalog
from collectors.table_catalog.config import TableCatalogConfig
from tests.support.faults import FAULTS
from tests.support.scripted_aws import ScriptedAws, absent

if TYPE_CHECKING:
    from analyzer.model.batch import Batch

FIVE_MINUTES = 300_000
DAY = 86_400_000
WINDOW = Window(DAY * 100, DAY * 100 + FIVE_MINUTES)
LATER = Window(WINDOW.end, WINDOW.end + FIVE_MINUTES)
SPOT = Spot("us-east-1", "111122223333")
READ = "dynamodb:table:ReadCapacityUnits"


def described(asked: dict[str, Any], read_units: int = 10) -> dict[str, Any]:
    name = asked["TableName"]
    return {
        "Table": {
            "TableName": name,
            "TableArn": f"arn:aws:dynamodb:us-east-1:111122223333:table/{name}",
            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
            "ProvisionedThroughput": {"ReadCapacityUnits": read_units, "WriteCapacityUnits": 5},
        }
    }


def activity(at_ms: int, units: int = 50, table: str = "cases") -> dict[str, Any]:
    return {
        "ResourceId": f"table/{table}",
        "ScalableDimension": READ,
        "StartTime": datetime.fromtimestamp(at_ms / 1000, tz=UTC),
        "StatusCode": "Successful",
        "Description": f"Setting read capacity units to {units}.",
    }


def bounds(table: str = "cases", maximum: int = 100) -> dict[str, Any]:
    return {"ResourceId": f"table/{table}", "ScalableDimension": READ, "MinCapacity": 1, "MaxCapacity": maximum}


def healthy(**answers: Any) -> ScriptedAws:
    return ScriptedAws(
        {
            "ListTables": {"TableNames": ["cases", "orders"]},
            "DescribeTable": described,
            "DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
            "ListTagsOfResource": {"Tags": []},
            "DescribeScalableTargets": {"ScalableTargets": [bounds()]},
            "DescribeScalingPolicies": {"ScalingPolicies": []},
            "DescribeScheduledActions": {"ScheduledActions": []},
            "DescribeScalingActivities": {"ScalingActivities": []},
            "DescribeLimits": {"AccountMaxReadCapacityUnits": 80000, "TableMaxReadCapacityUnits": 40000, "Note": "x"},
            **answers,
        }
    )


async def collect(aws: ScriptedAws, window: Window = WINDOW, **config: Any) -> Batch:
    return await TableCatalog(aws, TableCatalogConfig(**config), SPOT).collect(window)


def names(batch: Batch) -> list[str]:
    return [snapshot.table.name for snapshot in batch.tables]


async def test_every_table_is_described_with_ttl_scaling_and_quotas() -> None:
    aws = healthy()
    batch = await collect(aws)
    cases, _ = batch.tables
    assert cases.target == Target("111122223333", "us-east-1", "cases")
    assert (cases.time, cases.ttl) == (WINDOW.end, TimeToLive("DISABLED"))
    assert cases.table.provisioning == Provisioning(read_units=10, write_units=5)
    assert [(one.target, one.minimum, one.maximum) for one in batch.scaling] == [(cases.target, 1, 100)]
    assert batch.quotas == {"AccountMaxReadCapacityUnits": 80000, "TableMaxReadCapacityUnits": 40000}
    assert [(one.source, one.table) for one in batch.covers] == [
        (SourceName.TABLE_CATALOG, "cases"),
        (SourceName.TABLE_CATALOG, "orders"),
    ]
    assert (batch.gaps, batch.changes, aws.places) == ((), (), {("us-east-1", "111122223333")})


async def test_where_there_is_no_table_everything_was_looked_at() -> None:
    batch = await collect(healthy(ListTables={"TableNames": []}))
    assert [(one.window, one.table) for one in batch.covers] == [(WINDOW, None)]


async def test_names_decide_which_tables_are_seen() -> None:
    batch = await collect(healthy(), include=("*s",), exclude=("ord*",))
    assert names(batch) == ["cases"]


async def test_exact_names_need_no_listing() -> None:
    aws = healthy()
    assert names(await collect(aws, include=("cases",))) == ["cases"]
    assert "ListTables" not in aws.operations()


def tagged(asked: dict[str, Any]) -> dict[str, Any]:
    is_orders = asked["ResourceArn"].endswith("/orders")
    return {"Tags": [{"Key": "stage", "Value": "production"}] if is_orders else []}


async def test_tags_decide_which_tables_are_seen_where_somebody_asks_for_them() -> None:
    assert names(await collect(healthy(ListTagsOfResource=tagged), tags={"stage": "prod*"})) == ["orders"]
    assert names(await collect(healthy(ListTagsOfResource=tagged), exclude_tags={"stage": "*"})) == ["cases"]
    batch = await collect(healthy(ListTagsOfResource=tagged), with_tags=True)
    assert [one.tags for one in batch.tables] == [{}, {"stage": "production"}]


async def test_tags_are_not_read_where_nobody_needs_them_and_else_once_an_hour() -> None:
    aws = healthy()
    assert names(await collect(aws)) == ["cases", "orders"]
    assert "ListTagsOfResource" not in aws.operations()
    catalog = TableCatalog(aws, TableCatalogConfig(with_tags=True), SPOT)
    for window in (WINDOW, LATER, Window(LATER.end, LATER.end + 3_600_000)):
        await catalog.collect(window)
    assert aws.operations().count("ListTagsOfResource") == 4


async def test_a_table_whose_tags_cannot_be_read_is_seen_and_told() -> None:
    batch = await collect(healthy(ListTagsOfResource=DeniedError("denied", hint="grant it")), tags={"stage": "x"})
    assert names(batch) == ["cases", "orders"]
    assert [(gap.reason, gap.table) for gap in batch.gaps] == [
        (GapReason.DENIED, "cases"),
        (GapReason.DENIED, "orders"),
    ]


async def test_a_table_deleted_meanwhile_is_gone_and_one_that_was_named_is_missed() -> None:
    def gone(asked: dict[str, Any]) -> Any:
        return absent(asked) if asked["TableName"] == "orders" else described(asked)

    batch = await collect(healthy(DescribeTable=gone))
    assert (names(batch), batch.gaps) == (["cases"], ())
    batch = await collect(healthy(DescribeTable=gone), include=("cases", "orders"))
    assert [(gap.reason, gap.table) for gap in batch.gaps] == [(GapReason.NOT_ENABLED, "orders")]


# changes


async def test_what_differs_from_the_last_poll_is_a_change_for_a_day() -> None:
    aws = healthy(DescribeTable=lambda asked: described(asked, 10))
    catalog = TableCatalog(aws, TableCatalogConfig(include=("cases",)), SPOT)
    assert (await catalog.collect(WINDOW)).changes == ()
    aws.answers["DescribeTable"] = lambda asked: described(asked, 500)
    aws.answers["DescribeScalableTargets"] = {"ScalableTargets": [bounds(maximum=900)]}
    told = [(LATER.end, "capacity", "read units 10 → 500")]
    told.append((LATER.end, "scaling", "autoscaling of reads: 1 to 100 units → 1 to 900 units"))
    for window in (LATER, Window(LATER.end, LATER.end + FIVE_MINUTES)):
        changes = (await catalog.collect(window)).changes
        assert [(change.time, change.what, change.detail) for change in changes] == told
    assert (await catalog.collect(Window(LATER.end + 2 * DAY, LATER.end + 2 * DAY + 1))).changes == ()


async def test_a_table_that_comes_back_after_it_was_deleted_is_another_one() -> None:
    def table(read_units: int) -> Any:
        return lambda asked: described(asked, read_units)

    aws = healthy(ListTables=[{"TableNames": names} for names in (["cases"], [], ["cases"])])
    aws.answers["DescribeTable"] = [table(10), table(99)]
    catalog = TableCatalog(aws, TableCatalogConfig(), SPOT)
    for number in range(3):
        at = WINDOW.end + number * FIVE_MINUTES
        batch = await catalog.collect(Window(at - FIVE_MINUTES, at))
    assert (names(batch), batch.changes) == (["cases"], ())
    assert catalog.unknown == frozenset()


async def test_what_was_not_told_once_stays_known() -> None:
    aws = healthy()
    catalog = TableCatalog(aws, TableCatalogConfig(include=("cases",)), SPOT)
    await catalog.collect(WINDOW)
    good = aws.answers["DescribeTimeToLive"]
    aws.answers["DescribeTimeToLive"] = DeniedError("denied", hint="grant it")
    aws.answers["DescribeScalableTargets"] = DeniedError("denied", hint="grant it")
    batch = await catalog.collect(LATER)
    assert (batch.tables[0].ttl, batch.scaling, batch.changes, len(batch.gaps)) == (None, (), (), 2)
    aws.answers["DescribeTimeToLive"] = good
    aws.answers["DescribeScalableTargets"] = {"ScalableTargets": [bounds()]}
    assert (await catalog.collect(Window(LATER.end, LATER.end + 1))).changes == ()


async def test_what_autoscaling_did_within_a_day_is_told_and_older_pages_are_not_asked_for() -> None:
    recent, old = activity(WINDOW.end - 60_000), activity(WINDOW.start - 2 * DAY)
    pages = [
        {"ScalingActivities": [recent, activity(WINDOW.end, table="unknown")], "NextToken": "a"},
        {"ScalingActivities": [recent, old], "NextToken": "b"},
        DeniedError("not to be asked", hint=""),
    ]
    aws = healthy(DescribeScalingActivities=pages)
    batch = await collect(aws)
    assert [change.detail for change in batch.changes] == ["read capacity to 50"]
    assert [one.start for one in batch.scaling[0].activities] == [WINDOW.end - 60_000]
    assert batch.gaps == ()


async def test_a_history_without_end_is_cut_and_told() -> None:
    token = iter(range(100))

    def page(_: Any) -> dict[str, Any]:
        return {"ScalingActivities": [activity(WINDOW.end)], "NextToken": str(next(token))}

    (gap,) = (await collect(healthy(DescribeScalingActivities=page))).gaps
    assert (gap.reason, gap.detail) == (GapReason.LOW_COVERAGE, "DescribeScalingActivities: more than 40 pages")


async def test_an_activity_in_seconds_or_without_time_stops_nothing() -> None:
    row = activity(WINDOW.end)
    pages = [
        {"ScalingActivities": [], "NextToken": "a"},
        {"ScalingActivities": [{**row, "StartTime": WINDOW.end / 1000}]},
    ]
    batch = await collect(healthy(DescribeScalingActivities=pages))
    assert len(batch.changes) == 1


# what fails

TABLE_CALLS = ["DescribeTable", "DescribeTimeToLive"]
SCALING_CALLS = [
    "DescribeScalableTargets",
    "DescribeScalingPolicies",
    "DescribeScheduledActions",
    "DescribeScalingActivities",
]


@pytest.mark.parametrize("operation", ["ListTables", *TABLE_CALLS, *SCALING_CALLS])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_is_a_gap_and_the_next_poll_recovers(operation: str, fault: str) -> None:
    answer, reason = FAULTS[fault]
    aws = healthy()
    good, aws.answers[operation] = aws.answers[operation], answer
    catalog = TableCatalog(aws, TableCatalogConfig(), SPOT)
    batch = await catalog.collect(WINDOW)
    assert {gap.reason for gap in batch.gaps} == {reason}
    assert all(gap.source is SourceName.TABLE_CATALOG and gap.hint for gap in batch.gaps)
    assert all((gap.start, gap.end) == (WINDOW.start, WINDOW.end) for gap in batch.gaps)
    assert {gap.table for gap in batch.gaps} == ({"cases", "orders"} if operation in TABLE_CALLS else {None})
    aws.answers[operation] = good
    batch = await catalog.collect(LATER)
    assert (batch.gaps, names(batch), len(batch.scaling)) == ((), ["cases", "orders"], 1)
    assert batch.changes == ()


async def test_quotas_that_cannot_be_read_are_a_gap() -> None:
    (gap,) = (await collect(healthy(DescribeLimits=DeniedError("denied", hint="grant it")))).gaps
    assert (gap.reason, gap.table) == (GapReason.DENIED, None)


async def test_quotas_are_asked_for_once_an_hour() -> None:
    aws = healthy()
    catalog = TableCatalog(aws, TableCatalogConfig(), SPOT)
    quotas = [(await catalog.collect(window)).quotas for window in (WINDOW, LATER)]
    assert quotas[0] == quotas[1] != {}
    await catalog.collect(Window(LATER.end, WINDOW.end + 3_600_000))
    assert aws.operations().count("DescribeLimits") == 2


async def test_an_answer_that_is_not_as_documented_is_malformed() -> None:
    (gap,) = (await collect(healthy(DescribeTable={"Table": {"TableName": 3}}), include=("cases",))).gaps
    assert (gap.reason, gap.detail) == (GapReason.MALFORMED, "DescribeTable: the answer is not as AWS documents it")
    (gap,) = (await collect(healthy(DescribeScalableTargets={"ScalableTargets": [{}]}))).gaps
    assert gap.detail == "ScalableTargets: a row cannot be read"


async def test_of_a_listing_that_breaks_off_the_known_tables_are_described_too() -> None:
    aws = healthy()
    catalog = TableCatalog(aws, TableCatalogConfig(), SPOT)
    await catalog.collect(WINDOW)
    broken = MalformedError("broken", hint="it is asked again")
    aws.answers["ListTables"] = [{"TableNames": ["cases"], "LastEvaluatedTableName": "cases"}, broken]
    batch = await catalog.collect(LATER)
    assert (names(batch), [gap.detail for gap in batch.gaps]) == (["cases", "orders"], ["broken"])


async def test_a_page_that_comes_twice_names_no_table_twice() -> None:
    page = {"TableNames": ["cases"], "LastEvaluatedTableName": "cases"}
    aws = healthy(ListTables=[page, {"TableNames": ["cases", "orders"]}])
    assert names(await collect(aws)) == ["cases", "orders"]
    assert aws.asked("ListTables")[1] == {"ExclusiveStartTableName": "cases"}


async def test_a_failure_of_all_tables_is_told_once() -> None:
    aws = healthy(
        ListTables={"TableNames": [f"t{number}" for number in range(30)]},
        DescribeTable=DeniedError("DescribeTable: denied", hint="grant dynamodb:DescribeTable"),
    )
    (gap,) = (await collect(aws)).gaps
    assert gap.detail == "DescribeTable: denied: t0, t1, t2 and 27 more"


# for doctor


async def test_doctor_tries_every_operation() -> None:
    checks = await TableCatalog(healthy(), TableCatalogConfig(), SPOT).check()
    assert {check.state for check in checks} == {"ok"}
    assert [check.name.removeprefix("table-catalog: ") for check in checks] == [
        "ListTables",
        *TABLE_CALLS,
        *SCALING_CALLS,
        "DescribeLimits",
    ]
    assert checks[0].message == "sees 2 tables"


async def test_doctor_says_what_is_missing_and_what_could_not_be_tried() -> None:
    checks = await TableCatalog(healthy(ListTables={"TableNames": []}), TableCatalogConfig(), SPOT).check()
    assert [check.state for check in checks[:2]] == ["ok", "unchecked"]
    denied = healthy(ListTables=DeniedError("denied", hint="grant dynamodb:ListTables"))
    first, second, *_ = await TableCatalog(denied, TableCatalogConfig(), SPOT).check()
    assert (first.state, first.hint, second.name) == (
        "error",
        "grant dynamodb:ListTables",
        "table-catalog: DescribeScalableTargets",
    )


# many tables


async def test_five_hundred_tables_take_two_calls_each_a_few_at_once() -> None:
    pages = [
        {"TableNames": [f"t{page}-{number}" for number in range(100)], "LastEvaluatedTableName": f"t{page}"}
        for page in range(5)
    ]
    del pages[-1]["LastEvaluatedTableName"]
    now, most = 0, 0

    async def slow(asked: dict[str, Any]) -> dict[str, Any]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return described(asked)

    aws = healthy(ListTables=pages, DescribeTable=slow)
    batch = await collect(aws)
    assert (len(batch.tables), batch.gaps, most) == (500, (), 4)
    counted = Counter(aws.operations())
    assert (counted["ListTables"], counted["DescribeTable"], counted["DescribeTimeToLive"]) == (5, 500, 500)
    assert sum(counted.values()) == 1005 + len(SCALING_CALLS) + 1
