"""Which tables and indexes to look at first: those whose hottest key is nearest to, or over, its ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.heatmap import KeysFrom
from analyzer.model.sight import Sight
from analyzer.model.target import Target
from analyzer.traffic.measure import units_a_second

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import Traffic

__all__ = ["HotPlace", "hottest_places", "keys_from", "limit_of"]

_MOST = 500
"""So many places are offered; a person chooses among the first few."""

_ACCESSED = {"PKC", "SKC"}


class HotPlace(Struct, frozen=True, kw_only=True):
    """One target in one direction; `heat` is of its hottest key, None where keys are not visible.

    `limit` is what it is provisioned for in units a second. `throttled` are tries or, of metrics, events.
    """

    target: Target
    direction: Direction
    keys: KeysFrom
    heat: Estimate | None
    units_a_second: float | None
    limit: float | None
    throttled: float


def hottest_places(traffics: Iterable[Traffic]) -> list[HotPlace]:
    """Return every target that is used in a direction, the hottest first; then those with throttles, then by units."""
    found = [place for traffic in traffics for direction in Direction if (place := _place(traffic, direction))]
    found.sort(
        key=lambda one: (
            -(0.0 if one.heat is None else one.heat.value),
            -one.throttled,
            -(one.units_a_second or 0.0),
            one.target.order(),
            one.direction,
        )
    )
    return found[:_MOST]


def keys_from(traffic: Traffic, direction: Direction) -> KeysFrom:
    """Return who tells the keys of a target; Contributor Insights does not tell reads and writes apart."""
    if any(key.direction is direction for key in traffic.keys):
        return KeysFrom.REQUEST_LOG
    if any(key.rule in _ACCESSED for key in traffic.insights):
        return KeysFrom.CONTRIBUTOR_INSIGHTS
    return KeysFrom.REQUEST_LOG if Sight.REQUEST_KEYS in traffic.sights else KeysFrom.NOT_VISIBLE


def limit_of(traffic: Traffic, direction: Direction) -> float | None:
    """Return what a target is provisioned for in units a second; None on demand, or where it is not known."""
    capacity = traffic.place.capacity
    return capacity.read_units if direction is Direction.READ else capacity.write_units


def _place(traffic: Traffic, direction: Direction) -> HotPlace | None:
    units = units_a_second(traffic, direction)
    source = keys_from(traffic, direction)
    throttled = sum(one.tries.value for one in traffic.throttles if one.direction is direction)
    throttled = throttled or sum(one.events for one in traffic.metric_throttles if one.direction is direction)
    heat = _heat(traffic, direction, source)
    if not units and not throttled and heat is None:
        return None
    return HotPlace(
        target=traffic.target,
        direction=direction,
        keys=source,
        heat=heat,
        units_a_second=units,
        limit=limit_of(traffic, direction),
        throttled=throttled,
    )


def _heat(traffic: Traffic, direction: Direction, source: KeysFrom) -> Estimate | None:
    if source is KeysFrom.CONTRIBUTOR_INSIGHTS:
        minutes = [
            minute
            for key in traffic.insights
            if key.rule in _ACCESSED
            for minute in key.minutes
            if minute.low is not None and minute.high is not None
        ]
        worst = max(minutes, key=lambda minute: minute.high or 0.0, default=None)
        if worst is None or worst.low is None or worst.high is None:
            return None
        return Estimate(worst.high, worst.low, worst.high)
    keys = [key for key in traffic.keys if key.direction is direction and key.level is KeyLevel.PARTITION]
    return max((key.heat for key in keys), key=lambda heat: heat.value, default=None)
