"""X-Ray: segment documents, alone or in the answer of BatchGetTraces, and the calls of DynamoDB in their subsegments.

Shape: X-Ray Developer Guide, "Segment documents", and the SDKs' whitelist of parameters, read 2026-11-30. No keys, no
filters; counts of Scans alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.request import Part, RequestError, RequestRecord
from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import is_request, place
from collectors.request_log.decoders.capacity import consumed_of
from collectors.request_log.decoders.fields import flag, listed, mapping, number, text, texts, whole
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.messages import cancellation_in, error_code, masked_message, quoted_code
from collectors.request_log.decoders.moments import instant_of, time_of
from collectors.request_log.decoders.seam import UnreadableError
from collectors.request_log.decoders.spans import parsed_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader

__all__ = ["XRayDecoder"]

_DEEPEST = 100
_FAILED_STATUS = 400
_THROTTLED = "ThrottlingException"


class XRayDecoder(JsonDecoder):
    """Traces and segment documents."""

    name: ClassVar[str] = "xray"
    title: ClassVar[str] = "X-Ray segments"
    sights: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS})

    def claims(self, piece: Piece) -> bool:
        """Whether an object is a trace or a segment, of whatever service."""
        return _is_trace(piece.value) or _is_segment(piece.value)

    def reader(self, _names: KeyNames) -> Reader:
        """Return a reader of segments."""
        return _Reader()


def _is_trace(value: dict[str, Any]) -> bool:
    return isinstance(value.get("Segments"), list) or isinstance(value.get("Traces"), list)


def _is_segment(value: dict[str, Any]) -> bool:
    has_times = "start_time" in value and ("end_time" in value or "in_progress" in value)
    return has_times and "name" in value and "id" in value and "attributes" not in value


class _Reader:
    def read(self, piece: Piece) -> Iterable[RequestRecord | UnreadableError] | None:
        return list(_calls(piece.value)) or None

    def finish(self) -> Iterable[RequestRecord]:
        return ()


def _calls(value: dict[str, Any]) -> Iterator[RequestRecord | UnreadableError]:
    for trace in listed(value.get("Traces")):
        yield from _calls(mapping(trace))
    for segment in map(mapping, listed(value.get("Segments"))):
        document = parsed_json(segment.get("Document"))
        if isinstance(document, dict):
            yield from _within(document, document, 0)
        else:
            yield UnreadableError("a segment's document is no JSON object")
    if _is_segment(value):
        yield from _within(value, value, 0)


def _within(segment: dict[str, Any], root: dict[str, Any], depth: int) -> Iterator[RequestRecord | UnreadableError]:
    """Yield the calls of a segment and those inside it; what X-Ray inferred of the service's side is no other call."""
    if segment.get("inferred") is True or depth > _DEEPEST:
        return
    if str(segment.get("name")).lower() == "dynamodb" and isinstance(segment.get("aws"), dict):
        found = _record(segment, root)
        if found is not None:
            yield found
    for inner in listed(segment.get("subsegments")):
        yield from _within(mapping(inner), root, depth + 1)


def _record(segment: dict[str, Any], root: dict[str, Any]) -> RequestRecord | UnreadableError | None:
    aws = segment["aws"]
    operation = text(aws.get("operation")) or ""
    operation = operation[:1].upper() + operation[1:]
    if not is_request(operation) or segment.get("in_progress") is True:
        return None
    start, end = number(segment.get("start_time")), number(segment.get("end_time"))
    at = None if start is None else instant_of(start)
    if at is None:
        return UnreadableError("a subsegment has no start time")
    record = RequestRecord(time=time_of(at), op=operation, v=1)
    _add_tables(record, aws)
    record.region = record.region or text(aws.get("region"))
    record.index = text(aws.get("index_name"))
    record.consistent = flag(aws.get("consistent_read"))
    record.forward = flag(aws.get("scan_index_forward"))
    record.limit = whole(aws.get("limit"))
    record.select = text(aws.get("select"))
    record.segment = whole(aws.get("segment"))
    record.total_segments = whole(aws.get("total_segments"))
    projection = text(aws.get("projection_expression"))
    record.projection = projection if projection and "#" not in projection else None
    record.count = whole(aws.get("count"))
    record.scanned = whole(aws.get("scanned_count"))
    record.consumed = consumed_of(aws.get("consumed_capacity"))
    record.latency_ms = None if start is None or end is None or end < start else round((end - start) * 1000, 3)
    retries = whole(aws.get("retries"))
    record.attempts = None if retries is None else retries + 1
    record.request_id = text(aws.get("request_id"))
    record.trace_id = text(segment.get("trace_id")) or text(root.get("trace_id"))
    record.error = _error(segment)
    if root is not segment:
        record.caller = text(root.get("name"))
    return record


def _add_tables(record: RequestRecord, aws: dict[str, Any]) -> None:
    tables = texts((aws.get("table_name"), *listed(aws.get("table_names"))))
    if len(tables) == 1:
        place(record, tables[0])
    elif tables:
        record.parts = [Part("Put" if "Write" in record.op else "Get", table) for table in tables]


def _error(segment: dict[str, Any]) -> RequestError | None:
    status = whole(mapping(mapping(segment.get("http")).get("response")).get("status")) or 0
    marks = [name for name in ("throttle", "fault", "error") if segment.get(name) is True]
    if not marks and status < _FAILED_STATUS:
        return None
    raised = mapping(next(iter(listed(mapping(segment.get("cause")).get("exceptions"))), None))
    message = raised.get("message")
    code = quoted_code(message) or error_code(raised.get("type"))
    if code is None or code == "ClientError":
        code = _THROTTLED if "throttle" in marks else f"HTTP{status}" if status >= _FAILED_STATUS else "Error"
    return RequestError(code, masked_message(message), cancellation=cancellation_in(code, message))
