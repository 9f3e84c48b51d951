from __future__ import annotations

import errno
from pathlib import Path

import pytest

from analyzer.cli.main import execute
from analyzer.cli.paged import PageFormat, check_place, format_of, print_page
from analyzer.errors import UsageError


@pytest.mark.parametrize(
    ("name", "chosen", "form"),
    [
        ("a.html", None, PageFormat.HTML),
        ("a.HTM", None, PageFormat.HTML),
        ("a.md", None, PageFormat.MARKDOWN),
        ("a.json", None, PageFormat.JSON),
        ("a.txt", None, PageFormat.TEXT),
        ("a.html", PageFormat.JSON, PageFormat.JSON),
        (None, None, PageFormat.TEXT),
    ],
)
def test_a_file_s_name_chooses_the_format_unless_it_is_said(
    name: str | None, chosen: PageFormat | None, form: PageFormat
) -> None:
    assert format_of(None if name is None else Path(name), chosen, PageFormat.TEXT) is form


def test_a_place_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_place(None)
    check_place(tmp_path / "a.md")
    check_place(tmp_path, takes_folder=True)
    check_place(Path("/dev/null"))
    with pytest.raises(UsageError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        check_place(tmp_path / "gone" / "a.md")
    (tmp_path / "b.md").touch()
    monkeypatch.setattr("os.access", lambda path, _: path != tmp_path / "b.md")
    with pytest.raises(UsageError, match="it is read-only"):
        check_place(tmp_path / "b.md")
    monkeypatch.setattr("os.access", lambda *_: False)
    for place in (tmp_path / "a.md", tmp_path):
        with pytest.raises(UsageError, match="is not yours to write in"):
            check_place(place, takes_folder=True)


@pytest.mark.parametrize("command", ["report", "capacity t", "diff a b", "document a"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_name_is_no_place(command: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*command.split(), "-o", value]) == 2
    assert capsys.readouterr().err == "dynascope: -o names no file: its value is empty\n"


def test_a_file_is_written_wholly_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "week.html"
    print_page("first", place)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match=r"week.html cannot be written: no space left on device"):
        print_page("second", place)
    assert place.read_text() == "first"
    assert list(tmp_path.iterdir()) == [place]


def test_a_device_is_written_to_and_never_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="/dev/full cannot be written: no space left on device"):
        print_page("text", Path("/dev/full"))
    assert Path("/dev/full").is_char_device()
    print_page("text", None)
    assert capsys.readouterr().out == "text"
