"""A bounded watch of the most accessed keys: switches Contributor Insights over, and always back.

The only writes of this program beside the canary's. What is to be put back is on disk before anything is switched, so
that a process that dies leaves its intent behind, and the next one undoes it. The mode is sent with every switch: AWS
takes a missing one for the default and would drop THROTTLED_KEYS.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from analyzer.errors import AbsentError, CollectError, MalformedError, UnsupportedError
from analyzer.model.target import Target
from collectors.asking import HERE, Paging, Spot, follow_pages, member, pause
from collectors.contributor_insights.parse import MODES, parse_insights
from collectors.insights_watch.parse import Intent, Plan, cost_of, read_intent
from collectors.notes import Notes, name_of, own_account, refuse_others, saying_then
from collectors.table_catalog.parse import parse_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.contributor_insights.parse import InsightRules
    from collectors.insights_watch.config import InsightsWatchConfig
    from collectors.notes import Undone

__all__ = ["InsightsWatch"]

_RULES_A_FAMILY = {False: 1, True: 2}
"""Keys ranked by use: partition keys, and with a sort key items too."""
_HOUR_SECONDS = 3600
_CHANGING = frozenset({"ENABLING", "DISABLING"})
_ON = frozenset({"ENABLED", "ENABLING"})
_OFF = frozenset({"DISABLED", "DISABLING"})
_AGAIN = "dynascope insights restore"
_FOLDER = "insights-watch"


class InsightsWatch:
    """Plans, runs and undoes watches. `spot` is where calls go; `clock` is in milliseconds, `sleep` waits seconds."""

    def __init__(
        self,
        aws: AwsCaller,
        config: InsightsWatchConfig,
        spot: Spot = HERE,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._aws = aws
        self._config = config
        self._spot = spot
        self._clock = clock
        self._sleep = sleep
        self._intents = Notes(config.folder / _FOLDER, read_intent)

    async def plan(self, table: str, index: str | None, for_ms: int) -> Plan:
        """Look how a table or index stands, and what a watch would add and cost; raises CollectError."""
        account = await own_account(self._aws, self._spot)
        target = Target(account, self._spot.region, table, index)
        described = member(
            await self._ask("dynamodb", "DescribeTable", TableName=table), "Table", dict, "DescribeTable"
        )
        try:
            told = parse_table(described)
        except ValueError as error:
            raise _undocumented("DescribeTable") from error
        place = told if index is None else told.index(index)
        if place is None:
            raise AbsentError(f"{table} has no index {index}", hint="see `aws dynamodb describe-table`")
        stands = await self._describe(self._spot, target)
        is_on = stands.status in _ON
        has_sort_key = bool(place.sort_key)
        added = _RULES_A_FAMILY[has_sort_key] * (1 if is_on else 2)
        rate = await self._request_rate(target)
        return Plan(
            target=target,
            called_as=self._spot.account,
            was_on=is_on,
            was_mode=stands.mode,
            is_ranking=is_on and stands.mode == MODES[0],
            for_ms=for_ms,
            rules_added=added,
            rules_used=await self._rules_used(),
            requests_a_second=rate,
            cost=cost_of(added, for_ms, rate, has_sort_key=has_sort_key),
        )

    async def run(self, plan: Plan, stop: asyncio.Event, tell: Callable[[str], None] = lambda _: None) -> None:
        """Switch over, wait until the time is up or `stop` is set, and switch back; raises CollectError.

        Whatever happens between, the switch back is tried; where that fails, the intent stays on disk. One that another
        process has left says how the target really stood.
        """
        with self._intents.hold(name_of(plan.target)) as is_ours:
            if not is_ours:
                hint = "wait for its end, or stop it: it switches back by itself"
                raise UnsupportedError(f"{plan.target} is being watched by another process", hint=hint)
            left, now = self._intents.read(name_of(plan.target)), self._clock()
            intent = Intent(
                account=plan.target.account or "",
                region=plan.target.region or "",
                table=plan.target.table,
                index=plan.target.index,
                called_as=plan.called_as,
                was_on=plan.was_on if left is None else left.was_on,
                was_mode=plan.was_mode if left is None else left.was_mode,
                began=now,
                until=now + plan.for_ms,
            )
            self._intents.write(intent)
            try:
                await self._switch(intent, is_on=True, mode=MODES[0])
                tell(f"{plan.target}: the most accessed keys are being ranked; it is switched back by itself")
                await self._wait(intent, stop)
            finally:
                await asyncio.shield(self._undo(intent))
                tell(f"{plan.target}: switched back")

    async def restore(self) -> Undone[Intent]:
        """Undo what processes that died have left; what another process holds is its own to undo."""
        return await self._intents.undo(self._undo)

    def left(self) -> tuple[Intent, ...]:
        """Return what processes that died have left; raises MalformedError where an intent cannot be read."""
        found = []
        for name in self._intents.names():
            with self._intents.hold(name) as is_ours:
                intent = self._intents.read(name) if is_ours else None
                found += [] if intent is None else [intent]
        return tuple(found)

    async def _wait(self, intent: Intent, stop: asyncio.Event) -> None:
        """Wait until the time is up, by the wall clock: a machine that slept does not watch longer."""
        while not stop.is_set():
            left_ms = intent.until - self._clock()
            if left_ms <= 0:
                return
            await pause(self._sleep, min(left_ms / 1000, 60.0), stop)

    async def _undo(self, intent: Intent) -> None:
        """Put back how a target stood, and forget the intent; a table that is gone needs nothing."""
        spot = Spot(intent.region, intent.called_as)
        await refuse_others(self._aws, spot, intent.target, _AGAIN)
        with saying_then(f"`{_AGAIN}` switches {intent.target} back"):
            stands = await self._settled(spot, intent.target)
            if not _is_back(stands, intent):
                await self._switch(intent, is_on=intent.was_on, mode=intent.was_mode)
        self._intents.remove(intent)

    async def _switch(self, intent: Intent, *, is_on: bool, mode: str) -> None:
        """Switch, and wait until AWS has done it; raises CollectError, also where it FAILED."""
        spot = Spot(intent.region, intent.called_as)
        operation = "UpdateContributorInsights"
        answer = await self._call(
            spot,
            "dynamodb",
            operation,
            **_named(intent.target),
            ContributorInsightsAction="ENABLE" if is_on else "DISABLE",
            ContributorInsightsMode=mode,
        )
        member(answer, "ContributorInsightsStatus", str, operation)
        stands = await self._settled(spot, intent.target)
        if stands.status == "FAILED" and is_on:
            name, text = stands.failure or ("FAILED", "")
            hint = "the account may have no rules left, or may not make the service-linked role"
            raise UnsupportedError(f"UpdateContributorInsights: {name}: {text}".rstrip(": "), hint=hint, code=name)

    async def _settled(self, spot: Spot, target: Target) -> InsightRules:
        """Return how a target stands once AWS is done with the last switch, or patience is at its end."""
        deadline = self._clock() + self._config.patience_ms
        while True:
            stands = await self._describe(spot, target)
            if stands.status not in _CHANGING or self._clock() >= deadline:
                return stands
            await self._sleep(self._config.poll_ms / 1000)

    async def _describe(self, spot: Spot, target: Target) -> InsightRules:
        answer = await self._call(spot, "dynamodb", "DescribeContributorInsights", **_named(target))
        try:
            return parse_insights(answer)
        except ValueError as error:
            raise _undocumented("DescribeContributorInsights") from error

    async def _rules_used(self) -> int | None:
        api = ("cloudwatch", "DescribeInsightRules")
        paged = await follow_pages(self._aws, api, Paging("InsightRules"), self._spot, {})
        return None if paged.error is not None else len({rule.get("Name") for rule in paged.rows})

    async def _request_rate(self, target: Target) -> float | None:
        """Return requests a second of the last hour, by the samples of the consumed units; None where not to be had."""
        end = self._clock() // 1000
        dimensions = [{"Name": "TableName", "Value": target.table}]
        if target.index is not None:
            dimensions.append({"Name": "GlobalSecondaryIndexName", "Value": target.index})
        queries = [
            {
                "Id": name.lower(),
                "MetricStat": {
                    "Metric": {
                        "Namespace": "AWS/DynamoDB",
                        "MetricName": f"Consumed{name}CapacityUnits",
                        "Dimensions": dimensions,
                    },
                    "Period": _HOUR_SECONDS,
                    "Stat": "SampleCount",
                },
            }
            for name in ("Read", "Write")
        ]
        asked = {"MetricDataQueries": queries, "StartTime": end - _HOUR_SECONDS, "EndTime": end}
        try:
            answer = await self._ask("cloudwatch", "GetMetricData", **asked)
            results = member(answer, "MetricDataResults", list, "GetMetricData")
        except CollectError:
            return None
        return sum(float(value) for result in results for value in result.get("Values", ())) / _HOUR_SECONDS

    async def _ask(self, service: str, operation: str, **params: object) -> dict[str, Any]:
        return await self._call(self._spot, service, operation, **params)

    async def _call(self, spot: Spot, service: str, operation: str, **params: object) -> dict[str, Any]:
        return await self._aws.call(service, operation, region=spot.region, account=spot.account, **params)


def _is_back(stands: InsightRules, intent: Intent) -> bool:
    if not intent.was_on:
        return stands.status in _OFF
    return stands.status in _ON and stands.mode == intent.was_mode


def _named(target: Target) -> dict[str, str]:
    return {"TableName": target.table} | ({} if target.index is None else {"IndexName": target.index})


def _undocumented(operation: str) -> MalformedError:
    hint = "look at it with the AWS command line; please report what is unusual about it"
    return MalformedError(f"{operation}: the answer is not as AWS documents it", hint=hint)
