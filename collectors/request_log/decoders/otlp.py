"""OTLP's protobuf: one export request, as a receiver gets it, or many as the Collector's file exporter writes them.

The file exporter's `format: proto` puts the length of each request before it, four bytes, the highest first.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from collectors.request_log.decoders.opentelemetry import OpenTelemetryDecoder, SpanReader
from collectors.request_log.decoders.schema import KeyNames
from collectors.request_log.decoders.seam import Decoded, UnreadableError
from collectors.request_log.decoders.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.model.sight import Sight
    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Decoding, Sample

__all__ = ["OtlpDecoder", "decode_request"]

_LONGEST = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")
_ERROR = 2
_NS_IN_MS = 1_000_000
_RESOURCE_SPANS = b"\x0a"
"""Every request begins with the tag of `resource_spans`, field 1, with a length."""

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NOT_OTLP = "a request is no OTLP protobuf"
_TOO_LONG = "a request is too long"


class OtlpDecoder:
    """OTLP requests in protobuf."""

    name: ClassVar[str] = "otlp"
    title: ClassVar[str] = "OpenTelemetry spans (protobuf)"
    sights: ClassVar[frozenset[Sight]] = OpenTelemetryDecoder.sights

    def recognizes(self, sample: Sample) -> float:
        """Return 1 for bytes that begin as a request does, alone or behind its length, and are no text."""
        first = sample.first
        begins = first.startswith(_RESOURCE_SPANS) or first[_LENGTH.size :].startswith(_RESOURCE_SPANS)
        return float(begins and _BINARY.search(first[:64]) is not None)

    def begin(self, declared: Sequence[DeclaredKeys] = ()) -> Decoding:
        """Begin to decode a file of requests."""
        return _File(SpanReader(KeyNames(declared)))


def decode_request(body: bytes, reader: SpanReader | None = None) -> Decoded:
    """Decode the body of one export request; raises UnreadableError where it is none."""
    reader = reader or SpanReader(KeyNames())
    bad: Counter[str] = Counter()
    others = 0
    lines: list[bytes] = []
    for span in _spans(body):
        found = reader.record(span)
        if found is None:
            others += 1
        elif isinstance(found, UnreadableError):
            bad[str(found)] += 1
        else:
            lines.append(msgspec.json.encode(found) + b"\n")
    return Decoded(b"".join(lines), dict(bad), others)


class _File:
    """Collects what is unfinished of a request; a file without lengths is one request."""

    def __init__(self, reader: SpanReader) -> None:
        self._reader = reader
        self.bad: Counter[str] = Counter()
        self.others = 0
        self._held = bytearray()
        self._has_lengths: bool | None = None

    def feed(self, chunk: bytes) -> bytes:
        self._held += chunk
        if self._has_lengths is None and len(self._held) > _LENGTH.size:
            self._has_lengths = self._held[:1] != _RESOURCE_SPANS or self._held[_LENGTH.size :][:1] == _RESOURCE_SPANS
        found: list[bytes] = []
        while self._has_lengths and len(self._held) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._held)
            if length > _LONGEST:
                self.bad[_TOO_LONG] += 1
                self._held.clear()
                self._has_lengths = None
                break
            if len(self._held) < _LENGTH.size + length:
                break
            found.append(self._decoded(bytes(self._held[_LENGTH.size : _LENGTH.size + length])))
            del self._held[: _LENGTH.size + length]
        return b"".join(found)

    def finish(self) -> bytes:
        rest = bytes(self._held)
        self._held.clear()
        return self._decoded(rest) if rest else b""

    def _decoded(self, body: bytes) -> bytes:
        try:
            decoded = decode_request(body, self._reader)
        except UnreadableError as error:
            self.bad[str(error)] += 1
            return b""
        self.bad.update(decoded.bad)
        self.others += decoded.others
        return decoded.lines


def _spans(body: bytes) -> Iterator[Span]:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # noqa: PLC0415 -- only when used
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # noqa: PLC0415 -- same
        ExportTraceServiceRequest,
    )

    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise UnreadableError(_NOT_OTLP) from None
    for one in request.resource_spans:
        resource = _attributes(one.resource.attributes)
        for scope in one.scope_spans:
            for span in scope.spans:
                yield _span(span, resource, scope.scope.name)


def _span(span: Any, resource: dict[str, Any], scope: str) -> Span:  # noqa: ANN401 -- protobuf's own
    first, last = span.start_time_unix_nano, span.end_time_unix_nano
    return Span(
        name=span.name,
        attributes=_attributes(span.attributes),
        resource=resource,
        scope=scope,
        start=first // _NS_IN_MS or None,
        latency_ms=(last - first) / _NS_IN_MS if last >= first else None,
        trace_id=span.trace_id.hex() or None,
        trace_state=span.trace_state,
        has_failed=span.status.code == _ERROR,
        message=span.status.message or None,
        events=[{**_attributes(event.attributes), "": event.name} for event in span.events],
    )


def _attributes(given: Iterable[Any]) -> dict[str, Any]:
    return {entry.key: _plain(entry.value) for entry in given}


def _plain(value: Any) -> Any:  # noqa: ANN401 -- protobuf's own
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return None if kind is None else getattr(value, kind)
