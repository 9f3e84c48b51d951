from __future__ import annotations

import gzip
import os
import random
import threading
import time
from typing import TYPE_CHECKING, Self

from tests.e2e.conftest import Daemon, now_ms, record, wait_until

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 20


class Application:
    """Writes records, and now and then something else, while the daemon is killed; rotates its log by renaming."""

    def __init__(self, log: Path, seed: int) -> None:
        self.log = log
        self.requests = 0
        self.bad = 0
        self.dropped = 0
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        writes = 0
        while not self._stop.wait(0.01):
            writes += 1
            if writes % 97 == 0:
                self._rotate()
            with self.log.open("a") as file:
                for line in self._lines():
                    middle = self._random.randrange(len(line))
                    file.write(line[:middle])
                    if self._random.random() < 0.02:
                        file.flush()  # the daemon may see half a line
                    file.write(line[middle:])

    def _lines(self) -> list[str]:
        lines = []
        for _ in range(self._random.randrange(1, 30)):
            self.requests += 1
            lines.append(record(now_ms(), self.requests, request_id=None))  # nothing hides what is read twice
        if self._random.random() < 0.05:
            self.bad += 1
            lines.append("{torn\n")
        if self._random.random() < 0.02:
            self.bad += 1
            lines.append("x" * 1_500_000 + "\n")
        if self._random.random() < 0.05:
            self.dropped += 3
            lines.append('{"v":1,"counter":"dropped","count":3,"caller":"api"}\n')
        return lines

    def _rotate(self) -> None:
        for number in range(8, 0, -1):
            for ending in ("", ".gz"):
                old = self.log.with_name(f"{self.log.name}.{number}{ending}")
                if old.exists():
                    old.rename(self.log.with_name(f"{self.log.name}.{number + 1}{ending}"))
        third = self.log.with_name(f"{self.log.name}.3")
        if third.exists():
            packed = third.with_name(f"{third.name}.gz")
            with gzip.open(packed, "wb", compresslevel=1) as file:
                file.write(third.read_bytes())
            os.utime(packed, ns=(third.stat().st_mtime_ns,) * 2)
            third.unlink()
        self.log.rename(self.log.with_name(f"{self.log.name}.1"))


def test_nothing_is_lost_or_counted_twice_when_the_daemon_is_killed_at_any_moment(daemon: Daemon) -> None:
    moments = random.Random(20261130)
    daemon.start()
    daemon.listening()
    with Application(daemon.log, seed=1) as application:
        for _ in range(KILLS):
            time.sleep(moments.uniform(0.0, 1.7))
            daemon.kill()
            daemon.start()
            if moments.random() < 0.8:  # else it may die while it starts
                daemon.listening()
    daemon.listening()
    written = application.requests + application.bad + application.dropped

    def counted() -> float:
        return daemon.requests() + daemon.records("bad") + daemon.records("dropped")

    wait_until(lambda: counted() >= written, "all is counted")
    assert counted() == written
    assert daemon.requests() == daemon.records("read") == application.requests
    assert daemon.records("bad") == application.bad
    assert daemon.records("dropped") == application.dropped
    assert not [told for told in daemon.events() if told["level"] == "error"]
