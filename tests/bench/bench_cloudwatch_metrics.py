"""A poll of 200 tables with two GSIs each over the wire: calls, what they cost, and the CPU of a cycle.

CloudWatch is a server of its own in another process, so that the CPU is the collector's alone. Asserts that calls are
as few as 500 series each allow.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

from analyzer.model.window import Window
from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig, MetricTarget
from collectors.cloudwatch_metrics.reading import QUERIES_A_CALL
from tests.support.metric_world import MINUTE, NOW, MetricWorld
from tests.support.wire_aws import WireAws

__all__ = ["main"]

TABLES = 200
INDEXES = ("one", "two")
OPERATIONS = ("GetItem", "Query", "PutItem", "UpdateItem")
CYCLES = 4
PERIODS = 2
"""Series of a minute and of five are asked for apart, each rounded up to a call."""


async def serve() -> None:
    """Serve a busy account until standard input closes."""
    world = MetricWorld()
    for number in range(TABLES):
        world.table(f"table-{number}", INDEXES, OPERATIONS)
    world.now += 24 * 60 * MINUTE
    wire = await WireAws({"GetMetricData": world.get_metric_data, "ListMetrics": world.list_metrics}).start()
    print(wire.url, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await wire.stop()


async def poll(url: str) -> None:
    """Poll a few windows one after another and print what each took."""
    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench")
    aws = Aws(AwsConfig(("us-east-1",), endpoint_url=url, max_usd_per_day=None))
    targets = tuple(MetricTarget(f"table-{number}", INDEXES, is_provisioned=True) for number in range(TABLES))
    now = [NOW]
    config = CloudWatchMetricsConfig()
    collector = CloudWatchMetrics(config, aws, targets=lambda: targets, clock=lambda: now[0])
    for cycle in range(CYCLES):
        before, cpu = aws.budget.spent(), time.process_time()
        batch = await collector.collect(Window(now[0] - 5 * MINUTE, now[0]))
        cpu = time.process_time() - cpu
        spent = aws.budget.spent()
        calls = spent.calls["GetMetricData"] - before.calls.get("GetMetricData", 0)
        series = spent.billed_metrics["GetMetricData"] - before.billed_metrics.get("GetMetricData", 0)
        points = sum(len(one.values) for one in batch.metrics)
        print(f"cycle {cycle}: {cpu:.2f} s CPU, {calls} calls, {series:,} metrics, {points:,} points", flush=True)
        assert not batch.gaps, batch.gaps[:3]
        assert len(batch.covers) == TABLES * (1 + len(INDEXES))
        if cycle > 1:  # the first reads the past, the second that of the hour which it enters
            assert calls <= -(-series // QUERIES_A_CALL) + PERIODS - 1, "calls must be as few as can be"
        now[0] += 5 * MINUTE
    print((await collector.check())[-1].message)
    await aws.close()


def main() -> None:
    """Start the server and poll it."""
    command = [sys.executable, "-m", "tests.bench.bench_cloudwatch_metrics", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        asyncio.run(poll(server.stdout.readline().strip()))
        assert server.stdin is not None
        server.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main()
