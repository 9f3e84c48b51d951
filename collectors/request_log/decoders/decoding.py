"""Logs of JSON objects decoded: split, unwrapped, read by the reader of their shape, written as records a line."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from collectors.request_log.decoders.moments import instant_of
from collectors.request_log.decoders.seam import Broken, Decoded, Piece, UnreadableError
from collectors.request_log.decoders.splitting import Splitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.instant import Instant
    from collectors.request_log.decoders.seam import Decoder, Read, Reader

__all__ = ["JsonDecoding", "decode", "pieces_of", "unwrapped"]

_REQUEST = re.compile(r"dynamodb|TableName|commandName", re.IGNORECASE)
_NOT_JSON = "an entry that looks like a request is no whole JSON object"
_NOT_UNICODE = "a request holds text that is no Unicode"
_DEEPEST = 3
"""Envelopes in envelopes: a container's log of a subscription's records of a service's log."""


class JsonDecoding:
    """Decodes one log of JSON objects with the reader of its shape."""

    def __init__(self, reader: Reader) -> None:
        self.bad: Counter[str] = Counter()
        self.others = 0
        self._reader = reader
        self._splitter = Splitter()
        self._encoder = msgspec.json.Encoder()

    @property
    def held(self) -> int:
        """How many of the bytes that were fed belong to an object that is not whole yet."""
        return self._splitter.held

    def feed(self, chunk: bytes) -> bytes:
        """Take in the next bytes, cut anywhere; return the records that are whole, one a line."""
        return self._lines(self._splitter.feed(chunk))

    def finish(self) -> bytes:
        """Return what is left at the end of the log."""
        return self._lines(self._splitter.finish()) + b"".join(self._encoded(self._reader.finish()))

    def _lines(self, found: Iterable[Piece | Broken]) -> bytes:
        return b"".join(line for one in found for line in self._read(one))

    def _read(self, found: Piece | Broken) -> Iterator[bytes]:
        for piece in unwrapped(found):
            if isinstance(piece, Broken):
                if _REQUEST.search(piece.text):
                    self.bad[_NOT_JSON] += 1
                else:
                    self.others += 1
                continue
            try:
                records = self._reader.read(piece)
                if records is None:
                    self._pass_over(piece)
                else:
                    yield from self._encoded(records)
            except UnreadableError as error:
                self.bad[str(error)] += 1

    def _pass_over(self, piece: Piece) -> None:
        """Count an object that is no request of this shape: it may be one of another, which is not read."""
        from collectors.request_log.decoders.recognize import shape_of  # noqa: PLC0415 -- decoders stand on this module

        shape = shape_of(piece)
        if shape is None:
            self.others += 1
        else:
            self.bad[f"a request of another shape, {shape}: give each shape a log of its own"] += 1

    def _encoded(self, records: Iterable[Read]) -> Iterator[bytes]:
        for record in records:
            if isinstance(record, UnreadableError):
                self.bad[str(record)] += 1
                continue
            try:
                yield self._encoder.encode(record) + b"\n"
            except UnicodeEncodeError:
                self.bad[_NOT_UNICODE] += 1


def unwrapped(piece: Piece | Broken, depth: int = 0) -> Iterator[Piece | Broken]:
    """Yield the objects that a log service or container runtime wrapped up as text, or the object itself."""
    found = _wrapped(piece.value) if isinstance(piece, Piece) and depth < _DEEPEST else None
    if found is None:
        yield piece
        return
    for text, time in found:
        splitter = Splitter()
        for inner in (*splitter.feed(text.encode("utf-8", "replace")), *splitter.finish()):
            timed = Piece(inner.value, inner.before, time) if isinstance(inner, Piece) else inner
            yield from unwrapped(timed, depth + 1)


def _wrapped(value: dict[str, Any]) -> list[tuple[str, Instant | None]] | None:
    """Return the texts that an envelope holds with their times; None where it is none that is known.

    A CloudWatch Logs subscription, an event of FilterLogEvents, a line of a container runtime's log.
    """
    events = value.get("logEvents")
    if isinstance(events, list):
        return [text for event in events if isinstance(event, dict) for text in _text_of(event, "message", "timestamp")]
    if "ingestionTime" in value or "logStreamName" in value:
        return _text_of(value, "message", "timestamp") or None
    if "stream" in value:
        return _text_of(value, "log", "time") or None
    return None


def _text_of(value: dict[str, Any], text: str, time: str) -> list[tuple[str, Instant | None]]:
    found = value.get(text)
    return [(found, instant_of(value.get(time)))] if isinstance(found, str) else []


def pieces_of(first: bytes, most: int) -> tuple[Piece, ...]:
    """Return the first objects that lie whole in the beginning of a log, unwrapped."""
    pieces: list[Piece] = []
    splitter = Splitter()
    for found in chain(splitter.feed(first), splitter.finish()):
        pieces += [piece for piece in unwrapped(found) if isinstance(piece, Piece)]
        if len(pieces) >= most:
            break
    return tuple(pieces)


def decode(decoder: Decoder, content: bytes) -> Decoded:
    """Decode a whole log at once."""
    decoding = decoder.begin()
    lines = decoding.feed(content) + decoding.finish()
    return Decoded(lines, dict(decoding.bad), decoding.others)
