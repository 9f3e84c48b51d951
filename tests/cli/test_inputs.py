from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli.inputs import STDIN, Moment, expand, parse_moment, place_stretch
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_names_and_globs_become_files_each_once(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (tmp_path / name).touch()
    found = expand([f"{tmp_path}/*.jsonl", str(tmp_path / "a.jsonl"), "-"])
    assert found == (tmp_path / "a.jsonl", tmp_path / "b.jsonl", STDIN)


def test_all_that_is_missing_is_told_with_its_mend(tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").touch()
    names = [str(tmp_path / name) for name in ("request.jsonl", "none/x", "*.gz")]
    with pytest.raises(UsageError) as caught:
        expand([*names, str(tmp_path)])
    assert str(caught.value).replace(str(tmp_path), "T").splitlines() == [
        "T/request.jsonl does not exist; did you mean T/requests.jsonl?",
        "T/none/x does not exist: there is no folder T/none",
        "no file fits T/*.gz",
        "T is a folder; name its files, such as 'T/*.jsonl'",
    ]


def test_a_long_list_of_missing_files_is_cut() -> None:
    with pytest.raises(UsageError, match="and 2 more"):
        expand([f"no-such-file-{n}" for n in range(7)])


def test_a_moment_is_a_time_or_counts_back_from_the_end() -> None:
    assert parse_moment(None, "--since") is None
    assert parse_moment("1970-01-01T00:00:01Z", "--since") == Moment("1970-01-01T00:00:01Z", at=1000)
    moment = parse_moment("30m", "--since")
    assert moment is not None
    assert moment.instant(2_000_000) == 200_000
    with pytest.raises(UsageError, match="--since yesterday: write a time such as"):
        parse_moment("yesterday", "--since")


def test_a_stretch_without_length_is_refused() -> None:
    assert place_stretch(None, None, None) == (None, None)
    assert place_stretch(Moment("1m", before_end_ms=60_000), None, 100_000) == (40_000, None)
    with pytest.raises(UsageError, match="--since 1m is not before --until 2m"):
        place_stretch(Moment("1m", before_end_ms=60_000), Moment("2m", before_end_ms=120_000), 500_000)


def test_what_is_no_file_is_not_said_to_be_missing() -> None:
    with pytest.raises(
        UsageError, match=r"^/dev/null is neither a file nor a folder; what a command writes is read as -"
    ):
        expand(["/dev/null"])
