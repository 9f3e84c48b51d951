"""The canary: writes items under reserved keys, reads an index until it shows them, and removes them.

Opt-in. Before an item is written it is on disk that it may have to be removed; whatever happens between,
the removal is tried, and what a process that died has left the next one removes.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from analyzer.errors import BudgetError, MalformedError, UnsupportedError
from analyzer.model.batch import Batch
from analyzer.model.sight import Covers, SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.asking import HERE, Spot, member, pause
from collectors.canary.parse import (
    CONFIRMATIONS,
    MARK,
    Left,
    Plan,
    Poll,
    ages_ms,
    is_shown,
    item_of,
    key_of,
    plan_of,
    probe_of,
    query_of,
    read_left,
)
from collectors.notes import Notes, name_of, own_account, refuse_others, saying_then
from collectors.table_catalog.parse import parse_table, parse_time_to_live

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import LagProbe
    from collectors.canary.config import CanaryConfig
    from collectors.notes import Undone

__all__ = ["Canary"]

_CONFIRM_MS = 50.0
"""Between reads that confirm: replicas that differ by more are seen to."""
_TELL_EVERY = 10
_AGAIN = "dynascope canary --clean"
_FOLDER = "canary"


class Canary:
    """Plans, runs and cleans up. `spot` is where calls go; `clock` is in milliseconds, `sleep` waits seconds.

    `phase`, from 0 to 1, moves the ages at which each item is looked for.
    """

    name: ClassVar[str] = SourceName.CANARY

    def __init__(
        self,
        aws: AwsCaller,
        config: CanaryConfig,
        spot: Spot = HERE,
        clock: Callable[[], float] = lambda: time.time_ns() / 1e6,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        phase: Callable[[], float] = lambda: secrets.randbelow(1000) / 1000,
    ) -> None:
        self._aws = aws
        self._config = config
        self._spot = spot
        self._clock = clock
        self._sleep = sleep
        self._phase = phase
        self._notes = Notes(config.folder / _FOLDER, read_left)

    async def plan(self, table: str, index: str) -> Plan:
        """Look at a table, and say what a run would do and cost at worst; raises CollectError."""
        account = await own_account(self._aws, self._spot)
        described = member(await self._ask("DescribeTable", TableName=table), "Table", dict, "DescribeTable")
        answer = await self._ask("DescribeTimeToLive", TableName=table)
        told = member(answer, "TimeToLiveDescription", dict, "DescribeTimeToLive")
        try:
            description, ttl = parse_table(described), parse_time_to_live(told)
        except ValueError as error:
            hint = "look at it with the AWS command line; please report what is unusual about it"
            raise MalformedError("DescribeTable: the answer is not as AWS documents it", hint=hint) from error
        target = Target(account, self._spot.region, table, index)
        config = self._config
        plan = plan_of(target, self._spot.account, description, ttl, config.probes, config.every_ms)
        if plan.dollars > config.most_usd:
            hint = "ask for fewer probes, or raise the bound with --most-usd"
            why = f"it may cost {plan.dollars:.4f} dollars, over the bound of {config.most_usd:g}"
            raise BudgetError(why, hint=hint)
        return plan

    async def run(self, plan: Plan, stop: asyncio.Event, tell: Callable[[str], None] = lambda _: None) -> Batch:
        """Make the probes, until all are made or `stop` is set; raises CollectError, once its item was removed."""
        with self._notes.hold(name_of(plan.target)) as is_ours:
            if not is_ours:
                raise UnsupportedError(f"{plan.target} is being measured by another process", hint="wait for its end")
            before = self._notes.read(name_of(plan.target))
            if before is not None:
                await self._undo_left(before)
            left = self._left(plan)
            began = round(self._clock())
            probes = []
            for number in range(plan.probes):
                if stop.is_set():
                    break
                probes.append(await self._probe(left, number, plan))
                if (number + 1) % _TELL_EVERY == 0:
                    tell(f"{plan.target}: {number + 1} of {plan.probes} writes were followed")
                await pause(self._sleep, plan.every_ms / 1000, stop)
        window = Window(began, max(began, round(self._clock())))
        covers = (Covers(SourceName.CANARY, window, plan.target.table, plan.target.index),)
        account, region = plan.target.account, plan.target.region
        return Batch(window=window, covers=covers, probes=tuple(probes), account=account, region=region)

    async def clean(self) -> Undone[Left]:
        """Remove what processes that died have left; what another process holds is its own to remove."""
        return await self._notes.undo(self._undo_left)

    def _left(self, plan: Plan) -> Left:
        return Left(
            account=plan.target.account or "",
            region=plan.target.region or "",
            table=plan.target.table,
            index=plan.target.index or "",
            called_as=plan.called_as,
            run=secrets.token_hex(6),
            table_key=plan.table_key,
            index_key=plan.index_key,
            types=plan.types,
        )

    async def _probe(self, left: Left, number: int, plan: Plan) -> LagProbe:
        """Write an item, follow it, remove it."""
        noted = msgspec.structs.replace(left, pending=number)
        self._notes.write(noted)
        try:
            began = self._clock()
            expires = round(began / 1000) + self._config.expire_seconds
            item = item_of(left, number, plan.ttl_attribute, expires)
            await self._write(left, "PutItem", Item=item)
            written = (began, self._clock())
            ages = ages_ms(self._phase())
            polls = await self._follow(left, number, written, ages)
        finally:
            await asyncio.shield(self._undo(noted))
        return probe_of(left, number, round(began), written, polls, ages)

    async def _follow(
        self, left: Left, number: int, written: tuple[float, float], ages: tuple[float, ...]
    ) -> list[Poll]:
        """Read the index at each age until it shows the item in several reads one after another."""
        polls: list[Poll] = []
        middle = sum(written) / 2
        for age in ages:
            await self._sleep(max(0.0, middle + age - self._clock()) / 1000)
            polls.append(await self._poll(left, number))
            while polls[-1].is_shown:
                if len(polls) >= CONFIRMATIONS and all(one.is_shown for one in polls[-CONFIRMATIONS:]):
                    return polls
                await self._sleep(_CONFIRM_MS / 1000)
                polls.append(await self._poll(left, number, is_confirming=True))
        return polls

    async def _poll(self, left: Left, number: int, *, is_confirming: bool = False) -> Poll:
        sent = self._clock()
        answer = await self._call(Spot(left.region, left.called_as), "Query", **query_of(left, number))
        items = member(answer, "Items", list, "Query")
        return Poll(sent, self._clock(), is_shown(left, number, items), is_confirming)

    async def _undo_left(self, left: Left) -> None:
        """Remove what another process has left, if these are credentials of its account."""
        await refuse_others(self._aws, Spot(left.region, left.called_as), left.target, _AGAIN)
        await self._undo(left)

    async def _undo(self, left: Left) -> None:
        """Remove the item that may be there, if it is the canary's own, and then the note; a table may be gone."""
        with saying_then(f"`{_AGAIN}` removes its item"):
            await self._write(left, "DeleteItem", Key=key_of(left, left.pending))
        self._notes.remove(left)

    async def _write(self, left: Left, operation: str, **asked: object) -> None:
        """Write on the canary's own items alone; what AWS charged is asked for, since else an answer says nothing."""
        whole = {"TableName": left.table, "ReturnConsumedCapacity": "TOTAL", **asked, **_if_ours(left)}
        answer = await self._call(Spot(left.region, left.called_as), operation, **whole)
        member(answer, "ConsumedCapacity", dict, operation)

    async def _ask(self, operation: str, **params: object) -> dict[str, Any]:
        return await self._call(self._spot, operation, **params)

    async def _call(self, spot: Spot, operation: str, **params: object) -> dict[str, Any]:
        return await self._aws.call("dynamodb", operation, region=spot.region, account=spot.account, **params)


def _if_ours(left: Left) -> dict[str, Any]:
    """Return the condition of every write: nothing is there, or what this run has put there itself."""
    return {
        "ConditionExpression": "attribute_not_exists(#k) OR #m = :run",
        "ExpressionAttributeNames": {"#k": left.table_key[0], "#m": MARK},
        "ExpressionAttributeValues": {":run": {"S": left.run}},
    }
