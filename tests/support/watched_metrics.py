"""A collector of metrics over a CloudWatch in memory, polled as the daemon does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.window import Window
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig, MetricTarget
from tests.support.metric_world import MINUTE
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from analyzer.model.batch import Batch, MetricSeries
    from tests.support.metric_world import MetricWorld

__all__ = ["Watched", "series"]


class Watched:
    """A collector over a world of metrics, polled for the five minutes that have just passed."""

    def __init__(
        self, world: MetricWorld, *targets: MetricTarget, answers: dict[str, Any] | None = None, **config: Any
    ) -> None:
        self.world = world
        self.aws = ScriptedAws(
            {"GetMetricData": world.get_metric_data, "ListMetrics": world.list_metrics} | (answers or {})
        )
        self.collector = CloudWatchMetrics(
            CloudWatchMetricsConfig(**{"baselines": False} | config),
            self.aws,
            region="us-east-1",
            targets=lambda: targets or None,
            clock=lambda: world.now,
        )

    def break_with(self, fault: Any) -> None:
        self.aws.answers["GetMetricData"] = fault

    def mend(self) -> None:
        self.aws.answers["GetMetricData"] = self.world.get_metric_data

    async def poll(self, minutes: int = 5) -> Batch:
        return await self.collector.collect(Window(self.world.now - minutes * MINUTE, self.world.now))

    async def wait_and_poll(self, minutes: int = 5) -> Batch:
        self.world.now += minutes * MINUTE
        return await self.poll(minutes)


def series(batch: Batch, metric: str, stat: str = "Sum", period: int = 60, **dimensions: Any) -> MetricSeries:
    (found,) = [
        one
        for one in batch.metrics
        if (one.metric, one.stat, one.period_seconds, one.dimensions) == (metric, stat, period, dimensions)
    ]
    return found
