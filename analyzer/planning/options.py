"""The ways to pay for a table at its observed demand: dollars a month, the arithmetic, and what each of them risks."""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.knowledge.prices import HOURS_A_MONTH, INFREQUENT_PRICES, SECONDS_A_MONTH, storage_cost, unit_hour
from analyzer.model.finding import Direction
from analyzer.planning.autoscaling import Rules, replay
from analyzer.planning.option import Option, Term
from analyzer.planning.reservation import reserved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from analyzer.model.prices import Prices
    from analyzer.planning.autoscaling import Scaled
    from analyzer.planning.load import Load
    from analyzer.planning.option import Place

__all__ = ["options_of", "rules_for"]

_ROOM = 2.0
"""A maximum at twice the fullest stretch: it stops a runaway, not the growth of a week."""
_LEAST_UNITS = 1.0
_QUIET = 0.05
"""Capacity may sink to what all but a twentieth of the minutes ask for."""


def rules_for(load: Load, minimum: float | None = None, maximum: float | None = None, share: float = 0.7) -> Rules:
    """Return bounds for a load: those that are set, else from its quiet minutes to twice its fullest."""
    free = Rules(minimum=_LEAST_UNITS, maximum=inf, target_share=share)
    least = free.meeting(load.at_least(1 - _QUIET))
    most = free.meeting(load.peak * _ROOM)
    low = least if minimum is None else minimum
    return Rules(minimum=low, maximum=max(low, most) if maximum is None else maximum, target_share=share)


def options_of(places: Sequence[Place], prices: Prices, storage_bytes: float | None) -> tuple[Option, ...]:
    """Return every way to pay, in the order in which people weigh them. Storage is in each of them where it is known.

    `prices` are those of the class STANDARD.
    """
    kept = () if storage_bytes is None else (_storage(storage_bytes, prices),)
    scaled = {place.name: replay(place.loads, place.rules) for place in places}
    return (
        _on_demand(places, prices, kept),
        _on_demand_maximum(places, prices, kept),
        _provisioned(places, scaled, prices, kept),
        reserved(scaled, prices, kept),
        _infrequent(places, prices, storage_bytes),
    )


def _million(prices: Prices, direction: Direction) -> float:
    return prices.read_million if direction is Direction.READ else prices.write_million


def _each(places: Iterable[Place]) -> Iterable[tuple[str, str, Direction, Load]]:
    for place in places:
        for direction, load in place.loads.items():
            yield f"{direction.value}s of {place.name}", place.name, direction, load


def _storage(size: float, prices: Prices) -> Term:
    cost = storage_cost(size, prices).dollars
    return Term("storage", f"{number(size / 2**30)} GB × ${prices.storage_gigabyte:g}", cost)


def _requests(places: Sequence[Place], prices: Prices) -> tuple[Term, ...]:
    return tuple(
        Term(
            of,
            f"{number(load.mean)} units/s × {number(SECONDS_A_MONTH)} s × ${_million(prices, direction):g} ÷ 1,000,000",
            load.month_units / 1e6 * _million(prices, direction),
        )
        for of, _, direction, load in _each(places)
    )


def _total(terms: Iterable[Term]) -> float:
    return sum(term.dollars for term in terms)


def _on_demand(places: Sequence[Place], prices: Prices, kept: tuple[Term, ...]) -> Option:
    terms = (*_requests(places, prices), *kept)
    return Option(
        name="on-demand",
        title="on demand",
        dollars=_total(terms),
        terms=terms,
        risk="more than twice the earlier peak within half an hour may be throttled; a runaway caller has no ceiling "
        "but the table's quota, and is paid for",
        throttled_share=0.0,
        throttled_units=0.0,
    )


def _on_demand_maximum(places: Sequence[Place], prices: Prices, kept: tuple[Term, ...]) -> Option:
    terms = (*_requests(places, prices), *kept)  # the same as without a maximum
    worst, told = _total(kept), []
    for of, _, direction, load in _each(places):
        most = max(_LEAST_UNITS, ceil(load.top * _ROOM))
        worst += most * SECONDS_A_MONTH / 1e6 * _million(prices, direction)
        told.append(f"{of} {number(most)}")
    return Option(
        name="on-demand-maximum",
        title="on demand with a maximum",
        dollars=_total(terms),
        terms=terms,
        risk=f"what goes over the maximum is throttled; for it the bill cannot pass ${number(worst)} a month",
        because=f"maximum at twice the fullest {'ten seconds' if _is_fine(places) else 'minute'}, units a second: "
        f"{', '.join(told)}",
        throttled_share=0.0,
        throttled_units=0.0,
    )


def _is_fine(places: Sequence[Place]) -> bool:
    return all(load.top_units is not None for _, _, _, load in _each(places))


def _provisioned(
    places: Sequence[Place], scaled: Mapping[str, Mapping[Direction, Scaled]], prices: Prices, kept: tuple[Term, ...]
) -> Option:
    terms = []
    for of, name, direction, _ in _each(places):
        one, dollars = scaled[name][direction], unit_hour(prices, direction)
        words = f"{number(one.mean_capacity)} units on average × {HOURS_A_MONTH} h × ${dollars:g}"
        terms.append(Term(of, words, one.mean_capacity * HOURS_A_MONTH * dollars))
    every = [one for directions in scaled.values() for one in directions.values()]
    refused = sum(one.throttled_units for one in every)
    asked = refused + sum(one.served_units for one in every)
    return Option(
        name="provisioned",
        title="provisioned, with autoscaling",
        dollars=_total((*terms, *kept)),
        terms=(*terms, *kept),
        risk=_risk_of_scaling(every, refused, asked),
        because=_bounds(places),
        throttled_share=refused / asked if asked else 0.0,
        throttled_units=refused,
    )


def _bounds(places: Sequence[Place]) -> str:
    told = []
    for place in places:
        for direction, rules in place.rules.items():
            bounds = f"{number(rules.minimum)} to {number(rules.maximum)} at {rules.target_share:.0%}"
            told.append(f"{direction.value}s of {place.name} {bounds}")
    return f"capacity units: {', '.join(told)}"


def _risk_of_scaling(every: Sequence[Scaled], refused: float, asked: float) -> str:
    raised, lowered = sum(one.raised for one in every), sum(one.lowered for one in every)
    changes = f"capacity was raised {_times(raised)} and lowered {_times(lowered)}"
    if not raised and not lowered:
        changes = "capacity was never changed"
    held = sum(one.held_minutes for one in every)
    if held:
        changes += f"; for {number(held)} minutes it could not be lowered, the day's decreases were used up"
    if not refused:
        return f"replayed, nothing would have been throttled; {changes}. A jump within two minutes outruns it"
    minutes = sum(one.throttled_minutes for one in every)
    return (
        f"replayed, {number(refused)} units ({percent(refused / asked)}) in {number(minutes)} minutes would have been "
        f"throttled after burst credit; {changes}"
    )


def _times(count: int) -> str:
    return ("never", "once")[count] if count <= 1 else f"{number(count)} times"


def _infrequent(places: Sequence[Place], prices: Prices, storage_bytes: float | None) -> Option:
    rates = INFREQUENT_PRICES
    more = _total(_requests(places, rates)) - _total(_requests(places, prices))
    saved = prices.storage_gigabyte - rates.storage_gigabyte
    if saved > 0:
        because = f"on demand it pays from {number(more / saved)} GB on: requests cost ${number(more)} more a month"
    else:
        because = "at these prices it stores no cheaper, and never pays"
    risk = "requests cost a quarter more, so that growing traffic undoes it; the class can be changed twice a month"
    if storage_bytes is None:
        unknown = f"the table's size is not known. {because[0].upper()}{because[1:]}"
        return Option(name="standard-ia", title="Standard-IA, on demand", dollars=None, risk=risk, because=unknown)
    terms = (*_requests(places, rates), _storage(storage_bytes, rates))
    return Option(
        name="standard-ia",
        title="Standard-IA, on demand",
        dollars=_total(terms),
        terms=terms,
        risk=risk,
        because=because,
        throttled_share=0.0,
        throttled_units=0.0,
    )
