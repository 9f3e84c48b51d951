from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import COMMAND, Daemon, now_ms, record, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

REDIRECTIONS = {
    "closed": ">&- 2>&- <&-",
    "full": ">/dev/full 2>/dev/full",
    "left": "> >(exec true) 2> >(exec true)",
}


@pytest.fixture
def started(daemon: Daemon, request: pytest.FixtureRequest) -> Iterator[Daemon]:
    daemon.configure(log={"level": "info", "format": "text"})
    command = f"exec '{COMMAND}' run --config '{daemon.config}' {REDIRECTIONS[request.param]}"
    daemon.process = subprocess.Popen(["/bin/bash", "-c", command])
    yield daemon
    daemon.process.kill()
    daemon.process.wait()


@pytest.mark.parametrize("started", REDIRECTIONS, indirect=True)
def test_it_works_on_although_nobody_hears_it(started: Daemon) -> None:
    with started.log.open("a") as log:
        log.writelines(record(now_ms() - 12_000, n, op="Scan", key=None, count=1, scanned=1) for n in range(300))
    state = started.folder / "state" / "daemon.state"
    wait_until(lambda: state.exists() and b"unexpected-scan" in state.read_bytes(), "a finding is open")
    assert started.stop()[0] == 0
