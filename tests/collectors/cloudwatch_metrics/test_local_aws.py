"""The collector against a local AWS, over the wire: what was served is what is read, and faults pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from collectors.aws.config import AwsAccount, AwsConfig
from collectors.aws.session import Aws
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig, MetricTarget
from tests.support.metric_world import MINUTE, NOW
from tests.support.watched_metrics import series

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from analyzer.model.batch import Batch
    from tests.support.emulator import LocalAws

    Open = Callable[..., "Poller"]

INDEX: dict[str, Any] = {"TableName": "orders", "GlobalSecondaryIndexName": "by-day"}


class Poller:
    """Polls five minutes at a time by the emulator's clock."""

    def __init__(self, emulator: LocalAws, aws: Aws, *targets: MetricTarget, **config: Any) -> None:
        self.emulator = emulator
        self.now = NOW
        self.collector = CloudWatchMetrics(
            CloudWatchMetricsConfig(**{"baselines": False} | config),
            aws,
            targets=lambda: targets or None,
            clock=lambda: self.now,
        )

    async def poll(self) -> Batch:
        return await self.collector.collect(Window(self.now - 5 * MINUTE, self.now))

    async def wait_and_poll(self) -> Batch:
        self.now += 5 * MINUTE
        self.emulator.stand(self.now)
        return await self.poll()


@pytest.fixture
async def open_poller(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    for name, value in emulator.environment.items():
        if name != "AWS_ENDPOINT_URL":
            monkeypatch.setenv(name, value)
    opened: list[Aws] = []

    def make(*targets: MetricTarget, attempts: int = 1, **config: Any) -> Poller:
        aws = Aws(AwsConfig(("us-east-1",), endpoint_url=emulator.url, read_ms=2000, attempts=attempts))
        opened.append(aws)
        return Poller(emulator, aws, *targets, **config)

    emulator.stand(NOW - 60 * MINUTE)
    emulator.create_table("orders", indexes={"by-day": ("day", None)})
    emulator.stand(NOW)
    yield make
    for aws in opened:
        await aws.close()


async def test_what_was_served_is_what_is_read(open_poller: Open, emulator: LocalAws) -> None:
    emulator.plant(
        "orders", at=NOW - 20 * MINUTE, minutes=20, key="A", reads=600, requests=300, operation="Query", items=2
    )
    emulator.plant("orders", at=NOW - 10 * MINUTE, index="by-day", writes=60)
    batch = await open_poller().poll()
    assert batch.gaps == ()
    assert series(batch, "ConsumedReadCapacityUnits", TableName="orders").values[-2:] == (600, 600)
    consumed = series(batch, "ConsumedWriteCapacityUnits", **INDEX)
    assert dict(zip(consumed.timestamps, consumed.values, strict=True))[NOW - 10 * MINUTE] == 60
    latency = series(batch, "SuccessfulRequestLatency", "SampleCount", TableName="orders", Operation="Query")
    assert latency.values[-1] == 300
    assert {(one.table, one.index) for one in batch.covers} == {("orders", None), ("orders", "by-day")}


async def test_throttles_are_told_by_their_reason_and_no_others(open_poller: Open, emulator: LocalAws) -> None:
    puts: dict[str, Any] = {"key": "A", "writes": 60, "requests": 60, "operation": "PutItem"}
    refused: dict[str, Any] = {"throttles": 40, "reasons": ["TableWriteKeyRangeThroughputExceeded"]}
    emulator.plant("orders", at=NOW - 10 * MINUTE, **puts, **refused)
    batch = await open_poller().poll()
    assert series(batch, "WriteKeyRangeThroughputThrottleEvents", TableName="orders").values == (40,)
    others = series(batch, "WriteProvisionedThroughputThrottleEvents", TableName="orders")
    assert (others.values, others.is_complete) == ((), True)


@pytest.mark.parametrize(
    ("kind", "reasons"),
    [
        ("denied", {GapReason.DENIED}),
        ("throttled", {GapReason.THROTTLED}),
        ("expired", {GapReason.DENIED}),
        ("skewed", {GapReason.DENIED}),
        ("timeout", {GapReason.TIMEOUT}),
        ("reset", {GapReason.TIMEOUT}),
        ("truncated", {GapReason.TIMEOUT, GapReason.MALFORMED}),
        ("html", {GapReason.MALFORMED}),
        ("wrong", {GapReason.MALFORMED}),
        ("garbage", {GapReason.MALFORMED}),
        ("partial", set()),
        ("duplicate", set()),
    ],
)
async def test_a_fault_on_the_wire_is_a_gap_and_the_next_window_holds_what_was_missed(
    kind: str, reasons: set[GapReason], open_poller: Open, emulator: LocalAws
) -> None:
    emulator.plant("orders", at=NOW - 30 * MINUTE, minutes=60, key="A", reads=600, requests=300, operation="Query")
    poller = open_poller(MetricTarget("orders", ("by-day",)))
    await poller.poll()
    emulator.fault(kind, service="monitoring", operation="GetMetricData", seconds=3.0)
    broken = [await poller.wait_and_poll() for _ in range(2)]
    told = {gap.reason for batch in broken for gap in batch.gaps}
    assert told <= (reasons or {GapReason.LOW_COVERAGE})
    if reasons:
        assert all(batch.gaps and not batch.covers for batch in broken)
    emulator.forgive()
    batch = await poller.wait_and_poll()
    assert batch.gaps == ()
    found = series(batch, "ConsumedReadCapacityUnits", TableName="orders")
    assert found.timestamps == tuple(range(NOW - 20 * MINUTE, poller.now - 3 * MINUTE, MINUTE))
    assert set(found.values) == {600.0}


async def test_ten_minutes_late_is_told_and_nothing_is_lost(open_poller: Open, emulator: LocalAws) -> None:
    emulator.plant("orders", at=NOW - 30 * MINUTE, minutes=60, key="A", reads=600, requests=300, operation="Query")
    emulator.settings(metrics_delay_seconds=600)
    poller = open_poller(MetricTarget("orders"))
    batch = await poller.poll()
    assert [(gap.reason, gap.table) for gap in batch.gaps] == [(GapReason.LATE, "orders")]
    await poller.wait_and_poll()
    emulator.settings(metrics_delay_seconds=60)
    batch = await poller.wait_and_poll()
    assert batch.gaps == ()
    found = series(batch, "ConsumedReadCapacityUnits", TableName="orders")
    assert found.timestamps == tuple(range(NOW - 20 * MINUTE, poller.now - 3 * MINUTE, MINUTE))


async def test_a_throttle_that_passes_is_not_seen(open_poller: Open, emulator: LocalAws) -> None:
    emulator.fault("throttled", service="monitoring", operation="GetMetricData", times=1)
    batch = await open_poller(MetricTarget("orders"), attempts=3).poll()
    assert batch.gaps == ()


async def test_an_account_whose_role_is_refused_takes_nothing_from_another(
    open_poller: Open, emulator: LocalAws
) -> None:
    role = "arn:aws:iam::111122223333:role/dynascope"
    accounts = (AwsAccount(), AwsAccount("111122223333", role))
    aws = Aws(AwsConfig(("us-east-1",), accounts, endpoint_url=emulator.url, attempts=1))
    emulator.fault("denied", service="sts")
    window = Window(NOW - 5 * MINUTE, NOW)
    config = CloudWatchMetricsConfig(baselines=False)
    batches = [
        await CloudWatchMetrics(config, aws, region=region, account=account, clock=lambda: NOW).collect(window)
        for account, region in aws.places()
    ]
    await aws.close()
    own, other = batches
    assert own.covers
    assert {gap.reason for gap in other.gaps} == {GapReason.DENIED}
    assert all("sts:AssumeRole" in str(gap.hint) for gap in other.gaps)


async def test_the_bill_is_what_was_counted(open_poller: Open, emulator: LocalAws) -> None:
    poller = open_poller(MetricTarget("orders", ("by-day",)))
    await poller.poll()
    aws = poller.collector._reader._aws
    assert isinstance(aws, Aws)
    spent = aws.budget.spent()
    assert spent.billed_metrics["GetMetricData"] == emulator.metrics_asked()
    assert spent.calls["GetMetricData"] == emulator.calls()["monitoring", "GetMetricData"]
