"""The emulator's faults by script, as collectors meet them: the right gap, nothing lost, and recovery."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from collectors.changes.collector import Changes
from collectors.changes.config import ChangesConfig
from collectors.contributor_insights.collector import ContributorInsights
from collectors.contributor_insights.config import ContributorInsightsConfig
from collectors.table_catalog.collector import TableCatalog
from collectors.table_catalog.config import TableCatalogConfig
from tests.collectors.emulated.conftest import SPOT, WIRE_FAULTS

if TYPE_CHECKING:
    from analyzer.interfaces import Source
    from analyzer.model.batch import Batch
    from collectors.aws.session import Aws
    from tests.support.emulator import LocalAws

MINUTE = 60_000
NOW = time.time_ns() // 1_000_000 // MINUTE * MINUTE
WINDOW = Window(NOW - 5 * MINUTE, NOW)
NEXT = Window(NOW, NOW + MINUTE)

PLACES = [
    ("dynamodb", "DescribeTable"),
    ("monitoring", "GetInsightRuleReport"),
    ("cloudtrail", "LookupEvents"),
]
"""One for each way in which services speak; every operation has its row in tests/collectors/test_fault_matrix.py."""
OF = {
    "GetInsightRuleReport": "insights",
    "LookupEvents": "changes",
}


@pytest.fixture
def local(emulator: LocalAws) -> LocalAws:
    emulator.create_table("cases", sort="SK", provisioned=(50, 10))
    emulator.watch("cases")
    emulator.plant("cases", at=NOW - 4 * MINUTE, minutes=3, key="CASE#1", sort="META", reads=600, requests=300)
    bounds = {
        "ServiceNamespace": "dynamodb",
        "ResourceId": "table/cases",
        "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
        "MinCapacity": 5,
        "MaxCapacity": 500,
    }
    emulator.plant_scaling("ScalableTargets", [bounds])
    emulator.plant_event("DeleteTable", at=NOW - 3 * MINUTE, parameters={"TableName": "old"}, user="ada")
    emulator.limit("cloudtrail", "LookupEvents", None)
    return emulator


def source(kind: str, aws: Aws) -> Source:
    if kind == "insights":
        config = ContributorInsightsConfig(delay_ms=0)
        return ContributorInsights(
            aws, config, lambda _, __, value: f"~{len(value)}", SPOT, clock=lambda: NEXT.end + MINUTE
        )
    if kind == "changes":
        return Changes(aws, ChangesConfig(), SPOT)
    return TableCatalog(aws, TableCatalogConfig(), SPOT)


def seen(batch: Batch) -> tuple[int, ...]:
    """How much a batch holds of each kind: the same again means that nothing was lost."""
    keys = sum(bool(series.keys) for series in batch.insights)
    return len(batch.tables), len(batch.scaling), keys, len(batch.changes)


CASES = [
    (fault, service, operation)
    for fault in WIRE_FAULTS
    for service, operation in PLACES
    if fault != "timeout" or operation == "DescribeTable"  # it takes long
]


@pytest.mark.parametrize(("fault", "service", "operation"), CASES)
async def test_a_fault_is_a_gap_and_the_next_window_recovers(
    local: LocalAws, aws: Aws, fault: str, service: str, operation: str
) -> None:
    kind = OF.get(operation, "catalog")
    healthy = await source(kind, aws).collect(WINDOW)
    assert healthy.gaps == ()
    one = source(kind, aws)
    local.fault(fault, service=service, operation=operation, seconds=6)
    batch = await one.collect(WINDOW)
    wanted = {WIRE_FAULTS[fault]} if WIRE_FAULTS[fault] else {GapReason.TIMEOUT, GapReason.MALFORMED}
    assert {gap.reason for gap in batch.gaps} <= wanted
    assert batch.gaps
    assert all(gap.hint for gap in batch.gaps)
    local.forgive()
    recovered = await one.collect(NEXT)
    assert recovered.gaps == ()
    assert seen(recovered)[:3] == seen(healthy)[:3]
    assert set(healthy.changes) <= set(recovered.changes)


@pytest.mark.parametrize("kind", ["partial", "duplicate"])
async def test_of_events_in_pages_none_is_lost_or_doubled(local: LocalAws, aws: Aws, kind: str) -> None:
    for number in range(120):
        local.plant_event("DeleteTable", at=NOW - number * 1000, parameters={"TableName": f"t{number}"})
    local.fault(kind, service="cloudtrail", operation="LookupEvents", times=1)
    one = source("changes", aws)
    await one.collect(WINDOW)
    batch = await one.collect(NEXT)
    assert len(batch.changes) == len(set(batch.changes)) == 121


async def test_what_comes_ten_minutes_late_is_found(local: LocalAws, aws: Aws) -> None:
    local.settings(insights_delay_seconds=600, trail_delay_seconds=600)
    insights, changes = source("insights", aws), source("changes", aws)
    early = [await one.collect(WINDOW) for one in (insights, changes)]
    assert [seen(batch) for batch in early] == [(0, 0, 0, 0), (0, 0, 0, 0)]
    local.settings(insights_delay_seconds=0, trail_delay_seconds=0)
    later = [await one.collect(NEXT) for one in (insights, changes)]
    assert [seen(batch)[2:] for batch in later] == [(2, 0), (0, 1)]


async def test_keys_of_the_report_are_concealed_and_have_their_units(local: LocalAws, aws: Aws) -> None:
    batch = await source("insights", aws).collect(WINDOW)
    told = {series.rule: (series.keys, series.values) for series in batch.insights if series.keys}
    assert told == {"PKC": (("~6",), (600.0,) * 3), "SKC": (("~6", "~4"), (600.0,) * 3)}
    assert {series.rule for series in batch.insights} == {"PKC", "SKC", "PKT", "SKT"}


async def test_the_trail_tells_who_did_what(local: LocalAws, aws: Aws) -> None:
    (change,) = (await source("changes", aws).collect(WINDOW)).changes
    assert (change.what, change.table, change.who) == ("table-deleted", "old", "ada")


async def test_doctor_finds_all_of_them_well(local: LocalAws, aws: Aws) -> None:
    for kind in ("catalog", "insights", "changes"):
        assert {check.state for check in await source(kind, aws).check()} == {"ok"}, kind
