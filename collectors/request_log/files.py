"""Log files that can be read from any offset, plain or compressed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from collectors.request_log.parse import HEAD_BYTES, head_length, head_of, is_packed_name
from collectors.request_log.unpacking import unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.instant import Instant

__all__ = ["LogFile", "begins_with", "fingerprint", "open_log"]

_CHUNK = 256 * 1024
_MOST_CHUNKS = 64
_NS_IN_MS = 1_000_000


class LogFile(Protocol):
    """An open log file; offsets are in bytes of its unpacked content."""

    inode: int
    is_damaged: bool

    def reach(self, offset: int) -> bool:
        """Go towards an offset for a moment; return whether it was reached, so that reading there takes no time."""
        ...

    def read_at(self, offset: int, into: bytearray) -> int:
        """Fill a buffer from an offset; fewer bytes than it holds mean the end, for now."""
        ...

    def size(self) -> int | None:
        """Return the length of the content, None where only reading tells."""
        ...

    def modified(self) -> Instant:
        """Return when the file was last written to."""
        ...

    def has_name(self) -> bool:
        """Whether the file still stands in some folder."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class _PlainFile:
    """A file as it lies on disk; it stays readable under any new name, or none."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self._file).st_ino
        self.is_damaged = False

    def reach(self, offset: int) -> bool:  # noqa: ARG002 -- every offset is as near
        return True

    def read_at(self, offset: int, into: bytearray) -> int:
        return os.preadv(self._file, [into], offset)

    def size(self) -> int | None:
        return os.fstat(self._file).st_size

    def modified(self) -> Instant:
        return os.fstat(self._file).st_mtime_ns // _NS_IN_MS

    def has_name(self) -> bool:
        return os.fstat(self._file).st_nlink > 0

    def close(self) -> None:
        os.close(self._file)


class _PackedFile:
    """A compressed file, unpacked as it is read; going back further than a buffer starts over.

    A torn or damaged one ends where it can no longer be unpacked, and says so in `is_damaged`.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self.inode = os.fstat(self._file.fileno()).st_ino
        self.is_damaged = False
        self._start_over()

    def _start_over(self) -> None:
        self._file.seek(0)
        self._held = bytearray()
        self._held_from = 0
        self._ended = False
        self._unpacked = unpacked(self._file)

    def reach(self, offset: int) -> bool:
        if offset < self._held_from:
            self._start_over()
        for _ in range(_MOST_CHUNKS):
            if self._ended or self._held_from + len(self._held) >= offset:
                return True
            self._fill_up_to(offset)
        return False

    def read_at(self, offset: int, into: bytearray) -> int:
        if offset < self._held_from:
            self._start_over()
        while not self._ended and self._held_from + len(self._held) < offset + len(into):
            self._fill_up_to(offset)
        first = offset - self._held_from
        count = max(0, min(len(into), len(self._held) - first))
        into[:count] = self._held[first : first + count]
        return count

    def _fill_up_to(self, offset: int) -> None:
        """Unpack some more, and let go of what lies before an offset."""
        self._fill()
        surplus = min(offset - self._held_from, len(self._held))
        if surplus > 0:
            del self._held[:surplus]
            self._held_from += surplus

    def _fill(self) -> None:
        try:
            more = self._unpacked.read(_CHUNK)
        except (EOFError, OSError):
            more, self.is_damaged = b"", True
        self._held += more
        self._ended = not more

    def size(self) -> int | None:
        return None

    def modified(self) -> Instant:
        return os.fstat(self._file.fileno()).st_mtime_ns // _NS_IN_MS

    def has_name(self) -> bool:
        return os.fstat(self._file.fileno()).st_nlink > 0

    def close(self) -> None:
        self._file.close()


def open_log(path: Path) -> LogFile | None:
    """Open a file, one whose name says so as a compressed one; None where there is none, or it may not be read."""
    try:
        if not path.is_file():  # opening a pipe would wait for a writer
            return None
        return _PackedFile(path) if is_packed_name(path.name) else _PlainFile(path)
    except OSError:
        return None


def fingerprint(file: LogFile) -> str:
    """Return the fingerprint of a file's first bytes."""
    beginning = bytearray(HEAD_BYTES)
    return head_of(bytes(beginning[: file.read_at(0, beginning)]))


def begins_with(file: LogFile, head: str) -> bool:
    """Whether a file's first bytes are those of a fingerprint; an empty one fits every file."""
    length = head_length(head)
    beginning = bytearray(length)
    return length == 0 or head_of(bytes(beginning[: file.read_at(0, beginning)])) == head
