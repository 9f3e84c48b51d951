"""Minutes as rows: what a digest knows of a closed minute, under the contract that holds now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, json

from analyzer.history.columns import IDENTITY, SCHEMAS, SHARES, SUMS, Kind
from analyzer.history.merging import latency_maps
from analyzer.model.history import KeyMinute
from analyzer.model.instant import Instant
from analyzer.model.shape import Shape
from analyzer.traffic.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from analyzer.model.counts import Cell, Counts, HeavyKey, HeavyKeys
    from analyzer.model.shape import Attribution
    from analyzer.model.target import Target
    from analyzer.model.traffic import PatternTraffic

__all__ = ["Minute", "key_rows", "minute_of", "request_rows", "shape_rows"]

MOST_KEYS = 500
"""Keys that a minute tells of: what is kept of them by the second has the same bound."""


class Minute(Struct, frozen=True):
    """One closed minute: its rows of each kind; a minute without requests has none, and was looked at all the same."""

    start: Instant
    requests: pa.Table
    keys: pa.Table
    shapes: tuple[Shape, ...] = ()


def minute_of(
    counts: Counts, attribute: Callable[[Cell], Attribution], name: Callable[[str | None], str | None]
) -> Minute:
    """Return the rows of the counts of one minute; `name` gives a caller the name that the contract knows it by."""
    rows, _ = rows_of(counts, attribute, name)
    start = counts.window.start
    shapes = {row.shape.fingerprint: row.shape for of in rows.values() for row in of}
    return Minute(start, request_rows(start, rows), key_rows(start, counts.keys), tuple(shapes.values()))


def request_rows(start: Instant, rows: Mapping[Target, Iterable[PatternTraffic]]) -> pa.Table:
    """Return a row a target, shape and caller."""
    pairs = [(target, row) for target, of in rows.items() for row in of]
    columns: dict[str, Any] = {"start": [start] * len(pairs)}
    columns |= {name: [] for name in IDENTITY}
    for target, row in pairs:
        for name, value in zip(IDENTITY, _identity(target, row), strict=True):
            columns[name].append(value)
    for name in SUMS:
        if name != "latency_sum_ms":
            columns[name] = [getattr(row, name).value for _, row in pairs]
    columns["latency_sum_ms"] = [row.latency.sum_ms for _, row in pairs]
    told = [None if row.requests.is_exact else row.requests for _, row in pairs]
    columns["requests_low"] = [None if one is None else one.low for one in told]
    columns["requests_high"] = [None if one is None else one.high for one in told]
    columns["observed"] = [None if one is None else row.observed for one, (_, row) in zip(told, pairs, strict=True)]
    for name in SHARES:
        columns[name] = [getattr(row, name) for _, row in pairs]
    buckets = [row.latency.buckets for _, row in pairs]
    width = max(map(len, buckets), default=0)
    matrix = np.array([one or (0,) * width for one in buckets], dtype=np.int64).reshape(len(pairs), width)
    schema = SCHEMAS[Kind.REQUESTS]
    arrays = {name: pa.array(values, _stored(schema.field(name).type)) for name, values in columns.items()}
    arrays["latency_ms"] = latency_maps(matrix)
    return pa.table(arrays).select(schema.names).cast(schema)


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return the kind that takes our own numbers: times come as milliseconds."""
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def _identity(target: Target, row: PatternTraffic) -> tuple[Any, ...]:
    return (
        target.account,
        target.region,
        target.table,
        target.index,
        row.attribution.kind.value,
        row.attribution.pattern,
        row.shape.fingerprint,
        row.shape.operation,
        row.caller,
        row.secondary,
    )


def key_rows(start: Instant, sides: Iterable[HeavyKeys]) -> pa.Table:
    """Return a row a tracked key, the heaviest of all targets; names are as they are kept: tokens."""
    ranked = sorted(((side, key) for side in sides if side.real for key in side.keys), key=lambda pair: -pair[1].high)
    found = [(side, key, _minute(key)) for side, key in ranked[:MOST_KEYS]]
    columns: dict[str, list[Any]] = {
        "start": [start] * len(found),
        "account": [side.target.account for side, _, _ in found],
        "region": [side.target.region for side, _, _ in found],
        "table_name": [side.target.table for side, _, _ in found],
        "index_name": [side.target.index for side, _, _ in found],
        "direction": [side.direction.value for side, _, _ in found],
        "level": [key.name.level.name.lower() for _, key, _ in found],
        "partition": [key.name.partition for _, key, _ in found],
        "sort": [key.name.sort for _, key, _ in found],
        "template": [" ".join(key.templates) for _, key, _ in found],
        "units": [(minute.units_low + minute.units_high) / 2 for _, _, minute in found],
        "units_low": [minute.units_low for _, _, minute in found],
        "units_high": [minute.units_high for _, _, minute in found],
        "target_units": [side.total / 2 for side, _, _ in found],
        "requests": [key.requests for _, key, _ in found],
        "throttled_tries": [key.tries for _, key, _ in found],
        "observed": [key.sampled for _, key, _ in found],
        "peak_second": [minute.peak_second for _, _, minute in found],
        "seconds_over": [minute.seconds_over for _, _, minute in found],
        "tracked_since": [minute.tracked_since for _, _, minute in found],
    }
    schema = SCHEMAS[Kind.KEYS]
    return pa.table({name: pa.array(columns[name], _stored(schema.field(name).type)) for name in schema.names}).cast(
        schema
    )


def _minute(key: HeavyKey) -> KeyMinute:
    """Fold what is known of a key by the second; its weights are half-units."""
    return KeyMinute(
        units_low=key.low / 2,
        units_high=key.high / 2,
        peak_second=None if key.peak_second is None else key.peak_second / 2,
        seconds_over=key.seconds_over,
        tracked_since=key.tracked_since,
    )


def shape_rows(start: Instant, shapes: Iterable[Shape]) -> pa.Table:
    """Return what fingerprints stand for: a line for eyes, and the shape itself as JSON."""
    told = list(shapes)
    columns = {
        "start": pa.array([start] * len(told), pa.int64()),
        "fingerprint": pa.array([shape.fingerprint for shape in told], pa.string()),
        "text": pa.array([shape.text() for shape in told], pa.string()),
        "shape": pa.array([json.encode(shape).decode() for shape in told], pa.string()),
    }
    return pa.table(columns).cast(SCHEMAS[Kind.SHAPES])
