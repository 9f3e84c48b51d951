"""What the watcher's own AWS calls cost: each call, and each route for a month before it is switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.knowledge.prices import WATCHER_PRICES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Charge", "charge_of"]


class Charge(NamedTuple):
    """What one call is billed as: metrics requested, and dollars at list price."""

    metrics: int
    usd: float


NOTHING = Charge(0, 0.0)


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
    return NOTHING
