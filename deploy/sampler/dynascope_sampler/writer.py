"""The bounded queue between the application's threads and the one background thread that writes."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Callable

from dynascope_sampler.sampling import Choice, Reservoir

if TYPE_CHECKING:
    from dynascope_sampler.sinks import Sink

__all__ = ["Counts", "Writer", "format_time"]

_LOGGER = logging.getLogger("dynascope_sampler")
_INTERVAL_SECONDS = 0.1
_COUNTERS_EVERY_SECONDS = 10.0
_BLOCK_BYTES = 128 * 1024
_POLITE_RECORDS = 16
"""Records written before the application's threads get their turn at the interpreter."""
_LONGEST_LINE = 200_000
_MANY_PARTS = 10
_AT_EXIT_SECONDS = 2.0

Entry = Any  # (raw record, choice, is it always kept) or an Event that a flush waits for


class Counts:
    """Counters that many threads add to without a lock: each has a row of its own."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._rows: dict[int, list[int]] = {}

    def add(self, column: int) -> None:
        """Add one: column 0 unsampled, 1 dropped, 2 key unknown, 3 own failures."""
        ident = threading.get_ident()
        row = self._rows.get(ident)
        if row is None:
            row = self._rows[ident] = [0, 0, 0, 0]
        row[column] += 1

    def total(self, column: int) -> int:
        """Return the sum over all threads."""
        return sum(row[column] for row in list(self._rows.values()))


class Writer:
    """Takes raw records from any thread, writes lines from one. Never blocks and never raises at the application."""

    def __init__(
        self,
        sink: Sink,
        finish: Callable[[Any, Choice], dict[str, Any]],
        caller: str,
        queue_size: int,
        after_fork: Callable[[], None] = lambda: None,
    ) -> None:
        """Take where lines go, what turns a raw record into a line's object, and how many may wait."""
        self._also_after_fork = after_fork
        self.counts = Counts()
        self.written = 0
        self.lost = 0
        self.write_failures = 0
        self._sink = sink
        self._finish = finish
        self._caller = caller
        self._limit = queue_size
        self._encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
        self._reset()
        _WRITERS.add(self)

    def _reset(self) -> None:
        """Begin anew: at first, and in a forked child, where thread, locks and waiting records are the parent's."""
        self._queue: deque[Entry] = deque()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._wake = threading.Event()
        self._stopping = False
        self._reservoir = Reservoir()
        self._second = 0
        self._reported = [0, 0]
        self._reported_at = [time.time()] * 2
        self._told_at = time.monotonic()
        self._telling: list[tuple[int, int, float]] = []
        self._sink.close()

    def after_fork(self) -> None:
        """Start from nothing in a child: what the parent counted is the parent's."""
        self.counts = Counts()
        self.written = self.lost = self.write_failures = 0
        self._reset()
        self._also_after_fork()

    def put(self, raw: Any, choice: Choice, parts: int, *, always: bool) -> None:
        """Queue a record; drop and count it where too many wait."""
        waiting = len(self._queue)
        if waiting >= (self._limit if parts < _MANY_PARTS else self._limit // 10) or self._stopping:
            self.counts.add(1)
            return
        self._queue.append((raw, choice, always))
        if self._thread is None:
            self._start()
        elif waiting == self._limit // 4:
            self._wake.set()

    def skip(self) -> None:
        """Count a call that no sample keeps; the thread tells of it from time to time."""
        self.counts.add(0)
        if self._thread is None and not self._stopping:
            self._start()

    def flush(self, timeout: float) -> bool:
        """Wait until all that was queued before is written; False if that takes longer."""
        if self._stopping or (self._thread is None and not self._queue):
            return not self._queue
        done = threading.Event()
        self._queue.append(done)
        if self._thread is None:
            self._start()
        self._wake.set()
        return done.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Write what waits, end the thread, close the sink; True if all that fitted into the time."""
        if self._thread is None and self.counts.total(0) + self.counts.total(1) > 0 and not self._stopping:
            self._start()
        self._stopping = True
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def retire(self) -> None:
        """End the thread once all is written: whoever used this writer is gone. No lock is taken: gc runs it."""
        self._stopping = True

    @property
    def waiting(self) -> int:
        """Return how many records wait."""
        return len(self._queue)

    def _start(self) -> None:
        if not self._starting.acquire(blocking=False):
            return
        try:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="dynascope-sampler", daemon=True)
                thread.start()
                self._thread = thread if thread.is_alive() else None
                _finish_with_child_process()
        finally:
            self._starting.release()

    def _run(self) -> None:
        queue = self._queue
        try:
            while not (self._stopping and not queue):
                self._wake.wait(_INTERVAL_SECONDS)
                self._wake.clear()
                try:
                    self._drain()
                except BaseException as failure:  # noqa: BLE001 - our fault is counted, the thread lives on
                    self.counts.add(3)
                    _LOGGER.debug("the sampler failed: %s", type(failure).__name__)
            try:
                self._write(self._closed_second() + self._counter_lines())
                self._sink.close()
            except BaseException:  # noqa: BLE001 - the process is about to end
                self.counts.add(3)
        finally:
            if not self._stopping and queue is self._queue:
                self._thread = None  # the next record starts another

    def _drain(self) -> None:
        queue = self._queue
        lines: list[bytes] = []
        size = 0
        for number in range(len(queue)):
            entry = queue.popleft()
            if isinstance(entry, threading.Event):
                self._write(lines + self._closed_second() + self._counter_lines())
                lines, size = [], 0
                entry.set()
                continue
            raw, choice, always = entry
            if always:
                self._reservoir.offer(raw, choice)
            else:
                line = self._line(raw, choice)
                if line is not None:
                    lines.append(line)
                    size += len(line)
            if size >= _BLOCK_BYTES:
                self._write(lines)
                lines, size = [], 0
            if number % _POLITE_RECORDS == _POLITE_RECORDS - 1:
                time.sleep(0)
        second = int(time.monotonic())
        if second != self._second:
            lines += self._closed_second()
            self._second = second
        if time.monotonic() - self._told_at >= _COUNTERS_EVERY_SECONDS:
            lines += self._counter_lines()
        self._write(lines)

    def _closed_second(self) -> list[bytes]:
        """Return the lines of the failures of the second that ended."""
        lines = [self._line(raw, choice) for raw, choice in self._reservoir.close()]
        for _ in range(self._reservoir.take_lost()):
            self.counts.add(0)
        return [line for line in lines if line is not None]

    def _line(self, raw: Any, choice: Choice) -> bytes | None:
        try:
            record = self._finish(raw, choice)
            text = self._encode(record)
            if len(text) > _LONGEST_LINE:
                for part in record.get("parts") or ():
                    part.pop("condition", None)
                    part.pop("update", None)
                    part.pop("statement", None)
                text = self._encode(record)
        except Exception as failure:  # noqa: BLE001 - one odd record must not cost the others
            self.counts.add(3)
            self.lost += 1
            _LOGGER.debug("the sampler lost a record: %s", type(failure).__name__)
            return None
        return text.encode("ascii") + b"\n"

    def _write(self, lines: list[bytes]) -> None:
        telling, self._telling = self._telling, []
        if not lines:
            return
        whole = len(lines)
        try:
            self._sink.write(b"".join(lines))
        except BaseException as failure:  # noqa: BLE001 - neither a full disk nor a cancelled sink may stop us
            whole = getattr(failure, "whole_lines", 0)
            if not self.write_failures:
                _LOGGER.warning("the sampler cannot write (%s); records are lost and counted", type(failure).__name__)
            self.write_failures += 1
        records = len(lines) - len(telling)  # what tells of losses comes last
        self.written += min(whole, records)
        self.lost += records - min(whole, records)
        for place, total, moment in telling[: max(0, whole - records)]:
            self._reported[place], self._reported_at[place] = total, moment

    def _counter_lines(self) -> list[bytes]:
        """Return lines for what was not written since the last ones that were; their counts add up to the totals.

        They go last into what is written next, and count as told only when that was written.
        """
        self._told_at = time.monotonic()
        now = time.time()
        lines = []
        for place, name in ((0, "unsampled"), (1, "dropped")):
            total = self.counts.total(place) + (self.lost if place else 0)
            count = total - self._reported[place]
            if count > 0:
                start = format_time(min(self._reported_at[place], now))
                line = {"v": 1, "counter": name, "count": count, "start": start, "end": format_time(now)}
                lines.append(self._encode({**line, "caller": self._caller}).encode("ascii") + b"\n")
                self._telling.append((place, total, now))
            else:
                self._reported_at[place] = now
        return lines


_last_second = (0, "")


def format_time(moment: float) -> str:
    """Write seconds since the epoch as RFC 3339 in UTC with milliseconds."""
    global _last_second  # noqa: PLW0603 - one entry of a cache: most records share their second with the one before
    milliseconds = int(moment * 1000)
    second = milliseconds // 1000
    known, text = _last_second
    if known != second:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _last_second = (second, text)
    return f"{text}.{milliseconds % 1000:03d}Z"


_WRITERS: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for writer in list(_WRITERS):
        writer.after_fork()


def _at_exit() -> None:
    """Give all writers of the process a bounded time to write what they hold."""
    end = time.monotonic() + _AT_EXIT_SECONDS
    for writer in list(_WRITERS):
        writer.close(max(0.0, end - time.monotonic()))


def _finish_with_child_process() -> None:
    """Flush at the end of a multiprocessing child as well, which ends without atexit."""
    processes: Any = sys.modules.get("multiprocessing.util")
    if processes is not None:
        processes.Finalize(None, _at_exit, exitpriority=1)


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
