from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import msgspec

from analyzer.model.target import Target
from collectors.notes import Notes, encode_note, name_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CASES = Target("111122223333", "us-east-1", "cases")


class Planted(msgspec.Struct, frozen=True):
    table: str

    @property
    def target(self) -> Target:
        return CASES.at(None) if self.table == "cases" else Target(None, None, self.table)


def read(content: bytes, _: str) -> Planted:
    return msgspec.json.decode(content, type=Planted)


def notes_in(folder: Path) -> Notes[Planted]:
    return Notes(folder / "planted", read)


def test_a_target_has_one_name_and_no_other_has_it() -> None:
    assert len({name_of(target) for target in (CASES, CASES.at("GSI1"), Target(None, None, "cases"))}) == 3
    assert name_of(Target("111122223333", "us-east-1", "cases")) == name_of(CASES)


def test_a_note_is_there_by_name_until_it_is_removed(tmp_path: Path) -> None:
    notes, note = notes_in(tmp_path), Planted("cases")
    with notes.hold(name_of(CASES)):
        assert notes.read(name_of(CASES)) is None
        notes.write(note)
    assert notes.names() == (name_of(CASES),)
    assert notes.read(name_of(CASES)) == note
    assert (tmp_path / "planted" / f"{name_of(CASES)}.json").read_bytes() == encode_note(note)
    notes.remove(note)
    notes.remove(note)
    assert notes.names() == ()


def test_a_note_is_read_and_written_by_its_owner_alone(tmp_path: Path) -> None:
    notes = notes_in(tmp_path)
    with notes.hold(name_of(CASES)):
        notes.write(Planted("cases"))
    file = tmp_path / "planted" / f"{name_of(CASES)}.json"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_one_holds_no_other_holds(tmp_path: Path) -> None:
    notes = notes_in(tmp_path)
    with notes.hold("one") as is_ours, notes_in(tmp_path).hold("one") as is_theirs, notes.hold("two") as is_other:
        assert (is_ours, is_theirs, is_other) == (True, False, True)
    with notes_in(tmp_path).hold("one") as is_theirs:
        assert is_theirs


def test_the_folder_is_on_disk_after_a_note_was_written_and_after_it_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, note = notes_in(tmp_path), Planted("cases")
    synced: list[bool] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with notes.hold(name_of(CASES)):
        notes.write(note)
        notes.remove(note)
    assert synced == [False, True, True]
