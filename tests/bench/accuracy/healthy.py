"""A healthy day, drawn from a seed: forty patterns with a rhythm, leases, locks, a cron read and a declared Scan.

A day is run in one hour, so that windows are as full as those of a busy shop. Rates are over-dispersed (a gamma of
shape 8 a minute), latencies log-normal, and a call in a thousand is retried.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.model.instant import format_instant
from tests.bench.accuracy.patterns import PATTERNS, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DAY_MS", "START_MS", "TRUE_OF_ANY", "Record", "calls_of", "healthy_day", "moment"]

Record = dict[str, Any]

DAY_MS = 3_600_000
START_MS = 1_780_272_000_000  # 2026-06-01T00:00:00Z
TRUE_OF_ANY = frozenset({("throttling", "users")})
"""Findings, by detector and table, that are true of any log here, up to medium: autoscaling comes late now and then."""

_MINUTE_MS = 60_000
_BASE_RATE = 14.0  # requests a second at the mean of the day
_RETRIED = 0.001


def moment(ms: int) -> str:
    """Write a time as records do."""
    return format_instant(ms)


def healthy_day(seed: int, length_ms: int = DAY_MS, rate: float = _BASE_RATE) -> list[Record]:
    """Draw a day in the order of time."""
    draw = np.random.default_rng(seed)
    weights = np.array([pattern.weight for pattern in PATTERNS])
    weights /= weights.sum()
    records: list[Record] = []
    spread = {pattern.id: _zipf(pattern.keys) for pattern in PATTERNS}
    for minute in range(length_ms // _MINUTE_MS):
        rhythm = 1 + 0.6 * math.sin(2 * math.pi * (minute * _MINUTE_MS / DAY_MS - 0.3))
        wanted = draw.gamma(8, rate * rhythm * 60 / 8)
        which = draw.choice(len(PATTERNS), size=draw.poisson(wanted), p=weights)
        times = np.sort(draw.integers(0, _MINUTE_MS, len(which))) + START_MS + minute * _MINUTE_MS
        places = draw.random(len(which))
        for time_ms, number, place in zip(times.tolist(), which.tolist(), places.tolist(), strict=True):
            pattern = PATTERNS[number]
            key = int(np.searchsorted(spread[pattern.id], place))
            records.append(_call(draw, pattern, time_ms, min(key, pattern.keys - 1)))
    records += [*_leases(draw, length_ms), *_locks(draw, length_ms), *_cron(length_ms), *_archive(length_ms)]
    records += _scaling(draw, length_ms)
    _deploy(records, length_ms)
    return sorted(records, key=lambda record: record["time"])


def _zipf(keys: int) -> np.ndarray:
    ranks = np.arange(1, keys + 1, dtype=float) ** -0.6
    below: np.ndarray = np.cumsum(ranks) / ranks.sum()
    return below


def calls_of(seed: int, pattern: Pattern, times_ms: list[int], **fields: Any) -> list[Record]:
    """Draw calls of one pattern at given times."""
    draw = np.random.default_rng(seed)
    return [_call(draw, pattern, time, int(draw.integers(pattern.keys))) | fields for time in times_ms]


def _call(draw: np.random.Generator, pattern: Pattern, time_ms: int, key: int) -> Record:
    kind = "write" if pattern.writes else "read"
    units = pattern.units if pattern.index is None else {"total": pattern.units}
    latency = float(np.round(draw.lognormal(1.4, 0.35), 2))
    attribute = "PK" if pattern.index is None else "owner"
    value = {"S": f"{pattern.entity}#{key:06d}"}
    record: Record = {
        "v": 1,
        "time": moment(time_ms),
        "op": pattern.operation,
        "table": pattern.table,
        "key": {attribute: value} | ({"SK": {"S": pattern.sort}} if pattern.sort else {}),
        "consumed": {"total": pattern.units, kind: pattern.units} if pattern.index is None else units,
        "latency_ms": latency,
        "attempts": 1,
        "caller": pattern.caller,
        "trace_id": f"{draw.integers(1 << 62):016x}",
    }
    if pattern.index is not None:
        record |= {"index": pattern.index}
        record["consumed"] = {"total": pattern.units, "read": pattern.units, "indexes": {pattern.index: pattern.units}}
    if pattern.operation == "Query":
        record |= {
            "key_condition": "#k0 = :k0",
            "names": {"#k0": attribute},
            "values": {":k0": value},
            "count": pattern.returned,
            "scanned": pattern.scanned,
        }
    if pattern.condition is not None:
        record["condition"] = pattern.condition
    if draw.random() < _RETRIED:
        record |= {"attempts": 2, "tries": [{"at_ms": 0, "code": "InternalServerError"}]}
    return record


def _plain(time_ms: int, operation: str, table: str, caller: str, **fields: Any) -> Record:
    return {
        "v": 1,
        "time": moment(time_ms),
        "op": operation,
        "table": table,
        "caller": caller,
        "latency_ms": 4.0,
        "attempts": 1,
        **fields,
    }


def _leases(draw: np.random.Generator, length_ms: int) -> Iterator[Record]:
    """Three workers renew four leases every five seconds; now and then one loses a race."""
    for at in range(0, length_ms, 5000):
        for shard in range(4):
            lost = {"error": {"code": "ConditionalCheckFailedException"}} if draw.random() < 0.05 else {}
            yield _plain(
                START_MS + at + shard * 37,
                "UpdateItem",
                "leases",
                f"consumer-{shard % 3}",
                key={"PK": {"S": f"LEASE#{shard}"}},
                update="SET leaseCounter = :c",
                condition="leaseCounter = :o",
                **({} if lost else {"consumed": {"total": 1, "write": 1}}),
                **lost,
            )


def _locks(draw: np.random.Generator, length_ms: int) -> Iterator[Record]:
    """A lock is taken every minute and given back; some who come too late are refused."""
    for at in range(0, length_ms, _MINUTE_MS):
        job = {"PK": {"S": f"LOCK#{at // _MINUTE_MS % 5}"}}
        create = {"key": job, "condition": "attribute_not_exists(PK)"}
        yield _plain(START_MS + at, "PutItem", "locks", "cron", consumed={"total": 1, "write": 1}, **create)
        if draw.random() < 0.4:
            refused = {"error": {"code": "ConditionalCheckFailedException"}}
            yield _plain(START_MS + at + 700, "PutItem", "locks", "cron-b", **create, **refused)
        yield _plain(START_MS + at + 9000, "DeleteItem", "locks", "cron", key=job, consumed={"total": 1, "write": 1})


def _cron(length_ms: int) -> Iterator[Record]:
    """A health check reads the same lease every half minute."""
    for at in range(0, length_ms, 30_000):
        yield _plain(
            START_MS + at + 11,
            "GetItem",
            "leases",
            "health",
            key={"PK": {"S": "LEASE#0"}},
            consumed={"total": 0.5, "read": 0.5},
            count=1,
        )


def _scaling(draw: np.random.Generator, length_ms: int) -> Iterator[Record]:
    """Autoscaling comes a little late now and then: a try is refused, and the next one served."""
    refused = {"at_ms": 3, "code": "ProvisionedThroughputExceededException"}
    for at in range(0, length_ms, 600_000):
        for time_ms in draw.integers(at, min(at + 600_000, length_ms), 2).tolist():
            yield _plain(
                START_MS + time_ms,
                "GetItem",
                "users",
                "users-api",
                key={"PK": {"S": f"USER#{int(draw.integers(4000)):06d}"}, "SK": {"S": "META"}},
                consumed={"total": 0.5, "read": 0.5},
                count=1,
                trace_id=f"{draw.integers(1 << 62):016x}",
                attempts=2,
                tries=[{**refused, "reason": "TableReadProvisionedThroughputExceeded"}],
            )


def _deploy(records: list[Record], length_ms: int) -> None:
    """Give every caller a new version in the middle of the day."""
    middle = moment(START_MS + length_ms // 2)
    for record in records:
        record["caller_version"] = "1.4.1" if record["time"] < middle else "1.4.2"


def _archive(length_ms: int) -> Iterator[Record]:
    """The declared Scan, paced: forty pages of the night, one a second."""
    for page in range(min(40, length_ms // 1000)):
        yield _plain(
            START_MS + 300_000 + page * 1000,
            "Scan",
            "orders",
            "archiver",
            count=300,
            scanned=300,
            more=page < 39,
            resumed=page > 0,
            consumed={"total": 120, "read": 120},
            trace_id=f"{7:016x}",
        )
