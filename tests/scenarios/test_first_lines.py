"""Each row of the table in docs/diagnose.md: what the metrics of a night show, and the first line that they allow."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute
from analyzer.render.diagnosis_text import MOST_LINES
from collectors.aws import rates
from tests.support.incidents import MINUTE_MS, WRITE_KEY_RANGE, WRITES_PROVISIONED, Night

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

INDEX_WRITES = "IndexWriteProvisionedThroughputExceeded"
KEY = "TENANT#canary-51c0"


class Said:
    """What the command said, as text and as JSON."""

    def __init__(self, text: str, code: int, told: dict[str, Any]) -> None:
        self.text, self.code, self.told = text, code, told

    @property
    def first(self) -> str:
        return str(self.told["verdict"]["text"])

    @property
    def kind(self) -> str:
        return str(self.told["diagnosis"]["kind"])

    @property
    def steps(self) -> dict[str, str | None]:
        return {step["action"]: step["command"] for step in self.told["diagnosis"]["steps"]}


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)  # nobody waits for a test
    emulator.limit("cloudtrail", "LookupEvents", None)
    return emulator


@pytest.fixture
def night(aws: LocalAws) -> Night:
    return Night(aws)


@pytest.fixture
def diagnose(aws: LocalAws, capsys: pytest.CaptureFixture[str]) -> Any:
    def ask(*arguments: str) -> Said:
        code = execute(["diagnose", *arguments])
        text = capsys.readouterr().out
        assert execute(["diagnose", *arguments, "--format", "json"]) == code
        said = Said(text, code, json.loads(capsys.readouterr().out))
        assert len(text.splitlines()) <= MOST_LINES < 30
        assert KEY not in text
        return said

    return ask


def busy(night: Night, table: str = "orders") -> Night:
    return night.usual(table, "PutItem", requests=5000).usual(table, "Query", requests=3000, items=4)


def scaled(aws: LocalAws, most: int) -> None:
    resource = {"ServiceNamespace": "dynamodb", "ResourceId": "table/orders"}
    dimension = {"ScalableDimension": "dynamodb:table:WriteCapacityUnits"}
    target = {"MinCapacity": 100, "MaxCapacity": most, "RoleARN": "arn:aws:iam::123456789012:role/scaling"}
    aws.plant_scaling("ScalableTargets", [resource | dimension | target])


def test_provisioned_capacity_is_used_up(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders", provisioned=(1000, 500)))
    scaled(aws, 500)
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITES_PROVISIONED]).done()
    said = diagnose("orders")
    assert said.first.startswith("orders: writes over provisioned 500 WCU since ")
    rise = r"; PutItem ×7\.[56] against yesterday; autoscaling at its maximum 500$"  # yesterday's minutes differ
    assert re.search(rise, said.first)
    assert (said.code, said.told["verdict"]["state"], said.told["verdict"]["confidence"]) == (0, "fault", "certain")
    command = said.steps["raise-max-capacity"]
    assert command is not None
    assert "--max-capacity 800 --region us-east-1" in command
    assert command.endswith("# changes production")
    assert "who      not known: metrics name no caller" in said.text


def test_one_key_range_and_nothing_that_shows_which(night: Night, diagnose: Any) -> None:
    busy(night.table("orders", provisioned=(5000, 5000)))
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    said = diagnose("orders")
    assert said.first.startswith("one key or range of orders is over its partition limit since ")
    assert said.first.endswith("; which key is not visible: Contributor Insights is off, no request log")
    assert not [action for action in said.steps if action.startswith(("raise-", "prewarm"))]
    assert "ContributorInsights" not in said.first
    assert "--contributor-insights-mode THROTTLED_KEYS" in (said.steps["enable-insights"] or "")
    assert said.steps["collect-longer"] == "dynascope diagnose orders --wait 5m --region us-east-1  # read-only"
    for words in ("dollars an hour", "of 100 rules are left", "First keys come", "stays empty if an index"):
        assert words in " ".join(said.text.split())
    assert not [one for one in said.told["findings"] if one["detector"] == "hot-key"]
    rows = {row["what"]: row for row in said.told["diagnosis"]["compared"]}
    assert {"PutItem requests", "units a write", "Query items returned"} <= rows.keys()


def test_contributor_insights_that_ranks_names_the_key(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders"))
    aws.watch("orders")
    refused: dict[str, Any] = {"throttles": 5000, "reasons": [WRITE_KEY_RANGE], "key": KEY, "sort": "META"}
    night.now("orders", "PutItem", requests=59_000, **refused).done()
    said = diagnose("orders", "--keys", "token")
    assert said.kind == "hot-key"
    assert said.first.startswith("PK=~")
    assert not [action for action in said.steps if action.startswith("raise-")]


def test_a_ramp_beyond_warm_throughput_or_a_hot_key(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders"))
    warm = {"ReadUnitsPerSecond": 3000, "WriteUnitsPerSecond": 400, "Status": "ACTIVE"}
    aws.describe("orders", {"WarmThroughput": warm})
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    said = diagnose("orders")
    assert said.first.startswith("orders: a ramp beyond warm throughput or a hot key since ")
    assert "metrics cannot decide" in said.first
    assert said.told["verdict"]["confidence"] == "possible"
    assert {"enable-insights", "prewarm"} <= said.steps.keys()
    assert "One key that leads the list is hot; a flat list is the ramp" in " ".join(said.text.split())


def test_an_index_refuses_the_writes_of_its_table(night: Night, diagnose: Any) -> None:
    busy(night.table("orders", indexes={"by-status": ("status", "SK")}, provisioned=(5000, 500)))
    more: dict[str, Any] = {"units": 30_000, "index": "by-status", "throttles": 4_000, "reasons": [INDEX_WRITES]}
    night.now("orders", "PutItem", requests=25_000, **more).done()
    said = diagnose("orders")
    assert said.first.startswith("writes to orders fail because of index by-status since ")
    assert "PutItem are refused" in said.first or "PutItem is refused" in said.first
    assert not [one for one in said.steps if one == "raise-capacity"]
    assert said.told["findings"][0]["index"] == "by-status"


def test_latency_rose_and_nothing_is_refused(night: Night, diagnose: Any) -> None:
    night.table("orders").usual("orders", "GetItem", requests=3000, milliseconds=5)
    night.now("orders", "GetItem", requests=90_000, milliseconds=60).done()
    said = diagnose("orders")
    assert said.kind == "latency-shift"
    assert said.first.startswith("GetItem on orders takes 60 ms at p99, 5 at this hour")
    assert said.text.startswith("MEDIUM  GetItem on orders")
    assert said.code == 0


def test_system_errors_of_all_tables_are_the_service(night: Night, aws: LocalAws, diagnose: Any) -> None:
    names = ("orders", "users", "carts", "stock")
    for name in names:
        night.table(name).usual(name, "GetItem", requests=3000)
        place = {"TableName": name, "Operation": "GetItem"}
        aws.plant_metric("SystemErrors", 1, at=night.end - 8 * MINUTE_MS, dimensions=place, minutes=8, times=40)
    night.done()
    said = diagnose()
    assert said.first.startswith("DynamoDB or the path to it fails: 4 of 4 tables since ")
    assert next(iter(said.steps)) == "check-service-health"
    assert diagnose("orders").first.startswith("DynamoDB or the path to it fails: 1 of 1 tables since ")


def test_a_quiet_table_is_clean_and_says_what_was_not_visible(night: Night, diagnose: Any) -> None:
    busy(night.table("orders")).done()
    said = diagnose("orders")
    assert said.first.startswith("clean at table level ")
    assert said.first.endswith("; keys, callers and patterns were not visible")
    assert "DynamoDB's own latency is flat" in " ".join(said.text.split())
    assert "look at client, pool, network" in " ".join(said.text.split())
    assert (said.code, said.told["verdict"]["state"]) == (0, "clean")


def test_metrics_that_are_denied_cannot_tell(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders")).done()
    aws.fault("denied", service="monitoring", operation="GetMetricData")
    said = diagnose("orders")
    assert said.first.startswith("cannot tell: GetMetricData")
    assert said.first.endswith("; grant cloudwatch:GetMetricData")
    assert (said.code, said.told["verdict"]["state"]) == (3, "cannot-tell")


def test_metrics_that_are_stale_cannot_tell(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders")).done()
    aws.settings(metrics_delay_seconds=900)
    said = diagnose("orders")
    assert said.first.startswith("cannot tell: ConsumedReadCapacityUnits: the newest point ends at ")
    assert said.code == 3


def test_a_dead_endpoint_of_dynamodb_is_the_service_or_the_path(aws: LocalAws, night: Night, diagnose: Any) -> None:
    busy(night.table("orders")).done()
    aws.fault("reset", service="dynamodb")
    said = diagnose("orders")
    assert said.first.startswith("DynamoDB or the path to it fails from here: DescribeTable")
    assert said.code == 3


@pytest.mark.parametrize(
    ("service", "permission"),
    [
        ("cloudtrail", "cloudtrail:LookupEvents"),
        ("application-autoscaling", "application-autoscaling:DescribeScalableTargets"),
        ("dynamodb", "dynamodb:DescribeTable"),
    ],
)
def test_each_denied_permission_costs_a_line_and_never_the_run(
    aws: LocalAws, night: Night, diagnose: Any, service: str, permission: str
) -> None:
    busy(night.table("orders")).done()
    aws.fault("denied", service=service)
    said = diagnose("orders")
    assert (said.code, said.told["verdict"]["state"]) == (0, "clean")
    assert f"grant {permission}" in " ".join(said.text.split()) or any(
        gap["hint"] == f"grant {permission}" for gap in said.told["gaps"]
    )
