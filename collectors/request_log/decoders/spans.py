"""Spans of OpenTelemetry, whatever wrote them, made one value: attributes as plain values, times in milliseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.instant import Instant
from collectors.request_log.decoders.fields import listed, mapping, number, text
from collectors.request_log.decoders.moments import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Span", "attributes_of", "is_span", "parsed_json", "spans_in"]

_NS_IN_MS = 1_000_000
_FAILED = frozenset({2, "2", "ERROR", "STATUS_CODE_ERROR", "Error"})
_SCALARS = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
_LONGEST_WHOLE = 19
_FIXED_64 = 2**64
"""OTLP's times are of 64 bits; what is beyond is none, and no calendar has its year."""


class Span(Struct):
    """One span; `resource` are the attributes of what sent it, `scope` names the instrumentation."""

    name: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
    scope: str = ""
    start: Instant | None = None
    latency_ms: float | None = None
    trace_id: str | None = None
    trace_state: str = ""
    has_failed: bool = False
    message: str | None = None
    events: list[dict[str, Any]] = []


def attributes_of(given: object) -> dict[str, Any]:
    """Return attributes as an object of plain values: OTLP writes a list of keys and typed values."""
    if isinstance(given, dict):
        return given
    return {
        entry["key"]: _plain(mapping(entry.get("value")))
        for entry in listed(given)
        if isinstance(entry, dict) and isinstance(entry.get("key"), str)
    }


def _plain(value: dict[str, Any]) -> Any:  # noqa: ANN401 -- an attribute is of any type
    for kind in _SCALARS:
        if kind in value:
            found = value[kind]
            is_text = kind == "intValue" and isinstance(found, str) and len(found) <= _LONGEST_WHOLE
            return int(found) if is_text and found.lstrip("-").isascii() and found.lstrip("-").isdigit() else found
    if "arrayValue" in value:
        return [_plain(mapping(one)) for one in listed(mapping(value["arrayValue"]).get("values"))]
    return attributes_of(mapping(value.get("kvlistValue")).get("values"))


def spans_in(value: dict[str, Any]) -> Iterator[Span]:
    """Yield the spans of one object: an OTLP request, what one resource sent, or a span that an exporter printed."""
    resources = listed(value.get("resourceSpans"))
    if resources:
        for one in resources:
            yield from spans_in(mapping(one))
        return
    scopes = listed(value.get("scopeSpans")) or listed(value.get("instrumentationLibrarySpans"))
    if scopes:
        resource = attributes_of(mapping(value.get("resource")).get("attributes"))
        for scope in map(mapping, scopes):
            name = text(mapping(scope.get("scope") or scope.get("instrumentationLibrary")).get("name")) or ""
            yield from (_span(mapping(one), resource, name) for one in listed(scope.get("spans")))
    elif is_span(value):
        scope = mapping(value.get("scope") or value.get("instrumentationScope"))
        resource = attributes_of(mapping(value.get("resource")).get("attributes"))
        yield _span(value, resource, text(scope.get("name")) or "")


def is_span(value: dict[str, Any]) -> bool:
    """Whether an object is a span as exporters print it."""
    return isinstance(value.get("name"), str) and isinstance(value.get("attributes"), dict | list) and "kind" in value


def _span(value: dict[str, Any], resource: dict[str, Any], scope: str) -> Span:
    status = mapping(value.get("status"))
    start, latency = _times(value)
    context = mapping(value.get("context"))
    trace = text(value.get("traceId")) or text(context.get("trace_id")) or text(value.get("trace_id"))
    return Span(
        name=text(value.get("name")) or "",
        attributes=attributes_of(value.get("attributes")),
        resource=resource,
        scope=scope,
        start=start,
        latency_ms=latency,
        trace_id=None if trace is None else trace.removeprefix("0x").lower(),
        trace_state=_state(value.get("traceState") or context.get("trace_state")),
        has_failed=_is_failed(status.get("code", status.get("status_code"))),
        message=text(status.get("message")) or text(status.get("description")),
        events=[
            {**attributes_of(event.get("attributes")), "": event.get("name")}
            for event in map(mapping, listed(value.get("events")))
        ],
    )


def _is_failed(code: object) -> bool:
    return isinstance(code, int | str) and code in _FAILED


def _state(given: object) -> str:
    """Return the trace state as it goes over the wire."""
    return given if isinstance(given, str) else ""


def _times(value: dict[str, Any]) -> tuple[Instant | None, float | None]:
    """Return start and length: OTLP counts nanoseconds, JavaScript's exporter microseconds, Python's prints times."""
    first, last = _nanoseconds(value.get("startTimeUnixNano")), _nanoseconds(value.get("endTimeUnixNano"))
    if first is not None:
        return first // _NS_IN_MS, None if last is None or last < first else (last - first) / _NS_IN_MS
    if "timestamp" in value and "duration" in value:
        length = number(value["duration"])
        return instant_of(value["timestamp"]), None if length is None else length / 1000
    start, end = instant_of(value.get("start_time")), instant_of(value.get("end_time"))
    return start, float(end - start) if start is not None and end is not None and end >= start else None


def _nanoseconds(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST_WHOLE:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value < _FIXED_64 else None


def parsed_json(value: object) -> Any:  # noqa: ANN401 -- whatever it holds
    """Return what a text holds as JSON; None where it is none."""
    if not isinstance(value, str):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
