"""Who may ask: a token or a client's certificate where one is set, so often, and never a foreign page."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from rich.pretty import pretty_repr

from analyzer.exporters.access import Access, Tls
from analyzer.exporters.gate import Buckets
from analyzer.exporters.server import Server
from tests.support.certificates import make_certificates
from tests.support.page_report import made_report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.certificates import Certificates

TOKEN = "0123456789abcdef0123"
RIGHT = f"Bearer {TOKEN}"
GUARDED = ("report", "findings", "patterns", "changes", "targets", "heatmap", "gsi", "honesty", "events", "snoozes")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@asynccontextmanager
async def served(**access: Any) -> AsyncIterator[Client]:
    server = Server({}, access=Access(**access))
    port = await server.start("127.0.0.1", 0)
    await server.export(made_report())
    async with aiohttp.ClientSession() as session:
        yield Client(server, session, f"http{'s' if access.get('tls') else ''}://127.0.0.1:{port}")
    await server.stop()


class Client:
    def __init__(self, server: Server, session: aiohttp.ClientSession, url: str) -> None:
        self.server, self.session, self.url = server, session, url

    async def get(self, path: str, trust: ssl.SSLContext | None = None, authorization: str = "") -> tuple[int, Any]:
        headers = {"Authorization": authorization}
        async with self.session.get(f"{self.url}{path}", headers=headers, ssl=trust or True) as answer:
            return answer.status, answer.headers

    async def mark(self, **headers: str) -> int:
        body = {"detail": "deploy"}
        async with self.session.post(f"{self.url}/api/v1/changes", json=body, headers=headers) as answer:
            return answer.status


def test_the_token_stands_in_nothing_that_is_printed() -> None:
    access = Access(TOKEN, Tls(Path("cert.pem"), Path("key.pem")), 9)
    for shown in (repr(access), str(access), repr((access,)), pretty_repr(access)):
        assert TOKEN not in shown
    assert repr(access).startswith("Access(token=***, tls=Tls(")
    assert repr(Access()) == "Access(token=None, tls=None, requests_a_minute=0)"


async def test_the_api_needs_the_token_and_all_else_is_open() -> None:
    async with served(token=TOKEN) as client:
        for name in GUARDED:
            status, headers = await client.get(f"/api/v1/{name}")
            assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="dynascope"'), name
        for path in ("/", "/metrics", "/healthz", "/readyz", "/docs/", "/docs/metrics"):
            assert (await client.get(path))[0] == 200, path
        assert (await client.get("/api/v1/report", authorization=RIGHT))[0] == 200


@pytest.mark.parametrize(
    "header", ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}0", f"Bearer {TOKEN[:-1]}", "Bearer ü"]
)
async def test_nothing_but_the_token_opens_it(header: str) -> None:
    async with served(token=TOKEN) as client:
        assert (await client.get("/api/v1/report", authorization=header))[0] == 401


async def test_what_is_open_to_all_stays_so_without_a_token() -> None:
    async with served() as client:
        assert (await client.get("/api/v1/report", authorization="Bearer whatever"))[0] == 200


async def test_who_guesses_has_to_wait_whatever_he_says_next() -> None:
    async with served(token=TOKEN) as client:
        for _ in range(20):
            assert (await client.get("/api/v1/report", authorization="Bearer guess"))[0] == 401
        status, headers = await client.get("/api/v1/report", authorization=RIGHT)
        assert (status, int(headers["Retry-After"])) == (429, 3)


async def test_who_shows_no_token_guesses_none() -> None:
    async with served(token=TOKEN) as client:
        for _ in range(25):
            assert (await client.get("/api/v1/report"))[0] == 401
        assert (await client.get("/api/v1/report", authorization=RIGHT))[0] == 200


async def test_bytes_that_are_no_text_are_a_wrong_try_like_any_other() -> None:
    async with served(token=TOKEN) as client:
        port = int(client.url.rpartition(":")[2])
        for _ in range(20):
            assert await raw_status(port, b"Authorization: Bearer \xff") == 401
        assert (await client.get("/api/v1/report", authorization=RIGHT))[0] == 429


async def raw_status(port: int, header: bytes) -> int:
    """Return the status that a request with a header of any bytes gets."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/v1/report HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + b"\r\n\r\n")
    status = (await reader.readline()).split()[1]
    writer.close()
    return int(status)


async def test_an_address_asks_so_often_and_no_more() -> None:
    async with served(requests_a_minute=8) as client:
        assert [(await client.get("/api/v1/findings"))[0] for _ in range(3)] == [200, 200, 429]
        assert (await client.get("/metrics"))[0] == 200


async def test_with_the_token_marks_come_from_other_machines_too() -> None:
    async with served(token=TOKEN) as client:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("aiohttp.web.BaseRequest.remote", "192.0.2.7")
            assert (await client.mark(), await client.mark(Authorization=RIGHT)) == (401, 201)


async def test_the_page_may_mark_and_a_foreign_page_may_not() -> None:
    async with served() as client:
        assert await client.mark(Origin=client.url) == 201
        assert await client.mark(Origin="http://127.0.0.1:1") == 403
        assert await client.mark(Origin="null") == 403
        assert await client.mark(Origin="http://[bad") == 403
    async with served(token=TOKEN) as client:
        assert await client.mark(Origin="https://example.org", Authorization=RIGHT) == 403


async def test_a_page_that_made_up_a_name_for_this_machine_may_not_mark() -> None:
    async with served() as client:
        client.server._is_local = False
        assert await client.mark(Origin="http://example.org", Host="example.org") == 403


async def test_a_client_of_our_authority_needs_no_token(certificates: Certificates) -> None:
    trust = ssl.create_default_context(cafile=certificates.authority)
    known = ssl.create_default_context(cafile=certificates.authority)
    known.load_cert_chain(certificates.client)
    tls = Tls(certificates.server, certificates.server_key, certificates.authority)
    async with served(tls=tls, token=TOKEN) as client:
        assert (await client.get("/api/v1/report", trust))[0] == 401
        assert (await client.get("/healthz", trust))[0] == 200
        assert (await client.get("/api/v1/report", trust, authorization=RIGHT))[0] == 200
        assert (await client.get("/api/v1/report", known))[0] == 200


async def test_a_client_of_another_authority_is_not_spoken_with(certificates: Certificates) -> None:
    stranger = ssl.create_default_context(cafile=certificates.authority)
    stranger.load_cert_chain(certificates.stranger)
    tls = Tls(certificates.server, certificates.server_key, certificates.authority)
    async with served(tls=tls) as client:
        with pytest.raises(aiohttp.ClientError):
            await client.get("/healthz", stranger)


async def test_https_alone_asks_for_nothing(certificates: Certificates) -> None:
    trust = ssl.create_default_context(cafile=certificates.authority)
    async with served(tls=Tls(certificates.server, certificates.server_key)) as client:
        assert (await client.get("/api/v1/report", trust))[0] == 200


def test_buckets_fill_again_with_time() -> None:
    now = [0.0]
    buckets = Buckets(60, 2, lambda: now[0])
    for _ in range(2):
        assert buckets.wait_seconds("a") == 0
        buckets.take("a")
    assert (buckets.wait_seconds("a"), buckets.wait_seconds("b")) == (1.0, 0.0)
    now[0] = 0.5
    assert buckets.wait_seconds("a") == 0.5
    now[0] = 100.0
    assert buckets.wait_seconds("a") == 0


def test_addresses_without_end_take_no_memory_without_end() -> None:
    buckets = Buckets(60, 1, lambda: 0.0)
    for number in range(1100):
        buckets.take(str(number))
    assert (len(buckets._left), buckets.wait_seconds("0"), buckets.wait_seconds("1099")) == (1024, 0.0, 1.0)
