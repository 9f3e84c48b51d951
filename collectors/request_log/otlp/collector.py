"""A receiver of traces by OTLP over HTTP: spans of DynamoDB calls become records, the others are taken and forgotten.

What was answered with 200 is counted at once, but written down only with the next checkpoint: a process that is killed
loses what came since. Nobody can be asked for it again, so that stretch is told as a gap.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, ClassVar

from aiohttp import web
from msgspec import Struct

from analyzer.model.batch import Block, Position, StreamStatus
from analyzer.model.instant import Instant
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.request_log.otlp.parse import JSON, Refusal, accepted, blocks_of, media_type, received, refusal_body
from collectors.request_log.polling import wall_clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.otlp.config import OtlpConfig

__all__ = ["OtlpStream"]

_CLOSED = "closed"
"""Head of the position of a receiver that ended when all it took was counted."""
_OPEN_AGAIN_SECONDS = 5.0
_SHUTDOWN_SECONDS = 1.0
_RETRY_SECONDS = 2
_SHORT_MS = 2000
"""Clients try again for longer than that."""
_READ_BYTES = 64 * 1024
_MOST_BLOCKS = 10_000
"""Blocks that may wait, however small."""
_HINTS = {
    413: "send smaller batches, or raise request_log.otlp.largest_body_bytes",
    429: "send less at once, or raise request_log.otlp.queue_bytes",
}


class _Refused(Struct):
    """Exports that were refused for one reason since the process began."""

    count: int
    first: Instant
    last: Instant


class OtlpStream:
    """Listens while its blocks are read. `port` is the port that it listens on, None while it does not.

    Where an earlier process noted its positions at `since`, what was sent after that and before now was lost.
    """

    name: ClassVar[str] = SourceName.REQUEST_LOG

    def __init__(
        self,
        config: OtlpConfig,
        positions: Iterable[Position] = (),
        clock: Callable[[], Instant] = wall_clock,
        since: Instant | None = None,
        declared: Sequence[DeclaredKeys] = (),
    ) -> None:
        self._declared = declared
        self.port: int | None = None
        self._config = config
        self._clock = clock
        self._before = next((one for one in positions if one.path == config.path), None)
        self._deaf = _deaf_between(config.path, self._before, since, clock())
        self._taken = 0 if self._before is None else self._before.offset
        self._queue: deque[Block] = deque()
        self._queued_bytes = 0
        self._taking = 0
        self._news = asyncio.Event()
        self._is_stopping = False
        self._refused: dict[int, _Refused] = {}
        self._unopened: str | None = None

    def begin(self) -> tuple[Position, ...]:
        """Return where counting begins."""
        return (self._position(),)

    def _position(self, head: str = "") -> Position:
        return Position(self._config.path, 0, self._taken, head, modified=self._clock())

    async def blocks(self) -> AsyncIterator[Block]:
        """Listen, and yield what comes, until `stop`; then what was taken already."""
        runner: web.AppRunner | None = None
        try:
            while True:
                if runner is None and not self._is_stopping:
                    runner = await self._open()
                while self._queue:
                    block = self._queue.popleft()
                    self._queued_bytes -= len(block.lines)
                    yield block
                if self._is_stopping and not self._taking:
                    break
                self._news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), None if runner else _OPEN_AGAIN_SECONDS)
            yield Block(b"", self._position(_CLOSED))
        finally:
            self.port = None
            if runner is not None:
                await runner.cleanup()

    async def _open(self) -> web.AppRunner | None:
        """Begin to listen; None where the address is not to be had, for now."""
        application = web.Application()
        application.router.add_post("/v1/traces", self._answer)
        runner = web.AppRunner(application, access_log=None, auto_decompress=False, shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._config.host, self._config.port).start()
        except OSError as error:
            self._unopened = error.strerror or type(error).__name__
            await runner.cleanup()
            return None
        self._unopened = None
        self.port = int(runner.addresses[0][1])
        return runner

    async def _answer(self, request: web.Request) -> web.Response:
        kind = JSON
        try:
            kind, is_packed = media_type(request.headers)
            body = await self._take(request, kind, is_packed=is_packed)
        except Refusal as refusal:
            self._note(refusal)
            headers = {"Retry-After": str(_RETRY_SECONDS)} if refusal.status in {429, 503} else {}
            answer = web.Response(
                status=refusal.status, body=refusal_body(kind, refusal), content_type=kind, headers=headers
            )
            if not request.content.is_eof():
                answer.force_close()  # the rest of the body is not waited for
            return answer
        return web.Response(body=body, content_type=kind)

    async def _take(self, request: web.Request, kind: str, *, is_packed: bool) -> bytes:
        """Take in a body and return what is answered; raises Refusal. It never waits for the queue."""
        if self._is_stopping:
            raise Refusal(503, "the receiver is stopping: come again")
        most = self._config.largest_body_bytes
        if (request.content_length or 0) > most:
            raise Refusal(413, f"the body is over {most} bytes: send smaller batches")
        is_full = self._queued_bytes >= self._config.queue_bytes or len(self._queue) >= _MOST_BLOCKS
        if is_full or self._taking >= self._config.most_requests:
            raise Refusal(429, "too much is waiting to be counted: come again")
        self._taking += 1
        try:
            packed = await self._body(request, most)
            decoded = await asyncio.to_thread(
                received, packed, kind, is_packed=is_packed, most=most, declared=self._declared
            )
            self._taken += 1
            for lines, bad in blocks_of(decoded):
                self._queue.append(Block(lines, self._position(), bad=bad))
                self._queued_bytes += len(lines)
        finally:
            self._taking -= 1
            self._news.set()
        return accepted(kind, decoded.bad)

    async def _body(self, request: web.Request, most: int) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._config.body_ms / 1000):
                async for piece in request.content.iter_chunked(_READ_BYTES):
                    body += piece
                    if len(body) > most:
                        raise Refusal(413, f"the body is over {most} bytes: send smaller batches")
        except TimeoutError:
            raise Refusal(408, "the body did not come in time") from None
        return bytes(body)

    def _note(self, refusal: Refusal) -> None:
        now = self._clock()
        known = self._refused.setdefault(refusal.status, _Refused(0, now, now))
        known.count += 1
        known.last = now

    def stop(self) -> None:
        """Take nothing more, and end `blocks` when what was taken is read."""
        self._is_stopping = True
        self._news.set()

    def close(self) -> None:
        """Take nothing more; the address is let go when `blocks` ends."""
        self.stop()

    def paths(self) -> frozenset[str]:
        """Return the name of the position."""
        return frozenset({self._config.path})

    def status(self) -> StreamStatus:
        """Say how the receiver stands; one that does not listen counts no file."""
        return StreamStatus(
            files=int(self._unopened is None),
            missing=(),
            pending_bytes=self._queued_bytes,
            gaps=(*self._deaf, *self._shut(), *self._refusals()),
        )

    def _shut(self) -> tuple[Gap, ...]:
        if self._unopened is None:
            return ()
        detail = f"{self._config.path}: it cannot listen: {self._unopened}"
        hint = "give request_log.otlp.listen another port, or end what uses it; it is tried again by itself"
        return (Gap(SourceName.REQUEST_LOG, GapReason.NOT_ENABLED, detail, hint),)

    def _refusals(self) -> tuple[Gap, ...]:
        return tuple(
            Gap(
                SourceName.REQUEST_LOG,
                GapReason.LOW_COVERAGE,
                f"{self._config.path}: {known.count:,} exports were refused with HTTP {status}",
                _HINTS.get(status, "look at the exporter's settings and log"),
                start=known.first,
                end=known.last + 1,
            )
            for status, known in sorted(self._refused.items())
        )


def _deaf_between(path: str, before: Position | None, since: Instant | None, now: Instant) -> tuple[Gap, ...]:
    """Return the stretch in which nobody listened, or what was heard was not written down."""
    if before is None:
        return ()
    start = before.modified if before.head == _CLOSED or since is None else since
    if now - start < _SHORT_MS:
        return ()
    detail = f"{path}: what was sent while nobody listened is lost, but for what clients sent again"
    hint = "let a Collector with a persistent queue stand before it, if restarts must lose nothing"
    return (Gap(SourceName.REQUEST_LOG, GapReason.LATE, detail, hint, start=start, end=now),)
