"""The request log in files: many names tailed at once, block by block, in one task."""

from __future__ import annotations

import asyncio
import glob
import threading
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.batch import Position, StreamStatus
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.request_log.parse import is_rotated_from
from collectors.request_log.shaping import Shaping
from collectors.request_log.tail import NO_FILE, Tail

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from analyzer.model.batch import Block
    from analyzer.model.instant import Instant
    from collectors.request_log.config import RequestLogConfig

__all__ = ["FileStream"]

_COARSE_CLOCK_MS = 1000
"""How far a file's time may lie behind the clock."""


class FileStream:
    """Tails files and globs of files; `positions` are where an earlier process left them.

    A file without a position is read from its beginning. Where an earlier process noted its positions at `since`, what
    was rotated away from such a file after that is read too: it must have begun and gone meanwhile.
    """

    name: ClassVar[str] = SourceName.REQUEST_LOG

    def __init__(
        self,
        config: RequestLogConfig,
        positions: Iterable[Position] = (),
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
        since: Instant | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._positions = {position.path: position for position in positions if self._is_awaited(position.path)}
        self._lock = threading.Lock()
        self._buffer = bytearray(config.block_bytes)
        self._tails: dict[str, Tail] = {}
        self._shapings: dict[str, Shaping] = {}
        self._since = since
        self._turn = 0
        self._looked_at: Instant | None = None
        self._is_stopping = False
        self._skipped = 0
        self._closed = [0, 0, 0]

    async def blocks(self) -> AsyncIterator[Block]:
        """Yield blocks of whole lines for ever; after `stop`, what can be read at once, and no more."""
        while True:
            block = await asyncio.to_thread(self.next_block)
            if block is not None:
                yield block
            elif self._is_stopping:
                return
            else:
                await asyncio.sleep(self._config.poll_ms / 1000)

    def stop(self) -> None:
        """End `blocks` when everything written so far was read."""
        self._is_stopping = True

    def close(self) -> None:
        """Close every file."""
        with self._lock:
            for tail in self._tails.values():
                tail.close()

    def next_block(self) -> Block | None:
        """Return the next block of the files in turn, None when there is none for now."""
        with self._lock:
            return self._next_block(self._clock())

    def _next_block(self, now: Instant) -> Block | None:
        if self._looked_at is None or not 0 <= now - self._looked_at < self._config.rescan_ms:
            self._look_for_files(now)
        tails = list(self._tails.values())
        for step in range(len(tails)):
            place = (self._turn + step) % len(tails)
            block = tails[place].read(now)
            if block is not None:
                self._turn = place + 1
                return self._shaping_of(tails[place]).records(block, tails[place].beginning)
        return None

    def _shaping_of(self, tail: Tail) -> Shaping:
        name = str(tail.path)
        if name not in self._shapings:
            self._shapings[name] = Shaping(self._config.shape, self._config.declared)
        return self._shapings[name]

    def begin(self) -> tuple[Position, ...]:
        """Open every file that is there, and return where reading begins: a restart before the first block needs it."""
        with self._lock:
            self._look_for_files(self._clock())
            return tuple(found for tail in self._tails.values() if (found := tail.begin()) is not None)

    def paths(self) -> frozenset[str]:
        """Return the names that are tailed: the only ones whose positions are still of use."""
        with self._lock:
            return frozenset((*self._tails, *self._positions))

    def status(self) -> StreamStatus:
        """Say how the stream stands."""
        with self._lock:
            return self._status()

    def _status(self) -> StreamStatus:
        tails = self._tails.values()
        return StreamStatus(
            files=len(self._tails),
            missing=tuple(sorted(tail.path.name for tail in tails if not tail.path.exists())),
            pending_bytes=sum(tail.pending() for tail in tails),
            truncated=self._closed[0] + sum(tail.truncated for tail in tails),
            lost=self._closed[1] + sum(tail.lost for tail in tails),
            damaged=self._closed[2] + sum(tail.damaged for tail in tails),
            skipped=self._skipped,
            gaps=tuple(_unreadable(tail.path.name) for tail in tails if not tail.is_readable()),
        )

    def _is_awaited(self, path: str) -> bool:
        """Whether a name is still asked for, and stands, or something that was rotated from it does."""
        if not any(fnmatchcase(path, pattern) or path == str(Path(pattern)) for pattern in self._config.files):
            return False
        return Path(path).exists() or any(Path(path).parent.glob(glob.escape(Path(path).name) + "*"))

    def _look_for_files(self, now: Instant) -> None:
        self._looked_at = now
        named, found = _expand(self._config.files, (*self._tails, *self._positions))
        for name in [name for name, tail in self._tails.items() if name not in named and tail.is_gone()]:
            tail = self._tails.pop(name)
            tail.close()
            self._shapings.pop(name, None)
            for place, count in enumerate((tail.truncated, tail.lost, tail.damaged)):
                self._closed[place] += count
        self._skipped = 0
        for name in (*named, *found):
            if name in self._tails:
                continue
            if len(self._tails) >= self._config.most_files:
                self._skipped += 1
                continue
            position = self._positions.pop(name, None)
            if position is None and self._since is not None:
                position = Position(name, NO_FILE, 0, modified=self._since - _COARSE_CLOCK_MS)
            self._tails[name] = Tail(Path(name), self._config, self._buffer, position)


def _unreadable(name: str) -> Gap:
    hint = "it has to be a plain file, and the user of the daemon needs leave to read it"
    return Gap(SourceName.REQUEST_LOG, GapReason.DENIED, f"{name} cannot be read", hint)


def _expand(patterns: Sequence[str], known: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names awaited whether or not they exist, and those that globs found, rotated ones left out."""
    named = tuple(dict.fromkeys(str(Path(pattern)) for pattern in patterns if not glob.has_magic(pattern)))
    globs = [pattern for pattern in patterns if glob.has_magic(pattern)]
    matches = sorted({match for pattern in globs for match in glob.glob(pattern)})  # noqa: PTH207 -- may be absolute
    live = {*named, *known}
    found: list[str] = []
    for name in matches:  # in order, a live name comes before those that were rotated from it
        cuts = (name[:length] for length in range(1, len(name)))
        if not any(cut in live and is_rotated_from(cut, name) for cut in cuts) and Path(name).is_file():
            found.append(name)
            live.add(name)
    return named, tuple(found)
