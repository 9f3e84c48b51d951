from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING

import pytest
import structlog

from analyzer.cli.main import execute
from analyzer.exporters.server import Server
from analyzer.history.life import FILE_NAME, LifeFile
from analyzer.life_keeper import LifeKeeper
from tests.exporters.conftest import finding, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_790_000_000_000
ID = "0123456789ab"
SAID = ["--until", "2099-12-31", "--reason", "known"]
CLOSED_PORT = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.lifecycle.snooze.LONGEST_DAYS", 365_000)


class Daemon:
    """The daemon's server on a loop of its own, with one finding."""

    def __init__(self, folder: Path) -> None:
        self.server = Server({})
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._start(folder), self.loop).result(30)
        self.url = f"http://127.0.0.1:{self.port}"

    async def _start(self, folder: Path) -> int:
        self.keeper = LifeKeeper(folder, structlog.wrap_logger(structlog.ReturnLogger()))
        await self.keeper.note([finding(id=ID)], NOW)
        await self.server.export(report(finding(id=ID)))
        self.server.snoozes.keeper = self.keeper
        return await self.server.start("127.0.0.1", 0)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        self.keeper.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    one = Daemon(tmp_path)
    yield one
    one.close()


def configured(folder: Path, listen: str = "127.0.0.1:9") -> str:
    file = folder / "dynascope.yaml"
    file.write_text(json.dumps({"request_log": {"files": ["log"]}, "state": "state", "listen": listen}))
    return str(file)


@pytest.fixture
def stopped(tmp_path: Path) -> str:
    """The configuration of a daemon that has run."""
    (tmp_path / "state").mkdir()
    life = LifeFile.open(tmp_path / "state" / FILE_NAME)
    life.note([finding(id=ID)], NOW)
    life.close()
    return configured(tmp_path)


def test_a_finding_is_snoozed_listed_and_spoken_of_again(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", ID, *SAID, "--who", "ada", "--url", daemon.url]) == 0
    line = f"{ID}  until the end of 2099-12-31 UTC  hot-key cases by ada: known\n"
    assert capsys.readouterr().out == line
    assert execute(["snooze", "--list", "--url", daemon.url]) == 0
    assert capsys.readouterr().out == line
    assert execute(["snooze", "--end", ID, "--url", daemon.url]) == 0
    assert capsys.readouterr().out == f"snooze of {ID} ended\n"
    assert execute(["snooze", "--list", "--url", daemon.url]) == 0
    assert capsys.readouterr().out == "nothing is snoozed\n"


def test_of_an_unknown_id_the_nearest_is_named(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", "0123456789aa", *SAID, "--url", daemon.url]) == 2
    told = capsys.readouterr().err
    assert f"the daemon refuses the snooze: no finding has the id '0123456789aa'; did you mean {ID}?" in told
    assert execute(["snooze", "--end", ID, "--url", daemon.url]) == 2
    assert "no snoozed finding has the id" in capsys.readouterr().err


def test_a_day_in_the_past_is_refused(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", ID, "--until", "2020-01-01", "--reason", "x", "--url", daemon.url]) == 2
    assert "until 2020-01-01 has passed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "say one of ID, --list and --end ID"),
        ([ID, "--list"], "say one of"),
        ([ID], "a snooze needs --until DATE and --reason TEXT"),
        ([ID, "--reason", "x"], "a snooze needs --until DATE: nothing is silent for ever"),
        (["--list", "--until", "2099-12-31"], "belong to the ID of a finding"),
    ],
)
def test_what_does_not_fit_together_is_wrong_usage(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["snooze", *arguments, "--url", CLOSED_PORT]) == 2
    assert fault in capsys.readouterr().err


def test_without_a_daemon_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", "--list", "--url", CLOSED_PORT]) == 3
    assert "no daemon answers at http://127.0.0.1:9/api/v1/snoozes" in capsys.readouterr().err


def test_where_no_daemon_runs_its_state_folder_keeps_it(stopped: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", ID, *SAID, "--who", "ada", "--config", stopped, "--format", "json"]) == 0
    (made,) = json.loads(capsys.readouterr().out)["snoozes"]
    assert (made["id"], made["who"], made["detector"]) == (ID, "ada", "hot-key")
    assert execute(["snooze", "--list", "--config", stopped]) == 0
    assert "hot-key cases by ada: known" in capsys.readouterr().out
    assert execute(["snooze", "--end", ID, "--config", stopped, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"v": 1, "snoozes": [], "lost": None}
    assert execute(["snooze", "--end", ID, "--config", stopped]) == 2
    assert execute(["snooze", "fff", *SAID, "--config", stopped]) == 2
    told = capsys.readouterr().err
    assert "no snoozed finding has the id" in told
    assert f"no finding has the id 'fff'; there are {ID}" in told


def test_that_snoozes_went_with_a_damaged_file_is_said_until_it_is_removed(
    stopped: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    life = tmp_path / "state" / FILE_NAME
    life.write_bytes(b"no database" * 100)
    lost = "dynascope: snoozes are lost: life.sqlite was damaged, and lies set aside as "
    for arguments, code in ((["--list"], 0), ([ID, *SAID], 2), (["--list", "--format", "json"], 0)):
        assert execute(["snooze", *arguments, "--config", stopped]) == code
        assert lost in capsys.readouterr().err
    (tmp_path / "state" / f"{FILE_NAME}.corrupt").unlink()
    assert execute(["snooze", "--list", "--config", stopped]) == 0
    assert capsys.readouterr().err == ""


def test_a_daemon_says_so_too(daemon: Daemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f"{FILE_NAME}.corrupt").touch()
    assert execute(["snooze", "--list", "--url", daemon.url]) == 0
    told = capsys.readouterr()
    assert (told.out, "snoozes are lost" in told.err) == ("nothing is snoozed\n", True)


def test_where_none_has_ever_run_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["snooze", "--list", "--config", configured(tmp_path)]) == 2
    assert "none has run with this configuration" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_daemon_that_runs_is_found_by_its_configuration(
    daemon: Daemon, host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = configured(tmp_path, f"{host}:{daemon.port}")
    if host == "0.0.0.0":
        content = json.loads((tmp_path / "dynascope.yaml").read_text()) | {"listen_unprotected": True}
        (tmp_path / "dynascope.yaml").write_text(json.dumps(content))
    assert execute(["snooze", ID, *SAID, "--config", file]) == 0
    assert "hot-key cases" in capsys.readouterr().out


def test_a_user_without_a_name_says_nothing(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert execute(["snooze", ID, *SAID, "--url", daemon.url]) == 0
    assert capsys.readouterr().out.endswith("hot-key cases: known\n")


def test_findings_are_printed_with_their_ids(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["findings", "--url", daemon.url]) == 0
    told = capsys.readouterr().out
    assert f"{ID}  HIGH  hot-key  cases" in told
    assert "CASE#<id>" in told
    assert execute(["findings", "--url", daemon.url, "--format", "json", "--fail-on", "high"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["v", "window", "as_of", "verdict", "findings"]
    assert document["findings"][0]["id"] == ID


def test_without_a_daemon_there_are_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["findings", "--url", CLOSED_PORT]) == 3
    assert "no daemon answers" in capsys.readouterr().err
