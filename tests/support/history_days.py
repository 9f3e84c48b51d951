"""A small history: one row a day and pattern, the newest day last, as a daemon would have left it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.names import DAY_MS
from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analyzer.model.instant import Instant

__all__ = ["hour_row", "write_days"]


def hour_row(start: Instant, pattern: str | None, requests: float, **fields: Any) -> dict[str, Any]:
    """Return an hour of one pattern of the table `cases`; what is not said is nothing."""
    schema = SCHEMAS[Kind.HOURS]
    empty = {name: 0 if pa.types.is_floating(schema.field(name).type) else None for name in schema.names}
    place = {"account": "111122223333", "region": "us-east-1", "table_name": "cases", "index_name": None}
    told = {"kind_of_pattern": "undeclared" if pattern is None else "declared", "pattern": pattern}
    shape = {"fingerprint": f"f-{pattern}", "operation": "GetItem", "caller": "api", "secondary": False}
    estimated: dict[str, Any] = {"requests_low": None, "requests_high": None, "minutes": 60, "latency_ms": []}
    return {**empty, "start": start, **place, **told, **shape, "requests": requests, **estimated, **fields}


def write_days(folder: Path, end: Instant, requests: Mapping[str, Sequence[float]], **fields: Any) -> Dataset:
    """Write days before midnight `end`, each looked at whole."""
    dataset = Dataset(FolderBlobs(folder), "d1")
    days = max(map(len, requests.values()))
    for number in range(days):
        start = end - (days - number) * DAY_MS
        rows = [hour_row(start, pattern, counts[number], **fields) for pattern, counts in requests.items()]
        table = pa.Table.from_pylist(rows, schema=SCHEMAS[Kind.HOURS])
        minutes = tuple(range(start, start + DAY_MS, MINUTE_MS))
        asyncio.run(dataset.write_day(Kind.HOURS, start, table, minutes))
    return dataset
