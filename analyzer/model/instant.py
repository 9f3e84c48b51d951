"""Time as the core knows it: whole milliseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = [
    "DATE_LENGTH",
    "DAY_MS",
    "DAY_SECONDS",
    "MINUTE_MS",
    "SLICE_MS",
    "Instant",
    "Moment",
    "date_of",
    "format_instant",
    "parse_instant",
    "slice_of",
    "to_instant",
    "to_moment",
]

Instant = int
"""Milliseconds since the epoch, UTC."""
Moment = datetime | float
"""A time as AWS tells it: a calendar's (an SDK's answer, or text) or seconds since the epoch (the wire)."""

SLICE_MS = 10_000
"""Length of the base cell of time; six make a minute."""

MINUTE_MS = 60_000
DAY_MS = 86_400_000
DAY_SECONDS = 86_400
DATE_LENGTH = len("2027-03-31")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def parse_instant(text: str) -> Instant:
    """Read an RFC 3339 time; one without an offset is taken as UTC. Raises ValueError on anything else."""
    return to_instant(datetime.fromisoformat(text))


def to_instant(moment: Moment) -> Instant:
    """Return a moment as an instant, in whole milliseconds; a time without an offset is UTC."""
    if not isinstance(moment, datetime):
        return round(moment * 1000)
    return ((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND


def to_moment(instant: Instant) -> datetime:
    """Return an instant as the calendar has it, in UTC."""
    return _EPOCH + timedelta(milliseconds=instant)


def date_of(at: Instant) -> str:
    """Write the day of a time, in UTC: `2027-03-31`."""
    return format_instant(at)[:DATE_LENGTH]


def format_instant(instant: Instant) -> str:
    """Write an instant as RFC 3339 in UTC with milliseconds."""
    return to_moment(instant).strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant % 1000:03d}Z"


def slice_of(instant: Instant) -> Instant:
    """Return the start of the slice that holds an instant."""
    return instant - instant % SLICE_MS
