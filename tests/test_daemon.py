from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pytest
import structlog

from analyzer.checkpoint import Checkpoint, StateFolder
from analyzer.config import load_settings
from analyzer.daemon import Daemon, OpenStream, Outlets
from analyzer.errors import ConfigError, UsageError
from analyzer.exporters.assemble import Spent
from analyzer.exporters.marks import Marks
from analyzer.exporters.server import Server
from analyzer.model.batch import Batch, Block, Check, Position, StreamStatus
from analyzer.model.finding import Change
from analyzer.model.instant import format_instant
from analyzer.model.report import Mode
from analyzer.model.sight import Covers, SourceName
from analyzer.polling import NOTHING_POLLED, Poll, Polled, Polls
from analyzer.setup import Setup, build_setup
from collectors.aws.budget import Budget
from collectors.request_log.collector import FileStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from analyzer.model.report import Report
    from analyzer.model.window import Window

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

    def outlets(self) -> Outlets:
        return Outlets(
            server=self.server,
            state=StateFolder(self.folder / "state"),
            log=structlog.get_logger(),
            tell=self.told.append,
            clock=lambda: self.now,
        )

    def new(self, open_stream: OpenStream = FileStream, polled: Polled = NOTHING_POLLED) -> Daemon:
        return Daemon(self.load(), self.outlets(), self.load, open_stream, polled)

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


async def test_what_several_logs_had_alike_is_among_the_metrics(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = StreamStatus(files=1, missing=(), pending_bytes=0, joined=7, set_aside=5)
    monkeypatch.setattr(FileStream, "status", lambda _: alike)
    shown: list[str] = []
    monkeypatch.setattr(stage.server, "publish", lambda exposition: shown.append(exposition.text.decode()))
    await stage.run_until(lambda: bool(shown))
    assert 'dynascope_records_joined_total{source="request-log"} 7.0' in shown[0]
    assert 'dynascope_records_set_aside_total{source="request-log"} 5.0' in shown[0]
    assert "dynascope_marks_dropped_total 0.0" in shown[0]


async def test_what_there_was_no_room_for_is_among_the_metrics(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    outlets = msgspec.structs.replace(stage.outlets(), unprinted=lambda: 3)
    stage.daemon = Daemon(stage.load(), outlets, stage.load, FileStream)
    shown: list[str] = []
    monkeypatch.setattr(stage.server, "publish", lambda exposition: shown.append(exposition.text.decode()))
    await stage.run_until(lambda: bool(shown))
    told = {line for line in shown[0].splitlines() if line.startswith("dynascope_dropped_total")}
    assert told == {
        'dynascope_dropped_total{what="printed-findings"} 3.0',
        'dynascope_dropped_total{what="connections"} 0.0',
        'dynascope_dropped_total{what="unread-answers"} 0.0',
        'dynascope_dropped_total{what="table-places"} 0.0',
        'dynascope_dropped_total{what="table-reaches"} 0.0',
    }


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


@pytest.mark.parametrize("is_added", [True, False])
async def test_what_is_read_from_aws_is_judged_as_it_is_read_until_the_restart(stage: Stage, *, is_added: bool) -> None:
    stage.settings = {} if is_added else {"aws": {}}
    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new()
        stage.settings = {"aws": {}} if is_added else {}

        def has_reloaded(times: int) -> Callable[[], bool]:
            return lambda: sum("reloaded" in one["event"] for one in told) >= times

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            group.create_task(stage.daemon.run())
            await until(lambda: any(one["event"] == "listening" for one in told))
            for times in (1, 2):
                os.kill(os.getpid(), signal.SIGHUP)
                await until(has_reloaded(times))
            sources = stage.daemon._watch.setup.sources
            stage.daemon.stop()
    assert bool(sources) is not is_added
    assert [one["setting"] for one in told if one["event"] == "takes a restart"] == ["aws and its collectors"] * 2


async def run_until_told(stage: Stage, told: list[structlog.typing.EventDict], *events: str) -> None:
    await stage.run_until(lambda: {one["event"] for one in told} >= set(events))


async def test_a_log_that_is_not_there_is_said_once_and_once_when_it_is(stage: Stage) -> None:
    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new()

        def comes_and_is_judged() -> bool:
            if told and not (stage.folder / "log").exists():
                stage.write(1)
            stage.now += 1000
            return any(one["event"] == "mended" for one in told)

        await stage.run_until(comes_and_is_judged)
    assert [(one["log_level"], one["event"], one["what"]) for one in told if "what" in one] == [
        ("warning", "the request log is not there", "log"),
        ("info", "mended", "log"),
    ]


async def test_a_log_that_cannot_be_read_is_said(stage: Stage) -> None:
    (stage.folder / "log").mkdir()
    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new()
        await run_until_told(stage, told, "the request log cannot be read")
    assert [one["what"] for one in told if "what" in one] == ["log cannot be read"]


async def test_more_logs_than_are_tailed_are_said(stage: Stage) -> None:
    class Overfull(Pushed):
        def status(self) -> StreamStatus:
            return StreamStatus(files=1, missing=(), pending_bytes=0, skipped=3)

    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new(lambda *_: Overfull())
        await run_until_told(stage, told, "more request logs than are tailed at once")


async def test_tokens_of_another_salt_are_said(stage: Stage) -> None:
    stage.settings = {"salt": "ours, and long enough"}
    stage.write(1, salt_id="0badf00d")
    with structlog.testing.capture_logs() as told:
        stage.daemon = stage.new()
        await run_until_told(stage, told, "keys do not meet")
    (one,) = [one for one in told if one["event"] == "keys do not meet"]
    assert "0badf00d" in one["what"]


async def test_a_clock_that_is_set_back_stops_no_judging(stage: Stage) -> None:
    stage.write(1)
    judged: list[int] = []

    async def export(report: Report) -> None:
        judged.append(report.as_of)
        stage.now -= 3_600_000 if len(judged) == 1 else 0

    stage.server.export = export  # type: ignore[method-assign]
    stage.settings = {"settle": "0s"}
    stage.now += 9_990
    stage.daemon = stage.new()
    await stage.run_until(lambda: len(judged) > 1)
    assert judged[1] < judged[0]


async def test_a_reload_that_takes_for_ever_holds_nothing_up(stage: Stage) -> None:
    is_loading, never, was_waited_for = threading.Event(), threading.Event(), threading.Event()

    def load_for_ever() -> Setup:
        is_loading.set()
        never.wait(5)
        was_waited_for.set()
        raise ConfigError(())

    stage.daemon = Daemon(stage.load(), stage.outlets(), load_for_ever)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(stage.daemon.run())
        await until((stage.folder / "state" / "daemon.state").exists)
        os.kill(os.getpid(), signal.SIGHUP)
        await until(is_loading.is_set)
        stage.write(1)
        stage.daemon.stop()
    assert stage.state().positions[0].offset > 0
    assert not was_waited_for.is_set()
    never.set()


MARK = Change(time=NOW - 1000, what="deploy", detail="1.4.2", source="mark")


async def test_a_mark_is_judged_and_remembered_across_a_restart(stage: Stage) -> None:
    stage.write(300)
    stage.server.marks.add(MARK)
    stage.now += 15_000
    await stage.run_until(lambda: bool(stage.told))
    (found,) = stage.told[0].findings
    assert found.since_change == MARK
    stage.server = Server({})
    stage.daemon = stage.new()
    assert stage.server.marks.known() == ()
    await stage.run_until(lambda: stage.server.marks.known() == (MARK,))
    assert stage.state().beside.marks == (MARK,)


async def test_a_mark_that_is_a_day_old_is_forgotten(stage: Stage) -> None:
    stage.server.marks = Marks([MARK])
    stage.now += 86_400_000
    stage.write(300)
    stage.now += 15_000
    await stage.run_until(lambda: bool(stage.told))
    assert stage.state().beside.marks == ()


class Purse:
    """A source that costs a cent a poll, and who pays."""

    name: ClassVar[str] = SourceName.CLOUDWATCH_METRICS

    def __init__(self, stage: Stage) -> None:
        self.budget = Budget(10.0)
        polls = Polls([Poll(self, 300_000, "us-east-1")], lambda: stage.now)
        self.polled = Polled(polls, lambda: Spent(*self.budget.spent()), self.keep, self.resume)

    async def collect(self, window: Window) -> Batch:
        self.budget.spend("cloudwatch", "GetMetricData", {"MetricDataQueries": [{}] * 1000}, window.end)
        return Batch(window=window, covers=(Covers(SourceName.CLOUDWATCH_METRICS, window, "cases"),))

    async def check(self) -> tuple[Check, ...]:
        return ()

    def keep(self) -> dict[str, Any]:
        return self.budget.plain()

    def resume(self, plain: dict[str, Any]) -> None:
        if plain:
            self.budget = Budget.from_plain(plain, 10.0)


async def test_a_restart_does_not_double_the_day_s_money(stage: Stage) -> None:
    stage.settings = {"aws": {}}
    first = Purse(stage)
    stage.daemon = stage.new(polled=first.polled)
    await stage.run_until(lambda: first.budget.spent_today(stage.now) > 0)
    assert stage.state().beside.budget == first.budget.plain()
    second = Purse(stage)
    stage.daemon = stage.new(polled=second.polled)
    await stage.run_until(lambda: second.budget.spent_today(stage.now) > first.budget.spent_today(stage.now))
    assert second.budget.spent().billed_metrics == {"GetMetricData": 2000}


async def test_what_polls_bring_is_judged_and_their_health_is_shown(stage: Stage) -> None:
    stage.settings = {"aws": {}, "request_log": {}}
    purse = Purse(stage)
    stage.daemon = stage.new(polled=purse.polled)
    shown: list[str] = []

    async def export(report: Report) -> None:
        del report
        shown.append(stage.server._exposition.text.decode())

    stage.server.export = export  # type: ignore[method-assign]

    def is_shown() -> bool:
        stage.now += 10_000
        return any('dynascope_source_up{source="cloudwatch-metrics"} 1' in text for text in shown)

    await stage.run_until(is_shown)
    assert 'dynascope_aws_billed_metrics_total{api="GetMetricData"}' in shown[-1]
    assert 'source_up{source="request-log"}' not in shown[-1]


async def judged(stage: Stage) -> Report:
    """Run a daemon until it has judged, and return what it shows."""
    stage.server = Server({})
    stage.daemon = stage.new()
    stage.write(300)
    stage.now += 15_000
    await stage.run_until(lambda: stage.server.shown.report is not None)
    assert stage.server.shown.report is not None
    return stage.server.shown.report


async def test_a_new_install_observes_for_a_week_and_then_pages(stage: Stage) -> None:
    week = 7 * 86_400_000
    report = await judged(stage)
    assert (report.mode, report.observing_until) == (Mode.OBSERVE, stage.now + week)
    assert b"\ndynascope_observing 1.0" in stage.server._exposition.text
    stage.now += week
    assert (await judged(stage)).mode is Mode.PAGE
    assert b"\ndynascope_observing 0.0" in stage.server._exposition.text


@pytest.mark.parametrize("mode", list(Mode))
async def test_a_mode_that_is_set_holds_from_the_start(stage: Stage, mode: Mode) -> None:
    stage.settings["mode"] = mode.value
    report = await judged(stage)
    assert (report.mode, report.observing_until) == (mode, None)


async def test_an_install_from_before_there_were_lives_is_no_new_one(stage: Stage) -> None:
    await stage.run_until(lambda: True)
    for name in ("life.sqlite", "life.sqlite-wal", "life.sqlite-shm"):
        (stage.folder / "state" / name).unlink(missing_ok=True)
    assert (await judged(stage)).mode is Mode.PAGE
