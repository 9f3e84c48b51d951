"""What can be seen of a target, and how to see what cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.sight import Sight, SightState, SourceName

if TYPE_CHECKING:
    from analyzer.model.observations import Observations
    from analyzer.model.target import Target
    from analyzer.model.traffic import PatternTraffic, Place
    from analyzer.model.window import Window

__all__ = ["HINTS", "sight_states", "sights_of"]

_FORTNIGHT_SECONDS = 14 * 86_400

HINTS: dict[Sight, str] = {
    Sight.REQUESTS: "add a request log: the sampler, or one of the collectors",
    Sight.REQUEST_KEYS: "let the request log carry keys as tokens (`keys: token` in the sampler)",
    Sight.REQUEST_COUNTS: "log Count and ScannedCount (the sampler does)",
    Sight.REQUEST_UNITS: "ask for ReturnConsumedCapacity=INDEXES (`capacity=True` in the sampler)",
    Sight.REQUEST_FILTERS: "log the filter expression (the sampler does)",
    Sight.CONTRACT: "declare the table's access patterns in a contract",
    Sight.TABLE: "allow dynamodb:DescribeTable",
}
"""How to get each capability that a request log and its contract can give."""


def sights_of(
    rows: list[PatternTraffic],
    place: Place,
    observations: Observations,
    *,
    has_keys: bool,
    described: bool,
    span: Window | None,
) -> frozenset[Sight]:
    """Return what is seen of a target in a window; where nothing was asked of it, nothing was hidden either."""
    if SourceName.REQUEST_LOG not in observations.sources:
        return frozenset(_told(place, span, described=described))
    seen = {Sight.REQUESTS, *_told(place, span, described=described)}
    counted = [row for row in rows if row.shape.operation in {"Query", "Scan"}]
    if has_keys or not rows:
        seen.add(Sight.REQUEST_KEYS)
    if any(row.shape.parsed for row in rows) or not rows:
        seen.add(Sight.REQUEST_FILTERS)
    if any(row.counts_known for row in counted) or not counted:
        seen.add(Sight.REQUEST_COUNTS)
    if any(row.units_known or row.secondary for row in rows) or not rows:
        seen.add(Sight.REQUEST_UNITS)
    return frozenset(seen)


def _told(place: Place, span: Window | None, *, described: bool) -> set[Sight]:
    told: set[Sight] = set()
    if place.declared:
        told.add(Sight.CONTRACT)
    if described:
        told.add(Sight.TABLE)
    if span is not None and span.seconds >= _FORTNIGHT_SECONDS:
        told.add(Sight.SPAN_14D)
    return told


def sight_states(target: Target, seen: frozenset[Sight]) -> list[SightState]:
    """Return the state of every capability that has a hint, for a report."""
    return [
        SightState(
            table=target.table,
            index=target.index,
            capability=sight,
            state="seen" if sight in seen else "not-seen",
            hint=None if sight in seen else hint,
        )
        for sight, hint in HINTS.items()
    ]
