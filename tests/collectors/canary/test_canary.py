from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analyzer.errors import (
    AbsentError,
    BudgetError,
    CollectError,
    DeniedError,
    MalformedError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
)
from analyzer.traffic.gsi_lag import estimate_lag
from analyzer.traffic.lag_pairs import probe_pairs
from collectors.asking import Spot
from collectors.canary.collector import Canary
from collectors.canary.config import CanaryConfig
from collectors.canary.parse import PREFIX, SPREAD, read_left
from collectors.notes import Notes
from tests.collectors.canary.conftest import ACCOUNT, Clock, LaggingTable, described
from tests.support.lagging_store import mostly_fast, truth

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.batch import Batch
    from collectors.canary.parse import Left, Plan

SPOT = Spot("us-east-1")


def canary(aws: LaggingTable, clock: Clock, folder: Path, **config: Any) -> Canary:
    phase = np.random.default_rng(5).random
    return Canary(aws, CanaryConfig(folder, **{"probes": 20} | config), SPOT, clock, clock.sleep, phase)


async def measured(one: Canary, stop: asyncio.Event | None = None) -> Batch:
    plan = await one.plan("orders", "by-status")
    return await one.run(plan, stop or asyncio.Event())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def notes(folder: Path) -> Notes[Left]:
    return Notes(folder / "canary", read_left)


async def planned(aws: LaggingTable, clock: Clock, folder: Path, **config: Any) -> Plan:
    return await canary(aws, clock, folder, **config).plan("orders", "by-status")


async def test_a_plan_changes_nothing_and_says_what_it_costs_at_worst(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock)
    plan = await planned(aws, clock, tmp_path)
    assert set(aws.operations()) == {"GetCallerIdentity", "DescribeTable", "DescribeTimeToLive"}
    assert (plan.writes, plan.reads, round(plan.dollars, 6)) == (4.0, 8.0, 0.00007)
    assert notes(tmp_path).names() == ()


async def test_more_than_the_bound_is_refused_before_anything_is_written(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock)
    with pytest.raises(BudgetError, match="over the bound"):
        await planned(aws, clock, tmp_path, probes=10_000, most_usd=0.03)
    assert aws.items == {}


async def test_the_lag_is_measured_as_it_is(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock)
    batch = await measured(canary(aws, clock, tmp_path, probes=320))
    lag = estimate_lag(probe_pairs(batch.probes))
    p50, p95, p99 = truth(mostly_fast, 0.5, 0.95, 0.99)
    assert lag is not None
    assert lag.p50 is not None
    assert lag.p95 is not None
    assert lag.p99 is not None
    assert lag.p50.value == pytest.approx(p50, rel=0.2)
    assert all(one.low <= true <= one.high for one, true in ((lag.p50, p50), (lag.p95, p95), (lag.p99, p99)))
    assert (batch.covers[0].source.value, batch.account, lag.regressions) == ("canary", ACCOUNT, 0)


async def test_every_item_is_removed_and_none_stands_under_a_key_that_is_not_reserved(
    clock: Clock, tmp_path: Path
) -> None:
    aws = LaggingTable(clock)
    await measured(canary(aws, clock, tmp_path))
    assert (aws.items, len(aws.ever), notes(tmp_path).names()) == ({}, 20, ())
    texts = [
        value["S"] for item in aws.ever for name, value in item.items() if "S" in value and name != "dynascope_canary"
    ]
    assert all(text.startswith(PREFIX) for text in texts)
    assert len(set(aws.queried)) >= SPREAD


async def test_items_expire_where_the_table_has_a_time_to_live(clock: Clock, tmp_path: Path) -> None:
    ttl = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}}
    aws = LaggingTable(clock, DescribeTimeToLive=ttl)
    await measured(canary(aws, clock, tmp_path, probes=1))
    assert aws.ever[0]["expires"] == {"N": "1780003600"}


async def test_a_write_that_is_never_seen_is_waited_for_half_a_minute(clock: Clock, tmp_path: Path) -> None:
    def never(_: np.random.Generator, count: int) -> np.ndarray:
        return np.full(count, 1e6)

    aws = LaggingTable(clock, lag=never)
    batch = await measured(canary(aws, clock, tmp_path, probes=1))
    (probe,) = batch.probes
    assert not any(is_fresh for _, _, is_fresh in probe.polls)
    assert 29_000 < probe.polls[-1][0] < 31_000
    assert aws.items == {}


async def test_a_write_that_is_seen_and_then_not_is_followed_further(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, lag=lambda _, count: np.zeros(count))
    answers = iter([True, False, True, True, True])
    query = aws.answers["Query"]
    aws.answers["Query"] = lambda asked: query(asked) if next(answers, True) else {"Items": []}
    batch = await measured(canary(aws, clock, tmp_path, probes=1))
    assert [is_fresh for _, _, is_fresh in batch.probes[0].polls][:4] == [True, False, True, True]


async def test_who_stops_it_has_what_was_measured_so_far(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, lag=lambda _, count: np.zeros(count))
    stop = asyncio.Event()
    clock.waiting = lambda: stop.set() if len(aws.ever) == 3 else None
    batch = await measured(canary(aws, clock, tmp_path), stop)
    assert (len(batch.probes), aws.items) == (3, {})


async def test_it_says_how_far_it_is(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, lag=lambda _, count: np.zeros(count))
    one = canary(aws, clock, tmp_path, probes=19)
    told: list[str] = []
    await one.run(await one.plan("orders", "by-status"), asyncio.Event(), told.append)
    assert told == ["orders/by-status: 10 of 19 writes were followed"]


@pytest.mark.parametrize(
    ("broken", "answer"),
    [
        ("PutItem", UnreachableError("gone", hint="look")),
        ("Query", ThrottledError("slower", hint="wait")),
        ("Query", {"Items": "no list"}),
    ],
)
async def test_whatever_fails_the_item_is_removed(broken: str, answer: Any, clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, **{broken: answer})
    with pytest.raises(CollectError):
        await measured(canary(aws, clock, tmp_path))
    assert (aws.items, notes(tmp_path).names()) == ({}, ())
    assert aws.operations()[-1] == "DeleteItem"


async def test_what_cannot_be_removed_stays_noted_until_it_is(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, DeleteItem=DeniedError("no", hint="grant dynamodb:DeleteItem"))
    with pytest.raises(DeniedError) as caught:
        await measured(canary(aws, clock, tmp_path, probes=1))
    assert "`dynascope canary --clean` removes its item" in caught.value.hint
    assert len(aws.items) == 1
    cleaned = await canary(aws, clock, tmp_path).clean()
    assert (cleaned.undone, len(cleaned.errors)) == ((), 1)
    aws.answers["DeleteItem"] = aws._delete
    cleaned = await canary(aws, clock, tmp_path).clean()
    assert ([one.target.table for one in cleaned.undone], cleaned.errors, aws.items) == (["orders"], (), {})


async def test_the_next_run_removes_what_a_run_that_died_has_left(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, DeleteItem=UnreachableError("gone", hint="look"))
    with pytest.raises(UnreachableError):
        await measured(canary(aws, clock, tmp_path, probes=1))
    aws.answers["DeleteItem"] = aws._delete
    await measured(canary(aws, clock, tmp_path, probes=2))
    assert aws.items == {}


async def test_another_account_removes_nothing(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, DeleteItem=UnreachableError("gone", hint="look"))
    with pytest.raises(UnreachableError):
        await measured(canary(aws, clock, tmp_path, probes=1))
    aws.answers |= {"DeleteItem": aws._delete, "GetCallerIdentity": {"Account": "999900001111"}}
    cleaned = await canary(aws, clock, tmp_path).clean()
    assert isinstance(cleaned.errors[0], DeniedError)
    assert len(aws.items) == 1


async def test_a_table_that_is_gone_needs_nothing(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock, DeleteItem=AbsentError("gone", hint="it was deleted"))
    await measured(canary(aws, clock, tmp_path, probes=1))
    assert notes(tmp_path).names() == ()


async def test_one_index_is_measured_by_one_process(clock: Clock, tmp_path: Path) -> None:
    aws = LaggingTable(clock)
    one, other = canary(aws, clock, tmp_path), canary(aws, clock, tmp_path)
    plan = await one.plan("orders", "by-status")
    seen: list[Any] = []

    async def meanwhile(_: float) -> None:
        if not seen:
            seen.append(await other.clean())
            with pytest.raises(UnsupportedError, match="another process"):
                await other.run(plan, asyncio.Event())
        clock.now += 1000

    one._sleep = meanwhile
    await one.run(plan, asyncio.Event())
    assert seen[0].undone == ()


@pytest.mark.parametrize(
    ("answers", "kind", "said"),
    [
        ({"table": described(partition="N")}, UnsupportedError, "is no text"),
        ({"table": described(GlobalSecondaryIndexes=[])}, AbsentError, "has no global index"),
        ({"DescribeTable": {"Table": {"KeySchema": 7}}}, MalformedError, "not as AWS documents"),
        ({"DescribeTable": {}}, MalformedError, "no Table"),
        ({"DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": 7}}}, MalformedError, "not as AWS"),
        ({"GetCallerIdentity": DeniedError("denied", hint="log in")}, DeniedError, "denied"),
    ],
)
async def test_what_cannot_be_measured_is_said_before_anything_is_written(
    answers: dict[str, Any], kind: type[CollectError], said: str, clock: Clock, tmp_path: Path
) -> None:
    aws = LaggingTable(clock, **answers)
    with pytest.raises(kind, match=said):
        await planned(aws, clock, tmp_path)
    assert "PutItem" not in aws.operations()


async def test_a_note_that_was_removed_meanwhile_is_nothing(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notes(tmp_path).read("nobody") is None
    monkeypatch.setattr(Notes, "names", lambda _: ("nobody",))
    assert await canary(LaggingTable(clock), clock, tmp_path).clean() == ((), ())
