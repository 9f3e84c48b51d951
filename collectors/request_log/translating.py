"""The bytes of one log become request records, one a line, whatever shape the log has."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from collectors.request_log.decoders.recognize import SAMPLE_BYTES, decoder_named, recognize
from collectors.request_log.decoders.seam import Piece
from collectors.request_log.decoders.splitting import LONGEST, Splitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Broken, Decoder, Decoding

__all__ = ["AUTO", "Translation", "decoding_of"]

AUTO = "auto"
_NATIVE = "native"
_UNKNOWN = "a log is of no shape that is known"
_NOT_JSON = "not one JSON object in UTF-8"
_LONGEST_LINE = 1024 * 1024
_PACKED = (b"}{", b"} {")


def decoding_of(decoder: Decoder, declared: Sequence[DeclaredKeys] = ()) -> Decoding:
    """Begin to decode a log; our own records pass as they are, and are found where they do not lie one a line."""
    return _NativeRecords() if decoder.name == _NATIVE else decoder.begin(declared)


class Translation:
    """One log being read, chunk by chunk. `is_known` is None until its shape was told by its beginning.

    `bad` counts by reason what could not be read since it was last taken.
    """

    def __init__(self, shape: str = AUTO, declared: Sequence[DeclaredKeys] = ()) -> None:
        self.is_known: bool | None = None
        self._declared = declared
        self._waiting = bytearray()
        self._look_at = 0
        self._bad: Counter[str] = Counter()
        self._decoding: Decoding | None = None
        if shape != AUTO:
            decoder = decoder_named(shape)
            if decoder is not None:
                self._begin(decoder)

    def _begin(self, decoder: Decoder) -> None:
        self._decoding = decoding_of(decoder, self._declared)
        self.is_known = True

    def feed(self, chunk: bytes) -> bytes:
        """Take in the next bytes; return the records that are whole, one a line."""
        if self._decoding is not None:
            return self._decoding.feed(chunk)
        if self.is_known is False:
            return b""
        self._waiting += chunk
        if len(self._waiting) < self._look_at:
            return b""
        decoder = recognize(bytes(self._waiting))
        if decoder is not None:
            self._begin(decoder)
            return self._first()
        if len(self._waiting) >= SAMPLE_BYTES:
            if len(self._waiting) >= LONGEST or b"\n" in self._waiting:
                self._give_up()
            self._look_at = 2 * len(self._waiting)  # its first entry is longer than what tells most
        return b""

    def _first(self) -> bytes:
        first, self._waiting = bytes(self._waiting), bytearray()
        return b"" if self._decoding is None else self._decoding.feed(first)

    def _give_up(self) -> None:
        self.is_known = False
        self._waiting.clear()
        self._bad[_UNKNOWN] += 1

    def finish(self) -> bytes:
        """Return what is left at the end of the log."""
        if self._decoding is not None:
            return self._decoding.finish()
        decoder = recognize(bytes(self._waiting)) if self._look_at and self._waiting else None
        if decoder is not None:
            self._begin(decoder)
            return self._first() + self.finish()
        if self._waiting.strip():
            self._give_up()
        return b""

    def take_bad(self) -> dict[str, int]:
        """Return what could not be read since this was last asked."""
        found = self._bad
        if self._decoding is not None:
            found = found + self._decoding.bad
            self._decoding.bad.clear()
        self._bad = Counter()
        return dict(found)


class _NativeRecords:
    """Our own records. Lines pass as they are; where two records lie on one, they are split.

    A log that is once found to be so is split to its end, so that chunks never change what is read.
    """

    def __init__(self) -> None:
        self.bad: Counter[str] = Counter()
        self.others = 0
        self._rest = b""
        self._splitter: Splitter | None = None

    def feed(self, chunk: bytes) -> bytes:
        if self._splitter is not None:
            return self._lines(self._splitter.feed(chunk))
        held = self._rest + chunk
        end = held.rfind(b"\n") + 1
        lines, self._rest = held[:end], held[end:]
        if _is_packed(lines) or _is_packed(self._rest) or len(self._rest) > _LONGEST_LINE:
            self._splitter = Splitter()
            self._rest = b""
            return self._lines(self._splitter.feed(held))
        return lines

    def finish(self) -> bytes:
        if self._splitter is not None:
            return self._lines(self._splitter.finish())
        return self._rest + b"\n" if self._rest else b""

    def _lines(self, found: Iterable[Piece | Broken]) -> bytes:
        lines: list[bytes] = []
        for one in found:
            if isinstance(one, Piece):
                lines.append(msgspec.json.encode(one.value) + b"\n")
            else:
                self.bad[_NOT_JSON] += 1
        return b"".join(lines)


def _is_packed(text: bytes) -> bool:
    """Whether a line may hold more than one record."""
    return any(sign in text for sign in _PACKED)
