"""What FilterLogEvents answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.errors import MalformedError
from analyzer.model.instant import Instant

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LogEvent", "Page", "page_of", "wrapped"]

_HINT = "something between here and AWS answered in its place, or the answer broke off: it is asked again"


class LogEvent(Struct, frozen=True):
    """One event; `id` is CloudWatch's own, the same whenever it is read."""

    id: str
    stream: str
    time: Instant
    message: str


class Page(Struct, frozen=True):
    """One answer; it may be empty and still lead on. `broken` events had no id, time or message."""

    events: tuple[LogEvent, ...]
    token: str | None
    broken: int = 0


def page_of(answer: Mapping[str, Any]) -> Page:
    """Read one answer; raises MalformedError where it holds no events at all."""
    found = answer.get("events")
    if not isinstance(found, list):
        raise MalformedError("FilterLogEvents: the answer has no events", hint=_HINT)
    events = tuple(event for one in found if (event := _event(one)) is not None)
    return Page(events, answer.get("nextToken") or None, len(found) - len(events))


def _event(one: object) -> LogEvent | None:
    try:
        return msgspec.convert(
            {"id": one["eventId"], "stream": one["logStreamName"], "time": one["timestamp"], "message": one["message"]},  # type: ignore[index] # that is what is tried
            LogEvent,
        )
    except (KeyError, TypeError, msgspec.ValidationError):
        return None


def wrapped(event: LogEvent) -> bytes:
    """Write an event as a line that decoders unwrap: message, stream, and the time that the message may lack."""
    text = {"logStreamName": event.stream, "timestamp": event.time, "message": event.message}
    return msgspec.json.encode(text) + b"\n"
