"""Three live incidents, each told by `diagnose` from metrics alone, with Contributor Insights, and with the sampler.

A workload really drives the local AWS for some seconds, until its token buckets refuse: through a boto3 client, the
real sampler inside. Some minutes are then made of these seconds, metrics, keys and log alike: nothing else is made up
but the quiet days before.
"""

from __future__ import annotations

import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import boto3
import dynascope_sampler
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from analyzer.cli.main import execute
from analyzer.model.instant import format_instant, parse_instant
from collectors.aws import rates
from tests.support.incidents import MINUTE_MS, Night

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.emulator import LocalAws

THREADS = 3
WAYS = ("metrics", "insights", "sampler")
THROTTLED = {"ProvisionedThroughputExceededException", "ThrottlingException"}
HOT = "TENANT#canary-51c0"
KEYS = {"tables": [{"name": "orders", "partition_key": "PK", "sort_key": "SK"}]}
MINUTES = 4


def item(partition: str, number: int, kilobytes: int) -> dict[str, Any]:
    told = {"PK": partition, "SK": f"ORDER#{number}", "status": f"STATUS#{number % 7}", "body": "x" * kilobytes * 1024}
    return {name: {"S": value} for name, value in told.items()}


class Live:
    """The workload of some seconds, and what is made of it.

    Each demand is several times its limit, however slow the machine is, and leaves enough that is served to judge by.
    """

    def __init__(self, name: str, aws: LocalAws, folder: Path) -> None:
        self.name, self.aws, self.folder = name, aws, folder
        self.night = Night(aws, minutes=MINUTES)
        self.refused: list[str] = []
        self.salt = folder / "salt"
        self.salt.write_bytes(b"0123456789abcdef0123456789abcdef")
        self.log = folder / "requests.jsonl"

    def drive(self, make: Callable[[int], dict[str, Any]], requests: int) -> None:
        """Put items, each thread as fast as it is answered, nothing tried twice."""
        began = time.time()
        sink = self.folder / "live.jsonl"
        client = boto3.client("dynamodb", config=Config(retries={"max_attempts": 0}), **self.aws.aio_arguments())
        sampler = dynascope_sampler.instrument(
            client,
            sink=str(sink),
            keys="token",
            salt=self.salt.read_bytes,
            schema=KEYS,
            capacity=True,
            caller="importer",
        )

        def put(first: int) -> None:
            for number in range(first, requests, THREADS):
                try:
                    client.put_item(TableName="orders", Item=make(number))
                except ClientError as error:
                    self.refused.append(error.response["Error"]["Code"])

        threads = [threading.Thread(target=put, args=(first,)) for first in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sampler.close()
        client.close()
        self._make(sink, began, time.time() - began)

    def _make(self, sink: Path, began: float, seconds: float) -> None:
        """Let these seconds go on for the minutes of the night."""
        first = self.night.end - self.night.minutes * MINUTE_MS
        self.aws.repeat(seconds, at=first, minutes=self.night.minutes + 2)
        self.night.usual("orders", "PutItem", requests=60).usual("orders", "Query", requests=60).done()
        lines = [json.loads(line) for line in sink.read_text().splitlines()]
        start = self.night.end - MINUTES * MINUTE_MS
        with self.log.open("w") as log:
            for turn in range(int(MINUTES * 60 / seconds)):
                shift = start + round(turn * seconds * 1000) - round(began * 1000)
                for line in lines:
                    at = {"time": format_instant(parse_instant(line["time"]) + shift)} if "time" in line else {}
                    named = {"request_id": f"{turn}-{line['request_id']}"} if "request_id" in line else {}
                    log.write(json.dumps({**line, **at, **named}) + "\n")


def hot_partition(live: Live) -> None:
    live.night.table("orders", provisioned=(5000, 5000))
    live.drive(lambda n: item(HOT, n, 250) if n % 4 else item(f"TENANT#{n}", n, 1), 120)


def index_back_pressure(live: Live) -> None:
    index = {
        "IndexName": "by-status",
        "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 20},
    }
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "status")]
    live.night.table("orders", provisioned=(5000, 5000), GlobalSecondaryIndexes=[index], AttributeDefinitions=names)
    live.drive(lambda n: item(f"TENANT#{n}", n, 10), 160)


def on_demand_ramp(live: Live) -> None:
    live.night.table("orders")
    warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 60, "Status": "ACTIVE"}
    live.aws.describe("orders", {"WarmThroughput": warm})
    live.drive(lambda n: item(f"TENANT#{n}", n, 3), 160)


INCIDENTS = {"hot partition": hot_partition, "index back-pressure": index_back_pressure, "ramp": on_demand_ramp}


@pytest.fixture(scope="module")
def aws(emulator_process: LocalAws) -> Iterator[LocalAws]:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in emulator_process.environment.items():
            patched.setenv(name, value)
        patched.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)  # nobody waits for a test
        yield emulator_process


@pytest.fixture(scope="module", params=INCIDENTS)
def live(aws: LocalAws, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Live:
    aws.reset()
    aws.limit("cloudtrail", "LookupEvents", None)
    one = Live(request.param, aws, tmp_path_factory.mktemp("live"))
    INCIDENTS[request.param](one)
    return one


@pytest.fixture
def told(live: Live, way: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `diagnose` says of an incident, with what there is to see it by."""
    if way == "insights":
        live.aws.watch("orders")
    logs = ["--log", str(live.log)] if way == "sampler" else []
    assert execute(["diagnose", "orders", "--salt-file", str(live.salt), *logs, "--format", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["verdict"]["state"] == "fault"
    assert HOT not in json.dumps(document)
    return document


HOT_PARTITION: dict[str, str] = {
    "metrics": r"one key or range of orders is over its partition limit since \d\d:\d\d; which key is not visible: .*",
    "insights": r"<id>#<id> on orders takes .* of its write ceiling in its hottest minute, [\d,]+ throttle events: .*",
    "sampler": r"<id>#<id> on orders takes .* of 1,000 write units a second .*, mostly from importer: .* key range .*",
}
BACK_PRESSURE = dict.fromkeys(
    WAYS, r"writes to orders fail because of index by-status since .*: its provisioned 20 WCU; PutItem is refused"
)
RAMP = {
    "metrics": r"orders: a ramp beyond warm throughput or a hot key since .*: metrics cannot decide; demand is ×.*",
    "insights": r"\d+% of write requests to orders were throttled \([\d,]+ throttle events, most of them PutItem\)"
    r" by a rise beyond what on-demand capacity was warm for since .*",
    "sampler": r"\d+% of write requests to orders were throttled \(.* calls failed\)"
    r" by a rise beyond what on-demand capacity was warm for, mostly those of importer since .*",
}
LINES: dict[str, dict[str, str]] = {"hot partition": HOT_PARTITION, "index back-pressure": BACK_PRESSURE, "ramp": RAMP}
CAUSES: dict[str, dict[str, tuple[str, str]]] = {
    "hot partition": dict.fromkeys(WAYS, ("hot-key", "")) | {"metrics": ("throttling", "key-range")},
    "index back-pressure": dict.fromkeys(WAYS, ("gsi-back-pressure", "provisioned")),
    "ramp": dict.fromkeys(WAYS, ("throttling", "on-demand-ramp")) | {"metrics": ("throttling", "key-range")},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_first_line_names_limit_place_key_and_cause(live: Live, way: str, told: dict[str, Any]) -> None:
    assert live.refused
    assert set(live.refused) <= THROTTLED
    first = told["verdict"]["text"]
    assert re.fullmatch(LINES[live.name][way], first), first
    detector, cause = CAUSES[live.name][way]
    worst = [one for one in told["findings"] if one["detector"] == detector]
    assert [(one["table"], one["index"], one["direction"]) for one in worst] == [
        ("orders", "by-status" if detector == "gsi-back-pressure" else None, "write")
    ]
    assert cause in {"", worst[0]["cause"]}
    unsure = (live.name, way) == ("ramp", "metrics")
    assert (told["verdict"]["confidence"] == "possible") == unsure
    raised = [one for one in told["diagnosis"]["steps"] if one["action"].startswith("raise-")]
    assert bool(raised) == (live.name == "index back-pressure")
