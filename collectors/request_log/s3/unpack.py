"""Objects as they were before they were compressed, once or twice, in chunks of one size.

The size of the chunks does not depend on how the bytes came, so that a decoder reads an object that was left half read
as it did the first time.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from collectors.request_log.unpacking import FEED_GZIP, FEED_ZSTD, GZIP, GZIP_WINDOW, ZSTD

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CHUNK_BYTES", "DamagedError", "Unpacking"]

CHUNK_BYTES = 256 * 1024
"""What is decoded at once."""

_SNIFFED = 4
_DEEPEST = 3
"""Firehose packs what CloudWatch Logs has packed; deeper nesting is a bomb."""


class DamagedError(Exception):
    """The object is torn or damaged; what came before was unpacked."""


class Unpacking:
    """One object being unpacked."""

    def __init__(self) -> None:
        self._layer = _Sniffed(0)
        self._held = bytearray()

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """Yield chunks of CHUNK_BYTES; raises DamagedError after the last that could be unpacked."""
        for piece in self._layer.feed(packed):
            self._held += piece
            while len(self._held) >= CHUNK_BYTES:
                yield bytes(self._held[:CHUNK_BYTES])
                del self._held[:CHUNK_BYTES]

    def rest(self) -> bytes:
        """Return what is left at the end, or where it is damaged: less than a chunk."""
        rest = bytes(self._held) + self._layer.left()
        self._held.clear()
        return rest

    def check_end(self) -> None:
        """Tell a whole object from a torn one; raises DamagedError."""
        self._layer.finish()


class _Sniffed:
    """Looks at the first bytes, and unpacks what they say is packed."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._first: bytes | None = b""
        self._packing: _Gzip | _Zstd | None = None
        self._inner: _Sniffed | None = None

    def feed(self, packed: bytes) -> Iterator[bytes]:
        if self._first is not None:
            packed = self._first + packed
            if len(packed) < _SNIFFED:
                self._first = packed
                return
            self._begin(packed)
        yield from self._unpacked(packed)

    def _begin(self, first: bytes) -> None:
        self._first = None
        if first.startswith((GZIP, ZSTD)) and self._depth < _DEEPEST:
            self._packing = _Gzip() if first.startswith(GZIP) else _Zstd()
            self._inner = _Sniffed(self._depth + 1)

    def _unpacked(self, packed: bytes) -> Iterator[bytes]:
        if self._packing is None or self._inner is None:
            yield packed
            return
        for piece in self._packing.feed(packed):
            yield from self._inner.feed(piece)

    def finish(self) -> None:
        if self._packing is not None and self._inner is not None:
            self._packing.finish()
            self._inner.finish()

    def left(self) -> bytes:
        """Return what was too short to be looked at."""
        if self._inner is not None:
            return self._inner.left()
        return self._first or b""


class _Gzip:
    """Members one after the other, as gzip files may be."""

    def __init__(self) -> None:
        self._member: Any = None
        self._tail = b""

    def feed(self, packed: bytes) -> Iterator[bytes]:
        for at in range(0, len(packed), FEED_GZIP):
            yield from self._take(packed[at : at + FEED_GZIP])

    def _take(self, packed: bytes) -> Iterator[bytes]:
        packed = self._tail + packed
        self._tail = b""
        is_full = False
        while packed or is_full:
            if self._member is None:
                packed = packed.lstrip(b"\0")  # some writers fill up the last block
                if len(packed) < len(GZIP):
                    self._tail = packed
                    return
                self._member = zlib.decompressobj(wbits=GZIP_WINDOW)
            try:
                piece = self._member.decompress(packed, CHUNK_BYTES)
            except zlib.error as error:
                raise DamagedError(str(error)) from None
            if piece:
                yield piece
            is_full = len(piece) == CHUNK_BYTES  # more may come out though all went in
            packed = self._member.unconsumed_tail or self._member.unused_data
            if self._member.eof:
                self._member, is_full = None, False

    def finish(self) -> None:
        if self._member is not None or self._tail:
            raise DamagedError("it ends before the end of its last member")


class _Zstd:
    """Frames one after the other."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 -- only for what is packed with it

        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._frame: Any = None

    def feed(self, packed: bytes) -> Iterator[bytes]:
        for at in range(0, len(packed), FEED_ZSTD):
            feed = packed[at : at + FEED_ZSTD]
            while feed:
                self._frame = self._frame or self._new_frame()
                try:
                    piece = self._frame.decompress(feed)
                except self._error as error:
                    raise DamagedError(str(error)) from None
                if piece:
                    yield piece
                feed = self._frame.unused_data
                if self._frame.eof:
                    self._frame = None

    def finish(self) -> None:
        if self._frame is not None:
            raise DamagedError("it ends before the end of its last frame")
