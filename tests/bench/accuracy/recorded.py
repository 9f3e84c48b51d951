"""Faults that no ten minutes of a log show: they stand in metrics, or take a contract or an index of their own.

Each is a recording drawn from a seed, numbers and noise alike, and is judged as `dynascope replay` judges it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from analyzer.model.instant import Instant
    from analyzer.model.report import Report

__all__ = ["RECORDED", "RecordedFault", "healthy_metrics"]

_DAY = 86_400


class RecordedFault(Struct, frozen=True):
    """A fault by the detector that has to find it, and its table; `plant` gives the recording, and when it begins.

    `follows` is what else is true of it, by detector and table.
    """

    detector: str
    table: str
    plant: Callable[[np.random.Generator], tuple[Recorded, float]]
    follows: frozenset[tuple[str, str]] = frozenset()

    def judged(self, seed: int) -> tuple[Report, Instant]:
        """Return what is said of one draw, and when its fault began."""
        made, onset = self.plant(np.random.default_rng(seed))
        return _replayed(made), made.start + round(onset * 1000)


def healthy_metrics(seed: int) -> Report:
    """Return what is said of the metrics of a table and its index that are well.

    Capacity follows a rhythm, and three days of the past stand beside it; two tries of an hour are refused.
    """
    draw = np.random.default_rng(seed)
    made = Recorded(minutes=60, table="rooms").table(read=200, write=100, indexes={"by-owner": ("owner", "SK")})
    rhythm = [0.5 + 0.2 * math.sin(2 * math.pi * (minute / 60 - draw.uniform(0, 0.1))) for minute in range(60)]
    for index, part in ((None, 1.0), ("by-owner", 0.4)):
        for dimension, units in (("Read", 200), ("Write", 100)):
            took = [share * part * units * 60 for share in rhythm]
            made.metric(f"Consumed{dimension}CapacityUnits", _noisy(draw, took), index=index)
            made.metric(f"Provisioned{dimension}CapacityUnits", [units] * 60, stat="Average", index=index)
    late = draw.choice(60, 2, replace=False).tolist()
    made.metric("ReadProvisionedThroughputThrottleEvents", [float(minute in late) for minute in range(60)])
    for operation, usual in (("GetItem", 4.0), ("Query", 9.0), ("PutItem", 6.0)):
        points = 3 * 24 * 12 + 12
        for stat, value in (("p99", usual), ("SampleCount", 3000.0)):
            values = _noisy(draw, [value] * points)
            made.metric("SuccessfulRequestLatency", values, stat=stat, period=300, at=-3 * _DAY, Operation=operation)
        made.metric("SystemErrors", [], Operation=operation)
    return _replayed(made)


def _replayed(made: Recorded) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        return made.replayed(Path(folder))


def _noisy(draw: np.random.Generator, values: list[float], share: float = 0.1) -> list[float]:
    return [round(max(0.0, float(value * draw.normal(1, share))), 1) for value in values]


def _sub_minute_burst(draw: np.random.Generator) -> tuple[Recorded, float]:
    """A timer: most of a minute's units within its first seconds."""
    units, calls, seconds = draw.uniform(24, 36), int(draw.integers(80, 120)), draw.uniform(1.5, 3)
    made = Recorded(minutes=5, table="prices").table("sku", read=100, write=10)
    for minute in range(2, 5):
        for number in range(calls):
            at = minute * 60 + number * seconds / calls
            made.request("GetItem", at, key={"sku": f"SKU#{number}"}, units=round(units, 1), caller="price-cache")
    made.metric("ConsumedReadCapacityUnits", [0.0, 0.0, *[round(units * calls)] * 3])
    return made.metric("ReadProvisionedThroughputThrottleEvents", [0, 0, *draw.integers(150, 250, 3).tolist()]), 120


def _autoscale_lag(draw: np.random.Generator) -> tuple[Recorded, float]:
    """An import of some times what stands ready, every few hours; capacity comes minutes later."""
    every, times = int(draw.integers(3, 7)) * 12, draw.uniform(3, 6)
    made = Recorded(minutes=16 * 60, table="stock").table(read=200, write=200)
    late = [number % every for number in range(16 * 12)]
    stood = [800.0 if 2 <= at < 5 else 200.0 for at in late]
    made.metric("ProvisionedWriteCapacityUnits", stood, stat="Average", period=300)
    took = [200 * 60 * times if at < 5 else 18_000 for at in late]
    made.metric("ConsumedWriteCapacityUnits", _noisy(draw, took), period=300)
    refused = [9000.0 if at < 2 else 0.0 for at in late]
    made.metric("WriteProvisionedThroughputThrottleEvents", _noisy(draw, refused), period=300)
    limits: dict[str, Any] = {"min": 200, "max": 2000, "target": 70, "scheduled": [], "activities": []}
    return made.line("scaling", table="stock", dimension="write", **limits), 0


def _latency_shift(draw: np.random.Generator) -> tuple[Recorded, float]:
    """Answers have some times the items of other days, and take some times as long."""
    usual, items, times = draw.uniform(8, 16), draw.uniform(30, 60), draw.uniform(3.5, 7)
    made = Recorded(minutes=15, table="bookings").table()
    points = 3 * 24 * 12 + 3

    def told(metric: str, stat: str, before: float, later: float) -> None:
        values = _noisy(draw, [before if at < points - 3 else later for at in range(points)])
        made.metric(metric, values, stat=stat, period=300, at=-3 * _DAY, Operation="Query")

    told("SuccessfulRequestLatency", "p99", usual, usual * times)
    told("SuccessfulRequestLatency", "SampleCount", 900, 950)
    told("ReturnedItemCount", "Average", items, items * times)
    return made, 0


def _queue(draw: np.random.Generator) -> tuple[Recorded, float]:
    """A worker asks an index for the first waiting entry, and marks what it has done."""
    polls, every = int(draw.integers(120, 200)), int(draw.integers(2, 5))
    made = Recorded(table="mails").table(indexes={"by-state": ("mailState", "createdAt")})
    for number in range(polls):
        at, hits = number * 300 / polls, number % every
        asked: dict[str, Any] = {"index": "by-state", "limit": 10, "count": hits, "scanned": hits}
        made.request("Query", at, key={"mailState": "WAITING"}, units=0.5, caller="mail-worker", **asked)
        if hits == 0:
            entry: dict[str, Any] = {"by-state": {"mailState": {"S": "SENT"}, "createdAt": {"S": "2026-03-02"}}}
            consumed: dict[str, Any] = {"total": 3, "write": 3, "table": 1, "indexes": {"by-state": 2}}
            told: dict[str, Any] = {"update": "SET mailState = :sent", "index_keys": entry, "consumed": consumed}
            key = {"PK": f"MAIL#{number}", "SK": "META"}
            made.request("UpdateItem", at + 0.4, key=key, caller="mail-worker", **told)
    return made, 0


def _declared_scan(draw: np.random.Generator) -> tuple[Recorded, float]:
    """An archive reads in its hour as it was declared."""
    made = Recorded(table="readings").table(read=400, write=100)
    pace = int(draw.integers(140, 200))
    nightly = {"schedule": "0 9 * * *", "max_units_per_second": pace, "callers": ["archiver"], "purpose": "export"}
    made.contract({"id": "nightly-archive", "operation": "Scan"} | nightly)
    pages = int(draw.integers(60, 120))
    for number in range(pages):
        page: dict[str, Any] = {"count": 1400, "scanned": 1400, "more": number < pages - 1, "resumed": number > 0}
        made.request("Scan", 1 + 2 * number, units=128.5, caller="archiver", **page)
    return made, 1


RECORDED = (
    RecordedFault("sub-minute-burst", "prices", _sub_minute_burst, frozenset({("throttling", "prices")})),
    RecordedFault("autoscale-lag", "stock", _autoscale_lag, frozenset({("throttling", "stock")})),
    RecordedFault("latency-shift", "bookings", _latency_shift),
    RecordedFault("queue-like-table", "mails", _queue),
    RecordedFault("declared-scan", "readings", _declared_scan),
)
"""Who is refused in a burst, or while capacity comes late, is throttled: that is true, too."""
