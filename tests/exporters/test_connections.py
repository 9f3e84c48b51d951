"""Connections are bounded: who opens many, sends nothing or reads nothing shuts out nobody."""

from __future__ import annotations

import asyncio
import errno
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from analyzer.exporters.connections import Bounds, Connections
from analyzer.exporters.posted import posted
from analyzer.exporters.prometheus import Exposition
from analyzer.exporters.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
Way = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def serving(bounds: Bounds) -> AsyncIterator[tuple[Server, int]]:
    server = Server({}, bounds=bounds)
    server.publish(Exposition(b"up 1\n", b""))
    yield server, await server.start("127.0.0.1", 0)
    await server.stop()


async def opened(port: int, address: str = "127.0.0.1") -> Way:
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))


async def scraped(port: int, address: str = "127.0.0.1") -> bytes:
    reader, writer = await opened(port, address)
    writer.write(SCRAPE)
    try:
        return await asyncio.wait_for(reader.readline(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def ended(way: Way) -> bytes:
    """Return what came before the end."""
    try:
        return await asyncio.wait_for(way[0].read(), 10)
    except ConnectionError:
        return b""
    finally:
        way[1].close()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"], ids=["its own", "another"])
async def test_who_opens_many_and_asks_nothing_shuts_out_no_address(address: str) -> None:
    async with serving(Bounds(most=8, of_address=4)) as (server, port):
        ways = [await opened(port) for _ in range(12)]
        assert b"200" in await scraped(port, address)
        assert await ended(ways[0]) == b""
        assert server.dropped()["connections"] >= 8
        for _, writer in ways:
            writer.close()


async def test_in_all_the_address_with_the_most_makes_room() -> None:
    async with serving(Bounds(most=3, of_address=3)) as (server, port):
        ways = [await opened(port) for _ in range(3)]
        assert b"200" in await scraped(port, "127.0.0.2")
        assert await ended(ways[0]) == b""
        assert server.dropped()["connections"] == 1
        for _, writer in ways:
            writer.close()


async def test_who_asks_now_and_then_stays_and_who_never_asked_makes_room() -> None:
    async with serving(Bounds(of_address=2)) as (server, port):
        reader, writer = await opened(port)
        silent = await opened(port)
        writer.write(SCRAPE)
        assert b"200" in await reader.readline()
        assert b"200" in await scraped(port)
        assert await ended(silent) == b""
        writer.write(SCRAPE)
        assert b"up 1" in await reader.readuntil(b"up 1\n")
        assert server.dropped()["connections"] == 1
        writer.close()


async def test_where_the_address_with_the_most_is_at_work_another_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    is_asked, go_on = asyncio.Event(), asyncio.Event()

    async def healthy(_server: Server, _request: web.Request) -> web.Response:
        is_asked.set()
        await go_on.wait()
        return web.Response(text="ok\n")

    monkeypatch.setattr(Server, "_health", healthy)
    async with serving(Bounds(most=2)) as (_, port):
        _, writer = await opened(port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await is_asked.wait()
        silent = await opened(port, "127.0.0.2")
        assert b"200" in await scraped(port, "127.0.0.3")
        assert await ended(silent) == b""
        go_on.set()
        writer.close()


@pytest.mark.parametrize("bounds", [Bounds(of_address=1), Bounds(most=1)])
async def test_where_every_connection_is_at_work_one_more_is_not_taken(
    bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked, go_on = asyncio.Event(), asyncio.Event()

    async def healthy(_server: Server, _request: web.Request) -> web.Response:
        is_asked.set()
        await go_on.wait()
        return web.Response(text="ok\n")

    monkeypatch.setattr(Server, "_health", healthy)
    async with serving(bounds) as (server, port):
        reader, writer = await opened(port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await is_asked.wait()
        assert await scraped(port) == b""
        assert server.dropped()["connections"] == 1
        go_on.set()
        assert b"200" in await reader.readline()
        writer.close()


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nHost: local", SCRAPE])
async def test_a_request_that_does_not_come_ends_the_connection(sent: bytes) -> None:
    async with serving(Bounds(idle_seconds=0.2)) as (_, port):
        way = await opened(port)
        way[1].write(sent)
        assert (b"up 1" in await ended(way)) == (sent == SCRAPE)


async def test_who_does_not_read_is_dropped_and_counted() -> None:
    async with serving(Bounds(unread_seconds=0.1)) as (server, port):
        server.publish(Exposition(b"x" * 40_000_000, b""))
        way = await opened(port)
        way[1].write(SCRAPE)
        async with asyncio.timeout(10):
            while not server.dropped()["unread-answers"]:  # noqa: ASYNC110 -- nothing there is to be awaited
                await asyncio.sleep(0.01)
        assert len(await ended(way)) < 40_000_000
        assert b"200" in await scraped(port)


async def test_a_body_that_does_not_come_is_refused() -> None:
    async def take(request: web.Request) -> web.Response:
        return web.Response(body=await posted(request, 0.05))

    app = web.Application()
    app.add_routes([web.post("/", take)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    connections = Connections(Bounds())
    assert runner.server is not None
    port = await connections.listen(runner.server, "127.0.0.1", 0, None)
    assert port is not None
    reader, writer = await opened(port)
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
    assert b"408" in await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    connections.close()
    await runner.cleanup()


async def test_connections_that_cannot_be_taken_are_told_once_a_minute_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    connections, loop = Connections(Bounds(), lambda: now[0]), asyncio.get_running_loop()
    scarce = {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")}
    with caplog.at_level(logging.WARNING):
        for at in (0.0, 1.0, 59.0, 61.0):
            now[0] = at
            connections.note_failure(loop, scarce)
        told = list(caplog.messages)
        connections.note_failure(loop, {"message": "another fault"})
    assert told == ["connections cannot be taken: Too many open files; raise the bound of open files"] * 2
    assert "another fault" in caplog.messages[-1]
    assert connections.dropped["connections"] == 4
