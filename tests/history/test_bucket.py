"""History in a bucket, over HTTP: two daemons side by side, and a bucket that says no."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history_opening import open_dataset
from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from tests.history.test_dataset import DAY, WINDOW, T, files, key, minute
from tests.test_history_keeper import MINUTE, Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.emulator import LocalAws

PLACE = "s3://history/dynascope"
ATTEMPTS = 2


@pytest.fixture(autouse=True)
def here(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.client("s3").create_bucket(Bucket="history")


@contextlib.asynccontextmanager
async def opened(*daemons: str) -> AsyncIterator[list[Dataset]]:
    """Give what daemons write to, each with its own way to AWS."""
    ways = [Aws(AwsConfig(regions=("us-east-1",), attempts=ATTEMPTS)) for _ in daemons]
    try:
        yield [open_dataset(PLACE, aws, daemon=daemon) for aws, daemon in zip(ways, daemons, strict=True)]
    finally:
        await asyncio.gather(*(aws.close() for aws in ways))


async def work(one: Dataset, other: Dataset) -> list[list[str]]:
    """Let two write at once and tidy at once, in the end also what the other left; return the rows after each."""

    async def read() -> list[str]:
        rows = [
            (await one.read_range(kind, WINDOW)).rows.to_pylist() for kind in (Kind.HOURS, Kind.REQUESTS, Kind.KEYS)
        ]
        return [row for of_kind in rows for row in sorted(map(str, of_kind))]

    minutes = [minute(n, requests=10 + n, keys=(key(600 + n),)) for n in range(3)]
    await asyncio.gather(one.write_minutes(minutes), other.write_minutes(minutes[:2]))
    seen = [await read()]
    for days in (3, 5, 5):
        await asyncio.gather(*(tidy(each, Keeping(), T + days * DAY) for each in (one, other)))
        seen.append(await read())
    return seen


async def test_two_daemons_write_and_tidy_a_bucket_as_they_do_a_folder(emulator: LocalAws, tmp_path: Path) -> None:
    async with opened("d1", "d2") as (one, other):
        in_bucket = await work(one, other)
    in_folder = await work(*(Dataset(FolderBlobs(tmp_path), daemon) for daemon in ("d1", "d2")))
    assert in_bucket == in_folder == [in_bucket[0]] * 4
    names = {found["Key"] for found in emulator.client("s3").list_objects_v2(Bucket="history")["Contents"]}
    assert names == {f"dynascope/{name}" for name in await asyncio.to_thread(files, tmp_path)}


@pytest.mark.parametrize(("fault", "told", "tries"), [("throttled", "SlowDown", ATTEMPTS), ("denied", "Denied", 1)])
async def test_a_bucket_that_says_no_is_asked_so_often_and_told_and_minutes_wait(
    emulator: LocalAws, tmp_path: Path, fault: str, told: str, tries: int
) -> None:
    desk = await asyncio.to_thread(Desk, tmp_path)
    async with opened("d1") as (bucket,):
        desk.dataset = bucket
        keeper = desk.new()
        emulator.fault(fault, service="s3", operation="PutObject")
        keeper.take(desk.closed(7))
        for slices in range(13):  # two minutes of them
            if slices in {0, 6}:
                await keeper.write()
            keeper.look(T + slices * 10_000, (), (), lambda: None)  # type: ignore[arg-type, return-value]
        (gap,) = keeper.gaps(T + 3 * MINUTE)
        assert told in gap.detail
        assert "1 minute waits" in gap.detail
        assert emulator.calls()["s3", "PutObject"] == 2 * tries
        assert desk.log.lines == [("error", "history cannot be written")] * 3
        emulator.forgive()
        await keeper.write()
        rows = (await bucket.read_range(Kind.REQUESTS, WINDOW)).rows["requests"].to_pylist()
    assert (rows, keeper.gaps(T + 3 * MINUTE), keeper.lost) == ([7], (), 0)
    assert desk.log.lines[-1] == ("info", "mended")
