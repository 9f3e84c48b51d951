"""The lines of a report that show the traffic itself: patterns, keys, coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.knowledge.operations import STATEMENTS
from analyzer.model.finding import Direction
from analyzer.model.report import Coverage, KeyLine, PatternKind, PatternLine
from analyzer.model.sight import Gap, GapReason, Sight, SourceName
from analyzer.traffic.heat import ceiling_of
from analyzer.traffic.latency import quantile_ms
from analyzer.traffic.measure import add, direction_units, total_units
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.target import Target
    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.model.window import Window

__all__ = ["MOST_LINES", "coverage_gaps", "coverage_lines", "key_lines", "pattern_lines", "statement_gaps"]

MOST_LINES = 500
"""How many pattern lines a report holds; the rest is one line `other`."""

_MOST_KEYS = 100

_FILLED = 0.99
"""Part of a window that CloudWatch's periods must fill before their sum is what was billed in it."""
_LEAST_COVERED, _MOST_COVERED = 0.8, 1.05
_UNSEEN = (
    "look for PartiQL, callers without a sampler, another account, AppSync, Step Functions, Glue, the console; "
    "or a wrong sample rate"
)
_DOUBLE = "look for records read twice, or a sample rate that is written too low"


def pattern_lines(traffic: Iterable[Traffic]) -> tuple[PatternLine, ...]:
    """Return one line a declared pattern or undeclared shape of each target, the dearest first; sums are kept.

    What a write costs an index is a line of that index, without requests: the request is counted at its table.
    """
    grouped: dict[tuple[Target, str, str], list[PatternTraffic]] = {}
    for one in traffic:
        for row in one.rows:
            subject = row.attribution.pattern or row.shape.fingerprint
            grouped.setdefault((one.target, row.attribution.kind.value, subject), []).append(row)
    lines = [_line(target, rows) for (target, _, _), rows in grouped.items()]
    lines.sort(key=lambda line: (-(line.units or 0.0), -line.requests, line.table or "", line.pattern or ""))
    return (*lines[:MOST_LINES], *_other(lines[MOST_LINES:]))


def _line(target: Target, rows: list[PatternTraffic]) -> PatternLine:
    first = max(rows, key=lambda row: row.requests.value)
    requests = add(row.requests for row in rows)
    known = any(row.units_known or row.secondary for row in rows)
    return PatternLine(
        kind=PatternKind(first.attribution.kind.value),
        pattern=first.attribution.pattern,
        candidates=first.attribution.candidates,
        fingerprint=first.shape.fingerprint,
        table=target.table,
        index=target.index,
        operation=first.shape.operation,
        text=first.shape.text(),
        callers=tuple(sorted({row.caller for row in rows}, key=lambda caller: caller or "")),
        requests=requests.value,
        requests_low=requests.low,
        requests_high=requests.high,
        units=sum(total_units(row) for row in rows) if known else None,
        waste_units=sum(row.wasted_units.value for row in rows) if known else None,
        p99_ms=quantile_ms(rows, 0.99),
        errors=sum(row.failed.value for row in rows),
        throttled=sum(row.throttled.value for row in rows),
        account=target.account,
        region=target.region,
    )


def _other(lines: list[PatternLine]) -> tuple[PatternLine, ...]:
    if not lines:
        return ()
    return (
        PatternLine(
            kind=PatternKind.OTHER,
            requests=sum(line.requests for line in lines),
            requests_low=sum(line.requests_low for line in lines),
            requests_high=sum(line.requests_high for line in lines),
            units=sum(line.units or 0.0 for line in lines),
            waste_units=sum(line.waste_units or 0.0 for line in lines),
            p99_ms=None,
            errors=sum(line.errors for line in lines),
            throttled=sum(line.throttled for line in lines),
        ),
    )


def key_lines(traffic: Iterable[Traffic]) -> tuple[KeyLine, ...]:
    """Return the hottest keys of all targets, the hottest first; at equal heat the more specific one."""
    ranked = sorted(
        ((one, key) for one in traffic for key in one.keys if key.units.value),
        key=lambda pair: (-pair[1].heat.value, -pair[1].level, pair[0].target.order(), pair[1].name),
    )
    return tuple(
        KeyLine(
            table=one.target.table,
            index=one.target.index,
            direction=key.direction,
            key=key.key,
            key_template=key.key_template,
            units=key.units.value,
            units_low=key.units.low,
            units_high=key.units.high,
            heat=key.heat.value,
            peak_second=None if key.peak_second is None else key.peak_second / ceiling_of(key.direction),
        )
        for one, key in ranked[:_MOST_KEYS]
    )


def coverage_lines(traffic: Iterable[Traffic]) -> tuple[Coverage, ...]:
    """Return what the request log explains of each target's units, and of those that were billed where it is known."""
    return tuple(
        _coverage(one, direction, units)
        for one in traffic
        for direction in Direction
        if (units := direction_units(one, direction)) > 0
    )


def _coverage(one: Traffic, direction: Direction, units: float) -> Coverage:
    billed = _billed(one, direction)
    target = one.target
    ratio = None if not billed else units / billed
    return Coverage(target.table, target.index, direction, units, billed, ratio, target.account, target.region)


def _billed(one: Traffic, direction: Direction) -> float | None:
    """Return the units that CloudWatch counted in the window; None where its periods do not fill it.

    Writes that a global table replicated here are no caller's: the series of `Source=Customer` leaves them out
    (Developer Guide, "DynamoDB metrics and dimensions", read 2026-11-30).
    """
    name = f"Consumed{direction.value.capitalize()}CapacityUnits"
    series = series_of(one.metrics, name, Source="Customer") or series_of(one.metrics, name)
    inside = [
        point for point in points(series, one.window) if point.start >= one.window.start and point.end <= one.window.end
    ]
    if sum(point.seconds for point in inside) < _FILLED * one.window.seconds:
        return None
    return sum(point.value for point in inside)


def coverage_gaps(coverage: Iterable[Coverage], window: Window) -> Iterator[Gap]:
    """Say where the log explains much less, or more, than what was billed: both mean that it misleads."""
    for one in coverage:
        if one.ratio is None or _LEAST_COVERED <= one.ratio <= _MOST_COVERED:
            continue
        place = one.table if one.index is None else f"{one.table}/{one.index}"
        detail = (
            f"the request log explains {one.explained_units:,.0f} of {one.billed_units:,.0f} {one.direction} units"
            f" of {place} ({one.ratio:.0%})"
        )
        hint = _UNSEEN if one.ratio < 1 else _DOUBLE
        yield Gap(
            SourceName.REQUEST_LOG,
            GapReason.LOW_COVERAGE,
            detail,
            hint,
            one.table,
            one.index,
            window.start,
            window.end,
            one.account,
            one.region,
        )


def statement_gaps(traffic: Iterable[Traffic], told: Iterable[Gap]) -> Iterator[Gap]:
    """Say where Contributor Insights is asked for keys and statements are sent, which it does not count.

    Source: Developer Guide, "Contributor Insights: how it works", read 2026-11-30. `told` are the gaps that are known.
    """
    known = {gap.table for gap in told if gap.reason is GapReason.UNSUPPORTED and "PartiQL" in gap.detail}
    for one in traffic:
        sent = sorted({row.shape.operation for row in one.rows if row.shape.operation in STATEMENTS})
        is_asked = bool(one.sights & {Sight.INSIGHTS_ACCESSED, Sight.INSIGHTS_THROTTLED})
        if sent and is_asked and one.target.table not in known:
            detail = f"Contributor Insights does not count PartiQL, and there is some: {', '.join(sent)}"
            hint = "take keys of these requests from the request log; an empty list clears no key, and no table"
            target = one.target
            yield Gap(
                SourceName.CONTRIBUTOR_INSIGHTS,
                GapReason.UNSUPPORTED,
                detail,
                hint,
                target.table,
                target.index,
                account=target.account,
                region=target.region,
            )
