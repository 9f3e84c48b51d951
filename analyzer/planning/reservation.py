"""How much of a table's capacity is worth reserving for a year: what is in use long enough to pay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number
from analyzer.knowledge.prices import HOURS_A_MONTH, unit_hour
from analyzer.knowledge.reserved import BLOCK_UNITS, HOURS_A_YEAR, RESERVED
from analyzer.model.finding import Direction
from analyzer.planning.option import Option, Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.model.prices import Prices
    from analyzer.planning.autoscaling import Scaled

__all__ = ["reserved"]


def reserved(scaled: Mapping[str, Mapping[Direction, Scaled]], prices: Prices, kept: tuple[Term, ...]) -> Option:
    """Reserve as many blocks as are in use for long enough; the rest of capacity stays autoscaled."""
    terms: list[Term] = []
    for direction in Direction:
        capacity = _together(scaled, direction)
        hour, listed = _hour(direction), unit_hour(prices, direction)
        blocks = _blocks(capacity, hour / listed if listed else 1.0)
        if blocks:
            units = blocks * BLOCK_UNITS
            words = f"{number(units)} units × {HOURS_A_MONTH} h × ({_spread(direction)})"
            terms.append(Term(f"reserved {direction.value}s", words, units * HOURS_A_MONTH * hour))
        if capacity:
            rest = sum(max(0.0, one - blocks * BLOCK_UNITS) for one in capacity) / len(capacity)
            words = f"{number(rest)} units on average × {HOURS_A_MONTH} h × ${listed:g}"
            terms.append(Term(f"{direction.value}s beyond it", words, rest * HOURS_A_MONTH * listed))
    if not any(term.of.startswith("reserved") for term in terms):
        return Option(
            name="reserved",
            title="reserved for a year",
            dollars=None,
            risk="paid for a year, used or not",
            because=f"no block of {BLOCK_UNITS} units is in use long enough to pay",
        )
    return Option(
        name="reserved",
        title="reserved for a year",
        dollars=sum(term.dollars for term in (*terms, *kept)),
        terms=(*terms, *kept),
        risk="paid for a year, used or not, and not for on demand or Standard-IA; throttles are those of autoscaling",
        because=f"prices of {RESERVED.region}, {RESERVED.as_of}; reservations of the account's other tables share it",
    )


def _together(scaled: Mapping[str, Mapping[Direction, Scaled]], direction: Direction) -> list[float]:
    """Return the capacity of table and indexes together, by minute: a reservation covers them all."""
    series = [directions[direction].capacity for directions in scaled.values() if direction in directions]
    return [sum(minute) for minute in zip(*series, strict=True)] if series else []


def _hour(direction: Direction) -> float:
    return RESERVED.read_unit_hour if direction is Direction.READ else RESERVED.write_unit_hour


def _spread(direction: Direction) -> str:
    """Write the price of a unit an hour in its parts, as they are listed: rounded, the product would not come out."""
    reads = direction is Direction.READ
    upfront, hour = (
        (RESERVED.read_upfront, RESERVED.read_hour) if reads else (RESERVED.write_upfront, RESERVED.write_hour)
    )
    return f"${upfront:.2f} upfront ÷ {HOURS_A_YEAR} h + ${hour:f}"


def _blocks(capacity: Sequence[float], pays_from: float) -> int:
    """Return how many blocks are in use for at least that share of the minutes."""
    ordered = sorted(capacity, reverse=True)
    if not ordered or pays_from >= 1:
        return 0
    return int(ordered[min(len(ordered) - 1, int(pays_from * len(ordered)))] // BLOCK_UNITS)
