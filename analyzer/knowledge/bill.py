"""What the watcher's own AWS calls cost: each call, and each route for a month before it is switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.knowledge.prices import HOURS_A_MONTH, WATCHER_PRICES, Cost, WatcherPrices

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "PAST_AN_HOUR",
    "SERIES_AN_INDEX",
    "SERIES_AN_OPERATION",
    "SERIES_A_TABLE",
    "Charge",
    "affordable_every",
    "charge_of",
    "insights_month",
    "lists_month",
    "logs_month",
    "metrics_month",
    "series_of_tables",
    "traces_month",
    "trail_month",
]

_SECONDS_A_MONTH = HOURS_A_MONTH * 3600
_GIGABYTE = 1e9
_DAYS_A_MONTH = HOURS_A_MONTH / 24
_PAUSES_SECONDS = (60, 120, 300, 600, 900)
"""As people write them; what is read more seldom than every quarter of an hour finds a fault too late."""

# What collectors/cloudwatch_metrics asks for; a test of that room holds the numbers to it.
SERIES_A_TABLE = 17
"""Use, provisioned capacity, throttles by reason, failed conditions, of a table without its operations."""
SERIES_AN_INDEX = 14
SERIES_AN_OPERATION = 4
PAST_AN_HOUR = 3
"""Readings of a series' past in an hour: its minutes yesterday and a week ago, and its hour on earlier days."""


class Charge(NamedTuple):
    """What one call is billed as: metrics requested, and dollars at list price."""

    metrics: int
    usd: float


_NOTHING = Charge(0, 0.0)


def charge_of(service: str, operation: str, params: Mapping[str, Any]) -> Charge:
    """Return what a call costs; free ones cost nothing.

    Free tiers are left out, so that it is never too little. Each page of GetMetricData is counted anew: whether AWS
    bills a page as its metrics again is not published.
    """
    prices = WATCHER_PRICES
    if service == "cloudwatch":
        if operation in {"GetMetricData", "GetInsightRuleReport"}:
            named = params.get("MetricDataQueries" if operation == "GetMetricData" else "Metrics") or ()
            metrics = max(len(named), 1)
            return Charge(metrics, metrics * prices.thousand_metrics / 1000)
        return Charge(0, prices.thousand_cloudwatch_calls / 1000)
    if service == "xray":
        traces = len(params.get("TraceIds") or ())
        return Charge(0, traces * prices.million_traces_read / 1e6)
    if service == "s3":
        is_read = operation.startswith(("Get", "Head"))
        return Charge(0, (prices.thousand_s3_gets if is_read else prices.thousand_s3_lists) / 1000)
    return _NOTHING


def series_of_tables(tables: int, indexes: int, operations: int = 4) -> int:
    """Return how many series so many tables have, each with so many GSIs and operations in use."""
    return tables * (SERIES_A_TABLE + indexes * SERIES_AN_INDEX + operations * SERIES_AN_OPERATION)


def metrics_month(
    series: int, every_seconds: float, compared: int | None = None, prices: WatcherPrices = WATCHER_PRICES
) -> Cost:
    """Return what a month of reading metrics costs: each is billed whenever it is asked for.

    `compared` is how many of them have their past read too; None is all, so that it is never too little.
    """
    past = (series if compared is None else compared) * PAST_AN_HOUR * HOURS_A_MONTH
    asked = series * _SECONDS_A_MONTH / every_seconds + past
    return _cost(asked / 1000 * prices.thousand_metrics, "GetMetricData", prices)


def insights_month(
    rules: int,
    events_a_second: float,
    *,
    has_sort_key: bool = True,
    every_seconds: float = 60,
    metrics_a_report: int = 1,
    prices: WatcherPrices = WATCHER_PRICES,
) -> Cost:
    """Return what Contributor Insights costs in a month, its rules and events and our reading of its reports.

    An item read or written is an event, a Query one whatever it returns; with a sort key each counts twice.
    Source: Developer Guide, "Contributor Insights: how it works", read 2026-11-30.
    """
    events = events_a_second * _SECONDS_A_MONTH * (2 if has_sort_key else 1)
    reports = rules * metrics_a_report * _SECONDS_A_MONTH / every_seconds
    dollars = rules * prices.insights_rule_month
    dollars += events / 1e6 * prices.insights_million_events + reports / 1000 * prices.thousand_metrics
    return _cost(dollars, "rules, events and GetInsightRuleReport", prices)


def trail_month(requests_a_second: float, prices: WatcherPrices = WATCHER_PRICES) -> Cost:
    """Return what CloudTrail's data events cost in a month: all of them, since it does not sample."""
    dollars = requests_a_second * _SECONDS_A_MONTH / 1e5 * prices.trail_hundred_thousand_events
    return _cost(dollars, "data events", prices)


def logs_month(requests_a_second: float, bytes_a_record: float, prices: WatcherPrices = WATCHER_PRICES) -> Cost:
    """Return what CloudWatch Logs takes in a month to ingest so many records; keeping and reading them is apart."""
    gigabytes = requests_a_second * _SECONDS_A_MONTH * bytes_a_record / _GIGABYTE
    return _cost(gigabytes * prices.logs_gigabyte, "ingest", prices)


def traces_month(traces_a_second: float, prices: WatcherPrices = WATCHER_PRICES) -> Cost:
    """Return what X-Ray costs in a month: each trace recorded, found once and read once."""
    traces = traces_a_second * _SECONDS_A_MONTH / 1e6
    return _cost(traces * (prices.million_traces_recorded + 2 * prices.million_traces_read), "traces", prices)


def _cost(dollars: float, what: str, prices: WatcherPrices) -> Cost:
    return Cost(dollars, f"{what}, list price of {prices.region}, {prices.as_of}")


def lists_month(every_seconds: float, lists: int = 3, prices: WatcherPrices = WATCHER_PRICES) -> Cost:
    """Return what looking into a bucket costs in a month, so many lists a look; reading objects is apart."""
    looks = _SECONDS_A_MONTH / every_seconds
    return _cost(looks * lists / 1000 * prices.thousand_s3_lists, "lists", prices)


def affordable_every(
    series: int, usd_a_day: float, compared: int = 0, prices: WatcherPrices = WATCHER_PRICES
) -> int | None:
    """Return the shortest usual pause in seconds at which so many series cost no more a day; None where none does."""
    for every in _PAUSES_SECONDS:
        if metrics_month(series, every, compared, prices).dollars / _DAYS_A_MONTH <= usd_a_day:
            return every
    return None
