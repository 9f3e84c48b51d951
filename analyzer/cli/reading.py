"""Log files and standard input as blocks of whole lines, unpacked by what their first bytes say."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct

from analyzer.cli.foreign import foreign_blocks
from analyzer.cli.inputs import STDIN
from analyzer.cli.stretch import cut, end_time
from collectors.request_log.decoders.schema import DeclaredKeys
from collectors.request_log.decoders.seam import Decoder
from collectors.request_log.unpacking import Readable, is_packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedReader

    from analyzer.model.instant import Instant

__all__ = ["LogFile", "at_rest", "end_of", "is_recording", "read_blocks"]

_BLOCK = 512 * 1024
"""Bytes read at once: their lines, decoded, still lie in the processor's cache when they are counted."""

_LONGEST_LINE = 1024 * 1024
_TAIL = 1024 * 1024
_REST_OF_LINE = 64 * 1024


class LogFile(Struct):
    """One log that the user named; `start` and `stop` bound a part of it in bytes, whole lines that begin there.

    `breaks_off` says why it could not be read to its end. `decoder` reads a log of another shape; of such a one `bad`
    counts requests that could not be read by reason, `others` what is none. `opened` is standard input, looked into.
    `declared` is what a contract says of keys, for logs of other shapes. `is_torn`: its last line is not whole, as in
    a copy of a log that is being written; that line is left out.
    """

    path: Path
    start: int = 0
    stop: int | None = None
    breaks_off: str | None = None
    is_torn: bool = False
    decoder: Decoder | None = None
    bad: dict[str, int] = {}
    others: int = 0
    opened: Readable | None = None
    declared: tuple[DeclaredKeys, ...] = ()

    @property
    def name(self) -> str:
        """What to call it."""
        return "standard input" if self.path == STDIN else str(self.path)


def read_blocks(
    log: LogFile, since: Instant | None = None, until: Instant | None = None, seen: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """Yield a log's lines of a stretch in blocks; `seen` is told the bytes read of the file as it lies on disk."""
    raw = cast("BufferedReader", sys.stdin.buffer if log.path == STDIN else log.path.open("rb"))
    try:
        if log.start:
            raw.seek(log.start - 1)
            raw.readline()  # the line that began before belongs to the part before
        told = log.start
        left = None if log.stop is None else log.stop - raw.tell()
        file = log.opened or unpacked(raw)
        for block in _whole_lines(file, left, log) if log.decoder is None else foreign_blocks(file, log, log.decoder):
            if seen is not None and raw.seekable():
                seen(raw.tell() - told)
                told = raw.tell()
            lines = cut(block, since, until)
            if lines:
                yield lines
    except EOFError as error:
        log.breaks_off = f"{log.name} breaks off: {error}"
    finally:
        if log.path != STDIN:
            raw.close()


def _whole_lines(file: Readable, left: int | None, log: LogFile) -> Iterator[bytes]:
    """Yield blocks that end with a line; a line beyond all measure is cut to what makes the digest count it as such.

    The last line that begins within `left` bytes is read to its end.
    """
    rest, has_lines, is_whole = b"", False, left is None
    while left is None or left > 0:
        chunk = file.read(_BLOCK if left is None else min(_BLOCK, left))
        if not chunk:
            break
        left = None if left is None else left - len(chunk)
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join((rest, memoryview(chunk)[:end]))  # copied once
            rest, has_lines = chunk[end:], True
        elif len(rest) <= _LONGEST_LINE:
            rest += chunk
    while rest and left is not None and left <= 0 and (chunk := file.read(_REST_OF_LINE)):
        end = chunk.find(b"\n") + 1
        rest += chunk[:end] if end else chunk if len(rest) <= _LONGEST_LINE else b""
        left = None if end else left
    log.is_torn = is_whole and has_lines and _is_torn(rest)
    if rest and not log.is_torn:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _is_torn(rest: bytes) -> bool:
    """Whether what stands after the last newline is the beginning of a record, and no whole one."""
    if not rest.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(rest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True
    return False


def end_of(logs: Sequence[LogFile]) -> Instant | None:
    """Return the newest time of some logs: of a plain file its end is looked at, of a packed one everything."""
    times = (_end_of(log) for log in logs)
    return max((time for time in times if time is not None), default=None)


def _end_of(log: LogFile) -> Instant | None:
    with log.path.open("rb") as file:
        if log.decoder is None and not is_packed(file.read(4)):
            file.seek(max(0, log.path.stat().st_size - _TAIL))
            return end_time(file.read())
    return max((time for block in read_blocks(log) if (time := end_time(block)) is not None), default=None)


def is_recording(path: Path) -> bool:
    """Whether a file begins as a recording does."""
    head = next(read_blocks(LogFile(path)), b"").split(b"\n", 1)[0]
    return re.search(rb'"kind"\s*:\s*"recording"', head) is not None


@contextmanager
def at_rest(path: Path) -> Iterator[Path]:
    """Give a file that can be read twice: standard input is laid down in one that goes away again."""
    if path != STDIN:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="dynascope-", suffix=".jsonl") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)
