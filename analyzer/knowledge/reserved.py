"""Reserved capacity: paid for a year in blocks, used or not. An estimate, never a bill.

Source: AWS Price List API, us-east-2, as people quoted it in public, read 2026-11-30; us-east-1 is taken to be equal.
Three years are sold too, at a price that could not be found there. It is for provisioned tables of the class STANDARD
alone (DynamoDB pricing page, read 2026-11-30).
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["BLOCK_UNITS", "HOURS_A_YEAR", "RESERVED", "ReservedPrices"]

BLOCK_UNITS = 100
"""It is sold in blocks of so many units."""

HOURS_A_YEAR = 8760


class ReservedPrices(Struct, frozen=True):
    """US dollars of one unit: once for the year, and for each hour of it."""

    as_of: str
    region: str
    read_upfront: float
    read_hour: float
    write_upfront: float
    write_hour: float

    @property
    def read_unit_hour(self) -> float:
        """What a read unit costs an hour, the year's payment spread over it."""
        return self.read_upfront / HOURS_A_YEAR + self.read_hour

    @property
    def write_unit_hour(self) -> float:
        """What a write unit costs an hour, the year's payment spread over it."""
        return self.write_upfront / HOURS_A_YEAR + self.write_hour


RESERVED = ReservedPrices(
    as_of="2026-11-30",
    region="us-east-2",
    read_upfront=0.30,
    read_hour=0.000025,
    write_upfront=1.50,
    write_hour=0.000128,
)
