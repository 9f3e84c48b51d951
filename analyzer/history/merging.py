"""Rows that speak of the same become one: sums add up, bounds add as squares, histograms bucket by bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from analyzer.history.columns import IDENTITY, KEY_IDENTITY, KEY_SUMS, LATENCY_KEYS, PEAKS, SCHEMAS, SHARES, SUMS, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Groups",
    "groups_of",
    "keys_rolled_up",
    "latency_maps",
    "latency_matrix",
    "merged",
    "rolled_up",
    "starts_of",
]

HOUR_MS = 3_600_000
_BOUNDS = np.array(LATENCY_KEYS, dtype=np.float32)


class Groups:
    """Rows by their group: `first` is a row of each group, in the order of their names, `of` each row's group."""

    def __init__(self, first: np.ndarray, of: np.ndarray) -> None:
        self.first = first
        self.of = of

    def __len__(self) -> int:
        return len(self.first)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of a column in each group; what is not known adds nothing."""
        return np.bincount(self.of, weights=np.nan_to_num(values), minlength=len(self))

    def most(self, values: np.ndarray) -> np.ndarray:
        """Return the greatest value in each group; 0 where none is known."""
        found = np.zeros(len(self))
        np.maximum.at(found, self.of, np.nan_to_num(values))
        return found


def groups_of(rows: pa.Table, by: Sequence[str], *more: np.ndarray) -> Groups:
    """Group rows by columns, and by arrays of whole numbers beside them; null is a value like any other."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for column in [*(_codes(rows[name]) for name in by), *more]:
        _, narrow = np.unique(column, return_inverse=True)
        codes = codes * (int(narrow.max(initial=0)) + 1) + narrow
        _, codes = np.unique(codes, return_inverse=True)
    _, first, of = np.unique(codes, return_index=True, return_inverse=True)
    return Groups(first, of)


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """Return a number for each value, in the order of the values; null comes first."""
    coded = column.combine_chunks().dictionary_encode()
    rank = np.argsort(np.argsort(np.array(coded.dictionary.to_pylist(), dtype=str)))
    numbers = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    found: np.ndarray = np.where(numbers < 0, -1, np.append(rank, 0)[numbers])
    return found


def starts_of(rows: pa.Table, name: str = "start") -> np.ndarray:
    """Return a column of times in milliseconds."""
    found: np.ndarray = rows[name].cast(pa.int64()).to_numpy()
    return found


def latency_matrix(rows: pa.Table) -> np.ndarray:
    """Return calls by latency bucket, (rows, len(LATENCY_KEYS)) whole numbers."""
    return _by_group(rows, Groups(np.arange(len(rows)), np.arange(len(rows))))


def _by_group(rows: pa.Table, groups: Groups) -> np.ndarray:
    matrix = np.zeros((len(groups), len(LATENCY_KEYS)), dtype=np.int64)
    maps = rows["latency_ms"].combine_chunks()
    if len(maps):
        lengths = np.diff(maps.offsets.to_numpy())
        which = np.repeat(groups.of, lengths)
        first, last = maps.offsets[0].as_py(), maps.offsets[-1].as_py()
        buckets = np.searchsorted(_BOUNDS, maps.keys[first:last].to_numpy(), side="left")
        np.add.at(matrix, (which, buckets), maps.items[first:last].to_numpy())
    return matrix


def latency_maps(matrix: np.ndarray) -> pa.MapArray:
    """Return histograms as they are stored: the upper bounds of buckets that hold calls, and how many."""
    row, bucket = np.nonzero(matrix)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))]).astype(np.int32)
    calls = pa.array(matrix[row, bucket].astype(np.int32))
    return pa.MapArray.from_arrays(offsets, pa.array(_BOUNDS[bucket]), calls)


def merged(rows: pa.Table) -> pa.Table:
    """Return rows of requests with those of the same minute and series as one, series by series."""
    columns = _summed(rows, groups_of(rows, IDENTITY, starts_of(rows)))
    return pa.table(columns).select(SCHEMAS[Kind.REQUESTS].names).cast(SCHEMAS[Kind.REQUESTS])


def rolled_up(rows: pa.Table, step_ms: int = HOUR_MS) -> pa.Table:
    """Return a row an hour (or another step) and series, with its highest minute; rows may be minutes or hours."""
    is_minute = "minutes" not in rows.column_names
    rows = merged(rows) if is_minute else rows
    hours = starts_of(rows) // step_ms * step_ms
    groups = groups_of(rows, IDENTITY, hours)
    columns = _summed(rows, groups)
    columns["start"] = pa.array(hours[groups.first], pa.int64()).cast(SCHEMAS[Kind.HOURS].field("start").type)
    ones = np.ones(len(rows)) if is_minute else _numbers(rows, "minutes")
    columns["minutes"] = pa.array(groups.sums(ones).astype(np.int64))
    for name in PEAKS:
        source = name.removeprefix("peak_") if is_minute else name
        columns[name] = pa.array(groups.most(_numbers(rows, source)))
    return pa.table(columns).select(SCHEMAS[Kind.HOURS].names).cast(SCHEMAS[Kind.HOURS])


def keys_rolled_up(rows: pa.Table, step_ms: int = HOUR_MS) -> pa.Table:
    """Return a row an hour and key: units add up, its peak is that of its highest second; rows may be either."""
    schema = SCHEMAS[Kind.KEY_HOURS]
    hours = starts_of(rows) // step_ms * step_ms
    groups = groups_of(rows, KEY_IDENTITY, hours)
    taken = rows.select([*KEY_IDENTITY, "template"]).take(pa.array(groups.first))
    columns: dict[str, pa.Array] = {name: taken[name].combine_chunks() for name in taken.column_names}
    columns["start"] = pa.array(hours[groups.first], pa.int64()).cast(schema.field("start").type)
    columns |= {name: pa.array(groups.sums(_numbers(rows, name))) for name in KEY_SUMS}
    columns["observed"] = pa.array(groups.sums(_numbers(rows, "observed")).astype(np.int64))
    peaks, over = _numbers(rows, "peak_second"), _numbers(rows, "seconds_over")
    is_unknown = groups.most((~np.isnan(peaks)).astype(float)) == 0
    columns["peak_second"] = pa.array(groups.most(peaks), mask=is_unknown)
    columns["seconds_over"] = pa.array(groups.sums(over).astype(np.int64), mask=is_unknown)
    since = np.where(rows["tracked_since"].is_null(), np.inf, rows["tracked_since"].cast(pa.int64()).fill_null(0))
    first = np.full(len(groups), np.inf)
    np.minimum.at(first, groups.of, since)
    known = np.where(np.isinf(first), 0, first).astype(np.int64)
    columns["tracked_since"] = pa.array(known, pa.int64(), mask=np.isinf(first)).cast(
        schema.field("tracked_since").type
    )
    minutes = _numbers(rows, "minutes") if "minutes" in rows.column_names else np.ones(len(rows))
    columns["minutes"] = pa.array(groups.sums(minutes).astype(np.int64))
    return pa.table(columns).select(schema.names).cast(schema)


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    """Return a column of numbers, NaN where one is not known."""
    found: np.ndarray = rows[name].cast(pa.float64()).combine_chunks().to_numpy(zero_copy_only=False)
    return found


def _summed(rows: pa.Table, groups: Groups) -> dict[str, pa.Array]:
    taken = rows.select(["start", *IDENTITY]).take(pa.array(groups.first))
    columns: dict[str, pa.Array] = {name: taken[name].combine_chunks() for name in taken.column_names}
    columns |= {name: pa.array(groups.sums(_numbers(rows, name))) for name in SUMS}
    requests = _numbers(rows, "requests")
    columns |= _estimated(rows, groups, requests)
    for name in SHARES:
        values = _numbers(rows, name)
        weights = np.where(np.isnan(values), 0.0, np.maximum(requests, np.finfo(float).tiny))
        whole = groups.sums(weights)
        mean = groups.sums(values * weights) / np.where(whole > 0, whole, 1.0)
        columns[name] = pa.array(mean, mask=whole <= 0)
    columns["latency_ms"] = latency_maps(_by_group(rows, groups))
    return columns


def _estimated(rows: pa.Table, groups: Groups, requests: np.ndarray) -> dict[str, pa.Array]:
    """Add bounds as squares of their distances; a group in which nothing was estimated has none."""
    low, high, observed = (_numbers(rows, name) for name in ("requests_low", "requests_high", "observed"))
    is_exact = groups.most((~np.isnan(low)).astype(float)) == 0
    value = groups.sums(requests)
    below = np.sqrt(groups.sums((requests - np.where(np.isnan(low), requests, low)) ** 2))
    above = np.sqrt(groups.sums((np.where(np.isnan(high), requests, high) - requests) ** 2))
    seen = groups.sums(np.where(np.isnan(observed), requests, observed))
    return {
        "requests_low": pa.array(value - below, mask=is_exact),
        "requests_high": pa.array(value + above, mask=is_exact),
        "observed": pa.array(np.rint(seen).astype(np.int64), mask=is_exact),
    }
