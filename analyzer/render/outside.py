"""Requests that lie outside of the stretch that a report is of, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.instant import SLICE_MS, format_instant

if TYPE_CHECKING:
    from analyzer.model.report import Outside, Report

__all__ = ["outside_words"]

_NAMED = 3


def outside_words(report: Report) -> str:
    """Say how many requests lie outside and when: `2 requests lie outside of it: 1970-01-01 00:00:00`; else nothing."""
    if not report.outside:
        return ""
    counts = [one.requests for one in report.outside]
    total = None if None in counts else sum(one for one in counts if one is not None)
    who = "some requests lie" if total is None else "1 request lies" if total == 1 else f"{total:,} requests lie"
    times = [_times(one) for one in report.outside[:_NAMED]]
    more = len(report.outside) - _NAMED
    named = ", ".join(times) + (f" and {more} times more" if more > 0 else "")
    return f"{who} outside of it: {named}; look at the sender's clock"


def _times(one: Outside) -> str:
    """Write when, known to a slice, with the day."""
    first, last = (format_instant(time)[:19].replace("T", " ") for time in (one.start, one.end))
    return first if one.end - one.start <= SLICE_MS else f"{first} to {last}"
