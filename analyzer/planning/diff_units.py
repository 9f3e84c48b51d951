"""Units of one request of a pattern under two contracts: observed under the first, scaled to the second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.planning.expected import altogether

if TYPE_CHECKING:
    from analyzer.contract.model import PatternDeclaration
    from analyzer.planning.expected import Expected
    from analyzer.planning.pattern_costs import PatternCost
    from analyzer.planning.tariff import Tariff

__all__ = ["Side", "rate_of"]


_LEAST_READ_UNITS = 0.5


def rate_of(pattern: PatternDeclaration | None) -> float | None:
    """Return the declared rate, the usual one before the peak."""
    if pattern is None:
        return None
    return pattern.rate.p95 if pattern.rate.p95 is not None else pattern.rate.peak


class Side(Struct, frozen=True):
    """Units of one request under one contract; None is not known."""

    is_write: bool
    units: float | None
    index_units: dict[str, float]

    @classmethod
    def of(cls, observed: PatternCost | None, expected: Expected | None, pattern: PatternDeclaration | None) -> Side:
        """Return what was observed, else what is declared."""
        is_write = pattern is not None and pattern.writes
        rate = None if observed is None else observed.requests_a_second
        if observed is not None and rate and observed.units_a_request is not None:
            at_place = ((observed.read_units or 0.0) + (observed.write_units or 0.0)) / rate
            return cls(is_write, at_place, {name: units / rate for name, units in observed.index_units.items()})
        if expected is None:
            return cls(is_write, None, {})
        return cls(is_write, expected.units, expected.index_units)

    def scaled(
        self,
        expected: Expected | None,
        wanted: Expected | None,
        pattern: PatternDeclaration | None,
        held: frozenset[str],
    ) -> Side:
        """Return the same under the new contract, whose indexes are `held`: scaled by what both say a request costs.

        What is new costs what is wanted; what was observed and nobody declares, such as writes to an index, stays.
        """
        is_write = pattern is not None and pattern.writes
        if wanted is None:
            return Side(is_write, None, {})
        if expected is None:
            return Side(is_write, wanted.units, wanted.index_units)
        index_units = {}
        for name in sorted(held & {*self.index_units, *wanted.index_units}):
            before = expected.index_units.get(name)
            seen, meant = self.index_units.get(name, 0.0), wanted.index_units.get(name)
            if before is None:
                index_units[name] = seen if name in self.index_units else meant or 0.0
            else:
                index_units[name] = _scaled(seen, before, meant or 0.0)
        units = self.units if self.units is None else _scaled(self.units, expected.units, wanted.units)
        return Side(is_write, units, index_units)

    def fanned(self, parts: float) -> Side:
        """Return the same as so many requests, each of half a unit at least."""
        if parts <= 1 or self.units is None:
            return self
        return Side(self.is_write, parts * max(_LEAST_READ_UNITS, self.units / parts), self.index_units)

    @property
    def total(self) -> float | None:
        """Units of the request altogether."""
        return altogether(self.units, self.index_units)

    def dollars(self, rate: float | None, tariff: Tariff) -> float | None:
        """Return what so many requests a second cost a month."""
        if self.units is None or rate is None:
            return None
        at_indexes = sum(self.index_units.values())
        read, written = (0.0, self.units + at_indexes) if self.is_write else (self.units, 0.0)
        return tariff.dollars(read * rate, written * rate)


def _scaled(observed: float, expected: float | None, wanted: float | None) -> float:
    """Return what was observed × wanted ÷ expected; as it was where one of them does not follow from a contract."""
    return observed * wanted / expected if expected and wanted is not None else observed
