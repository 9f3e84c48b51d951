from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from analyzer.cli.main import execute

if TYPE_CHECKING:
    import pytest


def test_a_reload_that_comes_before_the_daemon_is_there_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked: set[signal.Signals | int] = set()

    def run_daemon(*_: object, **__: object) -> None:
        blocked.update(signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP}))

    monkeypatch.setattr("analyzer.app.run_daemon", run_daemon)
    assert execute(["run"]) == 0
    assert signal.SIGHUP in blocked
