"""The columns of history: what a row of each kind holds. It takes pyarrow: import it only where it is used.

Names are SQL's friends (`table_name`, never `table`) and an API, as those of metrics are. Null is "not known", but for
three columns where it is "counted, nothing was estimated": `requests_low`, `requests_high` and `observed` are then the
requests themselves.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pyarrow as pa

from analyzer.model.counts import LATENCY_BOUNDS_MS

__all__ = [
    "ESTIMATED",
    "IDENTITY",
    "KEY_IDENTITY",
    "KEY_SUMS",
    "LATENCY_KEYS",
    "PEAKS",
    "SCHEMAS",
    "SHARES",
    "SUMS",
    "Kind",
]


class Kind(StrEnum):
    """The kinds of rows, each a folder of its own, `kind=requests/date=2026-11-30/`."""

    REQUESTS = "requests"  # a row a minute, target, shape and caller
    HOURS = "hours"  # the same, a row an hour: what is left when minutes are let go
    KEYS = "keys"  # a row a minute and tracked key
    KEY_HOURS = "key_hours"  # the same, a row an hour
    SHAPES = "shapes"  # what a fingerprint stands for, once a day
    TABLES = "tables"  # descriptions of tables, once a day
    FINDINGS = "findings"  # what was found, once a day
    PAIRS = "pairs"  # which entities and tables one trace reads together, once a day


IDENTITY = (
    "account",
    "region",
    "table_name",
    "index_name",
    "kind_of_pattern",
    "pattern",
    "fingerprint",
    "operation",
    "caller",
    "secondary",
)
"""What makes two rows of requests one series: target, what was asked, by whom."""

KEY_IDENTITY = ("account", "region", "table_name", "index_name", "direction", "level", "partition", "sort")

KEY_SUMS = ("units", "units_low", "units_high", "target_units", "requests", "throttled_tries")

ESTIMATED = ("requests_low", "requests_high", "observed")

SUMS = (
    "requests",
    "failed",
    "throttled",
    "throttled_failed",
    "throttled_tries",
    "condition_failed",
    "server_errors",
    "transport_failures",
    "read_units",
    "write_units",
    "wasted_units",
    "scanned",
    "returned",
    "returned_bytes",
    "more",
    "resumed",
    "latency_sum_ms",
)
"""What adds up when rows are merged."""

SHARES = ("units_known", "counts_known", "attempts_a_request")
"""Means over requests."""

PEAKS = ("peak_requests", "peak_read_units", "peak_write_units")
"""The highest minute of an hour."""

LATENCY_KEYS: tuple[float, ...] = (*LATENCY_BOUNDS_MS, float("inf"))
"""The keys of `latency_ms`: upper bounds of its buckets."""

_TEXT, _FLOAT, _WHOLE = pa.string(), pa.float64(), pa.int64()
_TIME = pa.timestamp("ms", tz="UTC")
_PLACE = [(name, _TEXT) for name in ("account", "region", "table_name", "index_name")]
_SMALL = frozenset({"returned_bytes", "latency_sum_ms"})
"""Sums that no two rows share: half the digits take half the room, and six of them are more than a log tells."""

_REQUESTS: list[tuple[str, Any]] = [
    ("start", _TIME),
    *((name, pa.bool_() if name == "secondary" else _TEXT) for name in IDENTITY),
    *((name, pa.float32() if name in _SMALL else _FLOAT) for name in SUMS),
    *((name, _WHOLE if name == "observed" else _FLOAT) for name in ESTIMATED),
    *((name, pa.float32()) for name in SHARES),
    ("latency_ms", pa.map_(pa.float32(), pa.int32())),
]

_KEYS: list[tuple[str, Any]] = [
    ("start", _TIME),
    *((name, _TEXT) for name in (*KEY_IDENTITY, "template")),
    *((name, _FLOAT) for name in KEY_SUMS),
    ("observed", _WHOLE),
    ("peak_second", _FLOAT),
    ("seconds_over", _WHOLE),
    ("tracked_since", _TIME),
]

SCHEMAS: dict[Kind, pa.Schema] = {
    Kind.REQUESTS: pa.schema(_REQUESTS),
    Kind.HOURS: pa.schema([*_REQUESTS, ("minutes", _WHOLE), *((name, _FLOAT) for name in PEAKS)]),
    Kind.KEYS: pa.schema(_KEYS),
    Kind.KEY_HOURS: pa.schema([*_KEYS, ("minutes", _WHOLE)]),
    Kind.SHAPES: pa.schema([("start", _TIME), ("fingerprint", _TEXT), ("text", _TEXT), ("shape", _TEXT)]),
    Kind.TABLES: pa.schema([("start", _TIME), *_PLACE[:3], ("snapshot", _TEXT)]),
    Kind.FINDINGS: pa.schema(
        [
            ("start", _TIME),
            *_PLACE,
            *((name, _TEXT) for name in ("id", "detector", "severity", "status", "pattern", "caller", "summary")),
            ("first_seen", _TIME),
            ("last_seen", _TIME),
            ("cost_per_month_usd", _FLOAT),
            ("finding", _TEXT),
        ]
    ),
    Kind.PAIRS: pa.schema(
        [
            ("start", _TIME),
            *((name, _TEXT) for name in ("one_table", "one_entity", "other_table", "other_entity")),
            ("traces", _FLOAT),
            ("one_traces", _FLOAT),
            ("other_traces", _FLOAT),
        ]
    ),
}
"""What each kind of file holds, in this order; a file of an earlier version is brought to it when it is read."""
