"""What requests cost a month, reads and writes together: the rule for money knows no verbs. And at which prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.knowledge.prices import Cost, prices_of, read_cost, write_cost
from analyzer.model.finding import Direction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Finding
    from analyzer.model.prices import Prices
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["capacity_share", "cost_of", "dollars_of", "prices_at", "with_price"]


def prices_at(traffic: Traffic) -> Prices:
    """Return the prices of a target: those that somebody configured, else the list prices."""
    return traffic.place.prices or prices_of(traffic.place.capacity.table_class)


def cost_of(units: float, traffic: Traffic, direction: Direction) -> Cost:
    """Return what so many units in the window cost a month, if that rate goes on."""
    price = read_cost if direction is Direction.READ else write_cost
    return price(_a_second(units, traffic), traffic.place.capacity.billing_mode, prices_at(traffic))


def capacity_share(units: float, traffic: Traffic, direction: Direction) -> float | None:
    """Return which part of what is provisioned so many units in the window are; None on demand, or not known."""
    capacity = traffic.place.capacity
    ready = capacity.read_units if direction is Direction.READ else capacity.write_units
    if capacity.billing_mode != "PROVISIONED" or not ready:
        return None
    return _a_second(units, traffic) / ready


def with_price(finding: Finding, traffic: Traffic) -> Finding:
    """Say what a finding's dollars were reckoned with, where it does not and they are not the list prices of today."""
    prices = traffic.place.prices
    if finding.cost_per_month_usd is None or prices is None or finding.evidence.get("price") is not None:
        return finding
    return msgspec.structs.replace(finding, evidence={**finding.evidence, "price": prices.place})


def dollars_of(rows: Iterable[PatternTraffic], traffic: Traffic) -> float | None:
    """Return what rows cost a month if their rate goes on; None where no request tells its units."""
    mode, prices = traffic.place.capacity.billing_mode, prices_at(traffic)
    told = [row for row in rows if row.units_known or row.secondary]
    if not told:
        return None
    read = _a_second(sum(row.read_units.value for row in told), traffic)
    written = _a_second(sum(row.write_units.value for row in told), traffic)
    return read_cost(read, mode, prices).dollars + write_cost(written, mode, prices).dollars


def _a_second(units: float, traffic: Traffic) -> float:
    """Return units of the window as a rate; what came in less than a second is taken as a second's."""
    return units / traffic.window.rate_seconds
