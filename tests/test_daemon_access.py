"""A daemon serves its page's answers to who may ask: the token of its configuration, also one that is reloaded."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import structlog
from structlog.testing import capture_logs

from analyzer.reloading import through_reload
from tests.support.certificates import make_certificates
from tests.test_daemon import Stage, until

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "0123456789abcdef-old", "0123456789abcdef-new"


async def ask(port: int, path: str, token: str = "") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{port}/api/v1/{path}"
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, await answer.text()


def port_of(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that holds the port once the server listens."""
    ports: list[int] = []
    start = stage.server.start

    async def note(host: str, port: int) -> int:
        ports.append(await start(host, port))
        return ports[-1]

    monkeypatch.setattr(stage.server, "start", note)
    return ports


async def test_the_map_of_what_was_read_is_served_with_the_token_and_a_reload_takes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    stage.settings = {"token": OLD}
    stage.daemon = stage.new()
    ports = port_of(stage, monkeypatch)
    told: list[Any] = []
    for number in range(3):
        stage.write(50, op="GetItem", key={"PK": {"S": f"CASE#{number}"}}, consumed={"total": 60.0})
    stage.now += 15_000
    running = stage.run_until(lambda: len(told) == 4)

    async def look() -> None:
        await until(lambda: stage.server.shown.report is not None)
        told.append((await ask(ports[0], "heatmap"))[0])
        told.append(await ask(ports[0], "heatmap?table=cases", OLD))
        stage.settings = {"token": NEW}
        os.kill(os.getpid(), signal.SIGHUP)
        await until(lambda: stage.server.gate.access.token == NEW)
        told.append((await ask(ports[0], "honesty", OLD))[0])
        told.append((await ask(ports[0], "honesty", NEW))[0])

    await asyncio.gather(running, look())
    first, (status, body), third, fourth = told
    assert (first, status, third, fourth) == (401, 200, 401, 200)
    heat_map = json.loads(body)
    assert (len(heat_map["rows"]), heat_map["top"]["units"][-1]) == (3, 900)


@pytest.mark.parametrize(
    ("settings", "warns"),
    [({"token": OLD}, True), ({"token": OLD, "listen": "127.0.0.1:0"}, False), ({"listen_unprotected": True}, False)],
)
async def test_a_token_that_others_could_read_is_warned_of(
    tmp_path: Path, settings: dict[str, object], *, warns: bool
) -> None:
    stage = Stage(tmp_path)
    stage.settings = {"listen": "0.0.0.0:0", **settings}
    with capture_logs() as logs:
        stage.daemon = stage.new()
        await stage.run_until(lambda: True)
    assert any("tokens are sent in clear" in line["event"] for line in logs) == warns


async def test_with_a_certificate_it_says_https(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    stage = Stage(tmp_path)
    stage.settings = {"tls": {"cert": str(made.server), "key": str(made.server_key)}}
    with capture_logs() as logs:
        stage.daemon = stage.new()
        await stage.run_until(lambda: True)
    assert [line["address"].partition(":")[0] for line in logs if line["event"] == "listening"] == ["https"]


async def reloaded(tmp_path: Path, before: dict[str, object], after: dict[str, object]) -> tuple[Stage, list[Any]]:
    """Return a daemon that began with one configuration and took another, and what it said."""
    stage = Stage(tmp_path)
    stage.settings = before
    stage.daemon = stage.new()
    with capture_logs() as logs:

        async def reload() -> None:
            await until(lambda: any(line["event"] == "listening" for line in logs))
            stage.settings = after
            os.kill(os.getpid(), signal.SIGHUP)

        def is_reloaded() -> bool:
            return any(line["event"].endswith("reloaded") for line in logs)

        await asyncio.gather(stage.run_until(is_reloaded), reload())
    return stage, logs


async def test_a_reload_takes_no_lock_off_a_door_that_others_reach(tmp_path: Path) -> None:
    stage, logs = await reloaded(tmp_path, {"listen": "0.0.0.0:0", "token": OLD}, {"listen": "127.0.0.1:0"})
    assert stage.server.gate.access.token == OLD
    assert [line["address"] for line in logs if line["log_level"] == "error"] == ["0.0.0.0"]


async def test_a_certificate_that_takes_a_restart_is_no_lock_yet(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    tls = {"cert": str(made.server), "key": str(made.server_key), "client_ca": str(made.authority)}
    stage, _ = await reloaded(
        tmp_path, {"listen": "0.0.0.0:0", "token": OLD}, {"listen": "0.0.0.0:0", "tls": tls, "requests_per_minute": 9}
    )
    assert (stage.server.gate.access.token, stage.server.gate.access.tls) == (OLD, None)


@pytest.mark.parametrize(
    ("listen", "after"),
    [
        ("127.0.0.1:0", {}),
        ("0.0.0.0:0", {"listen": "0.0.0.0:0", "listen_unprotected": True}),
    ],
)
async def test_a_lock_goes_where_nobody_else_comes_or_where_it_is_meant(
    tmp_path: Path, listen: str, after: dict[str, object]
) -> None:
    stage, logs = await reloaded(tmp_path, {"listen": listen, "token": OLD}, after)
    assert not stage.server.gate.access.is_guarded
    assert all(line["log_level"] != "error" for line in logs)


async def test_the_second_reload_is_held_against_the_door_that_is_open_too(tmp_path: Path) -> None:
    stage, _ = await reloaded(tmp_path, {"listen": "0.0.0.0:0", "token": OLD}, {"listen": "127.0.0.1:0", "token": NEW})
    assert stage.server.gate.access.token == NEW
    assert stage.daemon._setup.listen_host == "0.0.0.0"
    stage.settings = {}
    with capture_logs() as logs:
        kept = through_reload(stage.daemon._setup, stage.load(), structlog.get_logger())
    assert kept.access.token == NEW
    assert [line["log_level"] for line in logs].count("error") == 1
