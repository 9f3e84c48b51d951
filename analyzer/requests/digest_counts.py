"""Rows of requests become counts: a column for each thing that is counted, and the bucket of the latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Count
from analyzer.statistics.log_histogram import bucket_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.requests.digest_columns import Rows

__all__ = ["counts_of"]

_BOUNDS = np.array(LATENCY_BOUNDS_MS)


def counts_of(rows: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return seconds, cells, counts of shape (rows, N_COUNTS), and buckets of latency, -1 where it was not told."""
    source, seconds, cells, read, write, latency = (
        np.concatenate([getattr(part, name) for part in rows])
        for name in ("source", "seconds", "cells", "read", "write", "latency")
    )
    attempts, scanned, count, size, more, resumed, unprocessed = np.concatenate([part.whole for part in rows], axis=1)
    columns = np.zeros((N_COUNTS, len(source)), dtype=np.int64)
    columns[Count.REQUESTS] = source >= 0
    columns[Count.ATTEMPTS] = np.maximum(attempts, 0)
    columns[Count.ATTEMPTS_KNOWN] = attempts >= 0
    has_counts = (scanned >= 0) & (count >= 0)
    columns[Count.SCANNED] = scanned * has_counts
    columns[Count.RETURNED] = count * has_counts
    columns[Count.COUNTS_KNOWN] = has_counts
    is_filtered = has_counts & (scanned > count) & (read > 0)
    columns[Count.WASTED_HALF_UNITS] = is_filtered * (read * (scanned - count) // np.maximum(scanned, 1))
    columns[Count.RETURNED_BYTES] = np.maximum(size, 0)
    columns[Count.MORE] = more > 0
    columns[Count.RESUMED] = resumed > 0
    columns[Count.UNPROCESSED] = np.maximum(unprocessed, 0)
    has_latency = latency >= 0
    columns[Count.LATENCY_US] = np.where(has_latency, np.rint(latency * 1000), 0)
    columns[Count.LATENCY_KNOWN] = has_latency
    buckets = np.where(has_latency, bucket_numbers(latency, _BOUNDS), -1)
    columns[Count.UNITS_KNOWN] = (read >= 0) | (write >= 0)
    read, write = np.maximum(read, 0), np.maximum(write, 0)
    columns[Count.READ_HALF_UNITS] = read
    columns[Count.WRITE_HALF_UNITS] = write
    columns[Count.UNITS_SQUARED] = (read + write) ** 2
    return seconds, cells, columns.T, buckets
