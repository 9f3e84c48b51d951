"""How a pattern is used, in the fields of a contract: order, page size, consistency, filter, sizes, rate, callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.contract.seen import operation_of
from analyzer.model.counts import Count

if TYPE_CHECKING:
    from analyzer.contract.details import Detail
    from analyzer.contract.rates import Rates
    from analyzer.contract.seen import Seen
    from analyzer.model.counts import Counts

__all__ = ["Told", "usage_of"]

_FEW = 30
_P95 = 95
_PAGED = frozenset({"Query", "ExecuteStatement"})

Told = dict[str, str]
"""What is unsure, by field."""


def usage_of(
    seen: Seen, detail: Detail, counts: Counts, rates: Rates, *, has_entity: bool
) -> tuple[dict[str, Any], Told]:
    """Return how a pattern is used, and what of that is unsure."""
    cells = [counts.cells[n] for n in seen.cells]
    usage: dict[str, Any] = {}
    unsure: Told = {}
    if seen.shape.operation == "Query" and seen.shape.forward is False:
        usage["order"] = "descending"
    usage |= _pages(seen, detail, unsure)
    usage |= {"consistency": "strong"} if all(c.shape.consistent for c in cells) else {}
    if seen.shape.filter is not None:
        usage["filter"] = _filter(seen, counts)
    if detail.item.usual_bytes is not None and not has_entity:
        usage["item_bytes"] = detail.item.usual_bytes
    usage |= _rate(seen, counts, rates)
    callers = sorted({c.caller for c in cells if c.caller is not None})
    usage |= {"callers": callers} if callers else {}
    if operation_of(seen.shape) == "Scan":
        unsure["operation"] = "a Scan; if it is meant, say why (purpose), when (schedule) and how fast"
    if seen.requests < _FEW:
        unsure.setdefault("id", f"it was seen {_times(seen.requests)}, too few to tell whether it is a pattern")
    return usage, unsure


def _times(requests: float) -> str:
    number = round(requests)
    return "once" if number <= 1 else f"{number} times"


def _pages(seen: Seen, detail: Detail, unsure: Told) -> dict[str, Any]:
    """Return page size and items of a key, of a Query."""
    usage: dict[str, Any] = {}
    if not seen.operations.keys() & _PAGED:
        return usage
    limits = sorted(limit for limit in detail.limits if limit)
    if limits:
        (usual, times), *_ = detail.limits.most_common(1)
        usage["page_size"] = usual or limits[-1]
        if times < detail.records:
            others = [str(limit) for limit in limits if limit != usage["page_size"]]
            also = f"limits of {', '.join(others[:3])}" if others else "no limit"
            unsure["page_size"] = f"some requests had {also}"
    items = sorted(detail.items.values())
    is_whole = _binds_partition_alone(seen) or detail.goes_on
    if items and items[-1] and is_whole:
        usage["items_per_key"] = max(1, int(float(f"{np.percentile(items, _P95):.2g}")))
        if detail.goes_on or (limits and items[-1] >= limits[0]):
            unsure["items_per_key"] = "at least: pages were cut off by a limit"
    return usage


def _binds_partition_alone(seen: Seen) -> bool:
    """Whether a Query reads all items that its sort condition, a prefix at most, lets it."""
    return all(not any(text.split(" ", 1)[0] in {"<", "<=", ">", ">=", "between"} for _, text in k) for k in seen.keys)


def _filter(seen: Seen, counts: Counts) -> dict[str, Any]:
    """Return what a filter threw away, rounded up to 5 %."""
    limit: dict[str, Any] = {"text": seen.shape.filter}
    scanned, returned = (int(counts.values[seen.cells, column].sum()) for column in (Count.SCANNED, Count.RETURNED))
    if scanned:
        limit["discards_at_most"] = f"{min(100, -(-(scanned - returned) * 100 // scanned // 5) * 5)}%"
    return limit


def _rate(seen: Seen, counts: Counts, rates: Rates) -> dict[str, Any]:
    """Return requests a second; what comes in few minutes has a peak alone."""
    told = rates.of(seen.cells, counts)
    if told.p95 is None or told.peak is None:
        return {}
    p95 = {"p95": _rounded(told.p95)} if told.p95 else {}
    return {"rate": {**p95, "peak": _rounded(told.peak)}}


def _rounded(rate: float) -> float | int:
    rounded = float(f"{rate:.2g}")
    return int(rounded) if rounded.is_integer() else rounded
