"""Connections to the server, bounded: how many there are, how long one may be silent, and how long unread.

aiohttp ends connections that send no whole request in time. How many there are, and clients that do not read what they
asked for, are bounded here.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from aiohttp import web
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["USUAL", "Bounds", "Connections"]

_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_TELL_SECONDS = 60.0
_HANDSHAKE_SECONDS = 10.0
_LINGER_SECONDS = 1.0
"""So long the rest of a request that was refused may take to come."""


class Bounds(Struct, frozen=True):
    """What connections may take.

    A process may hold 1,024 files by many a default, which is raised where the system allows it. One address gets a
    quarter: behind a proxy, or on the machine itself, everybody has the same. `idle_seconds` is how long a request may
    take to come, and a connection may wait for the next one; `unread_seconds` how long a client may read nothing of an
    answer that is there.
    """

    most: int = 512
    of_address: int = 128
    idle_seconds: float = 30.0
    unread_seconds: float = 30.0


USUAL = Bounds()


class Connections:
    """The connections that there are; `dropped` counts those that were ended, or not taken, by why.

    Where there is no room, the connection of the same address that asked nothing for longest makes room, and where
    there are too many in all, that of the address with the most, or the next: who opens many and asks nothing shuts
    out nobody, not even on its own address.
    """

    def __init__(self, bounds: Bounds, clock: Callable[[], float] = time.monotonic) -> None:
        self.bounds = bounds
        self.dropped: Counter[str] = Counter()
        self._clock = clock
        self._of_address: dict[str, dict[_Connection, None]] = {}
        self._told: float | None = None
        self._server: asyncio.Server | None = None

    async def listen(self, served: web.Server, host: str, port: int, ssl_context: Any) -> int | None:  # noqa: ANN401 -- ssl is imported where it is used
        """Listen, and return the port; None where no address could be had. Raises OSError."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self.note_failure)
        self._server = await loop.create_server(
            lambda: _Connection(self, served, loop),
            host,
            port,
            ssl=ssl_context,
            backlog=128,
            ssl_handshake_timeout=None if ssl_context is None else _HANDSHAKE_SECONDS,
        )
        return next((int(socket.getsockname()[1]) for socket in self._server.sockets), None)

    def close(self) -> None:
        """Take no more."""
        if self._server is not None:
            self._server.close()
            asyncio.get_running_loop().set_exception_handler(None)

    def enter(self, one: _Connection) -> bool:
        """Whether a connection may stay."""
        own = self._of_address.get(one.address, {})
        if len(own) >= self.bounds.of_address and not self._make_room(own):
            return False
        is_full = sum(map(len, self._of_address.values())) >= self.bounds.most
        if is_full and not any(map(self._make_room, sorted(self._of_address.values(), key=len, reverse=True))):
            return False
        self._of_address.setdefault(one.address, {})[one] = None
        return True

    def note(self, asked: web.Request) -> None:
        """Note that a connection asked: it has been idle for less long than those that did not."""
        one = asked.protocol
        own = self._of_address.get(one.address, {}) if isinstance(one, _Connection) else {}
        if one in own:
            own[one] = own.pop(one)

    def leave(self, one: _Connection) -> None:
        """Forget a connection."""
        own = self._of_address.get(one.address, {})
        own.pop(one, None)
        if not own:
            self._of_address.pop(one.address, None)

    def _make_room(self, among: dict[_Connection, None]) -> bool:
        idle = next((one for one in among if one.is_idle), None)
        if idle is not None:
            idle.end("connections")
        return idle is not None

    def note_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Tell once a minute that connections cannot be taken; all else as ever."""
        failure = context.get("exception")
        if not isinstance(failure, OSError) or failure.errno not in _SCARCE:
            loop.default_exception_handler(context)
            return
        self.dropped["connections"] += 1
        now = self._clock()
        if self._told is None or now - self._told >= _TELL_SECONDS:
            self._told = now
            logging.getLogger(__name__).warning(
                "connections cannot be taken: %s; raise the bound of open files", failure.strerror
            )


class _Connection(web.RequestHandler):
    """One connection, as aiohttp has it, with its place among the others."""

    __slots__ = ("_connections", "_unread", "address")

    def __init__(self, connections: Connections, served: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(
            served,
            loop=loop,
            access_log=None,  # type: ignore[arg-type] # None is none
            lingering_time=_LINGER_SECONDS,
            keepalive_timeout=connections.bounds.idle_seconds,
        )
        self._connections = connections
        self._unread: asyncio.TimerHandle | None = None
        self.address = ""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a whole request."""
        return self._current_request is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        if self._connections.enter(self):
            super().connection_made(transport)
        else:
            self._connections.dropped["connections"] += 1
            self._manager = None  # aiohttp never heard of it
            transport.abort()  # type: ignore[attr-defined] # a stream's

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_waiting()
        self._connections.leave(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_waiting()
        self._unread = self._loop.call_later(self._connections.bounds.unread_seconds, self.end, "unread-answers")

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def end(self, why: str) -> None:
        """End it at once, and count it."""
        self._connections.dropped[why] += 1
        self._connections.leave(self)
        if self.transport is not None:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
