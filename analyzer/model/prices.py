"""Prices of DynamoDB as values: where, of when, and for tables of which class they hold."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Prices"]


class Prices(Struct, frozen=True):
    """US dollars: a million request units on demand, a provisioned unit an hour, a GB stored for a month.

    `as_of` is a day (2026-08-15); `doubt` says what is to be known of prices that may be wrong by now.
    """

    as_of: str
    region: str
    read_million: float
    read_unit_hour: float
    write_million: float
    write_unit_hour: float
    storage_gigabyte: float
    table_class: str = "STANDARD"
    source: str = "list price"
    doubt: str | None = None

    @property
    def free(self) -> tuple[str, ...]:
        """The fields whose price is 0: what they pay for costs nothing in every sum."""
        fields = ("read_million", "read_unit_hour", "write_million", "write_unit_hour", "storage_gigabyte")
        return tuple(name for name in fields if not getattr(self, name))

    @property
    def place(self) -> str:
        """Say what the prices are, and of when and where."""
        told = f"{self.source} of {self.region}, {self.as_of}"
        doubts = [doubt for doubt in (self.doubt, "with prices of $0" if self.free else None) if doubt is not None]
        return f"{told} ({', '.join(doubts)})" if doubts else told
