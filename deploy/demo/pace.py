"""Calls at a steady pace: one thread a caller for the healthy workload, a small pool for a fault."""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Burst", "Outcomes", "Routine"]

_ERRORS_KEPT = 20
_THREADS = 16
_JOIN_SECONDS = 5.0


class Outcomes:
    """How calls ended, by code; what nobody expected is kept."""

    def __init__(self, expected: Sequence[str] = ()) -> None:
        self.codes: Counter[str] = Counter()
        self.surprises: list[str] = []
        self._expected = frozenset(expected)
        self._lock = threading.Lock()

    def run(self, call: Callable[[], object]) -> None:
        """Make a call and note how it ended."""
        code = "ok"
        try:
            call()
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            self._note(code, str(error))
        with self._lock:
            self.codes[code] += 1

    def _note(self, code: str, text: str) -> None:
        with self._lock:
            if code not in self._expected and len(self.surprises) < _ERRORS_KEPT:
                self.surprises.append(text)


class Routine:
    """One caller's calls, each at its own rate a second, one after the other in one thread."""

    def __init__(self, name: str, calls: Sequence[tuple[float, Callable[[], object]]], outcomes: Outcomes) -> None:
        self._calls = calls
        self._outcomes = outcomes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the call that is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        now = time.monotonic()
        queue = [
            (now + (place + 1) / (rate * (len(self._calls) + 1)), place) for place, (rate, _) in enumerate(self._calls)
        ]
        heapq.heapify(queue)
        while True:
            at, place = heapq.heappop(queue)
            if self._stop.wait(max(0.0, at - time.monotonic())):
                return
            rate, call = self._calls[place]
            self._outcomes.run(call)
            heapq.heappush(queue, (max(at + 1 / rate, time.monotonic() - 1.0), place))


class Burst:
    """Calls at a rate that does not wait for answers, as long as it is on; what the pool cannot take is left out."""

    def __init__(self, rate: float, call: Callable[[], object], outcomes: Outcomes, threads: int = _THREADS) -> None:
        self._rate = rate
        self._call = call
        self._outcomes = outcomes
        self._threads = threads
        self._stop = threading.Event()
        self._free = threading.Semaphore(threads)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def halt(self) -> None:
        """Begin no more calls."""
        self._stop.set()

    def stop(self) -> None:
        """End, and wait for what is under way."""
        self.halt()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        with ThreadPoolExecutor(self._threads) as pool:
            at = time.monotonic()
            while not self._stop.wait(max(0.0, at - time.monotonic())):
                at = max(at + 1 / self._rate, time.monotonic() - 0.5)
                if self._free.acquire(blocking=False):
                    pool.submit(self._one)

    def _one(self) -> None:
        try:
            self._outcomes.run(self._call)
        finally:
            self._free.release()
