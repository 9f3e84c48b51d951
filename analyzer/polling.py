"""Sources that are polled: each on its own clock, so that one which fails or hangs delays no other.

What a poll brought stays until the next one, with the stretch that it covers; what has not been brought anew for three
polls is a gap, so that old values are never taken for new.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from analyzer.exporters.assemble import SourceHealth, Spent
from analyzer.interfaces import Source
from analyzer.lease import MEND, UNREACHED
from analyzer.model.batch import Batch
from analyzer.model.instant import Instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["NOTHING_POLLED", "Gate", "Poll", "Polled", "Polls"]

_MISSED = 3
"""So many polls may fail to come before what they brought is no longer told."""
_FIRST_LOOK_MS = 900_000
"""How far back the first poll looks: a quarter of an hour is what CloudWatch may still change."""


class Poll(Struct, frozen=True):
    """A source of one account and region, and how often it is asked."""

    source: Source
    every_ms: int
    region: str | None = None
    account: str | None = None

    @property
    def place(self) -> str:
        """Where it looks, in words."""
        return " of ".join(filter(None, (self.region, self.account)))


class Gate(Protocol):
    """Says whether this daemon is the one that reads; another may be."""

    @property
    def is_open(self) -> bool:
        """Whether it is at this moment."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it is not known who reads, where it is shut and that is not known."""
        ...

    async def opened(self) -> None:
        """Wait until it is."""
        ...

    async def run(self) -> None:
        """Find out, again and again, until cancelled."""
        ...


class _Known(Struct):
    """What one poll brought last, and when."""

    batch: Batch | None = None
    at: Instant | None = None
    succeeded: Instant | None = None


class Polls:
    """Asks its sources for ever, while its gate is open; `run` ends when it is cancelled.

    `on_first` is called once, when each has answered for the first time.
    """

    def __init__(
        self,
        polls: Iterable[Poll],
        clock: Callable[[], Instant],
        gate: Gate | None = None,
        on_first: Callable[[], None] = lambda: None,
    ) -> None:
        self._polls = tuple(polls)
        self._on_first: Callable[[], None] | None = on_first
        self._clock = clock
        self._known = [_Known() for _ in self._polls]
        self._began = clock()
        self._gate = gate
        self._waited: str | bool = False
        self.generation = 0

    @property
    def sources(self) -> frozenset[SourceName]:
        """The sources that are asked."""
        return frozenset(SourceName(poll.source.name) for poll in self._polls)

    @property
    def holds_lease(self) -> bool | None:
        """Whether this daemon is the one that reads; None where there is no other."""
        return None if self._gate is None else self._gate.is_open

    @property
    def trouble(self) -> str | None:
        """Why it is not known who reads; None where it is."""
        return None if self._gate is None else self._gate.trouble

    async def run(self) -> None:
        """Ask every source on its own clock."""
        async with asyncio.TaskGroup() as group:
            if self._gate is not None:
                group.create_task(self._gate.run())
            for number, poll in enumerate(self._polls):
                group.create_task(self._ask_for_ever(number, poll))

    async def _ask_for_ever(self, number: int, poll: Poll) -> None:
        known = self._known[number]
        while True:
            if self._gate is not None:
                await self._gate.opened()
            began = self._clock()
            start = began - max(_FIRST_LOOK_MS, poll.every_ms) if known.at is None else min(known.at, began)
            batch = await poll.source.collect(Window(start, began))
            known.batch, known.at = _placed(batch, poll), began
            if batch.covers:
                known.succeeded = began
            self.generation += 1
            self._say_first()
            took_ms = self._clock() - began
            await asyncio.sleep(max(poll.every_ms - max(took_ms, 0), 1000) / 1000)

    def _say_first(self) -> None:
        if self._on_first is not None and all(known.at is not None for known in self._known):
            self._on_first()
            self._on_first = None

    def batches(self, now: Instant) -> tuple[Batch, ...]:
        """Return what was brought last; of a source that no longer comes, that it does not.

        Nothing of it is told while another daemon reads: only that it does, or that nobody is known to.
        """
        waits = self.holds_lease is False and (self.trouble or True)
        self.generation += waits != self._waited
        self._waited = waits
        if waits:
            return (_waiting(now) if waits is True else _unreached(now, waits),)
        return tuple(filter(None, (self._brought(number, poll, now) for number, poll in enumerate(self._polls))))

    def _brought(self, number: int, poll: Poll, now: Instant) -> Batch | None:
        known = self._known[number]
        since = known.at if known.at is not None else self._began
        if now - since <= _MISSED * poll.every_ms:
            return known.batch
        where = f" in {poll.place}" if poll.place else ""
        detail = f"{poll.source.name}{where}: no answer for {(now - since) // 1000} s"
        gap = Gap(SourceName(poll.source.name), GapReason.TIMEOUT, detail, "look at the network, or restart the daemon")
        return Batch(window=Window(since, max(since, now)), gaps=(gap,))

    def health(self, now: Instant) -> tuple[SourceHealth, ...]:
        """Say of each source how its worst place stands; none stands while another daemon reads."""
        if self.holds_lease is False:
            return ()
        by_source: dict[str, list[_Known]] = {}
        for poll, known in zip(self._polls, self._known, strict=True):
            by_source.setdefault(poll.source.name, []).append(known)
        return tuple(_health(name, places, now) for name, places in by_source.items())


def _waiting(now: Instant) -> Batch:
    detail, hint = "standby: another daemon holds the lease, and reads AWS", "look at its report"
    gap = Gap(SourceName.TABLE_CATALOG, GapReason.NOT_ENABLED, detail, hint)
    return Batch(window=Window(now, now), gaps=(gap,))


def _unreached(now: Instant, because: str) -> Batch:
    gap = Gap(SourceName.TABLE_CATALOG, GapReason.TIMEOUT, f"{UNREACHED}: {because}", MEND)
    return Batch(window=Window(now, now), gaps=(gap,))


def _placed(batch: Batch, poll: Poll) -> Batch:
    return msgspec.structs.replace(batch, account=batch.account or poll.account, region=batch.region or poll.region)


def _health(source: str, places: list[_Known], now: Instant) -> SourceHealth:
    succeeded = [known.succeeded for known in places]
    is_up = all(known.succeeded is not None and known.succeeded == known.at for known in places)
    ends = [max((cover.window.end for cover in known.batch.covers), default=None) for known in places if known.batch]
    known_ends = [end for end in ends if end is not None]
    oldest = min((at for at in succeeded if at is not None), default=None)
    return SourceHealth(
        source=source,
        is_up=is_up,
        last_success_seconds=None if oldest is None or None in succeeded else oldest / 1000,
        delay_seconds=max(0, now - min(known_ends)) / 1000 if known_ends else None,
    )


class Polled(Struct, frozen=True):
    """What is read from AWS, and what that took so far."""

    polls: Polls
    spent: Callable[[], Spent] = Spent
    keep_budget: Callable[[], dict[str, Any]] = dict
    resume_budget: Callable[[dict[str, Any]], None] = lambda _: None


NOTHING_POLLED = Polled(Polls((), lambda: time.time_ns() // 1_000_000))
