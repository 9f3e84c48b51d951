"""Daemons that write, tidy and are killed side by side: no row is lost, and none counts twice."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.dataset import Dataset
from analyzer.history.files import HistoryError
from analyzer.model.instant import parse_instant
from analyzer.model.window import Window
from tests.history.test_dataset import minute

if TYPE_CHECKING:
    from collections.abc import Callable

T = parse_instant("2026-11-30T09:00:00Z")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
WINDOW = Window(T, T + 2 * HOUR)
KEEPING = Keeping()


class KilledError(Exception):
    """The process is gone."""


class Memory:
    """A place for bytes whose answers take their time, as chance has it; what was written is there at once."""

    def __init__(self, seed: int = 0) -> None:
        self.blobs: dict[str, bytes] = {}
        self.chance = random.Random(seed)
        self.pages = 1000

    async def turn(self) -> None:
        for _ in range(self.chance.randrange(6)):
            await asyncio.sleep(0)

    async def read(self, name: str) -> bytes:
        await self.turn()
        return self.blobs[name]

    async def write(self, name: str, content: bytes) -> None:
        await self.turn()
        self.blobs[name] = content

    async def list(self, prefix: str) -> tuple[str, ...]:
        """List page by page: what changes between two of them is seen by half."""
        found: list[str] = []
        while page := sorted(name for name in self.blobs if name.startswith(prefix) and name > "".join(found[-1:])):
            found += page[: self.pages]
            await self.turn()
        return tuple(found)

    async def delete(self, name: str) -> None:
        await self.turn()
        self.blobs.pop(name, None)


class Mortal:
    """The same place, as one process sees it that is killed before its nth change."""

    def __init__(self, memory: Memory, left: int) -> None:
        self._memory = memory
        self._left = left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    async def write(self, name: str, content: bytes) -> None:
        self._change()
        await self._memory.write(name, content)

    async def delete(self, name: str) -> None:
        self._change()
        await self._memory.delete(name)

    def _change(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise KilledError


@pytest.fixture(autouse=True)
def _in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let chance alone say who comes first."""

    async def at_once(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return work(*given, **named)

    monkeypatch.setattr("analyzer.history.dataset.asyncio.to_thread", at_once)


async def total(memory: Memory, kind: Kind = Kind.HOURS) -> float:
    reading = await Dataset(memory).read_range(kind, WINDOW)
    assert reading.torn == ()
    assert sum(window.seconds for window in reading.covered) == 240
    return float(sum(reading.rows["requests"].to_pylist()))


async def written(memory: Memory, *daemons: str) -> None:
    for daemon in daemons:
        await Dataset(memory, daemon).write_minutes([minute(number, requests=10) for number in range(4)])


async def tidied(store: Any, daemon: str, days: float) -> None:
    try:
        await tidy(Dataset(store, daemon), KEEPING, round(T + days * DAY))
    except KilledError:
        return


@pytest.mark.parametrize("seed", range(12))
async def test_two_that_make_hours_of_a_third_s_minutes_at_once_lose_and_double_nothing(seed: int) -> None:
    memory = Memory(seed)
    memory.pages = memory.chance.choice([1, 2, 3, 1000])
    await written(memory, "gone", "one", "two")
    killed = Mortal(memory, memory.chance.randrange(12))
    seen: list[float] = []

    async def read_on() -> None:
        for kind in (Kind.HOURS, Kind.REQUESTS) * 2:
            seen.append(await total(memory, kind))  # noqa: PERF401 -- what is seen while they work

    await asyncio.gather(tidied(memory, "one", 5), tidied(memory, "two", 5), tidied(killed, "three", 5), read_on())
    assert seen == [120.0] * 4
    for daemon in ("one", "two"):
        await tidied(memory, daemon, 5)
        assert (await total(memory), await total(memory, Kind.REQUESTS)) == (120, 120)
    assert len(memory.blobs) == 6


async def test_an_hour_that_misses_minutes_of_a_fuller_one_counts_for_nothing() -> None:
    memory = Memory()
    await written(memory, "gone")
    half = Memory()
    half.blobs = {name: content for name, content in memory.blobs.items() if "T0900" not in name}
    await tidied(half, "one", 5)
    await tidied(memory, "two", 5)
    memory.blobs |= half.blobs
    assert len(memory.blobs) == 4
    assert (await total(memory), await total(memory, Kind.REQUESTS)) == (40, 40)
    await tidied(memory, "two", 5)
    assert len(memory.blobs) == 2
    assert (await total(memory), await total(memory, Kind.REQUESTS)) == (40, 40)


async def test_doubles_of_an_hour_are_one_in_their_day() -> None:
    memory = Memory()
    await written(memory, "gone")
    half = Memory()
    half.blobs = {name: content for name, content in memory.blobs.items() if "T0900" not in name}
    await tidied(half, "one", 5)
    await tidied(memory, "two", 5)
    memory.blobs |= {name: content for name, content in half.blobs.items() if "hours" in name}
    await tidied(memory, "two", 10)
    assert await total(memory) == 40


async def test_who_lives_is_left_to_tidy_by_itself() -> None:
    memory = Memory()
    await written(memory, "one", "two")
    await Dataset(memory, "two").write_minutes([minute(1440 * day) for day in (9, 10)])
    before = {name for name in memory.blobs if "-two" in name}
    await tidied(memory, "one", 10.1)
    assert before <= set(memory.blobs)
    assert not any("T0900-one" in name for name in memory.blobs)


async def test_a_file_that_is_listed_and_never_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    await written(memory, "one")

    async def gone(_: str) -> bytes:
        raise KeyError

    monkeypatch.setattr(memory, "read", gone)
    with pytest.raises(HistoryError, match=r"T0900-one\.parquet in .*: it is listed, and not there"):
        await Dataset(memory).read_range(Kind.REQUESTS, WINDOW)
