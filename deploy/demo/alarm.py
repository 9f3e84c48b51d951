"""A Prometheus beside the daemon, where the machine has one: it scrapes, judges by our rules, and says what fires."""

from __future__ import annotations

import json
import shutil
import sys
import time
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple

from deploy.demo.emulator.moto import free_port
from deploy.demo.processes import ROOT, Process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from deploy.demo.faults import Fault

__all__ = ["Fired", "Prometheus", "alert_of", "alerts_for", "find_prometheus", "fired_in", "unexplained", "write_rules"]

_RULES = ROOT / "dashboards" / "generated"
_EVERY = "1s"
"""The demo's faults last seconds; on a real fleet fifteen seconds are often enough."""
_START_SECONDS = 30.0
_ANSWER_SECONDS = 5.0
_PAUSE_SECONDS = 0.1


class Fired(NamedTuple):
    """An alert that fires: its name, the index it is on (none for the table), and its severity."""

    name: str
    at: str | None
    severity: str

    def __str__(self) -> str:
        """Write what fires, and how loud."""
        return f"{self.name} ({self.severity})"


def find_prometheus() -> str | None:
    """Return the path of the program, None where the machine has none."""
    return shutil.which("prometheus")


def write_rules(folder: Path, daemon: str) -> Path:
    """Write the configuration: the rule files as they are shipped, and the one daemon to scrape."""
    settings = {
        "global": {"scrape_interval": _EVERY, "evaluation_interval": _EVERY},
        "rule_files": [str(_RULES / "*.yaml")],
        "scrape_configs": [
            {"job_name": "dynascope", "static_configs": [{"targets": [daemon.removeprefix("http://")]}]}
        ],
    }
    path = folder / "prometheus.yml"
    path.write_text(json.dumps(settings, indent=2), encoding="utf-8")  # JSON is YAML
    return path


class Prometheus(Process):
    """Prometheus on a free port of the loopback; `url` is its address, `fired` everything that ever fired."""

    def __init__(self, program: str, folder: Path, daemon: str) -> None:
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        self.fired: set[Fired] = set()
        self._log_path = folder / "prometheus.log"
        command = [program, f"--config.file={write_rules(folder, daemon)}", f"--web.listen-address={address}"]
        command += [f"--storage.tsdb.path={folder / 'prometheus'}"]
        super().__init__([sys.executable, "-m", "deploy.demo.guard", *command], self._log_path)
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self._get("/-/ready")
            except OSError:
                time.sleep(_PAUSE_SECONDS)
            else:
                return
        self.stop()
        raise RuntimeError(
            f"Prometheus did not start; {self._log_path} says why, and --no-prometheus goes on without it"
        )

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - loopback
            content: bytes = answer.read()
            return content

    def look(self) -> list[Fired]:
        """Return what fires and did not before; raises RuntimeError when Prometheus is gone."""
        asked = urllib.parse.urlencode({"query": 'ALERTS{alertstate="firing"}'})
        try:
            found = fired_in(json.loads(self._get(f"/api/v1/query?{asked}"))["data"]["result"])
        except OSError:
            if self.process.poll() is None:
                return []  # slow, not gone
            raise RuntimeError(f"Prometheus ended; {self._log_path} says why") from None
        fresh = sorted(set(found) - self.fired, key=str)
        self.fired.update(fresh)
        return fresh


def fired_in(series: Iterable[dict[str, Any]]) -> list[Fired]:
    """Return the alerts of an answer of Prometheus."""
    labels = [one["metric"] for one in series]
    return [Fired(one["alertname"], one.get("index") or None, one.get("severity", "")) for one in labels]


def alert_of(detector: str) -> str:
    """Return the name of a detector's alert."""
    return "Dynascope" + "".join(part.capitalize() for part in detector.split("-"))


def alerts_for(fault: Fault, fired: Iterable[Fired]) -> Iterator[tuple[str, list[Fired]]]:
    """Yield each alert that a fault must raise, with what fired of it at the place of the fault."""
    known = list(fired)
    for expected in fault.must:
        name = alert_of(expected.detector)
        yield name, sorted(one for one in known if (one.name, one.at) == (name, expected.index))


def unexplained(faults: Iterable[Fault], fired: Iterable[Fired]) -> list[Fired]:
    """Return what fired though no fault explains it."""
    wanted = {(alert_of(one.detector), one.index) for fault in faults for one in (*fault.must, *fault.may)}
    return sorted((one for one in fired if (one.name, one.at) not in wanted), key=str)
