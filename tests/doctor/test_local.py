from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from analyzer.config import load_settings
from analyzer.doctor import local
from analyzer.doctor.local import examine_files, examine_setup, is_free
from analyzer.exporters.access import Access, Tls
from analyzer.setup import Setup, build_setup
from tests.support.page_server import PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTRACT = {"version": 1, "tables": [{"name": "cases", "partition_key": "PK", "sort_key": "SK"}]}


def build(folder: Path, **settings: object) -> Setup:
    (folder / "d.yaml").write_text(json.dumps({"aws": {}, "listen": "127.0.0.1:0", **settings}))
    return build_setup(load_settings(folder / "d.yaml", {}))


def told(setup: Setup, name: str) -> tuple[str, str]:
    group = examine_setup(setup)
    assert group.is_local
    (check,) = [check for check in group.checks if check.name == name]
    assert (check.hint is None) == (check.state == "ok")
    return check.state, check.message


def test_a_contract_says_how_much_it_declares(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(json.dumps(CONTRACT))
    assert told(build(tmp_path, contract="c.yaml"), "contract") == ("ok", "1 table, 0 access patterns")
    assert told(build(tmp_path), "contract")[0] == "warning"


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        ({"salt": "a secret that is long enough"}, "ok"),
        ({}, "ok"),
        ({"request_log": {"files": "log"}}, "warning"),
        ({"aws": {"collect": ["contributor-insights"]}}, "warning"),
    ],
    ids=["set", "nothing bears keys", "a log bears keys", "reports bear keys"],
)
def test_a_salt_is_missed_where_keys_are_seen(tmp_path: Path, settings: dict[str, object], state: str) -> None:
    assert told(build(tmp_path, **settings), "salt")[0] == state


def test_a_state_folder_is_looked_at_and_not_made(tmp_path: Path) -> None:
    setup = build(tmp_path, state="new/state")
    assert told(setup, "state folder") == ("ok", f"{setup.state} can be written to, and is made at the start")
    assert not (tmp_path / "new").exists()
    setup.state.mkdir(parents=True)
    assert told(setup, "state folder") == ("ok", f"{setup.state} can be written to")


def test_a_state_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    assert told(build(tmp_path, state="state"), "state folder") == ("error", f"{tmp_path}/state is no folder")


def test_a_state_folder_without_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert told(build(tmp_path), "state folder") == ("error", f"{tmp_path} cannot be written to")


def test_a_disk_that_is_nearly_full_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_LITTLE_BYTES", 1 << 80)
    assert told(build(tmp_path), "state folder")[0] == "warning"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_ANSWER_SECONDS", 0.2)


def test_an_address_that_another_program_holds_is_an_error(tmp_path: Path, taken: int) -> None:
    state, message = told(build(tmp_path, listen=f"127.0.0.1:{taken}"), "listen")
    assert state == "error"
    assert message == f"127.0.0.1:{taken} cannot be listened on: it is taken, and not by a daemon, or not here"
    assert told(build(tmp_path, listen="[::1]:0"), "listen")[1] == "[::1]:0 is free"
    assert not is_free("no.such.host.invalid", 1)


def test_an_address_that_a_daemon_holds_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_ANSWER_SECONDS", 10)
    with PageServer() as served:
        port = served.url.rpartition(":")[2]
        state, message = told(build(tmp_path, listen=f"127.0.0.1:{port}"), "listen")
    assert (state, message) == ("warning", f"127.0.0.1:{port} is taken by a daemon that runs")


def test_who_holds_an_address_is_asked_by_https_where_that_is_set(tmp_path: Path, taken: int) -> None:
    setup = build(tmp_path, listen=f"127.0.0.1:{taken}")
    assert told(replace(setup, access=Access(tls=Tls(tmp_path, tmp_path))), "listen")[0] == "error"


def test_a_file_says_of_which_shape_it_is(tmp_path: Path) -> None:
    call = '{"timestamp":"2026-06-01","clientName":"DynamoDBClient","commandName":"GetItemCommand","input":{}}'
    (tmp_path / "js.log").write_text(f"{call}\n")
    (tmp_path / "web.log").write_text('{"msg":"GET /"}\n')
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8b\x08\x00")
    build_of = build(tmp_path, request_log={"files": ["js.log", "web.log", "a.gz"]})
    js, web, packed = examine_files(build_of)
    assert (js.state, js.message) == ("ok", "it can be read: AWS SDK for JavaScript v3")
    assert (web.state, web.message) == ("warning", "it can be read, and its first lines are of no shape that is known")
    assert packed.message == "it can be read"
    told_shape = build(tmp_path, request_log={"files": ["web.log"], "shape": "electrodb"})
    assert examine_files(told_shape)[0].message == "it can be read: ElectroDB"


def test_files_of_the_request_log_can_be_read_or_say_why_not(tmp_path: Path, taken: int) -> None:
    (tmp_path / "log").write_text("")
    (tmp_path / "folder").mkdir()
    files = ["log", "l*g", "none*", "gone", "folder"]
    checks = examine_files(build(tmp_path, request_log={"files": files, "otlp": {"listen": f"127.0.0.1:{taken}"}}))
    assert [(check.name.removeprefix(f"{tmp_path}/"), check.state, check.message) for check in checks] == [
        ("log", "ok", "it can be read"),
        ("l*g", "ok", "1 file can be read"),
        ("none*", "warning", "no file of that name is there yet"),
        ("gone", "warning", "it is not there yet"),
        ("folder", "error", f"{tmp_path}/folder: is a directory"),
        ("otlp", "error", f"127.0.0.1:{taken} cannot be listened on: it is taken, and not by a daemon, or not here"),
    ]
