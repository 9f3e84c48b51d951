"""What is printed beside the daemon's loop: a reader that stops reading costs lines, and never the daemon."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Outlet"]

_MOST = 1000
"""Texts that wait for a reader; a finding that opens or closes is one line of each."""


class Outlet:
    """Writes one text after another in a thread of its own; what does not fit any more is dropped and counted.

    `write` may block for ever, and raises OSError where it cannot write. `complain` hears once of each fault.
    """

    def __init__(self, write: Callable[[str], None], complain: Callable[[str], None], most: int = _MOST) -> None:
        self._write = write
        self._complain = complain
        self._waiting: queue.Queue[str | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._faults: set[str] = set()
        self.dropped = 0

    def say(self, text: str) -> None:
        """Have a text written; never waits."""
        if self._thread.ident is None:
            self._thread.start()
        try:
            self._waiting.put_nowait(text)
        except queue.Full:
            self.dropped += 1
            self._tell("nobody reads them")

    def close(self, seconds: float) -> None:
        """Wait so long at most for what was said to be written."""
        if self._thread.ident is None:
            return
        try:
            self._waiting.put(None, timeout=seconds)
        except queue.Full:
            return
        self._thread.join(seconds)

    def _run(self) -> None:
        while (text := self._waiting.get()) is not None:
            try:
                self._write(text)
            except OSError as error:
                self._tell(error.strerror or type(error).__name__)

    def _tell(self, fault: str) -> None:
        if fault not in self._faults:
            self._faults.add(fault)
            self._complain(fault)
