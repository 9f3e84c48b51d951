from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from analyzer.daemon import Daemon
from analyzer.history.columns import Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history_opening import open_keeper
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.polling import NOTHING_POLLED
from collectors.request_log.collector import FileStream
from tests.test_daemon import NOW, Stage

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from analyzer.model.report import Report

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


async def test_minutes_that_waited_for_longer_are_written_after_a_restart(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.settings = {"history": {"to": "history"}}
    blocking = tmp_path / "history"
    blocking.write_text("no folder, and no room for one")
    stage.write(30)
    stage.now += 20 * MINUTE
    stage.daemon = kept(stage)

    def waits() -> bool:
        stage.now += 1000
        return len(stage.daemon._history.unwritten) >= 15  # type: ignore[union-attr]

    await stage.run_until(waits)
    blocking.unlink()
    stage.now += MINUTE
    stage.daemon = kept(stage)
    await stage.run_until(lambda: len(written(stage)) >= 18)
    assert await asyncio.to_thread(requests, stage, Window(NOW - MINUTE, NOW + 10 * MINUTE)) == 30


async def test_history_that_cannot_be_written_is_a_gap_of_every_report_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    exported: list[Report] = []

    async def export(report: Report) -> None:
        exported.append(report)

    monkeypatch.setattr(stage.server, "export", export)
    stage.settings = {"history": {"to": "history"}}
    (tmp_path / "history").write_text("no folder, and no room for one")
    stage.write(30)
    stage.now += 6 * MINUTE
    stage.daemon = kept(stage)
    counted = b'dynascope_gaps_total{reason="late",source="history"} '

    def is_told() -> bool:
        stage.now += 1000
        return counted in stage.server._exposition.text

    await stage.run_until(is_told)
    (gap,) = (gap for gap in exported[-1].gaps if gap.source is SourceName.HISTORY)
    assert gap.detail.startswith("history cannot be written: cannot write kind=requests/")
