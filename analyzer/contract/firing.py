"""When a declared schedule fires. Times are UTC, as EventBridge and most cron daemons of servers have them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from analyzer.contract.schedule import is_malformed

__all__ = ["fires_near"]

_RATE = re.compile(r"rate\(\s*(\d+)\s+(minute|hour|day)s?\s*\)", re.IGNORECASE)
_MINUTES = {"minute": 1, "hour": 60, "day": 1440}
_MONTHS = {text: at for at, text in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), start=1)}
_DAYS = {text: at for at, text in enumerate(re.findall("...", "sunmontuewedthufrisat"))}
_CLASSIC, _OF_AWS = 5, 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE_MS = 60_000


def fires_near(schedule: str, start: int, end: int, within_ms: int) -> bool | None:
    """Whether a schedule fires in [start, end) of milliseconds since the epoch, or so close to it.

    None where only people can tell: a word such as `nightly`, a rate whose first time nobody knows.
    """
    text = schedule.strip()
    rate = _RATE.fullmatch(text)
    if rate is not None:
        period_ms = int(rate[1]) * _MINUTES[rate[2].lower()] * _MINUTE_MS
        return True if period_ms <= end - start + 2 * within_ms else None
    called = re.fullmatch(r"cron\((.*)\)", text, re.IGNORECASE)
    fields = (called[1] if called is not None else text).split()
    if is_malformed(text) or len(fields) not in {_CLASSIC, _OF_AWS} or not re.match(r"[\d*]", fields[0]):
        return None
    first = (start - within_ms) // _MINUTE_MS
    last = (end + within_ms - 1) // _MINUTE_MS
    return any(_fires(fields, _EPOCH + timedelta(minutes=minute)) for minute in range(first, last + 1))


def _fires(fields: list[str], at: datetime) -> bool:
    minute, hour, day, month, weekday = fields[:5]
    of_aws = len(fields) == _OF_AWS
    if not (_takes(minute, at.minute) and _takes(hour, at.hour) and _takes(month, at.month, _MONTHS)):
        return False
    if of_aws and not _takes(fields[5], at.year):
        return False
    # Sunday is 1 at AWS, and 0 or 7 for a classic cron (EventBridge Scheduler User Guide, "Schedule types").
    sunday_first = at.isoweekday() % 7
    days = {text: number + of_aws for text, number in _DAYS.items()}
    numbers = {sunday_first + 1} if of_aws else {sunday_first, sunday_first or 7}
    is_weekday = any(_takes(weekday, number, days) for number in numbers)
    is_day = _takes(day, at.day)
    if day in {"*", "?"} or weekday in {"*", "?"}:
        return is_day and is_weekday
    return is_day or is_weekday  # a classic cron with both takes either


def _takes(field: str, value: int, names: dict[str, int] | None = None) -> bool:
    return any(_takes_part(part.lower(), value, names or {}) for part in field.split(","))


def _takes_part(part: str, value: int, names: dict[str, int]) -> bool:
    span, _, step = part.partition("/")
    if span in {"*", "?"}:
        return value % int(step) == 0 if step else True
    least, _, most = span.partition("-")
    first = _number(least, names)
    if first is None:
        return True  # such as L, 15W, 6#3: rather a time too many than a false alarm
    last = _number(most, names) if most else first
    if step and not most:
        return value >= first and (value - first) % int(step) == 0
    return first <= value <= (first if last is None else last) and (not step or (value - first) % int(step) == 0)


def _number(text: str, names: dict[str, int]) -> int | None:
    return int(text) if text.isdecimal() else names.get(text)
