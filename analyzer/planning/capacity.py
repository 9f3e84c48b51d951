"""What a table's capacity should be and costs: every way to pay at its observed demand, and what each pattern costs.

Keys first, capacity last: faults of the contract and keys that are hot stand before every number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.prices import LIST_PRICES, SECONDS_A_MONTH
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.planning.autoscaling import replay
from analyzer.planning.capacity_evidence import (
    A_WEEK,
    Observed,
    notes_of,
    places_of,
    requests_of,
    storage_of,
    warm_throughput,
    warnings_of,
)
from analyzer.planning.event import Event, event_of
from analyzer.planning.option import Option, Place
from analyzer.planning.options import options_of
from analyzer.planning.pattern_costs import PatternCost, pattern_costs
from analyzer.planning.rules_of_thumb import Thumb, thumb_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.model import TableDeclaration
    from analyzer.model.prices import Prices
    from analyzer.model.traffic import Traffic

__all__ = ["Capacity", "Demand", "plan_capacity"]

_ACCEPTED = 0.001
"""Refused units that retries hide; what refuses more is not the best way, however cheap."""


class Demand(Struct, frozen=True, kw_only=True):
    """One direction of a place: units a second, units of a month, and the use of autoscaled capacity."""

    place: str
    direction: Direction
    source: SourceName
    mean_units: float
    peak_units: float
    top_units: float
    month_units: float
    used_share: float


class Capacity(Struct, frozen=True, kw_only=True):
    """The whole answer; dollars are a month of 730 hours. None is not known.

    `warnings` come before all else: what no capacity mends. `notes` say how far the numbers carry. `best` names the
    cheapest way that would have refused next to nothing.
    """

    table: str
    window: Window
    billing_mode: str | None
    table_class: str | None
    price: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    demands: tuple[Demand, ...]
    requests_a_month: float | None
    storage_bytes: float | None
    options: tuple[Option, ...]
    best: str | None
    thumb: Thumb
    event: Event | None
    patterns: tuple[PatternCost, ...]


def plan_capacity(
    observed: Observed,
    declared: TableDeclaration | None = None,
    *,
    factor: float | None = None,
    target_share: float | None = None,
) -> Capacity:
    """Plan the capacity of a table; `factor` is a planned peak as a multiple, `target_share` autoscaling's target."""
    base = observed.traffics[0]
    places = tuple(places_of(observed, target_share))
    standard = base.place.prices
    prices = standard if standard is not None and standard.table_class == "STANDARD" else LIST_PRICES
    size = storage_of(base)
    options = options_of(places, prices, size)
    best = _best(options, observed.window.seconds) if places else None
    demands = tuple(_demands(places))
    requests = requests_of(observed)
    capacity = base.place.capacity
    asked = [load for place in places for load in place.loads.values()]
    heaviest = max(asked, key=lambda load: load.mean, default=None)
    return Capacity(
        table=base.target.table,
        window=observed.window,
        billing_mode=capacity.billing_mode,
        table_class=capacity.table_class,
        price=prices.place,
        warnings=tuple(warnings_of(observed)),
        notes=(*notes_of(observed, asked, size), *_doubted_prices(base, prices)),
        demands=demands,
        requests_a_month=None if requests is None else requests * SECONDS_A_MONTH,
        storage_bytes=size,
        options=options,
        best=None if best is None else best.name,
        thumb=thumb_of(
            requests_a_month=None if requests is None else requests * SECONDS_A_MONTH,
            used_share=_used(places),
            is_spiky=None if heaviest is None else heaviest.is_spiky,
            is_steady=heaviest is not None and heaviest.is_steady,
            prices=prices,
            best=best,
        ),
        event=None if factor is None else _event(places, observed, factor),
        patterns=pattern_costs(observed.traffics, declared),
    )


def _doubted_prices(base: Traffic, prices: Prices) -> Iterator[str]:
    region = base.target.region
    if region not in {None, prices.region}:
        yield f"the table is in {region}, and prices are those of {prices.region}: set `prices` in the configuration"
    if prices.free:
        yield f"`prices` in the configuration has 0 for {', '.join(prices.free)}: what it pays for is counted as free"


def _best(options: Sequence[Option], seconds: float) -> Option | None:
    """Return the cheapest that would have refused next to nothing; of equals the first."""
    fitting = [
        one
        for one in options
        if one.dollars is not None and (one.throttled_share is None or one.throttled_share <= _ACCEPTED)
    ]
    refuses = any(one.name == "provisioned" and (one.throttled_share or 0) > _ACCEPTED for one in options)
    if refuses or seconds < A_WEEK:
        fitting = [one for one in fitting if one.name != "reserved"]
    return min(fitting, key=lambda one: one.dollars or 0.0, default=None)


def _demands(places: Sequence[Place]) -> Iterator[Demand]:
    for place in places:
        scaled = replay(place.loads, place.rules)
        for direction, load in place.loads.items():
            yield Demand(
                place=place.name,
                direction=direction,
                source=load.source,
                mean_units=load.mean,
                peak_units=load.peak,
                top_units=load.top,
                month_units=load.month_units,
                used_share=scaled[direction].used_share,
            )


def _used(places: Sequence[Place]) -> float | None:
    every = [one for place in places for one in replay(place.loads, place.rules).values()]
    capacity = sum(one.mean_capacity * len(one.capacity) * 60 for one in every)
    return sum(one.served_units for one in every) / capacity if capacity else None


def _event(places: Sequence[Place], observed: Observed, factor: float) -> Event:
    base = observed.traffics[0]
    return event_of(
        places,
        factor,
        dict(warm_throughput(base)),
        table=base.target.table,
        billing_mode=base.place.capacity.billing_mode,
    )
