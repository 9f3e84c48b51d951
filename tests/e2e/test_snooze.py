"""A finding of a daemon that runs is snoozed, through a kill and a restart, and speaks up when it is ended."""

from __future__ import annotations

import json
import subprocess
import threading
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
def test_a_snooze_lasts_through_a_kill_until_it_is_ended(daemon: Daemon) -> None:
    daemon.configure(close_after="5m")  # a start that takes long closes nothing
    daemon.start()
    daemon.listening()
    wait_until(lambda: status(daemon) in {"open", "ongoing"}, "the Scan is found")
    (found,) = findings(daemon)
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 1
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    said = ("--until", tomorrow, "--reason", "known", "--who", "ada")
    assert "unexpected-scan cases by ada: known" in run("snooze", found["id"], *said, "--url", daemon.url)
    wait_until(lambda: status(daemon) == "snoozed", "it is snoozed")
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 0
    assert found["id"] in run("findings", "--url", daemon.url)
    daemon.kill()
    assert f"{found['id']}  until " in run("snooze", "--list", "--config", str(daemon.config))
    daemon.start()
    daemon.listening()
    wait_until(lambda: status(daemon) is not None, "it is judged again")
    assert status(daemon) == "snoozed"
    assert opened(daemon) == 1  # of a snoozed one nobody is told
    run("snooze", "--end", found["id"], "--url", daemon.url)
    wait_until(lambda: status(daemon) in {"open", "ongoing"}, "it speaks up")
    wait_until(lambda: opened(daemon) == 2, "it is told")
    assert daemon.sum("dynascope_finding_active", detector="unexpected-scan") == 1
    assert findings(daemon)[0]["first_seen"] == found["first_seen"]
