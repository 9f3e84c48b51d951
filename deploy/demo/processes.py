"""Processes that the demo starts: each ends when told, and also when the demo dies without telling."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

__all__ = ["ROOT", "Emulator", "Process"]

ROOT = Path(__file__).resolve().parents[2]
"""The checkout, from which `deploy` can be imported."""

_START_SECONDS = 40.0
_END_SECONDS = 8.0


class Process:
    """One process with its standard output; leave the block and it is gone."""

    def __init__(self, command: Sequence[str], log: Path | None = None) -> None:
        self._log = None if log is None else log.open("ab")
        self.process = subprocess.Popen(  # noqa: S603 - our own programs
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._log is None else self._log,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C is ours to handle: we end children in order
        )

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.stop()

    def first_line(self) -> str:
        """Wait for the first line of output; raises RuntimeError when none comes."""
        output = self.process.stdout
        if output is None:
            raise RuntimeError("the process has no output")
        ready, _, _ = select.select([output], [], [], _START_SECONDS)
        line = output.readline().decode().strip() if ready else ""
        if not line:
            self.stop()
            raise RuntimeError(f"{self.process.args!r} did not start")
        return line

    def stop(self) -> None:
        """Ask it to end; after a while, end it."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._log):
            if stream is not None:
                stream.close()

    def ended(self, within_seconds: float) -> bool:
        """Whether it ends by itself in time."""
        until = time.monotonic() + within_seconds
        while self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        return self.process.poll() is not None


class Emulator(Process):
    """The local DynamoDB; `url` is its endpoint."""

    def __init__(self, port: int = 0) -> None:
        super().__init__([sys.executable, "-m", "deploy.demo.emulator", "--port", str(port), "--with-parent"])
        self.url = self.first_line().removeprefix("listening on ")
