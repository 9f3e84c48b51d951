"""The collectors of the fault matrix that write to AWS: each on a table of its own, over the wire."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from collectors.asking import Spot
from collectors.canary.collector import Canary
from collectors.canary.config import CanaryConfig
from collectors.insights_watch.collector import InsightsWatch
from collectors.insights_watch.config import InsightsWatchConfig
from tests.collectors.canary.conftest import Clock, LaggingTable
from tests.collectors.insights_watch.test_watch import Clock as WatchClock
from tests.collectors.insights_watch.test_watch import Switch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.errors import CollectError
    from collectors.aws.session import Aws
    from tests.support.faulty_aws import FaultyAws
    from tests.support.scripted_aws import ScriptedAws

__all__ = ["HANDS", "Hand"]

HANDS = ("insights_watch", "canary")


def spoken(aws: ScriptedAws) -> dict[tuple[str, str], Callable[[dict[str, Any]], Any]]:
    """Answer over the wire what a script answers."""
    services = {"GetCallerIdentity": "sts", "DescribeInsightRules": "monitoring", "GetMetricData": "monitoring"}

    def told(operation: str, asked: dict[str, Any]) -> Any:
        answer = aws.answers[operation]
        return answer(asked) if callable(answer) else answer

    return {(services.get(operation, "dynamodb"), operation): partial(told, operation) for operation in aws.answers}


class Hand:
    """A collector that writes to AWS, on a table of its own: it plans, runs, and undoes what was left."""

    def __init__(self, kind: str, wire: FaultyAws, aws: Aws, folder: Path) -> None:
        self.kind, self._aws, self._folder = kind, aws, folder
        self.clock = Clock()
        self.table = LaggingTable(self.clock)
        self.switch = Switch("ENABLED", "THROTTLED_KEYS")
        rules = [{"Name": str(number), "State": "ENABLED", "Schema": "{}", "Definition": "{}"} for number in range(12)]
        self.switch.answers["DescribeInsightRules"] = {"InsightRules": rules}
        self.switch.answers["GetMetricData"] = {
            "MetricDataResults": [{"Id": "read", "StatusCode": "Complete", "Values": [3_600_000.0], "Timestamps": []}]
        }
        wire.serve(spoken(self.table if kind == "canary" else self.switch))

    def _open(self) -> Any:
        if self.kind == "canary":
            config = CanaryConfig(self._folder, probes=1)
            return Canary(self._aws, config, Spot("us-east-1"), self.clock, self.clock.sleep, lambda: 0.5)
        time = WatchClock()
        watch = InsightsWatchConfig(self._folder)
        return InsightsWatch(self._aws, watch, Spot("us-east-1"), lambda: time.now, time.sleep)

    async def plan(self) -> Any:
        one = self._open()
        return await (one.plan("orders", "by-status") if self.kind == "canary" else one.plan("cases", None, 60_000))

    async def run(self, plan: Any) -> Any:
        return await self._open().run(plan, asyncio.Event())

    async def undo(self) -> tuple[CollectError, ...]:
        """Undo what is left, as the next process does."""
        one = self._open()
        errors: tuple[CollectError, ...] = (await (one.clean() if self.kind == "canary" else one.restore())).errors
        return errors

    def traces(self) -> tuple[Any, ...]:
        """What of it can be seen in AWS: items, and how Contributor Insights stands."""
        return tuple(self.table.items), self.switch.status, self.switch.mode

    def notes(self) -> list[str]:
        return [path.name for path in self._folder.rglob("*.json")]
