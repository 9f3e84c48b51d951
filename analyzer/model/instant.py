"""Time as the core knows it: whole milliseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["MINUTE_MS", "SLICE_MS", "Instant", "format_instant", "parse_instant", "slice_of"]

Instant = int
"""Milliseconds since the epoch, UTC."""

SLICE_MS = 10_000
"""Length of the base cell of time; six make a minute."""

MINUTE_MS = 60_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def parse_instant(text: str) -> Instant:
    """Read an RFC 3339 time; one without an offset is taken as UTC. Raises ValueError on anything else."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def format_instant(instant: Instant) -> str:
    """Write an instant as RFC 3339 in UTC with milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=instant)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant % 1000:03d}Z"


def slice_of(instant: Instant) -> Instant:
    """Return the start of the slice that holds an instant."""
    return instant - instant % SLICE_MS
