from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from tests.support.metric_world import MetricWorld
from tests.support.wire_aws import WireAws

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@pytest.fixture
def world() -> MetricWorld:
    return MetricWorld()


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def wire(world: MetricWorld) -> AsyncIterator[WireAws]:
    running = await WireAws(
        {
            "GetMetricData": world.get_metric_data,
            "ListMetrics": world.list_metrics,
            "DescribeTable": lambda params: {"Table": {"TableName": params["TableName"]}},
        }
    ).start()
    yield running
    await running.stop()


@pytest.fixture
async def connect(wire: WireAws) -> AsyncIterator[Callable[..., Aws]]:
    """Connect to the wire; waiting takes no time, and the clock goes on by what is waited."""
    opened: list[Aws] = []

    def make(**config: Any) -> Aws:
        now = [1_796_032_800_000.0]
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            now[0] += seconds * 1000

        settled: dict[str, Any] = {
            "regions": ("us-east-1",),
            "endpoint_url": wire.url,
            "read_ms": 10_000,
            "attempts": 1,
        } | config
        aws = Aws(AwsConfig(**settled), clock=lambda: round(now[0]), sleep=sleep, draw=lambda: 0.5)
        aws.slept = slept  # type: ignore[attr-defined]
        opened.append(aws)
        return aws

    yield make
    for aws in opened:
        await aws.close()
