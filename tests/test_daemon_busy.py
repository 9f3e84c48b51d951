"""A judgement that takes for ever: requests are answered, reading goes on, and the end does not wait for it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import aiohttp
import pytest
from msgspec.structs import replace

from analyzer.conclude import Evidence, GivenUpError, Judged, conclude
from analyzer.exposing import Rendering, View, expose
from analyzer.model.batch import StreamStatus
from analyzer.watch import Watch
from tests.test_daemon import Stage, until
from tests.test_watch import NOW, Place, block

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Slow:
    """A judgement that waits; `is_heeding` what it is told."""

    def __init__(self, *, is_heeding: bool) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        self._is_heeding = is_heeding

    def __call__(self, evidence: Evidence) -> Judged:
        self.began.set()
        while not self.go_on.wait(0.01):
            if self._is_heeding and evidence.is_over():
                raise GivenUpError
        return conclude(evidence)


@pytest.fixture(params=[True, False], ids=["gives up", "hears nothing"])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    one = Slow(is_heeding=request.param)
    monkeypatch.setattr("analyzer.daemon.conclude", one)
    yield one
    one.go_on.set()


async def test_it_answers_reads_on_and_ends_with_everything_noted_down(tmp_path: Path, slow: Slow) -> None:
    stage = Stage(tmp_path)
    stage.write(3)
    ports: list[int] = []
    begin = stage.server.start

    async def start(host: str, port: int) -> int:
        ports.append(await begin(host, port))
        return ports[0]

    stage.server.start = start  # type: ignore[method-assign]
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(stage.daemon.run())
        await until(slow.began.is_set)
        async with aiohttp.ClientSession() as session:
            for path, status in (("healthz", 200), ("metrics", 200), ("readyz", 503)):
                async with session.get(f"http://127.0.0.1:{ports[0]}/{path}") as answer:
                    assert answer.status == status
        stage.write(4)
        await until(lambda: stage.daemon._watch.records()["read"] == 7)
        stage.daemon.stop()
        await running
    assert not slow.go_on.is_set()
    assert stage.state().positions[0].offset == (tmp_path / "log").stat().st_size
    assert Watch(stage.load(), stage.state()).records()["read"] == 7


async def test_what_was_found_is_told_also_where_the_end_comes_before_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(view: View) -> Rendering:
        if view.of_analysis:
            began.set()
            go_on.wait(10)
        return expose(view)

    monkeypatch.setattr("analyzer.daemon.expose", slow)
    stage = Stage(tmp_path)
    stage.write(300)
    stage.now += 15_000
    await stage.run_until(began.is_set)
    go_on.set()
    assert [found.detector for found in stage.told[0].findings] == ["unexpected-scan"]
    assert stage.state().findings.alive


async def test_a_bug_in_a_judgement_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_: Evidence) -> Judged:
        raise StopIteration

    monkeypatch.setattr("analyzer.daemon.conclude", break_down)
    async with asyncio.timeout(20):
        with pytest.raises(BaseExceptionGroup) as caught:
            await Stage(tmp_path).daemon.run()
    assert "StopIteration" in str(caught.value.exceptions[0])


def test_a_judgement_that_is_over_concludes_nothing(tmp_path: Path) -> None:
    watch = Watch(Place(tmp_path).setup(), None)
    watch.take(block(3, NOW), NOW)
    evidence = watch.gather(NOW + 10_000, StreamStatus(files=1, missing=(), pending_bytes=0))
    with pytest.raises(GivenUpError):
        conclude(replace(evidence, is_over=lambda: True))
    assert conclude(evidence).report.traffic
