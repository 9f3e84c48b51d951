from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from analyzer.errors import DynascopeError
from analyzer.exporters.server import Server
from analyzer.exporters.snoozes import read_snooze, snooze_object
from analyzer.model.finding import Severity, Status
from analyzer.model.instant import parse_instant
from analyzer.model.life import Life, Snooze

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from analyzer.model.instant import Instant

NOW = parse_instant("2026-11-30T12:00:00Z")
TOLD = {"id": "abc", "until": "2026-12-31", "reason": "sharding ships in January", "who": "ada"}
SNOOZE = Snooze(
    id="abc", until=parse_instant("2027-01-01T00:00:00Z"), reason="sharding ships in January", who="ada", at=NOW
)
LIFE = Life(
    id="abc",
    detector="hot-key",
    table="cases",
    status=Status.OPEN,
    severity=Severity.HIGH,
    first_seen=NOW,
    opened_at=NOW,
    last_seen=NOW,
)


class Keeper:
    def __init__(self) -> None:
        self.snoozes: dict[str, Snooze] = {}
        self.is_broken = False

    async def known(self) -> Collection[str]:
        return {"abc"}

    async def listed(self, at: Instant) -> tuple[tuple[Snooze, Life | None], ...]:
        if self.is_broken:
            raise DynascopeError("disk I/O error")
        return tuple((one, LIFE) for one in self.snoozes.values() if one.until > at)

    def lost(self) -> str | None:
        return None

    async def add(self, snooze: Snooze) -> None:
        if self.is_broken:
            raise DynascopeError("disk I/O error")
        self.snoozes[snooze.id] = snooze

    async def end(self, identity: str) -> bool:
        return self.snoozes.pop(identity, None) is not None


class Client:
    def __init__(self, server: Server, session: aiohttp.ClientSession, url: str) -> None:
        self.server = server
        self.session = session
        self.url = f"{url}/api/v1/snoozes"
        self.keeper = Keeper()

    async def ask(self, method: str, end: str = "", body: Any = None, **headers: str) -> tuple[int, str]:
        sent = body if isinstance(body, str) or body is None else json.dumps(body)
        known = {"Content-Type": "application/json", **headers}
        async with self.session.request(method, self.url + end, data=sent, headers=known) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    server = Server({}, clock=lambda: NOW)
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        one = Client(server, session, f"http://127.0.0.1:{port}")
        server.snoozes.keeper = one.keeper
        yield one
    await server.stop()


def test_a_snooze_is_read_and_written() -> None:
    assert read_snooze(json.dumps(TOLD).encode(), {"abc"}, NOW) == SNOOZE
    assert snooze_object(SNOOZE, LIFE) == {
        "id": "abc",
        "until": "2027-01-01T00:00:00.000Z",
        "at": "2026-11-30T12:00:00.000Z",
        "reason": "sharding ships in January",
        "who": "ada",
        "detector": "hot-key",
        "table": "cases",
        "index": None,
        "severity": Severity.HIGH,
        "status": Status.OPEN,
    }
    assert snooze_object(SNOOZE, None)["detector"] is None


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ("no JSON", "it is no snooze"),
        ({"id": "abc"}, "missing required field"),
        (TOLD | {"for": "ever"}, "unknown field"),
        (TOLD | {"id": "abd"}, "no finding has the id 'abd'; did you mean abc?"),
        (TOLD | {"until": "2026-11-01"}, "has passed"),
        (TOLD | {"reason": ""}, "reason is a line"),
    ],
)
async def test_what_is_no_snooze_is_refused_in_words(client: Client, told: Any, fault: str) -> None:
    status, text = await client.ask("POST", body=told)
    assert (status, fault in text, client.keeper.snoozes) == (400, True, {})


async def test_a_snooze_is_taken_listed_and_ended(client: Client) -> None:
    status, text = await client.ask("POST", body=TOLD)
    assert (status, json.loads(text)["detector"]) == (201, "hot-key")
    assert client.keeper.snoozes == {"abc": SNOOZE}
    status, text = await client.ask("GET")
    assert (status, [one["id"] for one in json.loads(text)["snoozes"]]) == (200, ["abc"])
    assert await client.ask("DELETE", "/abd") == (400, "no snoozed finding has the id 'abd'; did you mean abc?\n")
    assert await client.ask("DELETE", "/abc") == (200, '{"v": 1, "id": "abc"}\n')
    assert (await client.ask("DELETE", "/abc"))[1] == "no snoozed finding has the id 'abc': none is known\n"


async def test_pages_in_a_browser_and_other_types_are_refused(client: Client) -> None:
    assert (await client.ask("POST", body=TOLD, Origin="http://evil.example"))[0] == 403
    assert (await client.ask("DELETE", "/abc", Origin="http://evil.example"))[0] == 403
    assert (await client.ask("POST", body=TOLD, **{"Content-Type": "text/plain"}))[0] == 415
    assert (await client.ask("POST", body=TOLD | {"reason": "x" * 5000}))[0] == 413


async def test_what_cannot_be_kept_is_said(client: Client) -> None:
    client.keeper.is_broken = True
    assert await client.ask("POST", body=TOLD) == (503, "disk I/O error\n")
    assert await client.ask("GET") == (503, "disk I/O error\n")
    assert await client.ask("DELETE", "/abc") == (503, "disk I/O error\n")
    client.server.snoozes.keeper = None
    assert (await client.ask("GET"))[0] == 503
