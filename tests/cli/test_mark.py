from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from analyzer.exporters.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator


class Daemon:
    """The daemon's server on a loop of its own."""

    def __init__(self) -> None:
        self.server = Server({})
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self.server.start("127.0.0.1", 0), self.loop).result(30)
        self.url = f"http://127.0.0.1:{port}"

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.close()


def test_a_deploy_is_told_to_the_daemon(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "deploy 1.4.2", "--url", daemon.url + "/", "--table", "cases", "--who", "ci"]) == 0
    (mark,) = daemon.server.marks.known()
    assert (mark.what, mark.detail, mark.table, mark.who) == ("deploy", "deploy 1.4.2", "cases", "ci")
    assert capsys.readouterr().out.endswith("Z: deploy 1.4.2\n")


def test_a_mark_that_the_daemon_refuses_is_wrong_usage(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "x", "--url", daemon.url, "--at", "noon"]) == 2
    assert "the daemon refuses the mark: time is RFC 3339" in capsys.readouterr().err


def test_what_answers_otherwise_is_no_daemon(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "x", "--url", f"{daemon.url}/docs"]) == 3
    assert "404 Not Found" in capsys.readouterr().err


def test_without_a_daemon_that_is_said(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run_coroutine_threadsafe(daemon.server.stop(), daemon.loop).result(30)
    assert execute(["mark", "x", "--url", daemon.url]) == 3
    told = capsys.readouterr().err
    assert f"no daemon answers at {daemon.url}/api/v1/changes: Connection refused" in told
    assert "dynascope run" in told


@pytest.mark.parametrize("url", ["127.0.0.1:8642", "file:///etc/passwd", "http://"])
def test_what_is_no_address_is_wrong_usage(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "x", "--url", url]) == 2
    assert "is no address of a daemon" in capsys.readouterr().err
