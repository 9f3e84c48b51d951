"""Bodies of OTLP over HTTP: unpacked within a bound, decoded, and what is answered.

Specification: opentelemetry.io, "OTLP Specification", sections OTLP/HTTP, read 2026-11-30. The few messages that are
answered are written here by hand: two fields each.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from collectors.request_log.decoders.opentelemetry import OpenTelemetryDecoder, SpanReader
from collectors.request_log.decoders.otlp import decode_request
from collectors.request_log.decoders.schema import KeyNames
from collectors.request_log.decoders.seam import Decoded, Piece, UnreadableError
from collectors.request_log.unpacking import FEED_GZIP, GZIP_WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from collectors.request_log.decoders.schema import DeclaredKeys

__all__ = ["JSON", "PROTOBUF", "Refusal", "accepted", "blocks_of", "media_type", "received", "refusal_body", "unpack"]

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
_ENCODINGS = frozenset({"", "identity", "gzip"})
_STEP = 256 * 1024
_INVALID = 3
_EXHAUSTED = 8
_UNAVAILABLE = 14
_STATUS = {400: _INVALID, 408: _UNAVAILABLE, 413: _INVALID, 415: _INVALID, 429: _EXHAUSTED, 503: _UNAVAILABLE}
"""The codes of google.rpc that go with HTTP's."""


class Refusal(Exception):  # noqa: N818 -- an answer, not a fault of ours
    """A body that is not taken: HTTP status and why, without anything of the body."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class _Request(Struct):
    """Enough of a request in JSON to know it."""

    resourceSpans: list[dict[str, Any]] = []  # noqa: N815 -- OTLP's own name


def media_type(headers: Mapping[str, str]) -> tuple[str, bool]:
    """Return the type of a body and whether it is compressed; raises Refusal for what OTLP does not know."""
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind not in {PROTOBUF, JSON}:
        raise Refusal(415, f"send {PROTOBUF} or {JSON}")
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise Refusal(415, "compress with gzip, or not at all")
    return kind, encoding == "gzip"


def unpack(body: bytes, most: int) -> bytes:
    """Unpack gzip, members one after the other, up to a bound; raises Refusal.

    The body is fed in small parts: what follows a member is copied, which of a million members would take minutes.
    """
    unpacked = bytearray()
    member: Any = None
    for at in range(0, len(body), FEED_GZIP):
        packed, is_full = body[at : at + FEED_GZIP], False
        while packed or is_full:
            member = member or zlib.decompressobj(wbits=GZIP_WINDOW)
            try:
                piece = member.decompress(packed, _STEP)
            except zlib.error:
                raise Refusal(400, "the body is no gzip") from None
            unpacked += piece
            if len(unpacked) > most:
                raise Refusal(413, f"unpacked, the body is over {most} bytes: send smaller batches")
            is_full = len(piece) == _STEP and not member.eof  # more may come out though all went in
            packed = member.unconsumed_tail or member.unused_data
            member = None if member.eof else member
    if member is not None:
        raise Refusal(400, "the body ends before the end of its gzip")
    return bytes(unpacked)


def received(body: bytes, kind: str, *, is_packed: bool, most: int, declared: Sequence[DeclaredKeys] = ()) -> Decoded:
    """Decode a body; raises Refusal where it is none of OTLP's."""
    if is_packed:
        body = unpack(body, most)
    if kind == JSON:
        return _from_json(body, KeyNames(declared))
    try:
        return decode_request(body, SpanReader(KeyNames(declared)))
    except UnreadableError as error:
        raise Refusal(400, str(error)) from None


def _from_json(body: bytes, names: KeyNames) -> Decoded:
    request = _request(body)
    reader = OpenTelemetryDecoder().reader(names)
    lines: list[bytes] = []
    bad: Counter[str] = Counter()
    for one in request.resourceSpans:
        for found in reader.read(Piece({"resourceSpans": [one]})) or ():
            if isinstance(found, UnreadableError):
                bad[str(found)] += 1
                continue
            try:
                lines.append(msgspec.json.encode(found) + b"\n")
            except UnicodeEncodeError:
                bad["a span holds text that is no Unicode"] += 1
    return Decoded(b"".join(lines), dict(bad))


def _request(body: bytes) -> _Request:
    """Read a request; half a surrogate, which JavaScript may write, does not cost the whole of it."""
    try:
        return msgspec.json.decode(body, type=_Request)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return msgspec.convert(json.loads(body), _Request)
    except (ValueError, RecursionError):
        raise Refusal(400, "the body is no OTLP request in JSON") from None


def blocks_of(decoded: Decoded) -> list[tuple[bytes, dict[str, int]]]:
    """Return records as blocks of whole lines, no longer than need be, what was bad with the first of them."""
    blocks: list[tuple[bytes, dict[str, int]]] = []
    start = 0
    while start < len(decoded.lines):
        end = decoded.lines.find(b"\n", min(start + _STEP, len(decoded.lines) - 1)) + 1
        blocks.append((decoded.lines[start:end], {} if blocks else decoded.bad))
        start = end
    return blocks or ([(b"", decoded.bad)] if decoded.bad else [])


def accepted(kind: str, bad: Mapping[str, int]) -> bytes:
    """Return the body of an answer 200: how many spans were not taken, and why; a client does not send them again."""
    rejected, why = sum(bad.values()), "; ".join(bad)
    if kind == JSON:
        said = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": why}} if rejected else {}
        return msgspec.json.encode(said)
    return _field(1, _number(1, rejected) + _field(2, why.encode())) if rejected else b""


def refusal_body(kind: str, refusal: Refusal) -> bytes:
    """Return the body of any other answer, a google.rpc.Status."""
    code = _STATUS[refusal.status]
    if kind == PROTOBUF:
        return _number(1, code) + _field(2, refusal.why.encode())
    return msgspec.json.encode({"code": code, "message": refusal.why})


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:  # noqa: PLR2004 -- seven bits a byte
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
