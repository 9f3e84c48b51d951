"""List prices of DynamoDB, with the day and the place they were read for. An estimate, never a bill.

Source: AWS Price List, offer of 2026-08-15 for us-east-1 (Standard and Standard-IA table classes), as quoted by others.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["LIST_PRICES", "SECONDS_A_MONTH", "Prices", "read_cost_a_month", "write_cost_a_month"]

SECONDS_A_MONTH = 730 * 3600
"""AWS bills months of 730 hours."""


class Prices(Struct, frozen=True):
    """US dollars for a million request units on demand; `as_of` and `region` say where the figures hold."""

    as_of: str
    region: str
    read_units_million: float
    write_units_million: float


LIST_PRICES = Prices(as_of="2026-08-15", region="us-east-1", read_units_million=0.125, write_units_million=0.625)


def read_cost_a_month(units_a_second: float, prices: Prices = LIST_PRICES) -> float:
    """Return what a steady read rate costs on demand, in dollars a month."""
    return units_a_second * SECONDS_A_MONTH / 1e6 * prices.read_units_million


def write_cost_a_month(units_a_second: float, prices: Prices = LIST_PRICES) -> float:
    """Return what a steady write rate costs on demand, in dollars a month."""
    return units_a_second * SECONDS_A_MONTH / 1e6 * prices.write_units_million
