"""A folder of history as people have it: under odd names, behind a link, with strangers in it."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.dataset import Dataset
from analyzer.history.files import HistoryError
from analyzer.history.folder import FolderBlobs, NameClaim
from analyzer.history.names import FileName
from analyzer.model.instant import parse_instant
from analyzer.model.window import Window
from tests.history.test_dataset import minute, written_with

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

T = parse_instant("2026-11-30T09:00:00Z")
DAY = 86_400_000
WINDOW = Window(T, T + 2 * 3_600_000)
PLACE = "kind=requests/date=2026-11-30"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def two_minutes(folder: Path) -> Dataset:
    dataset = Dataset(FolderBlobs(folder), "d1")
    run(dataset.write_minutes([minute(0), minute(1)]))
    return dataset


def total(dataset: Dataset, window: Window = WINDOW) -> float:
    return float(sum(run(dataset.read_range(Kind.HOURS, window)).rows["requests"].to_pylist()))


@pytest.mark.parametrize(
    "name", ["100% of it", "with space", "Ordnung über alles", "日志", "a'b\"c", "kind=x/date=y", "[a]*?"]
)
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    dataset = two_minutes(tmp_path / name)
    assert total(dataset) == 200
    run(tidy(dataset, Keeping(), T + 3 * DAY))
    assert total(dataset) == 200


def test_a_folder_may_be_a_link(tmp_path: Path) -> None:
    two_minutes(tmp_path / "history")
    (tmp_path / "link").symlink_to(tmp_path / "history", target_is_directory=True)
    linked = Dataset(FolderBlobs(tmp_path / "link"), "d1")
    run(tidy(linked, Keeping(), T + 3 * DAY))
    assert total(linked) == 200
    assert (tmp_path / "link").is_symlink()


def test_what_was_set_aside_hinders_nobody_who_reads_the_whole_folder(tmp_path: Path) -> None:
    dataset = two_minutes(tmp_path)
    (tmp_path / PLACE / "20261130T0900-d1.parquet").write_bytes(b"")
    assert len(run(dataset.read_range(Kind.REQUESTS, WINDOW)).torn) == 1
    assert len(run(tidy(dataset, Keeping(), T + 3 * DAY)).torn) == 1
    assert (tmp_path / PLACE / ".20261130T0900-d1.parquet.torn").exists()
    assert pd.read_parquet(tmp_path / "kind=requests").requests.sum() == 100
    pattern = str(tmp_path / "kind=requests/**/*.parquet")
    (counted,) = duckdb.execute("SELECT sum(requests) FROM read_parquet(?)", [pattern]).fetchall()
    assert counted == (100,)


def test_a_copy_in_the_folder_of_another_day_counts_for_nothing(tmp_path: Path) -> None:
    dataset = two_minutes(tmp_path)
    shutil.copytree(tmp_path / PLACE, tmp_path / "kind=requests/date=2026-12-01")
    assert total(dataset, Window(T, T + 2 * DAY)) == 200
    run(tidy(dataset, Keeping(), T + 4 * DAY))
    assert total(dataset, Window(T, T + 2 * DAY)) == 200
    assert len(list((tmp_path / "kind=requests/date=2026-12-01").iterdir())) == 2


def test_a_stranger_of_our_name_is_set_aside_and_never_deleted(tmp_path: Path) -> None:
    dataset = two_minutes(tmp_path)
    strangers = {"20261001T0900-d1.parquet": b"not parquet", "20261001T0901-x.parquet": b""}
    place = tmp_path / "kind=requests/date=2026-10-01"
    place.mkdir()
    for name, content in strangers.items():
        (place / name).write_bytes(content)
    pq.write_table(pa.table({"theirs": [1]}), place / "20261001T0902-x.parquet")
    (place / "20261001T0903-y.parquet").write_bytes((tmp_path / PLACE / "20261130T0900-d1.parquet").read_bytes())
    (tmp_path / "kind=weather").mkdir()
    pq.write_table(pa.table({"theirs": [1]}), tmp_path / "kind=weather/20261001T0902-x.parquet")
    run(dataset.write_minutes([minute(1440 * 20)]))
    tidied = run(tidy(dataset, Keeping(), T + 20 * DAY))
    assert len(tidied.torn) == 3
    assert {path.name for path in place.iterdir()} >= {
        f".{name}.torn" for name in (*strangers, "20261001T0902-x.parquet")
    }
    assert (tmp_path / "kind=weather/20261001T0902-x.parquet").exists()


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    rows = minute(0).requests
    place = tmp_path / PLACE
    place.mkdir(parents=True)
    (place / "20261130T0900-d1.parquet").write_bytes(written_with(rows.select(rows.column_names[::-1])))
    dataset = Dataset(FolderBlobs(tmp_path), "d1")
    assert run(dataset.read_range(Kind.REQUESTS, WINDOW)).rows.to_pylist() == rows.to_pylist()


def test_a_bit_that_flips_is_never_a_number(tmp_path: Path) -> None:
    two_minutes(tmp_path)
    path = tmp_path / PLACE / "20261130T0900-d1.parquet"
    whole, dataset = path.read_bytes(), Dataset(FolderBlobs(tmp_path))
    name = FileName.parse(f"{PLACE}/{path.name}")
    assert name is not None
    rows = run(dataset.load(name))[0]
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        try:
            assert run(dataset.load(name))[0].equals(rows)
        except HistoryError:
            continue


def test_what_a_killed_process_left_goes_with_the_next_file(tmp_path: Path) -> None:
    dataset = two_minutes(tmp_path)
    for name, seconds in ((".20261130T0902-d1.parquet.77.part", 7200), (".20261130T0902-d2.parquet.78.part", 0)):
        left = tmp_path / PLACE / name
        left.write_bytes(b"PAR1")
        os.utime(left, (left.stat().st_mtime - seconds,) * 2)
    run(dataset.write_minutes([minute(2)]))
    assert [path.name for path in (tmp_path / PLACE).glob(".*")] == [".20261130T0902-d2.parquet.78.part"]


def test_a_name_is_one_daemon_s_until_it_leaves_it_and_a_folder_without_locks_is_nobody_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, other = (NameClaim(tmp_path / "new", name) for name in ("d1", "d1", "d2"))
    assert [claim.take() for claim in (one, one, two, other)] == [True, True, False, True]
    for claim in (two, one, other):
        claim.release()
    assert two.take()
    two.release()
    (tmp_path / "file").write_text("no folder")
    assert NameClaim(tmp_path / "file", "d1").take()

    def without(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("analyzer.history.folder.fcntl.flock", without)
    assert one.take()


def test_a_file_that_takes_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("no folder")
    with pytest.raises(
        HistoryError, match=r"cannot write kind=requests/.* to .*history: (Not a directory|File exists)"
    ):
        two_minutes(tmp_path / "history")
