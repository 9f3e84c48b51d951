"""The files of the page: ours and plotly's, packed once, asked for again only where they changed."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import aiohttp
import pytest

from analyzer.exporters import assets
from analyzer.exporters.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def url() -> AsyncIterator[str]:
    server = Server({})
    port = await server.start("127.0.0.1", 0)
    yield f"http://127.0.0.1:{port}"
    await server.stop()


async def test_plotly_comes_from_its_own_wheel_packed_with_a_tag(url: str) -> None:
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        async with session.get(f"{url}/page/plotly.min.js", headers={"Accept-Encoding": "gzip"}) as answer:
            body, tag = await answer.read(), answer.headers["ETag"]
            assert (answer.status, answer.headers["Content-Encoding"]) == (200, "gzip")
            assert answer.content_type == "text/javascript"
            assert b"plotly.js v" in gzip.decompress(body)[:40]
        async with session.get(f"{url}/page/plotly.min.js", headers={"If-None-Match": tag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")
        async with session.get(f"{url}/page/page.css", headers={"Accept-Encoding": "identity"}) as answer:
            assert "Content-Encoding" not in answer.headers
            assert answer.content_type == "text/css"


@pytest.mark.parametrize("name", ["index.html", "..%2fserver.py", "server.py", "nothing.js", "%2e%2e/assets.py"])
async def test_no_other_file_is_handed_out(url: str, name: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/page/{name}") as answer:
        assert answer.status == 404


async def test_the_page_runs_scripts_of_this_address_alone(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/") as answer:
            policy = answer.headers["Content-Security-Policy"]
        async with session.get(f"{url}/docs/") as answer:
            assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'" in policy
    assert "unsafe-eval" not in policy


def test_without_the_page_and_without_plotly_there_is_nothing_to_hand_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "_FOLDER", tmp_path / "none")
    monkeypatch.setattr(assets, "find_spec", lambda _: None)
    for cached in (assets._names, assets._read):
        cached.cache_clear()
    try:
        assert (assets.index_page(), assets.asset("page.css"), assets.asset(assets.PLOTLY)) == (None, None, None)
    finally:
        for cached in (assets._names, assets._read):
            cached.cache_clear()
