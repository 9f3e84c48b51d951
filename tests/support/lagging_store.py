"""A table with an index that lags by a known distribution, and clients that write to it and read the index.

Each item moves from key to key of the index; queries of the key it is said to stand under come at random, as often as
asked. What comes out is the log of all calls, in the form of the call book or as records.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analyzer.model.calls import ReturnedItem
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.shape import KeyPredicate
from tests.support.calls import book, call
from tests.support.evidence import GSI2, shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.calls import Call, CallBook

__all__ = ["logged", "mostly_fast", "records", "truth"]

PUT = shape("PutItem", "put", condition="attribute_not_exists(PK)")
MOVE = shape("UpdateItem", "move", update="SET status = :0")
ASK = shape("Query", "ask", index="GSI2", key=(KeyPredicate("status", "=", "S<n>"),))


class Event(NamedTuple):
    """A call of the store: a write of an item to a key of the index, or a query of a key with what it returned."""

    time: float
    item: int
    key: str
    is_write: bool
    is_first: bool = False
    shows: bool = False


def mostly_fast(rng: np.random.Generator, count: int) -> np.ndarray:
    """Lags in seconds: around 60 ms, three in a hundred between one and five seconds."""
    fast = np.exp(rng.normal(math.log(0.06), 0.85, count))
    return np.where(rng.random(count) < 0.03, rng.uniform(1, 5, count), fast)


def truth(lags: Callable[[np.random.Generator, int], np.ndarray], *shares: float) -> list[float]:
    """Quantiles of a distribution of lags."""
    return [float(one) for one in np.quantile(lags(np.random.default_rng(99), 1_000_000), shares)]


def events(
    seed: int,
    lags: Callable[[np.random.Generator, int], np.ndarray] = mostly_fast,
    *,
    items: int = 60,
    writes: int = 40,
    queries_a_second: float = 1.0,
    gap_seconds: float = 8.0,
) -> list[Event]:
    """Every call, in no order: what a query shows follows from the lags of the writes before it."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(items):
        times = np.cumsum(rng.exponential(gap_seconds - 2, writes) + 2)
        seen_from = times + lags(rng, writes)
        for number, time in enumerate(times):
            key = f"S{item}#{number % 3}"
            found.append(Event(time, item, key, is_write=True, is_first=number == 0))
            until = times[number + 1] if number + 1 < writes else time + gap_seconds
            for at in rng.uniform(time, until, rng.poisson(queries_a_second * (until - time))):
                visible = np.flatnonzero(seen_from[: number + 1] <= at)
                shows = len(visible) > 0 and int(visible[-1]) % 3 == number % 3
                found.append(Event(at, item, key, is_write=False, shows=shows))
    return found


def logged(*args: Any, latency_ms: float = 0.0, **fields: Any) -> CallBook:
    """The store's calls as a call book."""
    return book(*(_call(event, latency_ms) for event in events(*args, **fields)))


def _call(event: Event, latency_ms: float) -> Call:
    name = KeyName(KeyLevel.ITEM, f"ITEM#{event.item}", "META")
    if event.is_write:
        keys = (("GSI2", KeyName(KeyLevel.PARTITION, event.key)),)
        of = PUT if event.is_first else MOVE
        return call(of.operation, event.time, of, key=name, index_keys=keys, latency_ms=latency_ms)
    returned = (ReturnedItem(name, None),) if event.shows else ()
    asked: dict[str, Any] = {"key": KeyName(KeyLevel.PARTITION, event.key), "returned": returned}
    return call("Query", event.time, ASK, target=GSI2, count=len(returned), latency_ms=latency_ms, **asked)


def records(*args: Any, **fields: Any) -> list[tuple[float, dict[str, Any]]]:
    """The store's calls as request records without time and table, each with its seconds after the start."""
    return sorted(((event.time, _record(event)) for event in events(*args, **fields)), key=lambda one: one[0])


def _record(event: Event) -> dict[str, Any]:
    key, status = {"PK": f"ITEM#{event.item}", "SK": "META"}, {"status": {"S": event.key}}
    if event.is_write:
        told = {"op": "PutItem", "condition": "attribute_not_exists(PK)"}
        moved = {"op": "UpdateItem", "update": "SET #s = :s", "names": {"#s": "status"}}
        return {"key": key, "index_keys": {"by-status": status}, **(told if event.is_first else moved)}
    returned = [{"key": f"ITEM#{event.item}\tMETA"}] if event.shows else []
    asked = {"op": "Query", "index": "by-status", "key": {"status": event.key}}
    return {**asked, "returned": returned, "count": len(returned), "scanned": len(returned)}
