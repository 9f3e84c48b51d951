"""What units cost a month where a table stands: its billing mode, and the prices that hold there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.money import prices_at
from analyzer.knowledge.prices import LIST_PRICES, read_cost, write_cost
from analyzer.model.prices import Prices

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["Tariff", "tariff_of"]


class Tariff(Struct, frozen=True):
    """`mode` is PROVISIONED or PAY_PER_REQUEST; None, not known, is taken as on demand."""

    mode: str | None = None
    prices: Prices = LIST_PRICES

    def dollars(self, read_units: float, write_units: float) -> float:
        """Return what so many units a second cost in a month of 730 hours."""
        read = read_cost(read_units, self.mode, self.prices)
        return read.dollars + write_cost(write_units, self.mode, self.prices).dollars

    @property
    def basis(self) -> str:
        """Say what dollars are reckoned with."""
        return read_cost(0.0, self.mode, self.prices).basis


def tariff_of(traffic: Traffic | None) -> Tariff:
    """Return the tariff of a table; of one that nobody saw, on demand at list price."""
    return Tariff() if traffic is None else Tariff(traffic.place.capacity.billing_mode, prices_at(traffic))
