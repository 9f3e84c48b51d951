"""The daemon as a process, and what it says: findings as they open, change and close."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.demo.clients import CALLERS, CONTRACT, log_path
from deploy.demo.processes import Process

__all__ = ["RANKS", "Daemon", "Seen", "Watcher", "write_config"]

RANKS = {"low": 0, "medium": 1, "high": 2, "critical": 3}

_ANSWER_SECONDS = 5.0
_START_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


def write_config(folder: Path, port: int, salt_file: Path) -> Path:
    """Write the daemon's configuration: a window of 20 s instead of five minutes, so that faults close soon."""
    files = [str(log_path(folder, caller)) for caller in CALLERS]
    settings = {
        "listen": f"127.0.0.1:{port}",
        "contract": [str(CONTRACT)],
        "request_log": {"files": files},
        "window": "20s",
        "close_after": "10s",
        "settle": "5s",
        "salt_file": str(salt_file),
        "state": str(folder / "state"),
        "mode": "page",
    }
    path = folder / "dynascope.yaml"
    path.write_text(json.dumps(settings, indent=2), encoding="utf-8")  # JSON is YAML
    return path


class Daemon(Process):
    """`dynascope run` on a configuration; its lines are read as they come."""

    def __init__(self, config: Path, port: int, log: Path) -> None:
        dynascope = str(Path(sys.executable).with_name("dynascope"))
        command = [dynascope, "run", "--config", str(config), "--format", "json"]
        super().__init__([sys.executable, "-m", "deploy.demo.guard", *command], log)
        self.url = f"http://127.0.0.1:{port}"
        self.lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._log_path = log
        threading.Thread(target=self._read, daemon=True).start()
        self._wait()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(json.loads(line))

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.get("/healthz")
            except OSError:
                time.sleep(_PAUSE_SECONDS)
            else:
                return
        self.stop()
        raise RuntimeError(f"the daemon did not start; {self._log_path} says why")

    def get(self, path: str) -> str:
        """Return what it serves; raises OSError."""
        with urllib.request.urlopen(self.url + path, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - loopback
            return str(answer.read().decode())

    def report(self) -> dict[str, Any] | None:
        """Return the last report; None before the first. Raises RuntimeError when the daemon is gone."""
        try:
            document: dict[str, Any] = json.loads(self.get("/api/v1/report"))
        except urllib.error.HTTPError:
            return None
        except OSError:
            if self.process.poll() is None:
                return None  # slow, not gone
            raise RuntimeError(f"the daemon ended; {self._log_path} says why") from None
        return document


@dataclass(slots=True)
class Seen:
    """One finding in all the forms that it took, with the seconds of its life on the demo's clock."""

    opened_at: float
    forms: list[dict[str, Any]] = field(default_factory=list)
    closed_at: float | None = None

    @property
    def worst(self) -> dict[str, Any]:
        """The form with the highest severity, the latest of them."""
        return max(reversed(self.forms), key=lambda form: RANKS[form["severity"]])

    @property
    def is_noted(self) -> bool:
        """Whether it ever was medium or above."""
        return RANKS[self.worst["severity"]] >= RANKS["medium"]


class Watcher:
    """Follows the daemon: its printed lines say what opens and closes, its report how findings change."""

    def __init__(self, daemon: Daemon, started: float) -> None:
        self._daemon = daemon
        self._started = started
        self.findings: dict[str, Seen] = {}

    def look(self) -> list[dict[str, Any]]:
        """Take in what is new; returns the lines that were printed since the last look."""
        now = time.monotonic() - self._started
        lines = []
        while not self._daemon.lines.empty():
            line = self._daemon.lines.get()
            lines.append(line)
            self._take(line["finding"], now, is_closed=line["event"] == "closed")
        report = self._daemon.report()
        for finding in () if report is None else report["findings"]:
            if finding["status"] != "closed" and finding["id"] in self.findings:
                self._take(finding, now, is_closed=False)
        return lines

    def _take(self, finding: dict[str, Any], now: float, *, is_closed: bool) -> None:
        seen = self.findings.setdefault(finding["id"], Seen(now))
        if is_closed:
            seen.closed_at = now
            return
        seen.closed_at = None
        if not seen.forms or seen.forms[-1] != finding:
            seen.forms.append(finding)
