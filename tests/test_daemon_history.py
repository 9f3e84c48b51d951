from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from analyzer.daemon import NOTHING_POLLED, Daemon
from analyzer.history.columns import Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history_opening import open_keeper
from analyzer.model.window import Window
from collectors.request_log.collector import FileStream
from tests.test_daemon import NOW, Stage

if TYPE_CHECKING:
    from pathlib import Path

MINUTE = 60_000


def kept(stage: Stage) -> Daemon:
    """A daemon that writes its history beside its state."""
    setup = stage.load()
    outlets = stage.outlets()
    assert setup.history is not None
    keeper = open_keeper(setup.history, setup.state, setup.contract, outlets.log, None)
    return Daemon(setup, outlets, stage.load, FileStream, NOTHING_POLLED, keeper)


def requests(stage: Stage, window: Window) -> float:
    dataset = Dataset(FolderBlobs(stage.folder / "history"))
    return float(sum(asyncio.run(dataset.read_range(Kind.REQUESTS, window)).rows["requests"].to_pylist()))


def written(stage: Stage) -> list[Path]:
    return sorted((stage.folder / "history").rglob("kind=requests/*/*.parquet"))


async def test_a_minute_is_in_history_when_it_has_closed_and_counts_once_after_a_restart(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.settings = {"history": {"to": "history"}}
    stage.write(30)
    stage.now += 6 * MINUTE
    stage.daemon = kept(stage)
    await stage.run_until(lambda: len(written(stage)) >= 3)
    stage.daemon = kept(stage)
    stage.now += MINUTE
    await stage.run_until(lambda: len(written(stage)) >= 4)
    window = Window(NOW - MINUTE, NOW + 10 * MINUTE)
    assert await asyncio.to_thread(requests, stage, window) == 30
    assert len({path.name.split("-")[1] for path in written(stage)}) == 1
