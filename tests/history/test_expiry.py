"""What is too old goes although the disk is full, and nothing that exists once alone goes with it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.dataset import Dataset
from analyzer.history.files import HistoryError
from analyzer.history.folder import FolderBlobs
from analyzer.model.window import Window
from tests.history.test_dataset import DAY, T, files, minute, run, total

if TYPE_CHECKING:
    from pathlib import Path

LATER = T + 12 * DAY
KEEPING = Keeping(minutes_ms=30 * DAY)
ALL = Window(T, LATER + DAY)
HOUR_OF_MINUTES = "kind=requests/date=2026-11-30/20261130T09-d1.parquet"
NEVER_AN_HOUR = "kind=requests/date=2026-12-01/20261201T0900-d1.parquet"


class Full(FolderBlobs):
    """A folder on a disk without room: what is there may be read, and go."""

    async def write(self, name: str, content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Hold an hour of minutes that exists as an hour too, a minute of the next day that does not, and two of now."""
    dataset = Dataset(FolderBlobs(tmp_path), "d1")
    run(dataset.write_minutes([minute(n) for n in (0, 1)]))
    run(tidy(dataset, Keeping(), T + 3 * DAY))
    run(dataset.write_minutes([minute(n * 1440) for n in (1, 11, 12)]))
    return dataset


def tidied_without_room(folder: Path) -> None:
    with pytest.raises(HistoryError, match="No space left on device"):
        run(tidy(Dataset(Full(folder), "d1"), Keeping(), LATER))


def test_a_full_disk_lets_go_of_what_is_too_old_and_of_no_minute_without_an_hour(
    dataset: Dataset, tmp_path: Path
) -> None:
    tidied_without_room(tmp_path)
    assert HOUR_OF_MINUTES not in files(tmp_path)
    assert NEVER_AN_HOUR in files(tmp_path)
    assert total(dataset, Kind.HOURS, ALL) == 500
    run(tidy(dataset, Keeping(), LATER))
    assert NEVER_AN_HOUR not in files(tmp_path)
    assert total(dataset, Kind.HOURS, ALL) == 500


def half_made(dataset: Dataset, folder: Path) -> tuple[Path, Path]:
    """Return a minute and its hour, both there: who made the hour was killed before the minute went."""
    young, hour = folder / NEVER_AN_HOUR, folder / NEVER_AN_HOUR.replace("T0900", "T09")
    content = young.read_bytes()
    run(tidy(dataset, KEEPING, T + 5 * DAY))
    young.write_bytes(content)
    assert hour.exists()
    return young, hour


def test_minutes_whose_hour_is_there_go_on_a_full_disk_however_young(dataset: Dataset, tmp_path: Path) -> None:
    young, _ = half_made(dataset, tmp_path)
    run(tidy(Dataset(Full(tmp_path), "d1"), KEEPING, T + 5 * DAY))
    assert not young.exists()
    assert total(dataset, Kind.HOURS, ALL) == 500


def test_minutes_stay_where_their_hour_is_torn(dataset: Dataset, tmp_path: Path) -> None:
    young, hour = half_made(dataset, tmp_path)
    hour.write_bytes(hour.read_bytes()[:-40])
    with pytest.raises(HistoryError, match="aside: No space left"):
        run(tidy(Dataset(Full(tmp_path), "d1"), KEEPING, T + 5 * DAY))
    assert young.exists()
    assert hour.exists()


def test_a_torn_file_does_not_keep_a_full_disk_full(dataset: Dataset, tmp_path: Path) -> None:
    torn = [tmp_path / f"kind={kind}/date=2026-11-01/20261101T09-d1.parquet" for kind in ("keys", "requests")]
    for file in torn:
        file.parent.mkdir(parents=True)
        file.write_bytes(b"not parquet")
    with pytest.raises(HistoryError, match="aside: No space left"):
        run(tidy(Dataset(Full(tmp_path), "d1"), Keeping(), LATER))
    assert HOUR_OF_MINUTES not in files(tmp_path)
    assert all(file.exists() for file in torn)
    assert len(run(tidy(dataset, Keeping(), LATER)).torn) == 2
    assert total(dataset, Kind.HOURS, ALL) == 500
