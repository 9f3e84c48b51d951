"""One log as it is written: read from where it was left, through every rotation, whole lines only."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from analyzer.model.batch import Block, Position
from collectors.request_log.files import begins_with, fingerprint, open_log
from collectors.request_log.parse import HEAD_BYTES, Sibling, head_length, is_packed_name, is_rotated_from, newer_than

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.instant import Instant
    from collectors.request_log.config import RequestLogConfig
    from collectors.request_log.files import LogFile

__all__ = ["NO_FILE", "Tail"]

NO_FILE = 0
"""Inode of a position that was noted before there was a file."""

_NS_IN_MS = 1_000_000
_NEWLINE = 10
_MOST_BUFFERS = 64
"""How much of one line is looked through at a time: whoever waits for the lock is not kept waiting for all of it."""


class Tail:
    """What stands behind one name: the file of a checkpoint, those rotated after it, and the live one.

    `truncated` counts how often the file was cut, `lost` how often the file to go on with was gone, `damaged` the
    compressed files that could not be unpacked to their end.
    """

    def __init__(self, path: Path, config: RequestLogConfig, buffer: bytearray, position: Position | None) -> None:
        self.path = path
        self.truncated = 0
        self.lost = 0
        self.damaged = 0
        self._config = config
        self._buffer = buffer
        self._position = position
        self._file: LogFile | None = None
        self._offset = 0
        self._head = ""
        self._scanned = 0
        self._seen = -1

    def read(self, now: Instant) -> Block | None:
        """Return the next whole lines, None when there are none for now."""
        if self._file is None and not self._open():
            return None
        while self._file is not None:
            if self._was_replaced(self._file):
                self._reopen(self._file)
                continue
            block = self._next_lines(self._file)
            if block is not None or not self._is_left_behind(self._file, now):
                return block
            rest = self._rest(self._file)
            if rest is not None:
                return rest
            if not self._go_on(self._file):
                return None
        return None

    def begin(self) -> Position | None:
        """Open the file without reading it, and return where reading will begin; None where there is no file."""
        is_open = self._file is not None or self._open()
        return self._at(self._file) if is_open and self._file is not None else None

    def beginning(self) -> bytes:
        """Return the first whole lines of the file that is read, which tell its shape; none of a compressed one."""
        file = self._file
        if file is None or file.size() is None:
            return b""
        first = bytearray(max(self._config.block_bytes, self._config.longest_line_bytes))
        count = file.read_at(0, first)
        return bytes(first[: first.rfind(b"\n", 0, count) + 1])

    def pending(self) -> int:
        """Return how many bytes are known to be unread; of compressed files none are."""
        if self._file is None:
            return 0
        here = max(0, (self._file.size() or 0) - self._offset)
        live = _inode_and_size(self.path)
        return here + (live[1] if live is not None and live[0] != self._file.inode else 0)

    def is_gone(self) -> bool:
        """Whether the name is gone and so is the file that stood behind it: nothing will come any more."""
        if _inode_and_size(self.path) is not None:
            return False
        return self._file is None or not self._file.has_name()

    def is_readable(self) -> bool:
        """Whether what has the name by now, if anything has, is a file that can be read."""
        return not self.path.exists() or (self.path.is_file() and os.access(self.path, os.R_OK))

    def close(self) -> None:
        """Let go of the open file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> bool:
        """Open the file of the checkpoint, wherever rotation moved it, or else what came after it."""
        position = self._position
        if position is None:
            return self._begin(open_log(self.path))
        live = open_log(self.path)
        if live is not None and live.inode == position.inode and begins_with(live, position.head):
            size = live.size()
            return self._begin(live, position.offset if size is None else min(size, position.offset))
        siblings = self._siblings()
        for sibling in sorted(siblings, key=lambda one: one.inode != position.inode):
            found = self._holding(sibling, position)
            if found is not None:
                if live is not None:
                    live.close()
                return self._begin(found, position.offset)
        self._say_lost(live, position)
        newer = newer_than(self.path.name, siblings, position.inode, position.modified)
        if newer:
            if live is not None:
                live.close()
            return self._begin(open_log(self.path.with_name(newer[0].name)))
        return self._begin(live)

    def _say_lost(self, live: LogFile | None, position: Position) -> None:
        if live is None or position.inode == NO_FILE:
            return
        if live.inode == position.inode:
            self.truncated += 1
        else:
            self.lost += 1

    def _holding(self, sibling: Sibling, position: Position) -> LogFile | None:
        """Return a sibling, opened, if it is the file of the position, renamed, copied or compressed."""
        if sibling.inode != position.inode and not head_length(position.head):
            return None
        file = open_log(self.path.with_name(sibling.name))
        if file is None:
            return None
        size = file.size()
        if begins_with(file, position.head) and (size is None or size >= position.offset):
            return file
        file.close()
        return None

    def _begin(self, file: LogFile | None, offset: int = 0) -> bool:
        if file is None:
            return False
        self._file, self._offset, self._scanned, self._seen = file, offset, offset, -1
        self._head = fingerprint(file)
        return True

    def _reopen(self, file: LogFile) -> None:
        """Find what was behind this name again, as after a restart."""
        self._position = self._at(file)
        self.close()
        self._open()

    def _go_on(self, file: LogFile) -> bool:
        """Leave a finished file for the one rotated next after it, or for the live one."""
        self.damaged += file.is_damaged
        siblings = self._siblings()
        newer = newer_than(self.path.name, siblings, self._inode_among(siblings, file), file.modified())
        following = self.path.with_name(newer[0].name) if newer else self.path
        opened = open_log(following)
        if opened is None:
            return False
        file.close()
        return self._begin(opened)

    def _inode_among(self, siblings: tuple[Sibling, ...], file: LogFile) -> int:
        """Return the inode under which a file stands by now: its own, or that of what it was compressed to."""
        packed = [sibling for sibling in siblings if is_packed_name(sibling.name)]
        if not head_length(self._head) or any(sibling.inode == file.inode for sibling in siblings):
            return file.inode
        for sibling in packed:
            opened = open_log(self.path.with_name(sibling.name))
            if opened is not None:
                is_same = begins_with(opened, self._head)
                opened.close()
                if is_same:
                    return sibling.inode
        return file.inode

    def _was_replaced(self, file: LogFile) -> bool:
        """Whether the file was cut, or cut and written anew, since it was last read."""
        size = file.size()
        if size is None:
            return False
        if size < self._offset or not begins_with(file, self._head):
            return True
        if size > head_length(self._head) < HEAD_BYTES:
            self._head = fingerprint(file)
        return False

    def _is_left_behind(self, file: LogFile, now: Instant) -> bool:
        """Whether the name stands for another file by now, and nobody has written to this one for a while."""
        live = _inode_and_size(self.path)
        if live is None or live[0] == file.inode:
            return False
        return not 0 <= now - file.modified() < self._config.grace_ms

    def _next_lines(self, file: LogFile) -> Block | None:
        size = file.size()
        if size is not None and size == self._seen:
            return None
        if not file.reach(self._offset):
            return self._nothing_yet(file)
        if self._scanned > self._offset:
            return self._long_line(file)
        count = file.read_at(self._offset, self._buffer)
        end = self._buffer.rfind(b"\n", 0, count) + 1
        if end > 0:
            lines = bytes(memoryview(self._buffer)[:end])
            return self._block(file, lines, end)
        if count == len(self._buffer):
            return self._long_line(file)
        self._seen = self._offset + count
        return None

    def _long_line(self, file: LogFile) -> Block | None:
        """Look for the end of a line that is longer than the buffer; one over the bound is passed over."""
        for _ in range(_MOST_BUFFERS):
            count = file.read_at(self._scanned, self._buffer)
            end = self._buffer.find(b"\n", 0, count)
            if end >= 0:
                return self._cut(file, self._scanned + end + 1 - self._offset)
            self._scanned += count
            if count < len(self._buffer):
                self._seen = self._scanned
                return None
        return self._nothing_yet(file)

    def _nothing_yet(self, file: LogFile) -> Block:
        """Return a block without lines: there is more to look through, but others may want their turn."""
        return Block(b"", self._at(file))

    def _cut(self, file: LogFile, length: int) -> Block:
        if length > self._config.longest_line_bytes:
            return self._block(file, b"", length, overlong=1)
        line = bytearray(length)
        file.read_at(self._offset, line)
        return self._block(file, bytes(line), length)

    def _rest(self, file: LogFile) -> Block | None:
        """Return the unfinished last line of a file that nobody writes to any more."""
        length = max(self._seen, self._scanned) - self._offset
        if length <= 0:
            return None
        block = self._cut(file, length)
        if block.lines and block.lines[-1] != _NEWLINE:
            block.lines += b"\n"
        return block

    def _block(self, file: LogFile, lines: bytes, length: int, *, overlong: int = 0) -> Block:
        self._offset += length
        self._scanned = self._offset
        return Block(lines, self._at(file), overlong)

    def _at(self, file: LogFile) -> Position:
        return Position(str(self.path), file.inode, self._offset, self._head, file.modified())

    def _siblings(self) -> tuple[Sibling, ...]:
        """Return what was rotated away; a file that is being compressed stands for what it is compressed to."""
        found: dict[str, Sibling] = {}
        with contextlib.suppress(OSError), os.scandir(self.path.parent) as entries:
            for entry in entries:
                if is_rotated_from(self.path.name, entry.name):
                    with contextlib.suppress(OSError):  # it went away meanwhile: the next look finds what is there
                        stat = entry.stat()
                        found[entry.name] = Sibling(entry.name, stat.st_ino, stat.st_mtime_ns // _NS_IN_MS)
        copies = {name for name in found if is_packed_name(name) and name[: name.rfind(".")] in found}
        return tuple(one for name, one in found.items() if name not in copies)


def _inode_and_size(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size
