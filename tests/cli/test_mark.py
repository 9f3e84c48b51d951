from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from analyzer.exporters.server import Server
from tests.exporters.conftest import finding, report

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


def test_a_mark_that_cannot_be_written_down_says_so(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.server.marks.is_written = False
    assert execute(["mark", "deploy 1.4.2", "--url", daemon.url]) == 0
    assert "the daemon cannot write its state: a restart would forget this" in capsys.readouterr().err


def test_a_mark_that_the_daemon_refuses_is_wrong_usage(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "x", "--url", daemon.url, "--who", "a\nb"]) == 2
    assert "the daemon refuses the mark: " in capsys.readouterr().err


@pytest.mark.parametrize(("at", "told"), [("noon", "--at is a time such as"), ("2d", "--at 2d does not lie within")])
def test_a_time_that_is_none_names_its_option(
    daemon: Daemon, capsys: pytest.CaptureFixture[str], at: str, told: str
) -> None:
    assert execute(["mark", "x", "--url", daemon.url, "--at", at]) == 2
    assert told in capsys.readouterr().err
    assert daemon.server.marks.known() == ()


def test_a_change_may_be_so_long_ago(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "now", "--url", daemon.url]) == 0
    assert execute(["mark", "then", "--url", daemon.url, "--at", "1h30m"]) == 0
    then, now = daemon.server.marks.known()
    assert then.detail == "then"
    assert 0 <= then.time - (now.time - 90 * 60_000) < 60_000
    time = "2099-06-01T10:00:00Z"
    assert execute(["mark", "x", "--url", daemon.url, "--at", time]) == 2
    assert f"--at {time}" in capsys.readouterr().err


def test_a_table_that_the_daemon_does_not_know_is_said(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mark", "x", "--url", daemon.url, "--table", "cases"]) == 0
    assert capsys.readouterr().err == ""
    asyncio.run_coroutine_threadsafe(daemon.server.export(report(finding())), daemon.loop).result(30)
    assert execute(["mark", "x", "--url", daemon.url, "--table", "casse"]) == 0
    assert "the daemon has seen no table 'casse' so far" in capsys.readouterr().err


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
