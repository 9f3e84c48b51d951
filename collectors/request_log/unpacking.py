"""Files as they were before they were compressed, told by their first bytes; a torn one ends in EOFError."""

from __future__ import annotations

import codecs
import gzip
import zlib
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from io import BufferedReader

__all__ = ["FEED_GZIP", "FEED_ZSTD", "GZIP", "GZIP_WINDOW", "ZSTD", "Readable", "is_packed", "unpacked"]

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
"""The first bytes of what is compressed (RFC 1952; RFC 8878)."""
GZIP_WINDOW = 31
"""zlib's word for "as gzip, whatever its window"."""
FEED_GZIP = 16 * 1024
"""What follows a member is copied: of ten thousand small ones in a part of megabytes that would take seconds."""
FEED_ZSTD = 2048
"""A block of 4 bytes may unpack to 128 KB: what one feed can blow up to stays bounded."""

_DEEPEST = 3
"""Firehose packs what CloudWatch Logs has packed; deeper nesting is a bomb."""
_FIRST = 4096
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Readable(Protocol):
    """All that is asked of a file."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        ...


def is_packed(beginning: bytes) -> bool:
    """Whether a file that begins so is compressed or recoded, and can only be read from its beginning."""
    return beginning.startswith((GZIP, ZSTD, *_UTF16))


def unpacked(raw: BufferedReader) -> Readable:
    """Return a reader of what a file holds, packed once or more, and as UTF-8 where it says that it is UTF-16."""
    file: Readable = raw
    beginning = raw.peek(len(ZSTD))
    for _ in range(_DEEPEST):
        if not beginning.startswith((GZIP, ZSTD)):
            break
        inner = _Ahead(_Gzip(file) if beginning.startswith(GZIP) else _Zstd(file))
        file, beginning = inner, inner.peek(len(ZSTD))
    return _FromUtf16(file) if beginning.startswith(_UTF16) else file


class _Ahead:
    """Lets one look at the first bytes; what goes wrong there is raised when they are read."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._first = b""
        self._error: EOFError | None = None

    def peek(self, size: int) -> bytes:
        try:
            while len(self._first) < size and (more := self._file.read(_FIRST)):
                self._first += more
        except EOFError as error:
            self._error = error
        return self._first[:size]

    def read(self, size: int, /) -> bytes:
        if self._first:
            taken, self._first = self._first[:size], self._first[size:]
            return taken
        if self._error is not None:
            raise self._error
        return self._file.read(size)


class _FromUtf16:
    """Text that begins with the mark of UTF-16, as some tools of Windows write it, made UTF-8."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        self._held = b""

    def read(self, size: int, /) -> bytes:
        while not self._held:
            more = self._file.read(size)
            self._held = self._decode(more, final=not more).encode("utf-8", "replace")
            if not more:
                break
        taken, self._held = self._held[:size], self._held[size:]
        return taken


class _Gzip:
    def __init__(self, raw: Readable) -> None:
        self._file = gzip.GzipFile(fileobj=cast("IO[bytes]", raw), mode="rb")

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read1(size)
        except (zlib.error, gzip.BadGzipFile) as error:
            raise EOFError(str(error)) from None


class _Zstd:
    """Frames one after the other. Unlike the library's own reader it tells a torn file from one that ends."""

    def __init__(self, raw: Readable) -> None:
        import zstandard  # noqa: PLC0415 -- only for what is packed with it

        self._raw = raw
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._frame: Any = None
        self._held = bytearray()

    def read(self, size: int, /) -> bytes:
        while not self._held:
            packed = self._raw.read(FEED_ZSTD)
            if not packed:
                if self._frame is not None:
                    raise EOFError("compressed file ended before the end of its frame")
                break
            self._take(packed)
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    def _take(self, packed: bytes) -> None:
        try:
            while packed:
                self._frame = self._frame or self._new_frame()
                self._held += self._frame.decompress(packed)
                packed = self._frame.unused_data
                if self._frame.eof:
                    self._frame = None
        except self._error as error:
            raise EOFError(str(error)) from None
