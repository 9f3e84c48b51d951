"""Refused tries, by the limit that refused them, at the table or index whose limit it was."""

from __future__ import annotations

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

_Limit = tuple["Target", Direction, str]


def throttles_of(
    counts: Counts, rows: dict[Target, list[PatternTraffic]], places: RowIndex
) -> dict[Target, list[Throttles]]:
    """Group refused tries by resource, direction and reason; one whose resource was not told is the request's own."""
    grouped: dict[_Limit, list[ThrottleCount]] = {}
    for throttle in counts.throttles:
        resource = throttle.resource or counts.cells[throttle.cell].target
        grouped.setdefault((_within(resource, counts, throttle), throttle.direction, throttle.reason), []).append(
            throttle
        )
    found: dict[Target, list[Throttles]] = {}
    for (resource, direction, reason), parts in grouped.items():
        found.setdefault(resource, []).append(_limit(direction, reason, parts, counts, rows, places))
    return found


def _within(resource: Target, counts: Counts, throttle: ThrottleCount) -> Target:
    """Write a resource as its requests write their target: an ARN knows account and region, a request may not."""
    return counts.cells[throttle.cell].target.at(resource.index)


def _limit(
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
    return Throttles(
        direction=direction,
        reason=reason or None,
        cause=known.cause if known else "unknown",
        source=SourceName.REQUEST_LOG,
        tries=sum(tries for tries, _ in hurt.values()),
        throttled=sum(rows[target][number].throttled.value for target, number in hurt),
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
