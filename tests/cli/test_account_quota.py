from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.main import execute
from analyzer.model.instant import format_instant
from collectors.aws import rates
from tests.support.incidents import MINUTE_MS, Night

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.emulator import LocalAws

CODE = "RequestLimitExceeded"
SAID = "Throughput exceeds the current throughput limit for your account."
RAISED = f"An error occurred ({CODE}) when calling the GetItem operation: {SAID}"
START = 1_780_304_400
CALLS = 40


def native(at: str, **fields: Any) -> dict[str, Any]:
    return {"v": 1, "time": at, "op": "GetItem", "table": "orders", "key": {"PK": {"S": f"o{at}"}}, **fields}


def sdk(at: str) -> dict[str, Any]:
    told = {"clientName": "DynamoDBClient", "commandName": "GetItemCommand", "time": at}
    return told | {"input": {"TableName": "orders", "Key": {"pk": at}}, "error": {"name": CODE, "message": SAID}}


def trail(at: str) -> dict[str, Any]:
    told = {"eventSource": "dynamodb.amazonaws.com", "eventName": "GetItem", "eventTime": at, "requestID": at}
    asked = {"tableName": "orders", "key": {"pk": at}}
    return told | {"errorCode": CODE, "errorMessage": SAID, "requestParameters": asked, "eventCategory": "Data"}


def span(at: str, raised: str, message: str) -> dict[str, Any]:
    seen = {"rpc.service": "DynamoDB", "db.system": "dynamodb", "db.operation": "GetItem", "http.status_code": 400}
    error = {"exception.type": raised, "exception.message": message}
    return {
        "name": "DynamoDB.GetItem",
        "kind": "SpanKind.CLIENT",
        "context": {"trace_id": "0x1", "span_id": at},
        "start_time": at,
        "end_time": at,
        "status": {"status_code": "ERROR"},
        "attributes": seen | {"aws.dynamodb.table_names": ["orders"]},
        "events": [{"name": "exception", "timestamp": at, "attributes": error}],
    }


def segment(at: str) -> dict[str, Any]:
    moment = datetime.fromisoformat(at).timestamp()
    cause = {"exceptions": [{"type": "ClientError", "message": RAISED}]}
    told = {"id": f"{int(moment):016x}", "name": "dynamodb", "start_time": moment, "end_time": moment + 0.1}
    asked = {"operation": "GetItem", "table_name": "orders", "region": "us-east-1"}
    return told | {"namespace": "aws", "type": "subsegment", "throttle": True, "cause": cause, "aws": asked}


SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "native, the code alone": lambda at: native(at, error=CODE),
    "native, its tries": lambda at: native(at, attempts=2, tries=[{"code": CODE}]),
    "native, a statement": lambda at: native(at, error={"code": "BatchError", "cancellation": [None, CODE]}),
    "aws-sdk-js": sdk,
    "cloudtrail": trail,
    "opentelemetry, Python": lambda at: span(at, "botocore.exceptions.ClientError", RAISED),
    "opentelemetry, Java": lambda at: span(at, f"software.amazon.awssdk.model.{CODE}Exception", SAID),
    "xray": segment,
}


def throttled(told: str) -> dict[str, Any]:
    (found,) = [one for one in json.loads(told)["findings"] if one["detector"] == "throttling"]
    return dict(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_code_names_the_account_s_quota_in_a_log_of_every_shape(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "requests.jsonl"
    times = [datetime.fromtimestamp(START + n, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for n in range(CALLS)]
    log.write_text("".join(json.dumps(SHAPES[shape](at)) + "\n" for at in times), "utf-8")
    execute(["analyze", str(log), "--format", "json"])
    found = throttled(capsys.readouterr().out)
    assert (found["cause"], found["confidence"]) == ("account-limit", "likely")
    assert f"({CALLS} tries" in found["summary"]
    assert "by the account's quota of its region" in found["summary"]
    assert [one["action"] for one in found["advice"]] == ["back-off", "raise-account-quota"]


def test_diagnose_names_the_quota_by_the_metrics_of_now_and_by_a_log_that_tells_the_code_alone(
    emulator: LocalAws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)
    emulator.limit("cloudtrail", "LookupEvents", None)
    night = Night(emulator).table("orders").usual("orders", "GetItem", requests=5000)
    refused: dict[str, Any] = {"throttles": 8000, "reasons": ["TableReadAccountLimitExceeded"]}
    night.now("orders", "GetItem", requests=25_000, **refused).done()
    assert execute(["diagnose", "orders"]) == 0
    by_metrics = " ".join(capsys.readouterr().out.split())
    assert "by the account's limit for one table" in by_metrics
    log = tmp_path / "requests.jsonl"
    times = [format_instant(night.end - 8 * MINUTE_MS + n * 200) for n in range(500)]
    here = {"region": "us-east-1", "account": "123456789012", "error": CODE, "caller": "shop"}
    log.write_text("".join(json.dumps(native(at, **here)) + "\n" for at in times), "utf-8")
    assert execute(["diagnose", "orders", "--log", str(log)]) == 0
    by_log = " ".join(capsys.readouterr().out.split())
    assert "by the account's quota of its region, mostly those of shop" in by_log
    for told in (by_metrics, by_log):
        assert "raise-account-quota" in told
        assert "raise-capacity" not in told
