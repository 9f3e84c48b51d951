from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.cli.paged import PageFormat, check_place, format_of
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
    with pytest.raises(UsageError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        check_place(tmp_path / "gone" / "a.md")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="is not yours to write in"):
        check_place(tmp_path / "a.md")
