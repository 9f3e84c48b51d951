"""Spans of OpenTelemetry's instrumentations of the AWS SDKs, under old and new names of the semantic conventions.

Conventions: open-telemetry/semantic-conventions, docs/db/dynamodb.md, read 2026-08-20. No instrumentation writes key
values, key conditions or filters; those of Python and Java write counts of Scans alone; that of JavaScript leaves out
every number that is zero.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from analyzer.model.request import Part, RequestError, RequestRecord, Stratum
from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import is_request, place, record_of
from collectors.request_log.decoders.capacity import consumed_of
from collectors.request_log.decoders.fields import flag, listed, number, text, texts, whole
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.messages import cancellation_in, error_code, masked_message, quoted_code
from collectors.request_log.decoders.moments import time_of
from collectors.request_log.decoders.seam import UnreadableError
from collectors.request_log.decoders.spans import is_span, parsed_json, spans_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader
    from collectors.request_log.decoders.spans import Span

__all__ = ["OpenTelemetryDecoder", "SpanReader", "is_dynamodb"]

_Known = TypeVar("_Known")

_FAILED_STATUS = 400
_THRESHOLD = re.compile(r"(?:^|,)\s*ot=[^,]*?\bth:([0-9a-f]{1,14})(?![0-9a-f])")
_NO_TIME = "a span has no start time"
_REQUEST_IDS = ("aws.request_id", "aws.request.id", "aws.requestId")
_UNKNOWN_SERVICE = "unknown_service"
_JAVASCRIPT = frozenset({"nodejs", "webjs"})
_MEMBERS = {"BatchGetItem": "Get", "BatchWriteItem": "Put", "TransactGetItems": "Get", "TransactWriteItems": "Put"}


class OpenTelemetryDecoder(JsonDecoder):
    """Spans as OTLP/JSON, or as console and file exporters print them."""

    name: ClassVar[str] = "opentelemetry"
    title: ClassVar[str] = "OpenTelemetry spans"
    sights: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS})

    def claims(self, piece: Piece) -> bool:
        """Whether an object is a span, or holds spans, of whatever library."""
        value = piece.value
        holds = ("resourceSpans", "scopeSpans", "instrumentationLibrarySpans")
        return any(isinstance(value.get(name), list) for name in holds) or is_span(value)

    def reader(self, names: KeyNames) -> Reader:
        """Return a reader of spans."""
        return _Reader(SpanReader(names))


def is_dynamodb(attributes: dict[str, Any]) -> bool:
    """Whether a span's attributes are those of a call of DynamoDB, under any name that the conventions had."""
    system = text(attributes.get("db.system.name")) or text(attributes.get("db.system"))
    if system in {"aws.dynamodb", "dynamodb"}:
        return True
    rpc = text(attributes.get("rpc.system.name")) or text(attributes.get("rpc.system"))
    return rpc == "aws-api" and str(attributes.get("rpc.service") or _method(attributes)[0]).lower() == "dynamodb"


def _method(attributes: dict[str, Any]) -> tuple[str, str]:
    """Return service and operation of `rpc.method`, which newer conventions write as one."""
    service, _, method = (text(attributes.get("rpc.method")) or "").rpartition("/")
    return service, method


class _Reader:
    def __init__(self, spans: SpanReader) -> None:
        self._spans = spans

    def read(self, piece: Piece) -> Iterable[RequestRecord | UnreadableError] | None:
        return [found for span in spans_in(piece.value) if (found := self._spans.record(span)) is not None] or None

    def finish(self) -> Iterable[RequestRecord]:
        return ()


class SpanReader:
    """Turns spans into records, one by one."""

    def __init__(self, names: KeyNames) -> None:
        self._names = names

    def record(self, span: Span) -> RequestRecord | UnreadableError | None:
        """Return the record of a span, or why it cannot be read; None for one that is no call of DynamoDB."""
        attributes = span.attributes
        if not is_dynamodb(attributes):
            return None
        operation = (
            _method(attributes)[1]
            or text(attributes.get("db.operation.name"))
            or text(attributes.get("db.operation"))
            or span.name.rpartition(".")[2]
        )
        if not is_request(operation):
            return None
        if span.start is None:
            return UnreadableError(_NO_TIME)
        record = self._described(operation, attributes, span.start)
        _add_tables(record, attributes)
        _add_parameters(record, attributes)
        _add_answer(record, span)
        _add_caller(record, span)
        return record

    def _described(self, operation: str, attributes: dict[str, Any], at: Instant) -> RequestRecord:
        """Return what the text of the call tells, which users may have let the instrumentation write."""
        told = parsed_json(attributes.get("db.query.text") or attributes.get("db.statement"))
        if isinstance(told, dict) and ("TableName" in told or "RequestItems" in told):
            return record_of(operation, told, at, self._names)
        return RequestRecord(time=time_of(at), op=operation, v=1)


def _add_tables(record: RequestRecord, attributes: dict[str, Any]) -> None:
    names = attributes.get("aws.dynamodb.table_names")
    namespace = text(attributes.get("db.namespace")) or text(attributes.get("db.name"))
    tables = texts(names if isinstance(names, list) else [names]) or texts([namespace])
    if record.table is not None or record.parts is not None:
        return
    if len(tables) == 1:
        place(record, tables[0])
    elif record.op in _MEMBERS:
        record.parts = [Part(_MEMBERS[record.op], table) for table in tables] or None


def _add_parameters(record: RequestRecord, attributes: dict[str, Any]) -> None:
    get = attributes.get
    record.index = record.index or text(get("aws.dynamodb.index_name"))
    record.consistent = _first(record.consistent, flag(get("aws.dynamodb.consistent_read")))
    record.forward = _first(record.forward, flag(get("aws.dynamodb.scan_forward")))
    record.limit = _first(record.limit, whole(get("aws.dynamodb.limit")))
    record.select = record.select or text(get("aws.dynamodb.select"))
    record.segment = _first(record.segment, whole(get("aws.dynamodb.segment")))
    record.total_segments = _first(record.total_segments, whole(get("aws.dynamodb.total_segments")))
    if record.names is None:  # placeholders that nothing resolves would be no projection that can be read
        projection = text(get("aws.dynamodb.projection"))
        record.projection = record.projection or (projection if projection and "#" not in projection else None)


def _first(known: _Known | None, other: _Known | None) -> _Known | None:
    return other if known is None else known


def _add_answer(record: RequestRecord, span: Span) -> None:
    get = span.attributes.get
    record.count = whole(get("aws.dynamodb.count"))
    record.scanned = whole(get("aws.dynamodb.scanned_count"))
    record.consumed = consumed_of([parsed_json(one) for one in listed(get("aws.dynamodb.consumed_capacity"))])
    record.latency_ms = span.latency_ms
    retries = whole(get("retry_attempts"))
    record.attempts = None if retries is None else retries + 1
    record.request_id = next((found for name in _REQUEST_IDS if (found := text(get(name)))), None)
    record.error = _error(span)
    if record.count is None and record.scanned and _is_javascript(span):
        record.count = 0


def _is_javascript(span: Span) -> bool:
    return span.resource.get("telemetry.sdk.language") in _JAVASCRIPT or "instrumentation-aws-sdk" in span.scope


def _error(span: Span) -> RequestError | None:
    status = number(span.attributes.get("http.response.status_code") or span.attributes.get("http.status_code"))
    has_failed = status is not None and status >= _FAILED_STATUS
    if not span.has_failed and not has_failed:
        return None
    raised = next((event for event in span.events if event.get("") == "exception"), {})
    message = text(raised.get("exception.message")) or span.message
    code = quoted_code(message) or error_code(raised.get("exception.type"))
    code = code or error_code(span.attributes.get("error.type"))
    code = code or (f"HTTP{int(status)}" if status and has_failed else "Error")
    return RequestError(code, masked_message(message), cancellation=cancellation_in(code, message))


def _add_caller(record: RequestRecord, span: Span) -> None:
    service = text(span.resource.get("service.name"))
    if service is not None and not service.startswith(_UNKNOWN_SERVICE):
        record.caller = service
        record.caller_version = text(span.resource.get("service.version"))
    region = text(span.attributes.get("cloud.region")) or text(span.attributes.get("aws.region"))
    record.region = record.region or region
    record.trace_id = span.trace_id
    threshold = _THRESHOLD.search(span.trace_state)
    rate = 1.0 if threshold is None else 1 - int(threshold[1].ljust(14, "0"), 16) / 2**56
    if 0 < rate < 1:
        record.sample_rate = rate
        record.strata = [Stratum("trace", rate)]
