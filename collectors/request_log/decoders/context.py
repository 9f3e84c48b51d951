"""What stands around a request in a log entry: when, who, in which trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.request_log.decoders.fields import mapping, text
from collectors.request_log.decoders.moments import instant_of, time_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.request import RequestRecord
    from collectors.request_log.decoders.seam import Piece

__all__ = ["add_context", "moment_of"]

_TIMES = ("timestamp", "time", "@timestamp", "ts", "datetime", "date", "eventTime")
_CALLERS = ("service", "service.name", "serviceName", "app", "application")
_LOGGER = ("pid", "hostname", "name")
"""What pino and bunyan write of the process; `name` is that of the logger, which is the service's."""
_VERSIONS = ("service.version", "version")
_TRACES = ("trace_id", "traceId", "xray_trace_id", "dd.trace_id", "traceid")


def moment_of(piece: Piece, entry: dict[str, Any] | None = None) -> Instant | None:
    """Return when an entry was written: its own time, that before it on its line, that of its envelope."""
    for value in (piece.value, entry or {}):
        for name in _TIMES:
            if name in value and (found := instant_of(value[name])) is not None:
                return found
    before = time_in(piece.before)
    return piece.time if before is None else before


def add_context(record: RequestRecord, piece: Piece) -> None:
    """Add caller and trace where the entry around a request tells them."""
    value = piece.value
    record.caller = record.caller or _first(value, _CALLERS) or text(mapping(value.get("service")).get("name"))
    if record.caller is None and all(name in value for name in _LOGGER):
        record.caller = text(value["name"])
    record.trace_id = record.trace_id or _first(value, _TRACES) or text(mapping(value.get("trace")).get("id"))
    if record.caller is not None:
        record.caller_version = record.caller_version or _first(value, _VERSIONS)


def _first(value: dict[str, Any], names: Iterable[str]) -> str | None:
    for name in names:
        if name in value and (found := text(value[name])) is not None:
            return found
    return None
