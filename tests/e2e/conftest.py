"""A real daemon in a process of its own, a log that is written while it reads, and what its metrics say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = Path(sys.executable).with_name("dynascope")
CONTRACT = """\
version: 1
tables:
  - name: cases
    partition_key: PK
    sort_key: SK
    patterns:
      - {id: load-case, operation: GetItem, key: {PK: "CASE#<caseId>", SK: META}}
"""
PATIENCE_SECONDS = 40.0


class Sample(NamedTuple):
    labels: dict[str, str]
    value: float


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, f"in vain waited until {what}"
        time.sleep(0.05)


def record(time_ms: int, number: int, **fields: Any) -> str:
    moment = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {
        "v": 1,
        "time": moment,
        "op": "GetItem",
        "table": "cases",
        "region": "us-east-1",
        "account": "111122223333",
        "key": {"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}},
        "consumed": {"total": 1.0, "table": 1.0},
        "latency_ms": 3.5,
        "attempts": 1,
        "caller": "api",
        "request_id": f"R{time_ms}-{number}",
        "trace_id": f"{number:032x}",
        **fields,
    }
    return json.dumps({name: value for name, value in line.items() if value is not None}) + "\n"


class Daemon:
    """`dynascope run` on a folder; may be started again and again, also after it was killed."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.log = folder / "requests.jsonl"
        self.contract = folder / "contract.yaml"
        self.config = folder / "dynascope.yaml"
        self.contract.write_text(CONTRACT)
        self.settings = {
            "contract": ["contract.yaml"],
            "request_log": {"files": ["requests.jsonl"]},
            "listen": "127.0.0.1:0",
            "window": "20s",
            "close_after": "10s",
            "settle": "0s",
            "checkpoint_every": "1s",
            "state": "state",
            "log": {"level": "debug", "format": "json"},
            **settings,
        }
        self.configure()
        self.errors = folder / "stderr"
        self.output = folder / "stdout"
        self.url = ""
        self.options: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, **settings: Any) -> None:
        self.settings |= settings
        self.config.write_text(json.dumps(self.settings))  # JSON is YAML

    def start(self) -> None:
        before = self.errors.stat().st_size if self.errors.exists() else 0
        with self.errors.open("ab") as errors, self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [COMMAND, "run", "--config", self.config, "--format", "json", *self.options],
                stdout=output,
                stderr=errors,
            )
        self._began = before

    def listening(self) -> None:
        wait_until(self._is_listening, "the daemon listens")

    def _is_listening(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.errors.read_text()
        for told in self.events(self._began):
            if told.get("event") == "listening":
                self.url = told["address"]
                return True
        return False

    def events(self, offset: int = 0) -> list[dict[str, Any]]:
        lines = self.errors.read_bytes()[offset:].decode().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def send(self, what: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(what)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> tuple[int, float]:
        """Ask it to end; return its exit code and how many seconds that took."""
        assert self.process is not None
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(20)
        return code, time.monotonic() - began

    def get(self, path: str, **headers: str) -> str:
        request = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    def samples(self, name: str) -> list[Sample]:
        families = text_string_to_metric_families(self.get("/metrics"))
        return [Sample(one.labels, one.value) for family in families for one in family.samples if one.name == name]

    def sum(self, name: str, **labels: str) -> float:
        wanted = labels.items()
        return sum(sample.value for sample in self.samples(name) if wanted <= sample.labels.items())

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz") == "ok\n"
        except urllib.error.HTTPError:
            return False

    def requests(self) -> float:
        return self.sum("dynascope_requests_total")

    def records(self, name: str) -> float:
        return self.sum(f"dynascope_records_{name}_total")

    def state_is_written(self) -> None:
        """Wait for a checkpoint that began after now."""
        state = self.folder / "state" / "daemon.state"
        seen = set[tuple[int, int]]()

        def changed_twice() -> bool:
            if state.exists():
                seen.add((state.stat().st_ino, state.stat().st_mtime_ns))
            return len(seen) > 2

        wait_until(changed_twice, "the state is written twice")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    one = Daemon(tmp_path)
    yield one
    if one.process is not None and one.process.poll() is None:
        one.kill()


def now_ms() -> int:
    return time.time_ns() // 1_000_000
