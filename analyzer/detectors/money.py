"""What requests cost a month, reads and writes together: the rule for money knows no verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.knowledge.prices import prices_of, read_cost, write_cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["dollars_of"]


def dollars_of(rows: Iterable[PatternTraffic], traffic: Traffic) -> float | None:
    """Return what rows cost a month if their rate goes on; None where no request tells its units."""
    capacity, seconds = traffic.place.capacity, max(traffic.window.seconds, 1.0)
    prices = prices_of(capacity.table_class)
    told = [row for row in rows if row.units_known or row.secondary]
    if not told:
        return None
    read = sum(row.read_units.value for row in told) / seconds
    written = sum(row.write_units.value for row in told) / seconds
    mode = capacity.billing_mode
    return read_cost(read, mode, prices).dollars + write_cost(written, mode, prices).dollars
