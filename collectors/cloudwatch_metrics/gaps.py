"""What could not be seen of CloudWatch, as gaps: few of them, each with its mend. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.instant import format_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.cloudwatch_metrics.group import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.instant import Instant
    from analyzer.model.window import Window
    from collectors.cloudwatch_metrics.reading import Reading
    from collectors.cloudwatch_metrics.series import Series

__all__ = ["behind", "expired", "of_readings", "too_many", "unsettled"]

_SOURCE = SourceName.CLOUDWATCH_METRICS
_MOST_GAPS = 50
"""Tables that are named one by one; the rest is told as a number."""

_FORBIDDEN = "Forbidden"


def of_readings(readings: Sequence[Reading], window: Window) -> list[Gap]:
    """Return the gaps that readings leave: one for all tables where all failed alike, else one a table."""
    failed: dict[Gap, dict[str | None, None]] = {}
    for reading in readings:
        if reading.error is not None:
            whole = Gap.from_error(_SOURCE, reading.error, window=window)
            failed.setdefault(whole, {}).update(dict.fromkeys(one.table for one in reading.series))
    tables = {one.table for reading in readings for one in reading.series}
    gaps: list[Gap] = []
    for whole, hurt in failed.items():
        if len(hurt) == len(tables):
            gaps.append(whole)
        else:
            gaps += [msgspec.structs.replace(whole, table=table) for table in hurt]
    return _few([*gaps, *_halves(readings, window)])


def _halves(readings: Iterable[Reading], window: Window) -> list[Gap]:
    """Return a gap for each table or index of which CloudWatch gave some series only in part, or not at all."""
    parts: dict[tuple[str | None, str | None, str], list[str]] = {}
    for reading in readings:
        for one in reading.series if reading.error is None else ():
            points = reading.points.get(one)
            status = "not answered" if points is None else points.status or "not told"
            if status != COMPLETE:
                parts.setdefault((one.table, one.index, status), []).append(one.metric)
    gaps = []
    for (table, index, status), metrics in parts.items():
        more = "" if len(metrics) == 1 else f" and {len(metrics) - 1} more"
        reason = GapReason.DENIED if status == _FORBIDDEN else GapReason.LOW_COVERAGE
        hint = "grant cloudwatch:GetMetricData" if status == _FORBIDDEN else "it is read again with the next window"
        detail = f"{metrics[0]}{more}: status {status}"
        gaps.append(Gap(_SOURCE, reason, detail, hint, table, index, window.start, window.end))
    return gaps


def _few(gaps: list[Gap]) -> list[Gap]:
    if len(gaps) <= _MOST_GAPS:
        return gaps
    last = gaps[_MOST_GAPS - 1]
    rest = len(gaps) - _MOST_GAPS + 1
    return [*gaps[: _MOST_GAPS - 1], msgspec.structs.replace(last, detail=f"{last.detail}; {rest} such", table=None)]


def behind(table: str, newest: Instant, end: Instant) -> Gap:
    """Return the gap of a table whose points are later than they use to be."""
    detail = f"ConsumedReadCapacityUnits: the newest point ends at {format_instant(newest)}"
    return Gap(
        _SOURCE, GapReason.LATE, detail, "raise cloudwatch_metrics.delay if it stays so", table, None, newest, end
    )


def unsettled(window: Window) -> Gap:
    """Return the gap of a window that is too young."""
    hint = "ask for a window that ended a few minutes ago"
    detail = "AWS/DynamoDB: nothing of this window has settled yet"
    return Gap(_SOURCE, GapReason.LATE, detail, hint, None, None, window.start, window.end)


def expired(window: Window) -> Gap:
    """Return the gap of a window that CloudWatch has forgotten."""
    detail = "AWS/DynamoDB: CloudWatch keeps 455 days"
    return Gap(_SOURCE, GapReason.UNSUPPORTED, detail, None, None, None, window.start, window.end)


def too_many(series: Sequence[Series], most: int) -> list[Gap]:
    """Return the gaps of tables whose series are over the bound."""
    hint = "raise cloudwatch_metrics.most_series, or exclude tables"
    tables = dict.fromkeys(one.table for one in series[most:])
    detail = f"AWS/DynamoDB: {len(series):,} series, of which {most:,} are asked for"
    return _few([Gap(_SOURCE, GapReason.LOW_COVERAGE, detail, hint, table) for table in tables])
