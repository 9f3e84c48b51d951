"""One daemon, two accounts and two regions: each is read by its own means, and one that fails delays no other."""

from __future__ import annotations

import json
import urllib.error
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.e2e.conftest import Daemon, now_ms, wait_until
from tests.support.emulator import ACCOUNT, LocalAws

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINUTE_MS = 60_000
OTHER = "111122223333"
ROLE = f"arn:aws:iam::{OTHER}:role/dynascope"
SECRET = "a-secret-of-both-sides"
KEY_RANGE = "TableWriteKeyRangeThroughputExceeded"


def create_elsewhere(aws: LocalAws, table: str) -> None:
    """Create a table in the other account, by its role."""
    given = aws.client("sts").assume_role(RoleArn=ROLE, RoleSessionName="tests", ExternalId=SECRET)["Credentials"]
    client = boto3.client(
        "dynamodb",
        endpoint_url=aws.url,
        region_name="us-east-1",
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
    client.create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.close()


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    """A table that is refused in each of three places, all of it some minutes ago."""
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("orders", region="us-east-1")
    emulator.create_table("orders", region="eu-west-1")
    create_elsewhere(emulator, "orders")
    begin = (now_ms() // MINUTE_MS - 12) * MINUTE_MS
    told = {"table": "orders", "at": begin, "minutes": 10, "key": "A", "operation": "PutItem"}
    refused = {**told, "writes": 59_000, "requests": 59_000, "throttles": 5000, "reasons": [KEY_RANGE]}
    emulator.plant_all([refused, {**refused, "region": "eu-west-1"}, {**refused, "account": OTHER}])
    return emulator


@contextmanager
def started(folder: Path, aws: LocalAws) -> Iterator[Daemon]:
    one = Daemon(folder)
    accounts = [{"regions": ["us-east-1", "eu-west-1"]}, {"account": OTHER, "role": ROLE, "external_id": SECRET}]
    one.configure(
        request_log={},
        contract=[],
        window="5m",
        aws={
            "collect": ["table-catalog", "cloudwatch-metrics"],
            "endpoint_url": aws.url,
            "regions": ["us-east-1"],
            "accounts": accounts,
        },
        cloudwatch_metrics={"delay": "0s", "baselines": False},
    )
    one.start()
    try:
        one.listening()
        yield one
    finally:
        one.kill()


def report(daemon: Daemon) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(daemon.get("/api/v1/report"))
    except urllib.error.HTTPError:  # before the first judgement
        return {"findings": [], "gaps": []}
    return told


def places(daemon: Daemon) -> set[tuple[str, str]]:
    """Return where throttling was found."""
    found = report(daemon)["findings"]
    return {(one["account"], one["region"]) for one in found if one["detector"] == "throttling"}


HERE, THERE, ELSEWHERE = (ACCOUNT, "us-east-1"), (ACCOUNT, "eu-west-1"), (OTHER, "us-east-1")


def test_each_place_is_found_with_its_account_and_region(tmp_path: Path, aws: LocalAws) -> None:
    with started(tmp_path, aws) as daemon:
        wait_until(lambda: places(daemon) == {HERE, THERE, ELSEWHERE}, "all three are found")
        assert daemon.sum("dynascope_source_up") == 2
        assert aws.calls()["sts", "AssumeRole"] == 2  # the test's own, and one for all calls


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        ({"kind": "denied", "region": "eu-west-1"}, THERE),
        ({"kind": "timeout", "region": "eu-west-1", "seconds": 60}, THERE),
        ({"kind": "denied", "service": "sts", "operation": "AssumeRole", "contains": SECRET}, ELSEWHERE),
        ({"kind": "throttled", "account": OTHER}, ELSEWHERE),
    ],
    ids=[
        "a region is denied",
        "a region never answers",
        "a role is refused, by its external id",
        "an account throttles",
    ],
)
def test_a_place_that_fails_delays_no_other(
    tmp_path: Path, aws: LocalAws, fault: dict[str, Any], broken: tuple[str, str]
) -> None:
    aws.fault(**fault)
    with started(tmp_path, aws) as daemon:
        wait_until(lambda: places(daemon) == {HERE, THERE, ELSEWHERE} - {broken}, "the others are found")
        assert daemon.sum("dynascope_source_up") == 0  # as bad as its worst place
        if fault["kind"] == "denied":
            wait_until(lambda: any(gap["reason"] == "denied" for gap in report(daemon)["gaps"]), "the gap is told")


def test_one_name_is_seen_in_one_region_and_told_blind_in_another(tmp_path: Path, aws: LocalAws) -> None:
    aws.fault(kind="denied", service="monitoring", region="eu-west-1")
    with started(tmp_path, aws) as daemon:
        wait_until(lambda: places(daemon) == {HERE, ELSEWHERE}, "the others are found")
        wait_until(lambda: blind(daemon) == {THERE}, "the one that is denied is told")
        told = report(daemon)
    assert {(gap["account"], gap["region"]) for gap in told["gaps"] if gap["reason"] == "denied"} == {THERE}
    skipped = {(one["account"], one["region"]) for one in told["skipped"] if "METRICS" in one["needs"]}
    assert skipped == {THERE}


def blind(daemon: Daemon) -> set[tuple[str, str]]:
    """Return where the metrics of the one table name were not seen."""
    sight = report(daemon).get("sight", [])
    states = [one for one in sight if one["capability"] == "METRICS" and one["state"] != "seen"]
    return {(one["account"], one["region"]) for one in states}
