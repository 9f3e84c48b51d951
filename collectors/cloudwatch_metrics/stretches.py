"""Which stretches of time to read, at which period: what has settled, and what a window is compared with. Pure."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.window import Window

__all__ = ["DAY_MS", "HOUR_MS", "Stretch", "compared_with", "finest_period", "settled"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

# CloudWatch User Guide, "Metrics retention", read 2026-11-30.
_RETENTION = ((15 * DAY_MS, 60), (63 * DAY_MS, 300), (455 * DAY_MS, 3600))

_ECHO_DAYS = (1, 7)
"""The same minutes of yesterday, and of the same weekday; those of an hour ago are still kept."""
_HOURS_DAYS = 7
"""The same hour of so many past days: three of them make a baseline, and a weekend must not fill it alone."""
_SPAN_DAYS = 14
"""So long an index must go unread before it is called unused."""


class Stretch(Struct, frozen=True, order=True):
    """A stretch to read at a period; both its ends are whole periods.

    `hour` None keeps all points of it, else only those of that hour of the day.
    """

    period_seconds: int
    window: Window
    hour: int | None = None


def finest_period(start: int, now: int, period_seconds: int) -> int | None:
    """Return the finest period, no finer than asked for, that CloudWatch still keeps; None when it keeps nothing."""
    return next((max(kept, period_seconds) for age, kept in _RETENTION if now - start < age), None)


def settled(window: Window, now: int, delay_ms: int, period_seconds: int) -> Window | None:
    """Return the periods of a window, the first one whole, that have settled; None when there is none."""
    period_ms = period_seconds * 1000
    start = window.start // period_ms * period_ms
    end = min(window.end, now - delay_ms) // period_ms * period_ms
    return Window(start, end) if start < end else None


def compared_with(window: Window, now: int) -> tuple[Stretch, ...]:
    """Return the past that detectors compare a window with.

    Minutes are read by the whole hour, so that each is asked for once and not with every window: the hours of the
    window's start and end (of a long window the last two) a day and a week ago; the same hour of past days; and the
    days since two weeks ago, of which today is left out.
    """
    hour = (window.end - 1) // HOUR_MS * HOUR_MS
    day = hour // DAY_MS * DAY_MS
    first = max(window.start // HOUR_MS * HOUR_MS, hour - HOUR_MS)
    echoes = [
        Stretch(60, Window(start - days * DAY_MS, start - days * DAY_MS + HOUR_MS))
        for days in _ECHO_DAYS
        for start in dict.fromkeys((first, hour))
    ]
    hours = Stretch(3600, Window(hour - _HOURS_DAYS * DAY_MS, hour), hour % DAY_MS // HOUR_MS)
    days = Stretch(86_400, Window(day - _SPAN_DAYS * DAY_MS, day))
    wanted = (*echoes, hours, days)
    return tuple(
        stretch
        for stretch in wanted
        if finest_period(stretch.window.start, now, stretch.period_seconds) == stretch.period_seconds
    )
