from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING

import pytest
import structlog

from analyzer.checkpoint import Checkpoint, StateFolder
from analyzer.config import load_settings
from analyzer.daemon import Daemon, OpenStream, Outlets
from analyzer.errors import UsageError
from analyzer.exporters.server import Server
from analyzer.model.batch import Block, Position, StreamStatus
from analyzer.model.instant import format_instant
from analyzer.setup import Setup, build_setup
from collectors.request_log.collector import FileStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
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
        self.settings: dict[str, object] = {}
        self.daemon = self.new()

    def new(self, open_stream: OpenStream = FileStream) -> Daemon:
        outlets = Outlets(
            server=self.server,
            state=StateFolder(self.folder / "state"),
            log=structlog.get_logger(),
            tell=self.told.append,
            clock=lambda: self.now,
        )
        return Daemon(self.load(), outlets, self.load, open_stream)

    def load(self) -> Setup:
        settings: dict[str, object] = {
            "request_log": {"files": ["log"]},
            "listen": "127.0.0.1:0",
            "window": "20s",
            "state": "state",
        }
        settings |= self.settings
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


class Pushed:
    """A stream that is no file."""

    def __init__(self, *_: object) -> None:
        self.is_stopping = asyncio.Event()
        self.was_closed = False

    def begin(self) -> tuple[Position, ...]:
        return (Position("pushed", 0, 0),)

    async def blocks(self) -> AsyncIterator[Block]:
        yield Block(b"junk\n", Position("pushed", 0, 5))
        await self.is_stopping.wait()

    def stop(self) -> None:
        self.is_stopping.set()

    def close(self) -> None:
        self.was_closed = True

    def paths(self) -> frozenset[str]:
        return frozenset({"pushed"})

    def status(self) -> StreamStatus:
        return StreamStatus(files=1, missing=(), pending_bytes=0)


async def test_any_stream_will_do(stage: Stage) -> None:
    stream = Pushed()
    stage.daemon = stage.new(lambda *_: stream)
    await stage.run_until(lambda: True)
    assert stage.state().positions == (Position("pushed", 0, 5),)
    assert stream.was_closed


async def test_what_takes_a_restart_is_said_at_a_reload(stage: Stage) -> None:
    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new()
        stage.settings = {"log": {"level": "debug", "format": "json"}, "state": "other", "limits": {"cells": 9}}

        def is_reloaded() -> bool:
            return any("reloaded" in one["event"] for one in told)

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            group.create_task(stage.daemon.run())
            await until(lambda: any(one["event"] == "listening" for one in told))
            os.kill(os.getpid(), signal.SIGHUP)
            await until(is_reloaded)
            stage.daemon.stop()
    assert {one["setting"] for one in told if one["event"] == "takes a restart"} == {"state", "log.level", "log.format"}
