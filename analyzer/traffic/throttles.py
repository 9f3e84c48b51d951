"""Refused tries, by the limit that refused them, at the table or index whose limit it was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.knowledge.throttling import cause_of, limit_of
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.traffic import Hurt, PatternTraffic, Throttles
from analyzer.statistics.intervals import estimate_count
from analyzer.traffic.measure import add

if TYPE_CHECKING:
    from analyzer.model.counts import Counts, ThrottleCount
    from analyzer.model.target import Target
    from analyzer.traffic.rows import RowIndex

__all__ = ["ToldIndexes", "limit_place", "throttles_of", "told_indexes"]

ToldIndexes = dict[tuple["Target", Direction], Counter[str]]
"""Table and direction → how many refused tries named which index."""


def throttles_of(
    counts: Counts, rows: dict[Target, list[PatternTraffic]], places: RowIndex
) -> dict[Target, list[Throttles]]:
    """Group refused tries by whose limit it was, direction and cause."""
    grouped: dict[tuple[Target, Direction, str], list[ThrottleCount]] = {}
    told = told_indexes(counts)
    for throttle in counts.throttles:
        place, cause = limit_place(throttle, counts, told)
        grouped.setdefault((place, throttle.direction, cause), []).append(throttle)
    found: dict[Target, list[Throttles]] = {}
    for (place, direction, cause), parts in grouped.items():
        found.setdefault(place, []).append(_limit(direction, cause, parts, counts, rows, places))
    return found


def told_indexes(counts: Counts) -> ToldIndexes:
    """Count the tries of which DynamoDB named the index whose limit refused them."""
    told: ToldIndexes = {}
    for throttle in counts.throttles:
        if throttle.resource is not None and throttle.resource.index is not None:
            base = counts.cells[throttle.cell].target.base
            told.setdefault((base, throttle.direction), Counter())[throttle.resource.index] += throttle.tries
    return told


def limit_place(throttle: ThrottleCount, counts: Counts, told: ToldIndexes) -> tuple[Target, str]:
    """Return whose limit it was, as its requests write their target, and the cause.

    An ARN tells the resource. A try that a retry absorbed keeps its reason but not the ARN: an index limit is then that
    of the index which other refusals of the table name, else of the only one that the request's writes reach. Where
    that cannot be told either, the cause is `unknown`, so that the table is not blamed for a limit of its index.
    """
    cell = counts.cells[throttle.cell]
    limit = limit_of(throttle.reason)
    cause = cause_of(throttle.reason)
    if throttle.resource is not None:
        return cell.target.at(throttle.resource.index), cause
    if limit is None or not limit.is_index or cell.target.index is not None:
        return cell.target, cause
    named = told.get((cell.target, throttle.direction))
    if named:
        return cell.target.at(named.most_common(1)[0][0]), cause
    reached = {
        other.target.index
        for other in counts.cells
        if other.secondary and other.shape == cell.shape and other.target.base == cell.target
    }
    return (cell.target.at(reached.pop()), cause) if len(reached) == 1 else (cell.target, "unknown")


def _limit(
    direction: Direction,
    cause: str,
    parts: list[ThrottleCount],
    counts: Counts,
    rows: dict[Target, list[PatternTraffic]],
    places: RowIndex,
) -> Throttles:
    by_row: dict[tuple[Target, int], list[ThrottleCount]] = {}
    for part in parts:
        by_row.setdefault(places[part.cell], []).append(part)
    place = next(iter(by_row))[0]
    at_place = [row for row in rows[place] if row.shape.writes == (direction is Direction.WRITE) and not row.secondary]
    return Throttles(
        direction=direction,
        reasons=tuple(sorted({part.reason for part in parts if part.reason})),
        cause=cause,
        source=SourceName.REQUEST_LOG,
        tries=estimate_count((part.tries, _rate(part, counts)) for part in parts),
        throttled=add(rows[at][number].throttled for at, number in by_row),
        failed=estimate_count((part.failed, _rate(part, counts)) for part in parts if part.failed),
        calls=add(row.requests for row in at_place),
        hurt=_hurt(by_row, counts, rows, at_place),
    )


def _rate(part: ThrottleCount, counts: Counts) -> float:
    return counts.cells[part.cell].sample_rate


def _hurt(
    by_row: dict[tuple[Target, int], list[ThrottleCount]],
    counts: Counts,
    rows: dict[Target, list[PatternTraffic]],
    at_place: list[PatternTraffic],
) -> tuple[Hurt, ...]:
    calls: dict[str | None, float] = {}
    for row in at_place:
        calls[row.caller] = calls.get(row.caller, 0.0) + row.requests.value
    victims = []
    for (target, number), parts in by_row.items():
        row = rows[target][number]
        tries = sum(part.tries / _rate(part, counts) for part in parts)
        failed = sum(part.failed / _rate(part, counts) for part in parts)
        total = calls.get(row.caller, row.requests.value)
        victims.append(Hurt(row.caller, row.attribution.label, row.shape.operation, tries, failed, total))
    return tuple(sorted(victims, key=lambda victim: -victim.tries))
