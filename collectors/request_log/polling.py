"""What all streams share that are looked at again and again: rounds, pauses, and failures that become gaps."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar, Protocol

import msgspec

from analyzer.errors import CollectError
from analyzer.model.batch import Position, StreamStatus
from analyzer.model.sight import Gap, SourceName
from collectors.request_log.seen import Seen

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable

    from analyzer.model.batch import Block, Check
    from analyzer.model.instant import Instant

__all__ = ["Bounds", "PolledStream", "gap_of", "wall_clock"]

_LONGEST_PAUSE_MS = 300_000
"""A source that fails is looked at every five minutes at least: it comes back by itself."""
_MOST_DOUBLINGS = 20


def wall_clock() -> Instant:
    """Return the time."""
    return time.time_ns() // 1_000_000


def gap_of(error: CollectError, path: str) -> Gap:
    """Return the gap that a failure leaves as long as it lasts; nothing is skipped, so it ends with it."""
    return msgspec.structs.replace(Gap.from_error(SourceName.REQUEST_LOG, error), detail=f"{path}: {error}")


class Bounds(Protocol):
    """What the configuration of every stream says of reading."""

    @property
    def path(self) -> str:
        """The name of its position."""

    @property
    def poll_ms(self) -> int:
        """How often it is looked at."""

    @property
    def overlap_ms(self) -> int:
        """How late something may come."""

    @property
    def look_back_ms(self) -> int:
        """Where reading begins without a position: so long ago."""

    @property
    def most_seen(self) -> int:
        """How many names are remembered."""


class PolledStream(ABC):
    """A stream of rounds; a round that fails ends early and begins again where it was, later each time.

    A round is one look at everything that came since. `stop` ends it at once: what was not read is read from the
    position after a restart. `_begun` is the position at which reading began, `_seen` what was read since.
    """

    name: ClassVar[str] = SourceName.REQUEST_LOG

    def __init__(
        self, bounds: Bounds, positions: Iterable[Position] = (), clock: Callable[[], Instant] = wall_clock
    ) -> None:
        self._path = path = bounds.path
        self._poll_ms = bounds.poll_ms
        self._clock = clock
        now = clock()
        known = next((one for one in positions if one.path == path), None)
        self._begun = known or Position(path, 0, 0, modified=now - bounds.look_back_ms)
        self._seen = Seen(self._begun.modified, bounds.most_seen, self._begun.seen, now + bounds.overlap_ms)
        self._stop = asyncio.Event()
        self._failures = 0
        self._gap: Gap | None = None
        self._pending = 0
        self._lost = 0
        self._damaged = 0
        self._skipped = 0

    @abstractmethod
    def look(self) -> AsyncGenerator[Block, None]:
        """Yield everything that came since the last look, each block with the position after it.

        Raises CollectError; what was not yielded comes with the next look.
        """

    @abstractmethod
    def position(self) -> Position:
        """Return where reading stands."""

    @abstractmethod
    async def check(self) -> tuple[Check, ...]:
        """Say for `doctor` whether what is read may be read, and is there."""

    def begin(self) -> tuple[Position, ...]:
        """Return where reading begins."""
        return (self.position(),)

    async def blocks(self) -> AsyncIterator[Block]:
        """Yield blocks for ever, until `stop`."""
        while not self._stop.is_set():
            try:
                async with aclosing(self.look()) as found:
                    while (block := await self._unless_stopped(found)) is not None:
                        yield block
            except CollectError as error:
                self._failures += 1
                self._gap = gap_of(error, self._path)
            else:
                self._failures = 0
                self._gap = None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self.pause_ms() / 1000)

    async def _unless_stopped(self, found: AsyncGenerator[Block, None]) -> Block | None:
        """Return the next block, None at the end; a call that hangs holds up nobody who wants to stop."""
        step = asyncio.ensure_future(anext(found, None))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({step, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return None if self._stop.is_set() else step.result()
        finally:
            stopping.cancel()
            if not step.done():
                step.cancel()
                await asyncio.wait({step})

    def pause_ms(self) -> int:
        """Return how long to wait for the next look: longer after each failure."""
        longer = self._poll_ms << min(self._failures, _MOST_DOUBLINGS)
        return max(self._poll_ms, min(longer, _LONGEST_PAUSE_MS))

    def stop(self) -> None:
        """End `blocks`, wherever it is."""
        self._stop.set()

    def close(self) -> None:
        """Let go: nothing is looked at any more."""
        self._stop.set()

    def paths(self) -> frozenset[str]:
        """Return the name of the position."""
        return frozenset({self._path})

    def gaps(self) -> tuple[Gap, ...]:
        """Return what cannot be looked at."""
        return () if self._gap is None else (self._gap,)

    def status(self) -> StreamStatus:
        """Say how the stream stands; one that fails counts no file."""
        return StreamStatus(
            files=int(self._gap is None),
            missing=(),
            pending_bytes=self._pending,
            lost=self._lost,
            damaged=self._damaged,
            skipped=self._skipped,
            gaps=self.gaps(),
        )
