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
    def place(self) -> str:
        """Say what the prices are, and of when and where."""
        told = f"{self.source} of {self.region}, {self.as_of}"
        return told if self.doubt is None else f"{told} ({self.doubt})"
