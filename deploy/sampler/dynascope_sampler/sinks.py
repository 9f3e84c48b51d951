"""Where lines go: a file that rotates, standard output, or a callable of the application's."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from datetime import datetime, timezone
from typing import Any, Callable, Protocol, Union

try:
    import fcntl
except ImportError:  # not a POSIX system: processes that share a file need a file each
    fcntl = None  # type: ignore[assignment]

__all__ = ["CallableSink", "FileSink", "PartlyWrittenError", "Sink", "SinkLike", "StdoutSink", "open_sink"]

SinkLike = Union[str, "os.PathLike[str]", Callable[[bytes], Any], None]


class PartlyWrittenError(OSError):
    """A disk took only a part: `whole_lines` were written, the rest is lost."""

    whole_lines = 0


class Sink(Protocol):
    """Takes whole lines. Used by one thread; may fail with any exception, which counts as lost records.

    An exception that has `whole_lines` tells how many lines were written nevertheless.
    """

    def write(self, lines: bytes) -> None:
        """Write whole lines, each with its line feed."""

    def close(self) -> None:
        """Let go of what is open; a later write opens it again."""


def open_sink(given: SinkLike, max_bytes: int, max_age_seconds: float, backups: int) -> Sink:
    """Choose the sink: a callable, `"stdout"` or `"-"`, or the path of a file; else `DYNASCOPE_SINK`, else stdout."""
    if callable(given):
        return CallableSink(given)
    name = os.fspath(given) if given is not None else os.environ.get("DYNASCOPE_SINK") or "stdout"
    if name in {"stdout", "-"}:
        return StdoutSink()
    return FileSink(name, max_bytes, max_age_seconds, backups)


class CallableSink:
    """Hands lines to the application's own callable, in the writer thread."""

    def __init__(self, function: Callable[[bytes], Any]) -> None:
        """Take what is called with one bytes object of whole lines."""
        self._function = function

    def write(self, lines: bytes) -> None:
        """Call it."""
        self._function(lines)

    def close(self) -> None:
        """Nothing is open."""


class StdoutSink:
    """Writes to whatever standard output is at that moment, in one call, so that other lines are not torn."""

    def write(self, lines: bytes) -> None:
        """Write and flush."""
        sys.stdout.write(lines.decode("ascii"))
        sys.stdout.flush()

    def close(self) -> None:
        """Nothing of ours is open."""


class FileSink:
    """Appends to a file that other processes may append to as well; renames it when it is large or old.

    Whole lines in one `write` on an `O_APPEND` descriptor. Rotation renames `path` to `path.1`, never truncates: a
    reader that follows by inode loses nothing. A shared lock on the file is held while writing, an exclusive one while
    renaming, so that no process writes to a file that has been renamed.
    """

    def __init__(self, path: str, max_bytes: int, max_age_seconds: float, backups: int) -> None:
        """Take when to rotate and how many rotated files to keep; nothing is opened yet."""
        self._path = path
        self._max_bytes = max_bytes
        self._max_age_seconds = max_age_seconds
        self._backups = backups
        self._fd: int | None = None
        self._inode = (0, 0)
        self._began = 0.0
        self._torn = False

    def write(self, lines: bytes) -> None:
        """Append whole lines, in a new file where the old one is full or has gone."""
        for _ in range(3):
            fd = self._current()
            if self._is_due(fd) and self._rotate(fd):
                continue
            locked = _lock(fd, exclusive=False)
            try:
                if self._is_current():
                    self._append(fd, lines)
                    return
            finally:
                if locked:
                    _unlock(fd)
            self.close()
        self._append(self._current(), lines)

    def close(self) -> None:
        """Close the file."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _current(self) -> int:
        if self._fd is not None and self._is_current():
            return self._fd
        self.close()
        folder = os.path.dirname(self._path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._fd = fd = os.open(self._path, flags, 0o640)
        status = os.fstat(fd)
        self._inode = (status.st_dev, status.st_ino)
        self._began, self._torn = time.monotonic(), False
        if status.st_size:
            with contextlib.suppress(OSError):  # another process renamed it just now: `write` opens it anew
                self._began -= max(0.0, time.time() - _first_time(self._path))
                self._torn = not _ends_whole(self._path)
        return fd

    def _is_current(self) -> bool:
        try:
            status = os.stat(self._path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._inode

    def _is_due(self, fd: int) -> bool:
        size = os.fstat(fd).st_size
        return size > 0 and (size >= self._max_bytes or time.monotonic() - self._began >= self._max_age_seconds)

    def _rotate(self, fd: int) -> bool:
        """Rename the file away, unless another process is writing to it just now: then the next write tries again."""
        if not _lock(fd, exclusive=True):
            return False
        try:
            if self._is_current():
                for number in range(self._backups, 0, -1):
                    older = self._path if number == 1 else f"{self._path}.{number - 1}"
                    with contextlib.suppress(FileNotFoundError):
                        os.replace(older, f"{self._path}.{number}")
                if self._backups <= 0:
                    os.unlink(self._path)
        finally:
            _unlock(fd)
        self.close()
        return True

    def _append(self, fd: int, lines: bytes) -> None:
        """Write with one call; where the disk takes only a part, end the torn line before the next one begins."""
        block = b"\n" + lines if self._torn else lines
        done = 0
        try:
            while done < len(block):
                written = os.write(fd, block[done:] if done else block)
                if written <= 0:
                    raise OSError("nothing was written")  # noqa: TRY301 - as if write had said so
                done += written
        except BaseException as failure:
            self._torn = block[done - 1 : done] != b"\n" if done else self._torn
            partly = PartlyWrittenError(*getattr(failure, "args", ()))
            partly.whole_lines = max(0, block.count(b"\n", 0, done) - (len(block) - len(lines)))
            raise partly from failure
        self._torn = False


def _lock(fd: int, *, exclusive: bool) -> bool:
    if fcntl is None:
        return exclusive
    for pause in (0.0, 0.001, 0.01):
        try:
            fcntl.flock(fd, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:  # noqa: PERF203 - three tries at most
            time.sleep(pause)
        else:
            return True
    return False


def _unlock(fd: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def _first_time(path: str) -> float:
    """Return when a file that was there already began: the time on its first line, else now."""
    with open(path, "rb") as file:
        head = file.read(200)
    _, found, rest = head.partition(b'"time":"')
    if not found:
        _, found, rest = head.partition(b'"start":"')
    try:
        moment = datetime.strptime(rest[:19].decode("ascii"), "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007 - made UTC below
    except ValueError:
        return time.time()
    return moment.replace(tzinfo=timezone.utc).timestamp()


def _ends_whole(path: str) -> bool:
    """Whether the last line of a file is whole; another process may have met a full disk."""
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
