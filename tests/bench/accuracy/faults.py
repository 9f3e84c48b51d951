"""One fault of each detector of heat and reads, planted into ten healthy minutes; it begins after five."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from tests.bench.accuracy.healthy import START_MS, Record, calls_of, healthy_day, moment
from tests.bench.accuracy.patterns import PATTERNS
from tests.bench.accuracy.sampling import MODES

__all__ = ["FAULTS", "LENGTH_MS", "ONSET_MS", "Fault"]

LENGTH_MS = 600_000
ONSET_MS = START_MS + 300_000
_SECONDS = 300
_HEALTHY_RATE = 8.0
_THROTTLED = "ProvisionedThroughputExceededException"


class Fault(Struct, frozen=True):
    """A fault by the detector that has to find it, where, and which sampling leaves it to be seen, at which rate.

    `follows` is what else is true of its calls, by detector and table: none of that is a false alarm.
    """

    detector: str
    table: str
    plant: Callable[[int], list[Record]]
    at_a_tenth: tuple[str, ...] = MODES
    at_a_hundredth: tuple[str, ...] = ()
    follows: frozenset[tuple[str, str]] = frozenset()

    @property
    def samplings(self) -> list[tuple[str, float]]:
        """Modes and rates that leave it to be seen."""
        thinner = ((0.1, self.at_a_tenth), (0.01, self.at_a_hundredth))
        return [("request", 1.0), *((mode, rate) for rate, modes in thinner for mode in modes)]

    def log(self, seed: int) -> list[Record]:
        """Return ten minutes in the order of time, with the fault in their second half."""
        records = healthy_day(seed, LENGTH_MS, _HEALTHY_RATE) + self.plant(seed)
        return sorted(records, key=lambda record: record["time"])


def _times(a_second: float, seconds: int = _SECONDS, seed: int = 0) -> list[int]:
    draw = np.random.default_rng(seed)
    return sorted(int(time) for time in ONSET_MS + draw.uniform(0, seconds * 1000, round(a_second * seconds)))


def _call(time: int, operation: str, table: str, caller: str = "culprit", **fields: Any) -> Record:
    return {
        "v": 1,
        "time": moment(time),
        "op": operation,
        "table": table,
        "caller": caller,
        "latency_ms": 5.0,
        "attempts": 1,
        "trace_id": f"{time * 2654435761 % (1 << 62):016x}",
        **fields,
    }


def _query(time: int, table: str, value: str, *, attribute: str = "PK", **fields: Any) -> Record:
    key = {attribute: {"S": value}}
    condition = {
        "key": key,
        "key_condition": "#k0 = :k0",
        "names": {"#k0": attribute},
        "values": {":k0": key[attribute]},
    }
    return _call(time, "Query", table, **{**condition, **fields})


def _get(time: int, table: str, value: str, units: float = 0.5, **fields: Any) -> Record:
    read = {"key": {"PK": {"S": value}, "SK": {"S": "META"}}, "consumed": {"total": units, "read": units}}
    return _call(time, "GetItem", table, **{**read, **fields})


def _hot_key(seed: int) -> list[Record]:
    return [_get(t, "orders", "ORDER#000001", units=150) for t in _times(21, seed=seed)]


def _few_values(seed: int) -> list[Record]:
    return [
        _query(t, "jobs", "STATE#open", consumed={"total": 15, "read": 15}, count=40, scanned=40)
        for t in _times(8, seed=seed)
    ]


def _refused(time: int, key: int, **fields: Any) -> Record:
    error = {"code": _THROTTLED, "reasons": [{"reason": "TableReadProvisionedThroughputExceeded"}]}
    return _get(time, "users", f"USER#{key:06d}", consumed=None, error=error, attempts=4, **fields)


def _throttling(seed: int) -> list[Record]:
    return [_refused(t, n % 3000) for n, t in enumerate(_times(1.5, seed=seed))]


def _silent(seed: int) -> list[Record]:
    tries = [{"at_ms": at, "code": _THROTTLED, "reason": "TableReadProvisionedThroughputExceeded"} for at in (2, 60)]
    return [
        _get(t, "users", f"USER#{n % 3000:06d}", attempts=3, tries=tries, latency_ms=160.0)
        for n, t in enumerate(_times(6, seed=seed))
    ]


def _storm(seed: int) -> list[Record]:
    return [_refused(t, n % 5, caller="stormer") | {"attempts": 8} for n, t in enumerate(_times(5, seed=seed))]


def _errors(seed: int) -> list[Record]:
    error = {"code": "ValidationException", "message": "The provided key element does not match the schema"}
    return [_get(t, "carts", f"CART#{n}", consumed=None, error=error) for n, t in enumerate(_times(2, seed=seed))]


def _service(seed: int) -> list[Record]:
    error = {"code": "InternalServerError"}
    return [
        _get(t, table, f"X#{n}", consumed=None, error=error, attempts=4)
        for table in ("orders", "users", "stock")
        for n, t in enumerate(_times(1, seed=seed))
    ]


def _bulk(seed: int) -> list[Record]:
    refused = {"error": {"code": _THROTTLED, "reasons": [{"reason": "TableWriteProvisionedThroughputExceeded"}]}}
    pattern = next(pattern for pattern in PATTERNS if pattern.id == "save-users")
    hurt = [record | refused | {"consumed": None} for record in calls_of(seed, pattern, _times(0.5, seed=seed))]
    batches = [
        _call(
            t,
            "BatchWriteItem",
            "users",
            "backfill",
            consumed={"total": 50, "write": 50},
            parts=[
                {"op": "Put", "table": "users", "key": {"PK": {"S": f"USER#{n}{i}"}, "SK": {"S": "META"}}}
                for i in range(9)
            ],
            **(refused if n % 9 == 0 else {}),
        )
        for n, t in enumerate(_times(4, seed=seed + 1))
    ]
    return [{k: v for k, v in record.items() if v is not None} for record in (*hurt, *batches)]


def _scan(seed: int) -> list[Record]:
    return [
        _call(t, "Scan", "stock", "report", count=3, scanned=900, consumed={"total": 110, "read": 110}, more=False)
        for t in _times(1, seed=seed)
    ]


def _unpaced(seed: int) -> list[Record]:
    return [
        _call(
            t,
            "Scan",
            "orders",
            "archiver",
            count=400,
            scanned=400,
            consumed={"total": 128, "read": 128},
            more=True,
            resumed=True,
            trace_id="a" * 16,
        )
        for t in _times(8, seed=seed)
    ]


def _filter(seed: int) -> list[Record]:
    return [
        _query(
            t,
            "orders",
            f"ORDER#{n % 50:06d}",
            filter="priority = :p",
            count=1,
            scanned=120,
            consumed={"total": 30, "read": 30},
        )
        for n, t in enumerate(_times(2, seed=seed))
    ]


def _short_pages(seed: int) -> list[Record]:
    return [
        _query(
            t,
            "orders",
            f"ORDER#{n:06d}",
            filter="priority = :p",
            limit=10,
            count=0 if n % 3 else 2,
            scanned=10,
            more=True,
            consumed={"total": 2, "read": 2},
        )
        for n, t in enumerate(_times(1, 200, seed=seed))
    ]


def _empty_pages(seed: int) -> list[Record]:
    return [
        _query(
            t,
            "users",
            f"USER#{n:06d}",
            filter="city = :c",
            count=0,
            scanned=300,
            more=True,
            consumed={"total": 100, "read": 100},
        )
        for n, t in enumerate(_times(1, 200, seed=seed))
    ]


def _first_page(seed: int) -> list[Record]:
    return [
        _query(
            t,
            "events",
            f"EVENT#{n % 80:06d}",
            count=500,
            scanned=500,
            more=True,
            consumed={"total": 128, "read": 128},
        )
        for n, t in enumerate(_times(1, 200, seed=seed))
    ]


def _counting(seed: int) -> list[Record]:
    return [
        _query(
            time + page * 30,
            "ledger",
            f"LEDGER#{n % 9:06d}",
            select="COUNT",
            count=4000,
            scanned=4000,
            more=page < 3,
            resumed=page > 0,
            trace_id=f"{n:016x}",
            consumed={"total": 128, "read": 128},
        )
        for n, time in enumerate(_times(0.4, seed=seed))
        for page in range(4)
    ]


def _fan(seed: int) -> list[Record]:
    calls = []
    for n, t in enumerate(_times(0.3, seed=seed)):
        trace = f"{n + 9:016x}"
        calls.append(
            _query(
                t, "orders", f"ORDER#{n:06d}", count=30, scanned=30, trace_id=trace, consumed={"total": 4, "read": 4}
            )
        )
        calls += [_get(t + 10 + i * 4, "users", f"USER#{n}{i:03d}", trace_id=trace) for i in range(30)]
    return calls


def _polling(seed: int) -> list[Record]:
    del seed  # a clock has no chance in it
    return [
        _query(
            ONSET_MS + i * 5000,
            "carts",
            "CART#open",
            count=900,
            scanned=900,
            consumed={"total": 120, "read": 120},
            trace_id=f"{i + 77:016x}",
        )
        for i in range(58)
    ]


def _strong(seed: int) -> list[Record]:
    return [
        _call(
            t,
            "Scan",
            "stock",
            "report",
            consistent=True,
            count=500,
            scanned=500,
            consumed={"total": 250, "read": 250},
        )
        for t in _times(0.5, seed=seed)
    ]


_NOT_BY_KEY = ("request", "trace", "default")
"""A stratum of keys holds one key whole or not at all: it says nothing of a single one, nor of what has no key."""

_REFUSED = frozenset({("throttling", "users"), ("retry-storm", "users")})
"""Its calls are refused, and tried more than twice each."""

_FAILING = frozenset(
    (detector, table) for detector in ("service-fault", "retry-storm") for table in ("orders", "users", "stock")
) - {("service-fault", "orders")}
"""Its errors are three tables', each call of four tries."""

FAULTS = (
    Fault("hot-key", "orders", _hot_key, _NOT_BY_KEY),
    Fault("low-cardinality-key", "jobs", _few_values, _NOT_BY_KEY),
    Fault("throttling", "users", _throttling, MODES, MODES, _REFUSED - {("throttling", "users")}),
    Fault("silent-throttling", "users", _silent, MODES, MODES, _REFUSED),
    Fault("retry-storm", "users", _storm, MODES, MODES, _REFUSED - {("retry-storm", "users")}),
    Fault("request-errors", "carts", _errors, MODES, MODES),
    Fault("service-fault", "orders", _service, MODES, MODES, _FAILING),
    Fault(
        "unpaced-bulk",
        "users",
        _bulk,
        MODES,
        MODES,
        follows=frozenset({("throttling", "users"), ("undeclared-pattern", "users")}),
    ),
    Fault("unexpected-scan", "stock", _scan, _NOT_BY_KEY),
    Fault("unpaced-scan", "orders", _unpaced, ()),
    Fault("filter-heavy-query", "orders", _filter),
    Fault("limit-before-filter", "orders", _short_pages, ("trace", "default")),
    Fault(
        "empty-page-stop",
        "users",
        _empty_pages,
        ("trace", "default"),
        follows=frozenset({("filter-heavy-query", "users")}),
    ),
    Fault("missing-pagination", "events", _first_page, ("trace",)),
    Fault("count-by-reading", "ledger", _counting, ("trace",)),
    Fault("n-plus-one", "orders", _fan, ("trace", "default")),
    Fault("polling-read", "carts", _polling, ()),
    Fault("strong-read-cost", "stock", _strong, _NOT_BY_KEY, follows=frozenset({("unexpected-scan", "stock")})),
)
"""What CloudWatch alone tells, and what takes a span or a table of its own, is planted by `recorded`.

At a hundredth stands what is kept at every rate: refused tries and errors. Of all others a hundredth keeps a handful of
calls, so that chance decides whether any is there, or, of a key or of a few, two a slice: too coarse for heat.
"""
