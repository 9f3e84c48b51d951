"""A local AWS for tests: `deploy.demo.emulator` in a process of its own, and the hand that plants in it.

The fixture `emulator` (every test may ask for it, no import needed) gives a `LocalAws`. One process a test session and
worker, on a free port; before each test everything is forgotten: tables, buckets, history, faults, the clock.

    def test_a_hot_key_is_seen(emulator: LocalAws) -> None:
        emulator.stand(NOW)                                     # the emulator's clock, in milliseconds; it stands still
        emulator.create_table("orders", sort="SK", indexes={"by-day": ("day", "SK")})
        rules = emulator.watch("orders")                        # Contributor Insights, ENABLED, counting since ever
        emulator.plant("orders", at=NOW - 600_000, minutes=10, key="TENANT#1", writes=30_000, requests=3_000,
                       operation="PutItem")                     # what each of ten minutes had
        emulator.client("cloudwatch").get_insight_rule_report(RuleName=rules["PKC"], …)    # 90,000 a minute
        emulator.client("cloudwatch").get_metric_data(…)        # ConsumedWriteCapacityUnits: 30,000 a minute

Planted and really served requests (`emulator.client("dynamodb").put_item(…)`) are counted by the same meter.

What answers: DynamoDB with units and throttles (see deploy/demo/README.md), its Contributor Insights operations, and
CloudWatch, Application Auto Scaling and CloudTrail for DynamoDB. All else (S3, logs, X-Ray, STS …) is moto.

- `url`, `environment`, `client(service)`, `aio_arguments()`: how to get there with boto3 and aioboto3.
- `stand`, `advance`, `run`, `now`: the clock. Timestamps, `LookupEvents` and rules' ages go by it, buckets do not.
- `create_table`: a small table in one line. `describe(table, …)` patches what DescribeTable tells.
- `plant`, `plant_metric`: history by the minute. `watch`: Contributor Insights. `plant_scaling`, `plant_event`.
- `fault(kind, service=…, operation=…, times=…)`: "denied", "throttled", "expired", "skewed", "timeout", "reset",
  "truncated", "html", "wrong", "garbage", "partial", "duplicate". `forgive()` ends all.
- `throttle(table, reason)`: DynamoDB refuses the next calls for that reason; errors, metrics and insights tell it.
- `limit(service, operation, calls_a_second)`: rates. `settings(metrics_delay_seconds=600, …)`: late data, the size of
  the top set, the quota of rules.
- `calls()`: how often each operation was called; `metrics_asked()`: what GetMetricData bills.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from deploy.demo.processes import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["ACCOUNT", "REGION", "LocalAws", "emulator", "emulator_process"]

ACCOUNT = "123456789012"
REGION = "us-east-1"
_SECONDS = 60


class LocalAws:
    """The emulator, as a test holds it. Times are milliseconds since the epoch, amounts are for each minute."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._clients: dict[tuple[str, str], Any] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables with which any AWS SDK comes here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "demo",
            "AWS_SECRET_ACCESS_KEY": "demo",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def aio_arguments(self, region: str = REGION) -> dict[str, Any]:
        """Arguments for `aioboto3.Session().client(service, **…)`; nothing is retried."""
        return {
            "endpoint_url": self.url,
            "region_name": region,
            "aws_access_key_id": "demo",
            "aws_secret_access_key": "demo",
        }

    def client(self, service: str, region: str = REGION) -> Any:
        """Return a boto3 client that does not retry; the same one for the same service and region."""
        import boto3  # noqa: PLC0415 - the fixture is there for every test, and few need a client
        from botocore.config import Config  # noqa: PLC0415 - same

        if (service, region) not in self._clients:
            config = Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"})
            self._clients[service, region] = boto3.client(service, config=config, **self.aio_arguments(region))
        return self._clients[service, region]

    def close(self) -> None:
        """Close the clients."""
        for client in self._clients.values():
            client.close()

    def reset(self) -> None:
        """Forget everything."""
        self._post("reset", {})

    # the clock

    def stand(self, at: int) -> None:
        """Let the clock stand at a time; what was there already is there then too."""
        self._post("clock", {"at": at})

    def advance(self, milliseconds: int) -> None:
        """Let the clock stand so much later."""
        self._post("clock", {"advance_ms": milliseconds})

    def run(self) -> None:
        """Let the clock go with the machine's."""
        self._post("clock", {"run": True})

    def now(self) -> int:
        """Return the time by the emulator's clock."""
        return int(self._post("clock", {})["at"])

    # tables

    def create_table(
        self,
        name: str,
        *,
        partition: str = "PK",
        sort: str | None = None,
        indexes: Mapping[str, tuple[str, str | None]] | None = None,
        provisioned: tuple[int, int] | None = None,
        region: str = REGION,
        **more: Any,
    ) -> None:
        """Create a table: indexes are name to (partition key, sort key), all projected; on demand unless provisioned.

        `provisioned` is (read, write) units of the table and of each index; `more` goes into CreateTable as it is.
        """
        capacity = None if provisioned is None else dict(zip(_UNITS, provisioned, strict=True))
        billed: dict[str, Any] = {} if capacity is None else {"ProvisionedThroughput": capacity}
        mode = "PAY_PER_REQUEST" if capacity is None else "PROVISIONED"
        pairs = [(partition, sort), *(indexes or {}).values()]
        names = dict.fromkeys(attribute for pair in pairs for attribute in pair if attribute is not None)
        asked: dict[str, Any] = {
            "TableName": name,
            "KeySchema": _key_schema(partition, sort),
            "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in names],
            "BillingMode": mode,
            **billed,
        }
        if indexes:
            asked["GlobalSecondaryIndexes"] = [
                {"IndexName": index, "KeySchema": _key_schema(*pair), "Projection": {"ProjectionType": "ALL"}, **billed}
                for index, pair in indexes.items()
            ]
        self.client("dynamodb", region).create_table(**{**asked, **more})

    def describe(self, table: str, patch: Mapping[str, Any], **place: str) -> None:
        """Let DescribeTable tell what a patch says; GlobalSecondaryIndexes are patched by their IndexName.

        What a table on demand is said to be warm for (WarmThroughput) is also all that it serves.
        """
        self._post("describe", {"table": table, "patch": dict(patch), **place})

    # history

    def plant(self, table: str, *, at: int, **traffic: Any) -> None:
        """Plant requests of one key on a table or index, the same in each minute.

        `minutes`, `index`, `key`, `sort`; `reads` and `writes` (units), `requests` that share them; `operation` (whose
        latency and returned items are counted), `milliseconds`, `items`; `throttles` (events) with `reasons`;
        `is_partiql`; `source`; `account`, `region`. Without a key only metrics know of it.
        """
        self.plant_all([{"table": table, "at": at, **traffic}])

    def plant_all(self, traffic: Sequence[Mapping[str, Any]], metrics: Sequence[Mapping[str, Any]] = ()) -> None:
        """Plant much at once: dictionaries of the arguments of `plant` and `plant_metric`."""
        self._post("plant", {"traffic": list(traffic), "metrics": list(metrics)})

    def plant_metric(self, metric: str, value: float, *, at: int, dimensions: Mapping[str, str], **more: Any) -> None:
        """Plant values of any metric, say ReplicationLatency, with exactly these dimensions.

        `minutes`; `times` (samples a minute); `account`, `region`.
        """
        told = {"metric": metric, "value": value, "at": at, "dimensions": dict(dimensions), **more}
        self.plant_all([], [told])

    def repeat(self, seconds: float, *, at: int, minutes: int) -> None:
        """Let all that was served so far, in so many seconds, stand in each of some minutes, at the same pace."""
        self._post("repeat", {"seconds": seconds, "at": at, "minutes": minutes})

    def watch(self, table: str, index: str | None = None, *, since: int | None = 0, **more: Any) -> dict[str, str]:
        """Enable Contributor Insights; return rule names by PKC, SKC, PKT and SKT.

        It is ENABLED at once and counts from `since`; with None from now, through ENABLING. `mode`; `failure`: FAILED
        with that exception; `account`, `region`.
        """
        rules: dict[str, str] = self._post("insights", {"table": table, "index": index, "since": since, **more})[
            "rules"
        ]
        return rules

    def plant_scaling(self, member: str, entries: Sequence[Mapping[str, Any]], **place: str) -> None:
        """Plant "ScalableTargets", "ScalingPolicies", "ScheduledActions" or "ScalingActivities".

        In the shape of AWS's JSON, times in seconds since the epoch.
        """
        self._post("scaling", {"member": member, "entries": list(entries), **place})

    def plant_event(self, name: str, *, at: int, parameters: Mapping[str, Any], **more: str) -> None:
        """Plant a CloudTrail management event with an API call's parameters; `service`, `user`, `account`, `region`."""
        self._post("trail", {"name": name, "at": at, "parameters": dict(parameters), **more})

    # faults and limits

    def fault(self, kind: str, **where: Any) -> None:
        """Script a fault: `service` (as signed for: "monitoring" is CloudWatch), `operation`, `account`, `region`.

        `contains` (text of the request), `skip` and `times` (calls), `seconds` (how long "timeout" holds the answer).
        """
        self._post("faults", {"kind": kind, **where})

    def forgive(self) -> None:
        """End all faults."""
        self._ask("DELETE", "faults", None)

    def settings(self, **values: float) -> None:
        """Set `metrics_delay_seconds`, `insights_delay_seconds`, `trail_delay_seconds`: late data.

        Also `enabling_seconds`, `rule_quota` and `top_set` (how many keys a minute keeps).
        """
        self._post("settings", values)

    def limit(self, service: str, operation: str, calls_a_second: float | None) -> None:
        """Throttle who calls an operation more often; None lifts the limit. LookupEvents has one: 2 a second."""
        self._post("rates", {"service": service, "operation": operation, "calls_a_second": calls_a_second})

    def throttle(self, table: str, reason: str, *, index: str | None = None, times: int = 1, **place: str) -> None:
        """Let DynamoDB refuse the next calls that touch a table or index, for one of the sixteen reasons."""
        self._post("throttles", {"table": table, "reason": reason, "index": index, "times": times, **place})

    def calls(self) -> Counter[tuple[str, str]]:
        """Return how often each operation was called, by (service as signed for, operation)."""
        told = self._ask("GET", "calls", None)["calls"]
        return Counter({(each["service"], each["operation"]): each["count"] for each in told})

    def metrics_asked(self) -> int:
        """Return the metrics that GetMetricData was asked for: what AWS bills."""
        return int(self._ask("GET", "calls", None)["metrics_asked"])

    def seed(self, table: str, items: Sequence[Mapping[str, Any]], **place: str) -> None:
        """Put items (as AttributeValues) into a table at no cost and without a record."""
        self._post("seed", {"table": table, "items": list(items), **place})

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._ask("POST", path, body)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        raw = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_demo/{path}", raw, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(f"/_demo/{path}: {json.load(error)['message']}") from None


_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")


def _key_schema(partition: str, sort: str | None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return keys if sort is None else [*keys, {"AttributeName": sort, "KeyType": "RANGE"}]


@pytest.fixture(scope="session")
def emulator_process() -> Iterator[LocalAws]:
    """Start the process once."""
    with Emulator() as running:
        local = LocalAws(running.url)
        yield local
        local.close()


@pytest.fixture
def emulator(emulator_process: LocalAws) -> LocalAws:
    """Return a local AWS in which nothing has happened yet."""
    emulator_process.reset()
    return emulator_process
