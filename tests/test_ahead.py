from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from analyzer.ahead import Ahead
from analyzer.errors import DeniedError


class Aws:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def call(self, service: str, operation: str, **_params: Any) -> dict[str, Any]:
        self.asked.append(operation)
        await asyncio.sleep(0)
        if operation == "Denied":
            raise DeniedError("Denied", hint="grant it")
        return {"Table": {"TableName": "orders"}} if operation == "DescribeTable" else {"of": service}


def test_what_was_asked_ahead_is_sent_once_and_everybody_gets_it() -> None:
    async def work() -> None:
        aws = Aws()
        ahead = Ahead(aws)
        for _ in range(2):
            ahead.ask("dynamodb", "DescribeTable", "us-east-1", None, TableName="orders")
        one, other = ahead.lane(), ahead.lane()
        for lane in (one, other):
            answer = await lane.call("dynamodb", "DescribeTable", region="us-east-1", TableName="orders")
            assert answer["Table"]["TableName"] == "orders"
        await other.call("dynamodb", "DescribeTable", region="us-east-1", TableName="users")
        assert aws.asked == ["DescribeTable"] * 2
        assert (ahead.calls, ahead.rounds, list(ahead.described)) == (2, 2, ["orders"])

    asyncio.run(work())


def test_calls_side_by_side_are_one_round_and_calls_in_turn_are_several() -> None:
    async def work() -> None:
        ahead = Ahead(Aws())
        lane = ahead.lane()
        await asyncio.gather(*(lane.call("cloudwatch", "GetMetricData", number=n) for n in range(3)))
        assert ahead.rounds == 1
        await lane.call("cloudwatch", "GetInsightRuleReport")
        assert (ahead.calls, ahead.rounds) == (4, 2)

    asyncio.run(work())


def test_a_failure_is_told_to_whoever_asks_and_to_nobody_else() -> None:
    async def work() -> None:
        ahead = Ahead(Aws())
        ahead.ask("sts", "Denied", "us-east-1", None)
        await ahead.settle()
        with pytest.raises(DeniedError):
            await ahead.lane().call("sts", "Denied", region="us-east-1")

    asyncio.run(work())


def test_of_a_failure_that_nobody_came_for_nothing_is_printed() -> None:
    complaints: list[str] = []

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
        ahead = Ahead(Aws())
        ahead.ask("sts", "Denied", "us-east-1", None)
        ahead.ask("sts", "GetCallerIdentity", "us-east-1", None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del ahead
        gc.collect()

    asyncio.run(work())
    assert complaints == []


def test_what_was_asked_ahead_after_a_round_is_of_the_next_one() -> None:
    async def work() -> None:
        ahead = Ahead(Aws())
        lane = ahead.lane()
        await lane.call("dynamodb", "DescribeTable", region="us-east-1")
        ahead.ask("cloudwatch", "GetInsightRuleReport", "us-east-1", None, lane.depth, RuleName="a")
        await lane.call("dynamodb", "DescribeContributorInsights", region="us-east-1")
        await lane.call("cloudwatch", "GetInsightRuleReport", region="us-east-1", RuleName="a")
        assert (ahead.calls, ahead.rounds) == (3, 2)

    asyncio.run(work())
