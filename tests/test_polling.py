"""Sources that are polled, each on its own clock, with a clock that stands until it is set."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

import pytest

from analyzer.model.batch import Batch, Check
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.window import Window
from analyzer.polling import Poll, Polls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

NOW = 1_760_000_000_000
EVERY = 300_000
CATALOG, METRICS = SourceName.TABLE_CATALOG, SourceName.CLOUDWATCH_METRICS


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


class Catalog:
    """Answers when it is let; says what it was asked."""

    name: ClassVar[str] = CATALOG

    def __init__(self, *, covers: bool = True) -> None:
        self.asked: list[Window] = []
        self.covers = covers
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def collect(self, window: Window) -> Batch:
        self.asked.append(window)
        await self.may_answer.wait()
        source = SourceName(self.name)
        seen = Window(window.start - 60_000, window.end - 60_000)
        covers = (Covers(source, seen),) if self.covers else ()
        gaps = () if self.covers else (Gap(source, GapReason.DENIED, "denied"),)
        return Batch(window=window, covers=covers, gaps=gaps)

    async def check(self) -> tuple[Check, ...]:
        return ()


class Metrics(Catalog):
    name: ClassVar[str] = METRICS


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let pauses of polls take no time; say how long they would have been."""
    told: list[float] = []
    real = asyncio.sleep

    async def pause(seconds: float) -> None:
        if seconds:
            told.append(seconds)
        await real(0)

    monkeypatch.setattr("analyzer.polling.asyncio.sleep", pause)
    return told


@asynccontextmanager
async def running(polls: Polls) -> AsyncIterator[None]:
    task = asyncio.create_task(polls.run())
    yield
    task.cancel()
    with pytest.raises(asyncio.CancelledError):  # and no source failed in another way
        await task


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 -- nothing of a source is there to be awaited
            await asyncio.sleep(0)


async def test_the_first_poll_looks_a_quarter_of_an_hour_back_and_each_other_from_where_it_was_left(
    clock: Clock, pauses: list[float]
) -> None:
    catalog = Catalog()
    async with running(Polls([Poll(catalog, EVERY)], clock)):
        await until(lambda: len(catalog.asked) >= 1)
        clock.now += EVERY
        asked = len(catalog.asked)
        await until(lambda: len(catalog.asked) > asked)
    assert catalog.asked[0] == Window(NOW - 900_000, NOW)
    assert Window(NOW, NOW + EVERY) in catalog.asked
    assert pauses


async def test_one_that_is_asked_seldom_looks_back_as_far_as_it_is_asked(clock: Clock, pauses: list[float]) -> None:
    catalog = Catalog()
    async with running(Polls([Poll(catalog, 3_600_000)], clock)):
        await until(lambda: bool(catalog.asked))
    assert catalog.asked[0] == Window(NOW - 3_600_000, NOW)
    assert set(pauses) == {3600}


async def test_a_clock_that_was_set_back_gives_no_window_that_ends_before_it_begins(
    clock: Clock, pauses: list[float]
) -> None:
    catalog = Catalog()
    async with running(Polls([Poll(catalog, EVERY)], clock)):
        await until(lambda: bool(pauses))
        clock.now -= 60_000
        asked = len(catalog.asked)
        await until(lambda: len(catalog.asked) > asked)
    assert catalog.asked[-1] == Window(NOW - 60_000, NOW - 60_000)


async def test_the_pause_is_what_the_poll_has_left(clock: Clock, pauses: list[float]) -> None:
    catalog = Catalog()
    catalog.may_answer.clear()
    async with running(Polls([Poll(catalog, EVERY)], clock)):
        await until(lambda: bool(catalog.asked))
        clock.now += 100_000
        catalog.may_answer.set()
        await until(lambda: bool(pauses))
        catalog.may_answer.clear()
        await until(lambda: len(catalog.asked) >= 2)
        seen = len(pauses)
        clock.now += 10 * EVERY
        catalog.may_answer.set()
        await until(lambda: len(pauses) > seen)
    assert pauses[0] == 200
    assert pauses[seen] == 1  # never without a breath, however long it took


async def test_one_that_hangs_delays_no_other(clock: Clock, pauses: list[float]) -> None:
    hanging, answering = Catalog(), Metrics()
    hanging.may_answer.clear()
    polls = Polls([Poll(hanging, EVERY, "eu-west-1"), Poll(answering, EVERY, "us-east-1")], clock)
    async with running(polls):
        await until(lambda: polls.generation > 2)
        (batch,) = polls.batches(NOW)
    assert batch.region == "us-east-1"
    assert len(hanging.asked) == 1
    assert pauses


async def test_what_was_brought_says_where_it_is_from(clock: Clock, pauses: list[float]) -> None:
    polls = Polls([Poll(Catalog(), EVERY, "eu-west-1", "111122223333"), Poll(Catalog(), EVERY)], clock)
    async with running(polls):
        await until(lambda: polls.generation >= 2)
        first, second = polls.batches(NOW)
    assert (first.region, first.account) == ("eu-west-1", "111122223333")
    assert (second.region, second.account) == (None, None)
    assert polls.sources == {CATALOG}
    assert pauses


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ((None, None), "table-catalog: no"),
        (("eu-west-1", None), "table-catalog in eu-west-1: no"),
        (("eu-west-1", "1"), "table-catalog in eu-west-1 of 1: no"),
    ],
)
async def test_old_values_are_never_told_as_new(
    clock: Clock, pauses: list[float], place: tuple[str | None, str | None], where: str
) -> None:
    catalog = Catalog()
    polls = Polls([Poll(catalog, EVERY, *place)], clock)
    async with running(polls):
        await until(lambda: bool(pauses))
    assert polls.batches(NOW + 3 * EVERY)[0].covers
    (stale,) = polls.batches(NOW + 3 * EVERY + 1)
    assert (stale.covers, stale.window) == ((), Window(NOW, NOW + 3 * EVERY + 1))
    assert stale.gaps[0].reason is GapReason.TIMEOUT
    assert stale.gaps[0].detail == f"{where} answer for {3 * EVERY // 1000} s"


def test_what_never_came_is_a_gap_after_a_while_and_nothing_before(clock: Clock) -> None:
    polls = Polls([Poll(Catalog(), EVERY)], clock)
    assert polls.batches(NOW + 3 * EVERY) == ()
    assert [batch.gaps[0].reason for batch in polls.batches(NOW + 3 * EVERY + 1)] == [GapReason.TIMEOUT]


async def test_the_health_of_a_source_is_that_of_its_worst_place(clock: Clock, pauses: list[float]) -> None:
    good, bad = Catalog(), Catalog(covers=False)
    polls = Polls([Poll(good, EVERY, "a"), Poll(bad, EVERY, "b"), Poll(Metrics(), EVERY)], clock)
    (before, _) = polls.health(NOW)
    assert (before.is_up, before.last_success_seconds, before.delay_seconds) == (False, None, None)
    async with running(polls):
        await until(lambda: polls.generation >= 3)
        catalog, metrics = polls.health(NOW + 5000)
    assert (catalog.source, catalog.is_up, catalog.last_success_seconds) == ("table-catalog", False, None)
    assert catalog.delay_seconds == 65
    assert (metrics.is_up, metrics.last_success_seconds, metrics.delay_seconds) == (True, NOW / 1000, 65)
    assert pauses


async def test_a_source_that_fails_after_it_came_is_down_and_says_since_when(clock: Clock, pauses: list[float]) -> None:
    catalog = Catalog()
    polls = Polls([Poll(catalog, EVERY)], clock)
    async with running(polls):
        await until(lambda: bool(pauses))
        catalog.covers = False
        clock.now += EVERY
        generation = polls.generation
        await until(lambda: polls.generation > generation + 1)
        (health,) = polls.health(clock.now)
    assert (health.is_up, health.last_success_seconds, health.delay_seconds) == (False, NOW / 1000, None)


class Gate:
    """Open or not, as it is told."""

    def __init__(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self.trouble: str | None = None
        self.was_run = False
        self.may_pass = asyncio.Event()

    async def opened(self) -> None:
        if not self.is_open:
            await self.may_pass.wait()

    async def run(self) -> None:
        self.was_run = True


async def test_nothing_is_asked_while_another_daemon_reads(clock: Clock, pauses: list[float]) -> None:
    catalog, gate = Catalog(), Gate(is_open=False)
    polls = Polls([Poll(catalog, EVERY)], clock, gate)
    async with running(polls):
        await until(lambda: gate.was_run)
        (told,) = polls.batches(NOW + 10 * EVERY)
        assert (catalog.asked, told.gaps[0].reason, polls.health(NOW)) == ([], GapReason.NOT_ENABLED, ())
        assert polls.holds_lease is False
        gate.trouble, before = "a folder", polls.generation
        (told,) = polls.batches(NOW + 10 * EVERY)
        assert told.gaps[0].detail == "the lease cannot be reached, nobody is known to read AWS: a folder"
        assert (told.gaps[0].reason, polls.generation > before) == (GapReason.TIMEOUT, True)
        gate.is_open = True
        gate.may_pass.set()
        await until(lambda: bool(catalog.asked))
    assert polls.holds_lease is True
    assert pauses


async def test_what_was_read_before_is_told_no_more_when_another_reads(clock: Clock, pauses: list[float]) -> None:
    gate = Gate(is_open=True)
    polls = Polls([Poll(Catalog(), EVERY)], clock, gate)
    async with running(polls):
        await until(lambda: polls.generation > 0)
        assert polls.batches(NOW)[0].covers
        gate.is_open = False
        before = polls.generation
        assert polls.batches(NOW)[0].covers == ()
        assert polls.generation > before
    assert pauses
    assert Polls([], clock).holds_lease is None


async def test_when_each_source_has_answered_once_that_is_said_once(clock: Clock, pauses: list[float]) -> None:
    catalog, metrics, said = Catalog(), Metrics(), []
    metrics.may_answer.clear()
    polls = Polls((Poll(catalog, EVERY), Poll(metrics, EVERY)), clock, on_first=lambda: said.append(len(catalog.asked)))
    async with running(polls):
        await until(lambda: len(catalog.asked) > 2)
        assert said == []
        metrics.may_answer.set()
        await until(lambda: len(metrics.asked) > 2)
    assert len(said) == 1
    assert pauses
