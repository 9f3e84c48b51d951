from __future__ import annotations

import sys
from threading import Event, Thread

import pytest

from analyzer.cli.parallel import start_method


@pytest.mark.skipif(sys.platform != "linux", reason="only there a copy of a process is safe")
def test_processes_are_copies_unless_a_thread_may_hold_a_lock() -> None:
    done = Event()
    thread = Thread(target=done.wait)
    before = start_method()
    thread.start()
    try:
        assert start_method() == "spawn"
    finally:
        done.set()
        thread.join()
    assert before in {"fork", "spawn"}
