"""What units of a week cost a month where they were spent: billing mode, table class and prices of each table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.knowledge.prices import prices_for, prices_of
from analyzer.model.target import Target
from analyzer.planning.tariff import Tariff, tariff_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.prices import Prices
    from analyzer.model.traffic import Traffic

__all__ = ["Bill", "bill_of", "priced"]


class Bill(Struct, frozen=True):
    """`seconds` of the week were looked at; of a table that nobody described, on demand at list price is assumed."""

    seconds: float
    tariffs: dict[Target, Tariff]

    def dollars(self, target: Target, read_units: float, write_units: float) -> float:
        """Return what units of the week cost a month, if they go on."""
        seconds = max(self.seconds, 1.0)
        return self.tariff(target).dollars(read_units / seconds, write_units / seconds)

    def tariff(self, target: Target) -> Tariff:
        """Return what holds for a table or index."""
        return self.tariffs.get(target) or self.tariffs.get(target.base) or Tariff()

    @property
    def basis(self) -> str:
        """Say what dollars are reckoned with."""
        told = dict.fromkeys(tariff.basis for target, tariff in self.tariffs.items() if target.index is None)
        return "; ".join(told) or Tariff().basis


def bill_of(traffics: Iterable[Traffic], seconds: float) -> Bill:
    """Return the bill of a week's targets."""
    return Bill(seconds, {traffic.target: tariff_of(traffic) for traffic in traffics})


def priced(traffics: Iterable[Traffic], prices: tuple[Prices, ...]) -> tuple[Traffic, ...]:
    """Give targets the prices that somebody configured, where they are not those of the list."""
    found = []
    for traffic in traffics:
        table_class = traffic.place.capacity.table_class
        holds = prices_for(traffic.target.region, table_class, prices, traffic.window.end)
        place = traffic.place if holds == prices_of(table_class) else replace(traffic.place, prices=holds)
        found.append(replace(traffic, place=place))
    return tuple(found)
