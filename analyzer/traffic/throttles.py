"""Refused tries, by the limit that refused them, at the table or index whose limit it was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.knowledge.throttling import limit_of
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.traffic import Hurt, PatternTraffic, Throttles

if TYPE_CHECKING:
    from analyzer.model.counts import Counts, ThrottleCount
    from analyzer.model.target import Target
    from analyzer.traffic.rows import RowIndex

__all__ = ["throttles_of"]


def throttles_of(
    counts: Counts, rows: dict[Target, list[PatternTraffic]], places: RowIndex
) -> dict[Target, list[Throttles]]:
    """Group refused tries by resource, direction and reason; one whose resource was not told is the request's own."""
    grouped: dict[tuple[Target, Direction, str], list[ThrottleCount]] = {}
    told = _told_indexes(counts)
    for throttle in counts.throttles:
        place = _place(throttle, counts, told)
        grouped.setdefault((place, throttle.direction, throttle.reason), []).append(throttle)
    found: dict[Target, list[Throttles]] = {}
    for (place, direction, reason), parts in grouped.items():
        found.setdefault(place, []).append(_limit(place, direction, reason, parts, counts, rows, places))
    return found


def _told_indexes(counts: Counts) -> dict[tuple[Target, Direction], Counter[str]]:
    """Count the tries of which DynamoDB named the index whose limit refused them."""
    told: dict[tuple[Target, Direction], Counter[str]] = {}
    for throttle in counts.throttles:
        if throttle.resource is not None and throttle.resource.index is not None:
            base = counts.cells[throttle.cell].target.base
            told.setdefault((base, throttle.direction), Counter())[throttle.resource.index] += throttle.tries
    return told


def _place(throttle: ThrottleCount, counts: Counts, told: dict[tuple[Target, Direction], Counter[str]]) -> Target:
    """Return whose limit it was, as its requests write their target: an ARN knows account and region, they may not.

    A try that a retry absorbed keeps its reason but not the ARN: an index limit is then that of the index which other
    refusals of the table name, else of the only one that the request's writes reach.
    """
    cell = counts.cells[throttle.cell]
    if throttle.resource is not None:
        return cell.target.at(throttle.resource.index)
    if not _is_of_an_index(throttle.reason) or cell.target.index is not None:
        return cell.target
    named = told.get((cell.target, throttle.direction))
    if named:
        return cell.target.at(named.most_common(1)[0][0])
    reached = {
        other.target.index
        for other in counts.cells
        if other.secondary and other.shape == cell.shape and other.target.base == cell.target
    }
    return cell.target.at(reached.pop()) if len(reached) == 1 else cell.target


def _is_of_an_index(reason: str) -> bool:
    limit = limit_of(reason)
    return limit is not None and limit.is_index


def _limit(
    target: Target,
    direction: Direction,
    reason: str,
    parts: list[ThrottleCount],
    counts: Counts,
    rows: dict[Target, list[PatternTraffic]],
    places: RowIndex,
) -> Throttles:
    hurt: dict[tuple[Target, int], list[float]] = {}
    for part in parts:
        weight = 1 / counts.cells[part.cell].sample_rate
        sums = hurt.setdefault(places[part.cell], [0.0, 0.0])
        sums[0] += part.tries * weight
        sums[1] += part.failed * weight
    place = next(iter(hurt))[0]
    at_place = [row for row in rows[place] if row.shape.writes == (direction is Direction.WRITE) and not row.secondary]
    known = limit_of(reason)
    is_named = known is not None and known.is_index == (target.index is not None)
    return Throttles(
        direction=direction,
        reason=reason or None,
        cause=known.cause if known is not None and is_named else "unknown",
        source=SourceName.REQUEST_LOG,
        tries=sum(tries for tries, _ in hurt.values()),
        throttled=sum(rows[at][number].throttled.value for at, number in hurt),
        failed=sum(failed for _, failed in hurt.values()),
        calls=sum(row.requests.value for row in at_place),
        hurt=_hurt(hurt, rows, at_place),
    )


def _hurt(
    sums: dict[tuple[Target, int], list[float]],
    rows: dict[Target, list[PatternTraffic]],
    at_place: list[PatternTraffic],
) -> tuple[Hurt, ...]:
    calls: dict[str | None, float] = {}
    for row in at_place:
        calls[row.caller] = calls.get(row.caller, 0.0) + row.requests.value
    victims = []
    for (target, number), (tries, failed) in sums.items():
        row = rows[target][number]
        total = calls.get(row.caller, row.requests.value)
        victims.append(Hurt(row.caller, row.attribution.label, row.shape.operation, tries, failed, total))
    return tuple(sorted(victims, key=lambda victim: -victim.tries))
