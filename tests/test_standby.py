from __future__ import annotations

import asyncio

import pytest
import structlog

from analyzer.errors import CollectError, UnsupportedError
from analyzer.exporters.standing import Standing
from analyzer.lease import DayCost, Lease, LeaseConfig
from analyzer.standby import Standby, steady_ms

RENEW_MS = 1000
CONFIG = LeaseConfig(path="/lease", renew_ms=RENEW_MS)


class Paper:
    """A lease in memory that can be out of reach."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.version = 0
        self.is_broken = False

    async def read(self) -> tuple[Lease | None, str | None]:
        if self.is_broken:
            raise CollectError("out of reach", hint="mend it")
        return self.lease, None if self.lease is None else str(self.version)

    async def write(self, lease: Lease, version: str | None) -> bool:
        if (await self.read())[1] != version:
            return False
        self.lease, self.version = lease, self.version + 1
        return True


class World:
    """Daemons on one paper, whose clock stands until it is set."""

    def __init__(self) -> None:
        self.paper = Paper()
        self.now = 0
        self.spent = DayCost(1, 2.5)
        self.inherited: list[DayCost] = []

    def daemon(self) -> Standby:
        return Standby(
            self.paper,
            CONFIG,
            structlog.get_logger(),
            spent=lambda: self.spent,
            inherit=self.inherited.append,
            clock=lambda: self.now,
        )


@pytest.fixture
def world() -> World:
    return World()


async def step(*daemons: Standby) -> None:
    for one in daemons:
        await one._step()


async def test_the_first_holds_it_and_goes_on_holding_it(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    assert first.me != second.me
    for _ in range(10):
        await step(first, second)
        assert (first.is_open, second.is_open) == (True, False)
        world.now += RENEW_MS


async def test_who_waits_takes_over_when_it_has_not_been_renewed(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    await step(first, second)
    while not second.is_open:
        world.now += CONFIG.look_ms
        await step(second)
        assert not (first.is_open and second.is_open)
    assert world.now <= 3 * RENEW_MS
    assert world.inherited == [world.spent]
    await step(first)
    assert not first.is_open


async def test_where_nobody_can_renew_it_the_holder_stops_by_itself(world: World) -> None:
    first = world.daemon()
    await step(first)
    world.paper.is_broken = True
    with structlog.testing.capture_logs() as told:
        world.now += RENEW_MS
        await step(first)
        assert first.is_open
        world.now += RENEW_MS
        await step(first)
        assert not first.is_open
        world.paper.is_broken = False
        await step(first)
    assert first.is_open
    assert [one["event"] for one in told] == [
        "the lease cannot be reached",
        "reads AWS no more: the lease cannot be renewed",
        "the lease is reached again",
        "holds the lease, and reads AWS",
    ]


async def test_one_that_is_faster_at_the_last_moment_holds_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lose(*_: object) -> bool:
        return False

    monkeypatch.setattr(world.paper, "write", lose)
    one = world.daemon()
    await step(one)
    assert not one.is_open


async def test_calls_go_through_while_it_is_held_and_are_refused_in_words_else(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    await step(first, second)
    first.permit()
    with pytest.raises(UnsupportedError, match="standby: another daemon holds the lease"):
        second.permit()


async def test_where_the_lease_cannot_be_reached_nobody_is_said_to_read(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    world.paper.is_broken = True
    await step(first, second)
    assert [one.standing for one in (first, second)] == [Standing.UNKNOWN, Standing.UNKNOWN]
    with pytest.raises(UnsupportedError, match="cannot be reached, nobody is known to read AWS: out of reach"):
        second.permit()
    world.paper.is_broken = False
    await step(first, second)
    assert [one.standing for one in (first, second)] == [Standing.READS, Standing.WAITS]
    assert (first.trouble, second.trouble) == (None, None)


async def test_a_place_that_hangs_is_out_of_reach_too(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    await step(first, second)
    world.now += CONFIG.lease_ms + CONFIG.renew_ms + 1
    assert (second.standing, second.trouble) == (Standing.UNKNOWN, "no answer")


async def test_it_is_known_whose_the_lease_is_and_whether_anybodys(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    known = [first.is_ours]
    await step(first, second)
    known += [first.is_ours, second.is_ours]
    world.now += 10 * CONFIG.lease_ms
    known += [first.is_ours, second.is_ours]
    assert known == [None, True, False, None, False]


async def running(*daemons: Standby) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(one.run()) for one in daemons]
    await asyncio.sleep(0)
    return tasks


async def test_who_is_stopped_gives_it_back_and_who_waits_for_it_goes_on(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    (task,) = await running(first)
    await asyncio.wait_for(first.opened(), 5)
    await step(second)
    waiting = asyncio.create_task(second.opened())
    await asyncio.sleep(0)
    assert not waiting.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert world.paper.lease is not None
    assert (world.paper.lease.holder, world.paper.lease.spent) == ("", world.spent)
    await step(second)
    await asyncio.wait_for(waiting, 5)
    assert second.is_open


async def test_who_does_not_hold_it_gives_nothing_back(world: World) -> None:
    first, second = world.daemon(), world.daemon()
    await step(first)
    (task,) = await running(second)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert world.paper.lease is not None
    assert world.paper.lease.holder == first.me


async def test_what_cannot_be_given_back_ends_by_itself(world: World) -> None:
    first = world.daemon()
    (task,) = await running(first)
    await asyncio.wait_for(first.opened(), 5)
    world.paper.is_broken = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not first.is_open


async def test_what_another_took_meanwhile_is_not_given_back(world: World) -> None:
    first = world.daemon()
    await step(first)
    world.paper.lease = Lease("them", 9)
    await first._give_back()
    assert world.paper.lease.holder == "them"


def test_the_steady_clock_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = steady_ms()
    assert steady_ms() >= first > 0
    monkeypatch.delattr("time.CLOCK_BOOTTIME", raising=False)
    assert steady_ms() > 0
