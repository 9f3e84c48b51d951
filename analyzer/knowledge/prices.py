"""List prices of DynamoDB, with the day and the place that they hold for. An estimate, never a bill.

Source: AWS Price List API, offers AmazonDynamoDB for us-east-1 of 2026-07-30 (provisioned) and 2026-08-15 (on demand),
as people quoted them in public.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["HOURS_A_MONTH", "LIST_PRICES", "WATCHER_PRICES", "Cost", "Prices", "WatcherPrices", "read_cost"]

HOURS_A_MONTH = 730
_SECONDS_A_MONTH = HOURS_A_MONTH * 3600


class Prices(Struct, frozen=True):
    """US dollars: for a million read request units on demand, and for a provisioned read unit an hour."""

    as_of: str
    region: str
    read_million: float
    read_unit_hour: float


LIST_PRICES = Prices(as_of="2026-08-15", region="us-east-1", read_million=0.125, read_unit_hour=0.00013)


class Cost(Struct, frozen=True):
    """Dollars a month if a rate goes on, and what they were reckoned with."""

    dollars: float
    basis: str


def read_cost(units_a_second: float, billing_mode: str | None, prices: Prices = LIST_PRICES) -> Cost:
    """Return what a read rate costs in a month of 730 hours; a table whose mode is not known is taken as on demand."""
    place = f"list price of {prices.region}, {prices.as_of}"
    if billing_mode == "PROVISIONED":
        return Cost(units_a_second * HOURS_A_MONTH * prices.read_unit_hour, f"provisioned, {place}")
    mode = "on demand" if billing_mode is not None else "on demand assumed"
    return Cost(units_a_second * _SECONDS_A_MONTH / 1e6 * prices.read_million, f"{mode}, {place}")


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
