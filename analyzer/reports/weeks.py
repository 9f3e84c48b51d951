"""Calendar weeks as ISO 8601 has them: Monday to Sunday in UTC, named `2026-W48`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from analyzer.model.instant import Instant, to_instant, to_moment
from analyzer.model.window import Window

__all__ = ["WEEK_MS", "last_week", "week_name", "week_window"]

WEEK_MS = 7 * 86_400_000
_FIRST_YEAR = 2012
_NAME = re.compile(r"(\d{4})-W(\d{1,2})")


def week_window(name: str) -> Window:
    """Return the stretch of a week; raises ValueError for what names none."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name[:20]!r} names no week: write 2026-W48, or leave it out for the last whole week")
    if int(found[1]) < _FIRST_YEAR:
        raise ValueError(f"{name} is a week before there was any DynamoDB")
    try:
        monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
    except ValueError:
        raise ValueError(f"{name} is no week of the calendar: a year has 52 or 53") from None
    start = to_instant(datetime(monday.year, monday.month, monday.day, tzinfo=UTC))
    return Window(start, start + WEEK_MS)


def last_week(now: Instant) -> Window:
    """Return the last week that has ended."""
    today = to_moment(now).replace(hour=0, minute=0, second=0, microsecond=0)
    end = to_instant(today - timedelta(days=today.weekday()))
    return Window(end - WEEK_MS, end)


def week_name(window: Window) -> str:
    """Write the week that a window begins in."""
    year, week, _ = to_moment(window.start).isocalendar()
    return f"{year}-W{week:02d}"
