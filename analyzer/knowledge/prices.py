"""List prices of DynamoDB, with the day and the place that they hold for. An estimate, never a bill.

Source: AWS Price List API, offers AmazonDynamoDB for us-east-1 of 2026-07-30 (provisioned, storage) and 2026-08-15 (on
demand), as people quoted them in public. The provisioned prices of the class Standard-IA could not be checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.finding import Direction
from analyzer.model.instant import parse_instant
from analyzer.model.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant

__all__ = [
    "HOURS_A_MONTH",
    "INFREQUENT_PRICES",
    "LIST_PRICES",
    "SECONDS_A_MONTH",
    "WATCHER_PRICES",
    "Cost",
    "WatcherPrices",
    "prices_for",
    "prices_of",
    "provisioned_cost",
    "read_cost",
    "storage_cost",
    "unit_hour",
    "write_cost",
]

HOURS_A_MONTH = 730
SECONDS_A_MONTH = HOURS_A_MONTH * 3600
_YEAR_MS = 365 * 86_400_000
"""After so long prices are doubted: AWS halved those of on demand within a day, in November 2024."""
_GIGABYTE = 1 << 30
"""What AWS calls a GB of storage: 2 to the 30th bytes (DynamoDB pricing page, read 2026-11-30)."""


LIST_PRICES = Prices(
    as_of="2026-08-15",
    region="us-east-1",
    read_million=0.125,
    read_unit_hour=0.00013,
    write_million=0.625,
    write_unit_hour=0.00065,
    storage_gigabyte=0.25,
)
INFREQUENT_PRICES = Prices(
    as_of="2026-08-15",
    region="us-east-1",
    read_million=0.155,
    read_unit_hour=0.00016,
    write_million=0.78,
    write_unit_hour=0.00081,
    storage_gigabyte=0.10,
    table_class="STANDARD_INFREQUENT_ACCESS",
)
"""Of tables of the class STANDARD_INFREQUENT_ACCESS."""


class Cost(Struct, frozen=True):
    """Dollars a month if a rate goes on, and what they were reckoned with."""

    dollars: float
    basis: str


def prices_of(table_class: str | None) -> Prices:
    """Return the prices of a table class; one that is not known is taken as STANDARD."""
    return INFREQUENT_PRICES if table_class == "STANDARD_INFREQUENT_ACCESS" else LIST_PRICES


def prices_for(region: str | None, table_class: str | None, known: Iterable[Prices], at: Instant) -> Prices:
    """Return the prices of a region and class: of `known` those that fit, else the list prices.

    Prices that are over a year old at that time say so.
    """
    listed = prices_of(table_class)
    fitting = (one for one in known if (one.region, one.table_class) == (region, listed.table_class))
    prices = next(fitting, listed)
    is_old = at - parse_instant(prices.as_of) > _YEAR_MS
    return replace(prices, doubt="over a year old") if is_old else prices


def read_cost(units_a_second: float, billing_mode: str | None, prices: Prices = LIST_PRICES) -> Cost:
    """Return what a read rate costs in a month of 730 hours; a table whose mode is not known is taken as on demand."""
    return _rate_cost(units_a_second, billing_mode, prices.read_million, prices.read_unit_hour, prices)


def write_cost(units_a_second: float, billing_mode: str | None, prices: Prices = LIST_PRICES) -> Cost:
    """Return what a write rate costs in a month of 730 hours; a table whose mode is not known is taken as on demand."""
    return _rate_cost(units_a_second, billing_mode, prices.write_million, prices.write_unit_hour, prices)


def _rate_cost(
    units_a_second: float, billing_mode: str | None, million: float, unit_hour: float, prices: Prices
) -> Cost:
    if billing_mode == "PROVISIONED":
        return Cost(units_a_second * HOURS_A_MONTH * unit_hour, f"provisioned, {prices.place}")
    mode = "on demand" if billing_mode is not None else "on demand assumed"
    return Cost(units_a_second * SECONDS_A_MONTH / 1e6 * million, f"{mode}, {prices.place}")


def unit_hour(prices: Prices, direction: Direction) -> float:
    """Return what a provisioned unit costs for an hour, in dollars."""
    return prices.read_unit_hour if direction is Direction.READ else prices.write_unit_hour


def provisioned_cost(read_units: float, write_units: float, prices: Prices = LIST_PRICES) -> Cost:
    """Return what provisioned capacity costs in a month, used or not."""
    an_hour = read_units * prices.read_unit_hour + write_units * prices.write_unit_hour
    return Cost(an_hour * HOURS_A_MONTH, f"provisioned, {prices.place}")


def storage_cost(size_bytes: float, prices: Prices = LIST_PRICES) -> Cost:
    """Return what bytes cost to keep for a month; the account's first 25 GB, which are free, are not taken off."""
    return Cost(size_bytes / _GIGABYTE * prices.storage_gigabyte, f"storage, {prices.place}")


class WatcherPrices(Struct, frozen=True):
    """US dollars of what a watcher uses: API calls, and the records that AWS makes of a workload."""

    as_of: str
    region: str
    thousand_metrics: float
    thousand_cloudwatch_calls: float
    thousand_s3_gets: float
    thousand_s3_lists: float
    million_traces_recorded: float
    million_traces_read: float
    insights_rule_month: float
    insights_million_events: float
    trail_hundred_thousand_events: float
    logs_gigabyte: float


# CloudWatch, X-Ray, CloudTrail and S3 pricing pages for us-east-1 as people quoted them in public, read 2026-11-30.
# Trail events and the prices of X-Ray and S3 could not be checked against the Price List API.
WATCHER_PRICES = WatcherPrices(
    as_of="2026-11-30",
    region="us-east-1",
    thousand_metrics=0.01,
    thousand_cloudwatch_calls=0.01,
    thousand_s3_gets=0.0004,
    thousand_s3_lists=0.005,
    million_traces_recorded=5.0,
    million_traces_read=0.5,
    insights_rule_month=0.5,
    insights_million_events=0.03,
    trail_hundred_thousand_events=0.1,
    logs_gigabyte=0.5,
)
