from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from analyzer.errors import UsageError
from analyzer.exporters.address import is_loopback
from analyzer.exporters.prometheus import Exposition
from analyzer.exporters.server import Server
from analyzer.exporters.standing import Standing
from tests.exporters.conftest import finding, report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

KEY = "CASE#canary-4711"


class Client:
    def __init__(self, server: Server, session: aiohttp.ClientSession, url: str) -> None:
        self.server = server
        self.session = session
        self.url = url

    async def get(self, path: str, **headers: str) -> tuple[int, str, Any]:
        async with self.session.get(f"{self.url}{path}", headers=headers) as answer:
            return answer.status, await answer.text(), answer.headers


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    page = tmp_path / "hot-key.md"
    page.write_text(
        "# hot-key\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
    )
    server = Server({"hot-key": page})
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        yield Client(server, session, f"http://127.0.0.1:{port}")
    await server.stop()


async def test_metrics_come_as_text_or_as_openmetrics(client: Client) -> None:
    client.server.publish(Exposition(b"old 1\n", b"new 1\n# EOF\n"))
    status, body, headers = await client.get("/metrics")
    assert (status, body, headers["Content-Type"]) == (200, "old 1\n", "text/plain; version=0.0.4; charset=utf-8")
    _, body, headers = await client.get(
        "/metrics", Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    )
    assert body == "new 1\n# EOF\n"
    assert headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"


async def test_the_process_is_healthy_before_it_is_ready(client: Client) -> None:
    assert (await client.get("/healthz"))[0] == 200
    assert (await client.get("/readyz"))[0] == 503
    assert (await client.get("/api/v1/report"))[0] == 503
    await client.server.export(report())
    assert (await client.get("/readyz"))[0] == 200


async def test_one_that_judged_nothing_for_minutes_is_not_ready_until_it_does(client: Client) -> None:
    await client.server.export(report())
    judged = client.server._judged_at
    for later, status in ((300_000, 200), (300_001, 503)):
        client.server._clock = lambda: judged + later  # noqa: B023 -- asked within the turn
        assert (await client.get("/readyz"))[0] == status
    await client.server.export(report())
    assert (await client.get("/readyz"))[0] == 200


async def test_one_that_stands_by_is_ready_to_take_over_and_says_so(client: Client) -> None:
    client.server.standing = lambda: Standing.WAITS
    assert (await client.get("/readyz"))[:2] == (200, "standby\n")


async def test_one_that_cannot_reach_the_lease_is_not_ready(client: Client) -> None:
    client.server.standing = lambda: Standing.UNKNOWN
    status, body, _ = await client.get("/readyz")
    assert (status, body) == (503, "the lease cannot be reached, nobody is known to read AWS\n")


@pytest.mark.parametrize("published", [b"0.0", b"1.0"])
async def test_the_lease_is_told_alike_by_metric_and_readiness_also_between_judgements(
    client: Client, published: bytes
) -> None:
    told = b"a 1\ndynascope_lease_held %s\nz 2\n" % published
    client.server.publish(Exposition(told, told))
    for standing, held in ((Standing.READS, "1.0"), (Standing.WAITS, "0.0"), (Standing.UNKNOWN, "0.0")):
        client.server.standing = lambda standing=standing: standing  # type: ignore[misc] # a default is bound at once
        assert (await client.get("/metrics"))[1] == f"a 1\ndynascope_lease_held {held}\nz 2\n"


async def test_the_report_shows_keys_as_the_policy_allows(client: Client) -> None:
    await client.server.export(report(finding()))
    _, body, _ = await client.get("/api/v1/report")
    document = json.loads(body)
    assert (document["v"], document["findings"][0]["key"]) == (1, {"PK": "CASE#<id>"})
    assert KEY not in body
    assert "{key}" not in body


async def test_keys_are_clear_where_the_policy_says_so(client: Client) -> None:
    client.server.look("reveal")
    await client.server.export(report(finding()))
    _, body, _ = await client.get("/api/v1/findings")
    assert json.loads(body)["findings"][0]["key"] == {"PK": KEY}


async def test_findings_come_with_window_and_verdict(client: Client) -> None:
    await client.server.export(report(finding()))
    _, body, _ = await client.get("/api/v1/findings")
    assert set(json.loads(body)) == {"v", "window", "as_of", "verdict", "findings"}


async def test_a_new_report_replaces_the_old_one(client: Client) -> None:
    await client.server.export(report(finding()))
    await client.get("/api/v1/findings")
    await client.server.export(report())
    assert json.loads((await client.get("/api/v1/findings"))[1])["findings"] == []


async def test_a_page_is_shown_without_what_could_run(client: Client) -> None:
    status, body, headers = await client.get("/docs/detectors/hot-key")
    assert status == 200
    assert "<script>" not in body
    assert 'href="javascript' not in body
    assert "<td>1</td>" in body
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fetc%2fpasswd", "HOT-KEY", "%00"])
async def test_an_unknown_page_is_not_found(client: Client, name: str) -> None:
    status, body, _ = await client.get(f"/docs/detectors/{name}")
    assert (status, body) == (404, "Not Found\n")


async def test_the_index_lists_every_page(client: Client) -> None:
    for path in ("/docs", "/docs/", "/docs/detectors", "/docs/detectors/"):
        assert '<a href="/docs/detectors/hot-key">' in (await client.get(path))[1]
    assert "dynascope_requests_total" in (await client.get("/docs/metrics"))[1]
    page = (await client.get("/docs/prometheus"))[1]
    assert '<h3 id="dynascopeabsent">' in page
    assert "<img" not in page


async def test_without_the_page_the_first_page_tells_the_verdict(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.exporters.screen.index_page", lambda: None)
    assert "nothing judged yet" in (await client.get("/"))[1]
    await client.server.export(report(finding()))
    body = (await client.get("/"))[1]
    assert "takes 41% of reads" in body
    assert KEY not in body


async def test_nothing_can_be_written(client: Client) -> None:
    async with client.session.post(f"{client.url}/api/v1/report") as answer:
        assert answer.status == 405


@pytest.mark.parametrize(("host", "status"), [("localhost", 200), ("[::1]:80", 200), ("evil.example", 403)])
async def test_a_foreign_name_for_this_machine_is_refused(client: Client, host: str, status: int) -> None:
    assert (await client.get("/healthz", Host=host))[0] == status


async def test_an_address_in_use_is_told(client: Client) -> None:
    with pytest.raises(UsageError, match="choose another with `listen`"):
        await Server({}).start("127.0.0.1", int(client.url.rpartition(":")[2]))


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_loopback_is_known(host: str, *, expected: bool) -> None:
    assert is_loopback(host) is expected


async def post(client: Client, body: bytes, **headers: str) -> tuple[int, str]:
    told = {"Content-Type": "application/json", **headers}
    async with client.session.post(f"{client.url}/api/v1/changes", data=body, headers=told) as answer:
        return answer.status, await answer.text()


async def test_a_mark_is_taken_and_told_again(client: Client) -> None:
    status, body = await post(client, b'{"detail": "deploy 1.4.2"}')
    (mark,) = client.server.marks.known()
    assert (status, json.loads(body)["detail"]) == (201, "deploy 1.4.2")
    assert (mark.what, mark.detail, mark.source) == ("deploy", "deploy 1.4.2", "mark")


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {}, 400),
        (b"no", {}, 400),
        (b'{"detail": "x"}', {"Content-Type": "text/plain"}, 415),
        (b'{"detail": "x"}', {"Origin": "https://example.org"}, 403),
        (b'{"detail": "x"}', {"Host": "example.org"}, 403),
        (b" " * 5000, {}, 413),
    ],
)
async def test_what_is_no_mark_of_this_machine_is_refused(
    client: Client, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert (await post(client, body, **headers))[0] == status
    assert client.server.marks.known() == ()


async def test_marks_come_from_this_machine_alone_even_where_others_may_read(client: Client) -> None:
    client.server._is_local = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aiohttp.web.BaseRequest.remote", "192.0.2.7")
        assert (await post(client, b'{"detail": "x"}'))[0] == 403


async def raw(client: Client, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(client.url.rpartition(":")[2]))
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n")[0]


async def test_a_probe_that_names_no_host_is_answered_and_no_name_looked_up(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getfqdn", lambda: "db-1.corp.example")
    assert await raw(client, b"GET /healthz HTTP/1.0\r\n\r\n") == b"HTTP/1.0 200 OK"
    assert (await client.get("/healthz", Host="LocalHost:1"))[0] == 200


@pytest.mark.parametrize(
    "junk", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a" * 9000 + b"\r\n\r\n"]
)
async def test_what_is_no_http_is_refused_without_a_word_in_the_log(
    client: Client, junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert await raw(client, junk) == b"HTTP/1.0 400 Bad Request"
    assert caplog.records == []


_POST = b"POST /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (_POST + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", b"HTTP/1.1 400"),
        (
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
            b"HTTP/1.1 200",
        ),
    ],
)
async def test_a_body_that_is_not_packed_as_it_says_is_refused_without_a_word_in_the_log(
    client: Client, request_bytes: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await raw(client, request_bytes)).startswith(status)
    assert caplog.records == []


async def test_a_body_that_is_cut_is_no_word_in_the_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", int(client.url.rpartition(":")[2]))
    writer.write(_POST + b"Content-Length: 50\r\n\r\n{")
    await writer.drain()
    assert (await client.get("/healthz"))[0] == 200
    writer.transport.abort()
    assert (await client.get("/healthz"))[0] == 200
    assert caplog.records == []


async def test_without_any_socket_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen(*_: object) -> None:
        return

    monkeypatch.setattr("analyzer.exporters.connections.Connections.listen", listen)
    with pytest.raises(UsageError, match="cannot listen"):
        await Server({}).start("127.0.0.1", 0)


async def test_a_page_that_was_not_packaged_is_not_found(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.render.pages._FOLDERS", ())
    assert (await client.get("/docs/prometheus"))[0] == 404
