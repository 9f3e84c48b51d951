from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.checkpoint import Checkpoint, NewerStateError, StateFolder, Torn
from analyzer.errors import UsageError
from analyzer.exporters.from_counts import Carried
from analyzer.lifecycle.advance import State
from analyzer.model.batch import Position
from tests.exporters.conftest import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKPOINT = Checkpoint(
    saved_at=1_700_000_000_000,
    positions=(Position("/var/log/a", 7, 100, "9:ab", 1),),
    digest=b"\x00digest",
    findings=State({"abc": finding(evidence={"share": 0.41, "shape": "single-item", "none": None})}),
    carried=Carried({"dynascope_requests_total": {("1", "us", "cases", "", "Query", "a"): -2.5}}),
    kept={"dynascope_gaps_total": {("request-log", "late"): 3.0}},
    contract="f00",
    patterns={"f": "load-case"},
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateFolder]:
    state = StateFolder(tmp_path / "deep" / "state")
    state.claim()
    state.write(state.encode(CHECKPOINT))
    yield state
    state.release()


def test_what_was_written_is_read(folder: StateFolder) -> None:
    assert folder.read() == CHECKPOINT


def test_without_a_file_there_is_no_state(tmp_path: Path) -> None:
    assert StateFolder(tmp_path).read() is None


def test_nobody_else_may_read_it(folder: StateFolder) -> None:
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.parent.stat().st_mode) == 0o700


def test_at_whatever_byte_a_file_is_torn_it_is_set_aside(folder: StateFolder) -> None:
    whole = folder.path.read_bytes()
    for length in range(0, len(whole), 7):
        folder.path.write_bytes(whole[:length])
        torn = folder.read()
        assert isinstance(torn, Torn)
        assert Path(torn.path).read_bytes() == whole[:length]
        assert not folder.path.exists()


def test_a_flipped_bit_is_seen(folder: StateFolder) -> None:
    content = bytearray(folder.path.read_bytes())
    content[-1] ^= 1
    folder.path.write_bytes(content)
    assert folder.read() == Torn(str(folder.path) + ".corrupt", "it is torn: length or checksum differ")


def test_a_state_that_the_reader_refuses_is_set_aside(folder: StateFolder) -> None:
    def refuse(_: Checkpoint) -> None:
        raise ValueError("no digest")

    assert folder.read(refuse) == Torn(str(folder.path) + ".corrupt", "no digest")


def test_a_newer_schema_is_refused_and_left_alone(folder: StateFolder) -> None:
    folder.path.write_bytes(folder.path.read_bytes().replace(b"dynascope-state 1 ", b"dynascope-state 2 ", 1))
    with pytest.raises(NewerStateError, match=r"has schema 2, this version reads up to 1"):
        folder.read()
    assert folder.path.exists()


def test_a_write_that_fails_leaves_the_old_state(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        folder.write(b"half")
    assert folder.read() == CHECKPOINT


def test_a_folder_has_one_daemon(folder: StateFolder) -> None:
    other = StateFolder(folder.path.parent)
    with pytest.raises(UsageError, match="another daemon uses"):
        other.claim()
    folder.release()
    other.claim()
    other.release()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder: StateFolder) -> None:
    folder.path.unlink()
    os.mkfifo(folder.path)
    assert isinstance(folder.read(), Torn)
    os.mkfifo(folder.path.with_suffix(".new"))
    with pytest.raises(OSError, match="No such device"):
        folder.write(b"")
