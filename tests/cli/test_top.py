"""`top` and `findings` read what the page reads: one made-up daemon for all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from analyzer.cli import top as command
from analyzer.cli.main import execute
from analyzer.errors import CollectError
from analyzer.exporters.access import OPEN, Access
from analyzer.model.report import VerdictState
from tests.support.page_report import made_report
from tests.support.page_server import PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Golden

TOKEN = "a-token-of-the-test"


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@pytest.fixture
def served(server: PageServer) -> PageServer:
    server.advance(made_report())
    return server


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_EVERY_SECONDS", 0.02)
    monkeypatch.delenv("DYNASCOPE_TOKEN", raising=False)


def test_into_a_pipe_it_prints_one_screen(
    served: PageServer, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    assert execute(["top", "--from", served.url]) == 0
    golden("cli/top.txt", capsys.readouterr().out)


def test_as_json_it_prints_what_the_screen_shows(served: PageServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["top", "--from", served.url, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["v", "window", "as_of", "verdict", "findings", "keys", "patterns"]
    assert document["verdict"]["finding"] == "f-hot"


def test_for_a_while_it_prints_each_judgement_once(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = [made_report(), made_report(), made_report(served.report.as_of + 10_000)]

    def fetch(_url: str) -> tuple[object, dict[str, object]]:
        return (fetched.pop(0) if len(fetched) > 1 else fetched[0]), {}

    monkeypatch.setattr(command, "_fetch", fetch)
    assert execute(["top", "--from", served.url, "--for", "300ms", "--format", "json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["as_of"] for line in lines] == ["2026-06-01T14:06:00.000Z", "2026-06-01T14:06:10.000Z"]


def test_on_a_terminal_it_stays_for_the_time_and_leaves_the_last_screen(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert execute(["top", "--from", served.url, "--for", "100ms"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "ORDER#<id> on orders takes 2,940 [2,850–3,030] of 3,000 read units a second" in told
    assert "as of 14:06:00" in told


def test_a_daemon_that_goes_away_is_told_and_the_last_screen_stays(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = command._fetch, iter([served.url])
    monkeypatch.setattr(command, "_fetch", lambda _: real(next(calls, "http://127.0.0.1:9")))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert execute(["top", "--from", served.url, "--for", "100ms"]) == 0
    assert "what stands here may no longer hold" in " ".join(capsys.readouterr().out.split())


def test_an_interrupt_is_its_usual_end(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupt)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert execute(["top", "--from", served.url]) == 0
    assert "ORDER#<id>" in capsys.readouterr().out


def test_a_daemon_that_tells_no_calls_over_time_is_shown_without(
    served: PageServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(url: str, path: str) -> dict[str, object]:
        raise CollectError(f"{url}{path}: 404", hint="")

    monkeypatch.setattr("analyzer.cli.talking.ask_daemon", refuse)
    assert execute(["top", "--from", served.url]) == 0
    assert "█\n" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fail_on", "state", "code"),
    [("high", None, 1), ("never", None, 0), ("never", VerdictState.CANNOT_TELL, 3)],
)
def test_the_exit_code_is_the_reports(served: PageServer, fail_on: str, state: VerdictState | None, code: int) -> None:
    if state is not None:
        served.advance(replace(served.report, verdict=replace(served.report.verdict, state=state)))
    assert execute(["top", "--from", served.url, "--fail-on", fail_on]) == code


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--from", "http://127.0.0.1:9"], 3, "no daemon answers"),
        (["--from", "ftp://x"], 2, "is no address of a daemon"),
        (["--for", "soon"], 2, "--for soon"),
    ],
)
def test_what_cannot_be_is_told(arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["top", *arguments]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["top", "--from"], ["findings", "--url"], ["snooze", "--list", "--url"]])
def test_where_a_token_is_set_commands_take_it_from_the_environment(
    served: PageServer, asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    served.server.admit(Access(token=TOKEN))
    try:
        assert execute([*asked, served.url]) == 3
        assert "set DYNASCOPE_TOKEN to the daemon's token" in capsys.readouterr().err
        monkeypatch.setenv("DYNASCOPE_TOKEN", TOKEN)
        execute([*asked, served.url])
        assert "401" not in capsys.readouterr().err
    finally:
        served.server.admit(OPEN)
