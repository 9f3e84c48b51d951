"""A finding of a daemon that runs is snoozed, through a kill and a restart, and speaks up when that ends."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import COMMAND, Daemon, now_ms, record, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def scans(daemon: Daemon) -> Iterator[None]:
    """An undeclared Scan that takes most of what is read, and goes on."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.wait(0.2):
            lines = []
            for _ in range(10):
                number += 1
                scan = {"op": "Scan", "key": None, "consumed": {"total": 100.0}, "count": 1, "scanned": 1000}
                lines.append(record(now_ms(), number, **scan))
            with daemon.log.open("a") as log:
                log.writelines(lines)

    thread = threading.Thread(target=write)
    thread.start()
    yield
    stop.set()
    thread.join()


def findings(daemon: Daemon) -> list[dict[str, Any]]:
    if not daemon.is_ready():
        return []
    told: list[dict[str, Any]] = json.loads(daemon.get("/api/v1/findings"))["findings"]
    return [finding for finding in told if finding["detector"] == "unexpected-scan"]


def status(daemon: Daemon) -> str | None:
    return next((finding["status"] for finding in findings(daemon)), None)


def run(*arguments: str) -> str:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True, timeout=30).stdout


def opened(daemon: Daemon) -> int:
    lines = [json.loads(line) for line in daemon.output.read_text().splitlines()]
    return sum(line["finding"]["detector"] == "unexpected-scan" and line["event"] == "open" for line in lines)


@pytest.mark.usefixtures("scans")
def test_a_snooze_lasts_through_a_kill_and_ends_at_its_end(daemon: Daemon) -> None:
    daemon.start()
    daemon.listening()
    wait_until(lambda: status(daemon) in {"open", "ongoing"}, "the Scan is found")
    (found,) = findings(daemon)
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 1
    end = datetime.now(UTC) + timedelta(seconds=45)
    said = ("--until", end.isoformat(timespec="seconds"), "--reason", "known", "--who", "ada")
    assert "unexpected-scan cases by ada: known" in run("snooze", found["id"], *said, "--url", daemon.url)
    wait_until(lambda: status(daemon) == "snoozed", "it is snoozed")
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 0
    assert found["id"] in run("findings", "--url", daemon.url)
    assert opened(daemon) == 1
    daemon.kill()
    assert f"{found['id']}  until " in run("snooze", "--list", "--config", str(daemon.config))
    daemon.start()
    daemon.listening()
    wait_until(lambda: status(daemon) is not None, "it is judged again")
    if time.time() < end.timestamp():  # else the restart took too long to see it
        assert status(daemon) == "snoozed"
        assert opened(daemon) == 1
    wait_until(lambda: status(daemon) in {"open", "ongoing"}, "it speaks up", 60)
    assert opened(daemon) == 2
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 1
    assert findings(daemon)[0]["first_seen"] == found["first_seen"]
