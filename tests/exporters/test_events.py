"""Updates over server-sent events: all of it first, then what changed alone, a heartbeat between, an end when told."""

from __future__ import annotations

import asyncio
import contextlib
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec
import numpy as np
import pytest

from analyzer.exporters.access import Access
from analyzer.exporters.events import Events, changed_columns
from analyzer.exporters.server import Server
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from tests.exporters.test_openapi import validator
from tests.support.page_map import made_map
from tests.support.page_report import AS_OF, ORDERS, made_report
from tests.support.page_server import MadeAtlas

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from analyzer.model.heatmap import HeatMap

ALL = ["findings", "gsi", "honesty", "patterns", "verdict"]


@asynccontextmanager
async def served(*, heartbeat_seconds: float = 10.0) -> AsyncIterator[tuple[Server, str, aiohttp.ClientSession]]:
    server = Server({})
    server.screen.atlas = MadeAtlas()
    screen = server.screen
    screen.events = Events(screen.parts, screen.drawn, heartbeat_seconds)
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        yield server, f"http://127.0.0.1:{port}/api/v1/events", session
    await server.stop()


async def next_update(stream: aiohttp.StreamReader) -> dict[str, Any]:
    """Return the data of the next event; comment lines are skipped."""
    async with asyncio.timeout(20):
        while True:
            line = (await stream.readline()).decode()
            if line.startswith("data: "):
                document: dict[str, Any] = json.loads(line.removeprefix("data: "))
                assert [error.message for error in validator("Update").iter_errors(document)] == []
                return document


async def test_the_first_update_holds_every_part_and_the_next_what_changed_alone() -> None:
    async with served() as (server, url, session):
        await server.export(made_report())
        async with session.get(url) as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            assert (await next_update(answer.content))["changed"] == ALL
            changed = made_report()
            await server.export(msgspec.structs.replace(changed, patterns=changed.patterns[:2], as_of=AS_OF + SLICE_MS))
            update = await next_update(answer.content)
            assert (update["changed"], len(update["patterns"])) == (["patterns"], 2)
            assert update["as_of"] == "2026-06-01T14:06:10.000Z"


async def test_columns_of_the_map_come_along_where_one_is_asked_for() -> None:
    async with served() as (server, url, session):
        await server.export(made_report())
        async with session.get(url, params={"table": "orders"}) as answer:
            first = (await next_update(answer.content))["heatmap"]
            assert (first["first"], first["columns"]) == (348, 12)


async def test_before_anything_was_judged_there_is_a_heartbeat_alone() -> None:
    async with served(heartbeat_seconds=0.01) as (_, url, session), session.get(url) as answer:
        assert (await answer.content.readline()).startswith(b": ")


async def test_streams_end_when_the_server_stops() -> None:
    async with served() as (server, url, session), session.get(url) as answer:
        await server.stop()
        async with asyncio.timeout(20):
            assert await answer.content.read() == b""


async def test_a_token_that_was_revoked_listens_no_more() -> None:
    old, new = Access("0123456789abcdef-old"), Access("0123456789abcdef-new")
    async with served() as (server, url, session):
        server.admit(old)
        await server.export(made_report())
        async with session.get(url, headers={"Authorization": f"Bearer {old.token}"}) as answer:
            await next_update(answer.content)
            server.admit(new)
            async with asyncio.timeout(20):
                assert await answer.content.read() == b"\n"
        async with session.get(url, headers={"Authorization": f"Bearer {new.token}"}) as answer:
            await next_update(answer.content)
            server.admit(new)
            await server.export(made_report())
            await next_update(answer.content)


async def test_what_there_is_to_tell_is_made_once_for_all_who_listen() -> None:
    made: list[str] = []
    async with served() as (server, url, session), contextlib.AsyncExitStack() as stack:

        async def parts() -> tuple[str, dict[str, Any]]:
            made.append("parts")
            return await server.screen.parts()

        server.screen.events = Events(parts, server.screen.drawn)
        answers = [await stack.enter_async_context(session.get(url)) for _ in range(4)]
        await server.export(made_report())
        await asyncio.gather(*(next_update(answer.content) for answer in answers))
        made.clear()
        await server.export(msgspec.structs.replace(made_report(), as_of=AS_OF + SLICE_MS))
        await asyncio.gather(*(next_update(answer.content) for answer in answers))
        assert made == ["parts"]


async def test_a_listener_that_leaves_takes_nothing_from_the_others() -> None:
    may_go_on = asyncio.Event()

    async def parts() -> tuple[str, dict[str, Any]]:
        await may_go_on.wait()
        return "now", {"verdict": {}}

    events = Events(parts, lambda _: parts())  # type: ignore[arg-type,return-value] # no map is asked for
    first, second = asyncio.ensure_future(events._newest()), asyncio.ensure_future(events._newest())
    await asyncio.sleep(0)
    first.cancel()
    may_go_on.set()
    assert (await second).as_of == "now"


async def test_what_is_asked_wrongly_is_refused_before_the_stream_begins() -> None:
    async with served() as (_, url, session), session.get(url, params={"step": "1h"}) as answer:
        assert (answer.status, await answer.text()) == (400, "step is one of: 10s, 1s\n")


async def test_beyond_the_bound_no_page_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.exporters.events.MOST_LISTENERS", 0)
    async with served() as (_, url, session), session.get(url) as answer:
        assert answer.status == 503


async def test_one_address_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.exporters.events.MOST_OF_ADDRESS", 1)
    async with served() as (_, url, session), session.get(url) as first:
        assert first.status == 200
        async with session.get(url) as second:
            assert second.status == 503


def at(end: int = AS_OF) -> HeatMap:
    return made_map(ORDERS, Direction.READ, end)


def later(heat_map: HeatMap, slices: int = 1) -> HeatMap:
    """Return a map that moved on, with nothing new."""
    moved = {
        name: np.concatenate(
            [getattr(heat_map, name)[..., slices:], np.zeros_like(heat_map.heat[..., :slices])], axis=-1
        )
        for name in ("heat", "units", "throttled")
    }
    top = np.concatenate([heat_map.top[slices:], np.zeros(slices)])
    return msgspec.structs.replace(heat_map, start=heat_map.start + slices * SLICE_MS, top=top, **moved)


def test_a_map_that_moved_on_sends_its_new_columns() -> None:
    update = changed_columns(at(), later(at(), 2))
    assert update is not None
    assert (update["first"], update["columns"]) == (358, 2)


def test_a_late_record_sends_the_columns_from_its_own_on() -> None:
    before, now = at(), msgspec.structs.replace(at(), heat=at().heat.copy())
    now.heat[2, 350] = 0.9
    update = changed_columns(before, now)
    assert update is not None
    assert (update["first"], update["columns"]) == (350, 10)


def test_nothing_is_sent_where_nothing_changed() -> None:
    assert changed_columns(at(), at()) is None


def test_how_much_there_is_of_what_began_before_and_where_the_map_begins_are_no_change() -> None:
    marks = tuple(msgspec.structs.replace(m, what=f"{m.what}, more") if m.kind == "finding" else m for m in at().marks)
    limits = (msgspec.structs.replace(at().limits[0], at=at().start + SLICE_MS), *at().limits[1:])
    assert changed_columns(at(), msgspec.structs.replace(at(), marks=marks, limits=limits)) is None


@pytest.mark.parametrize("what", ["rows", "labels", "marks", "limit", "limits"])
def test_other_rows_or_labels_are_to_be_fetched_anew(what: str) -> None:
    other = {"rows": at().rows[::-1], "labels": (), "marks": (), "limit": 1.0, "limits": at().limits[1:]}[what]
    update = changed_columns(at(), msgspec.structs.replace(at(), **{what: other}))
    assert update is not None
    assert (update["first"], update["columns"], update["heat"]) == (None, None, "")


def test_a_clock_that_was_set_back_is_to_be_fetched_anew() -> None:
    update = changed_columns(at(AS_OF), at(AS_OF - SLICE_MS))
    assert update is not None
    assert update["columns"] is None
