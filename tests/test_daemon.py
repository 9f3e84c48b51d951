from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
import structlog

from analyzer.checkpoint import Checkpoint, StateFolder
from analyzer.config import load_settings
from analyzer.daemon import Daemon, Outlets
from analyzer.errors import UsageError
from analyzer.exporters.server import Server
from analyzer.model.instant import format_instant
from analyzer.setup import Setup, build_setup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.model.report import Report

NOW = 1_760_000_000_000


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 -- nothing in the daemon is there to be awaited
        await asyncio.sleep(0.01)


class Stage:
    """A daemon in this process whose clock stands still until it is set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW
        self.told: list[Report] = []
        self.server = Server({})
        self.daemon = self.new()

    def new(self) -> Daemon:
        outlets = Outlets(
            server=self.server,
            state=StateFolder(self.folder / "state"),
            log=structlog.get_logger(),
            tell=self.told.append,
            clock=lambda: self.now,
        )
        return Daemon(self.load(), outlets, self.load)

    def load(self) -> Setup:
        settings = {"request_log": {"files": ["log"]}, "listen": "127.0.0.1:0", "window": "20s", "state": "state"}
        (self.folder / "dynascope.yaml").write_text(json.dumps(settings))
        return build_setup(load_settings(self.folder / "dynascope.yaml", {}))

    def write(self, count: int, **fields: object) -> None:
        line = {"v": 1, "time": format_instant(self.now), "op": "Scan", "table": "cases", **fields}
        with (self.folder / "log").open("a") as log:
            log.write(f"{json.dumps(line)}\n" * count)

    async def run_until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            running = group.create_task(self.daemon.run())
            await until(lambda: is_so() or running.done())
            self.daemon.stop()

    def state(self) -> Checkpoint:
        found = StateFolder(self.folder / "state").read()
        assert isinstance(found, Checkpoint)
        return found


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def test_what_is_written_when_it_is_stopped_is_read_and_noted_down(stage: Stage) -> None:
    stage.write(300)
    await stage.run_until(lambda: True)
    size = (stage.folder / "log").stat().st_size
    assert [position.offset for position in stage.state().positions] == [size]


async def test_the_first_slice_is_judged_when_reading_has_caught_up(stage: Stage) -> None:
    stage.write(300)
    stage.now += 15_000
    await stage.run_until(lambda: bool(stage.told))
    assert [found.detector for found in stage.told[0].findings] == ["unexpected-scan"]


async def test_an_exception_in_reading_ends_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    stage.write(1)
    monkeypatch.setattr("analyzer.watch.Watch.take", break_down)
    with pytest.raises(BaseExceptionGroup) as caught:
        await stage.daemon.run()
    assert isinstance(caught.value.exceptions[0], ZeroDivisionError)


async def test_a_second_daemon_leaves_the_first_alone(stage: Stage) -> None:
    other = stage.new()

    async def clash() -> None:
        with pytest.raises(UsageError, match="another daemon"):
            await other.run()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(stage.daemon.run())
        await until((stage.folder / "state" / "daemon.state").exists)
        await clash()
        stage.daemon.stop()
    assert stage.state().saved_at == NOW
