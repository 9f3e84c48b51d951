"""Several request logs read as one stream, each with positions of its own."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.batch import StreamStatus
from analyzer.model.sight import SourceName
from collectors.request_log.joining import Joined
from collectors.request_log.polling import wall_clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from analyzer.interfaces import Stream
    from analyzer.model.batch import Block, Position
    from analyzer.model.instant import Instant
    from collectors.request_log.joining import Joiner

__all__ = ["TogetherStream"]

_WAITING = 4
"""Blocks that wait to be taken: enough that no log waits for another."""


class TogetherStream:
    """Reads streams side by side; one that is slow or fails delays no other.

    With a joiner the same request from two logs is one. `logs` say of which log a stream is a part (its own name where
    nothing is said). What the joiner holds is let go when the streams end.
    """

    name: ClassVar[str] = SourceName.REQUEST_LOG

    def __init__(
        self,
        streams: Mapping[str, Stream],
        joiner: Joiner | None = None,
        clock: Callable[[], Instant] = wall_clock,
        logs: Mapping[str, str] | None = None,
    ) -> None:
        self._streams = dict(streams)
        self._logs = {} if logs is None else dict(logs)
        self._joiner = joiner
        self._clock = clock

    def begin(self) -> tuple[Position, ...]:
        """Return where reading begins, of all streams."""
        positions = tuple(position for stream in self._streams.values() for position in stream.begin())
        return positions if self._joiner is None else (*positions, self._joiner.position())

    async def blocks(self) -> AsyncIterator[Block]:
        """Yield the blocks of all streams as they come, until all have ended."""
        queue: asyncio.Queue[tuple[str, Block] | None] = asyncio.Queue(_WAITING)
        pumps = [asyncio.create_task(_pump(name, stream, queue)) for name, stream in self._streams.items()]
        ending = asyncio.create_task(_end(pumps, queue))
        try:
            async for name, block in self._arrivals(queue):
                if block is not None and self._joiner is None:
                    yield block
                elif block is not None and self._joiner is not None:
                    self._joiner.add(self._logs.get(name, name), block, self._clock())
                for released in self._released():
                    yield released
            for pump in pumps:
                pump.result()
            for released in self._released(everything=True):
                yield released
        finally:
            for task in (*pumps, ending):
                task.cancel()
            await asyncio.gather(*pumps, ending, return_exceptions=True)

    def _released(self, *, everything: bool = False) -> Iterator[Block]:
        """Yield what need not wait any longer."""
        return iter(()) if self._joiner is None else self._joiner.release(self._clock(), everything=everything)

    async def _arrivals(
        self, queue: asyncio.Queue[tuple[str, Block] | None]
    ) -> AsyncIterator[tuple[str, Block | None]]:
        """Yield blocks with the names of their streams; none when something that waits is due."""
        while True:
            arrived: tuple[str, Block] | tuple[str, None] | None = ("", None)
            with contextlib.suppress(TimeoutError):
                arrived = await asyncio.wait_for(queue.get(), self._patience())
            if arrived is None:
                return
            yield arrived

    def _patience(self) -> float | None:
        """Return in how many seconds something that waits is due."""
        due = None if self._joiner is None else self._joiner.next_due()
        return None if due is None else max(due - self._clock(), 1) / 1000

    def stop(self) -> None:
        """End every stream."""
        for stream in self._streams.values():
            stream.stop()

    def close(self) -> None:
        """Let go of what is open."""
        for stream in self._streams.values():
            stream.close()

    def paths(self) -> frozenset[str]:
        """Return the names whose positions are still of use."""
        own = () if self._joiner is None else (self._joiner.position().path,)
        return frozenset((*own, *(path for stream in self._streams.values() for path in stream.paths())))

    def status(self) -> StreamStatus:
        """Say how the streams stand, all in one."""
        states = [stream.status() for stream in self._streams.values()]
        counts = Joined() if self._joiner is None else self._joiner.counts
        early = () if self._joiner is None else self._joiner.gaps()
        return StreamStatus(
            files=sum(one.files for one in states),
            missing=tuple(name for one in states for name in one.missing),
            pending_bytes=sum(one.pending_bytes for one in states),
            truncated=sum(one.truncated for one in states),
            lost=sum(one.lost for one in states),
            damaged=sum(one.damaged for one in states),
            skipped=sum(one.skipped for one in states),
            gaps=(*(gap for one in states for gap in one.gaps), *early),
            joined=counts.joined,
            set_aside=counts.set_aside,
        )


async def _pump(name: str, stream: Stream, queue: asyncio.Queue[tuple[str, Block] | None]) -> None:
    async for block in stream.blocks():
        await queue.put((name, block))


async def _end(pumps: list[asyncio.Task[None]], queue: asyncio.Queue[tuple[str, Block] | None]) -> None:
    """Say that all streams have ended, or that one has failed: a bug ends them all."""
    await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
    await queue.put(None)
